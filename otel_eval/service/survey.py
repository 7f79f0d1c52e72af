"""Spans as they are understood, one by one, looked at for a diagnosis: what carries content, what lacks it, what was not understood."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from otel_eval.assembly.tree import collapse_duplicates, trace_from_steps
from otel_eval.assembly.twins import without_twins
from otel_eval.model import Conversation, Media, Message, Span, SpanRef, Step, StepKind

_ORDINARY = (
    "asgi.", "aws.", "az.", "client.", "cloud.", "code.", "container.", "db.", "deployment.", "dns.", "enduser.", "error.", "event.",
    "exception.", "faas.", "feature_flag.", "file.", "graphql.", "host.", "http.", "http2.", "k8s.", "log.", "messaging.", "net.",
    "network.", "os.", "otel.", "peer.", "process.", "rpc.", "server.", "service.", "span.kind", "telemetry.", "thread.", "tls.", "url.",
    "user.", "user_agent.",
)  # fmt: skip
"""Names of spans that have nothing to do with agents. **Source**: OpenTelemetry semantic conventions v1.44, their namespaces."""


@dataclass(slots=True, kw_only=True)
class Survey:
    """What was seen. `see` every span, then ask."""

    id_keys: Sequence[str]
    ordinary: int = 0
    """Spans that no dialect speaks for and that carry only names of other conventions (HTTP, databases), or none."""
    unknown: int = 0
    """Spans that no dialect speaks for and that carry other names too."""
    unknown_names: Counter[str] = field(default_factory=Counter)
    scopes: dict[SpanRef, str] = field(default_factory=dict)
    dialects_of_scope: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _steps: list[Step] = field(default_factory=list)

    def see(self, span: Span, step: Step) -> None:
        """Take in one span."""
        self._steps.append(step)
        self.scopes[step.ref] = span.scope.name
        self.dialects_of_scope[span.scope.name].update(step.dialects)
        if step.kind is StepKind.OTHER and not step.dialects:
            names = [n for n in span.attributes if not n.startswith(_ORDINARY)]
            self.unknown_names.update(names)
            self.unknown += bool(names)
            self.ordinary += not names

    def steps(self) -> Iterator[Step]:
        """The steps of agents, each recording once: duplicates of a second instrumentation and an evaluator's own are left out."""
        by_trace: dict[str, list[Step]] = defaultdict(list)
        for step in self._steps:
            by_trace[step.ref.trace_id].append(step)
        traces = [trace_from_steps(trace_id, listed, self.id_keys) for trace_id, listed in by_trace.items()]
        for trace in traces:
            collapse_duplicates(trace)
        for trace in without_twins(sorted(traces, key=lambda t: (t.start_ns, t.id))):
            yield from (n.step for n in trace.nodes if not n.is_evaluation)


def says_something(messages: Iterable[Message] | None) -> bool:
    """Whether anything that was said, asked of a tool or told by one stands in these messages."""
    return any(
        m.text is not None
        or ((result := m.tool_result) is not None and result.content is not None)
        or any(c.arguments is not None or c.raw is not None for c in m.tool_calls)
        or any(isinstance(p, Media) for p in m.parts)
        for m in messages or ()
    )


def has_failed(call: Step) -> bool:
    """Whether a model call ended in an error and says nothing."""
    return call.is_error and not says_something(call.content.output)


def has_words(conversation: Conversation) -> bool:
    """Whether the user and the agent both say something; of an agent that only acts, its calls count."""
    roles = {m.role for m in conversation.messages if says_something((m,))}
    return "user" in roles and "assistant" in roles


def tool_counts(conversation: Conversation) -> tuple[int, int, int]:
    """(tool calls, those with arguments, those with a result); runs whose call stands in no message count too."""
    calls = conversation.tool_calls
    known = Counter(c.id or c.name for c in calls)
    unasked = Counter(r.call_id or r.name for r in conversation.tool_runs) - known
    results = sum(r.content is not None for r in conversation.tool_results)
    return len(calls) + unasked.total(), sum(c.arguments is not None for c in calls), results
