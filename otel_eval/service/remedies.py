"""What is missing, and the exact switch of the instrumentation that leaves it out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from otel_eval.dialects import Dialect
from otel_eval.model import Conversation, GapReason, Step, StepKind
from otel_eval.model.sentences import GAP_SENTENCES
from otel_eval.service.survey import Survey, has_failed, says_something, tool_counts
from otel_eval.service.switches import Switch, switch_of

_LIMITS: Mapping[GapReason, str] = {
    GapReason.ATTRIBUTES_DROPPED: "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=4096 and OTEL_SPAN_EVENT_COUNT_LIMIT=4096 (128 is the default of both)",
    GapReason.TRUNCATED: "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT unset (no limit, the default)",
}
"""The SDK's own switches. **Source**: OpenTelemetry specification, SDK environment variables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What to change, and what it brings."""

    instrumentation: str
    lacking: str
    switch: str
    attributes: tuple[str, ...] = ()
    """Where the content stands then: what an application that writes its spans itself must set."""


_UNKNOWN = "no switch of this instrumentation is known: see its documentation for the capture of content"
_EVENTS = "if its content is sent as log events (EVENT_ONLY, or the older packages), read the logs together with the traces"


def remedies_of(
    conversations: Sequence[Conversation], steps: Sequence[Step], survey: Survey, dialects: Sequence[Dialect], *, logs: int
) -> Iterable[Remedy]:
    """For each instrumentation that leaves out content its switch, then the SDK's limits, then the conversation's id.

    `logs` is the number of log records read: where there are none, content may only have been left behind.
    """
    lacking: dict[Switch, Counter[str]] = defaultdict(Counter)
    for step, what in _lacks(conversations, steps):
        scope = survey.scopes[step.ref]
        switch = switch_of(scope, {*step.dialects, *survey.dialects_of_scope[scope]}, dialects)
        lacking[switch or Switch(instrumentation=scope or "unknown", text=_UNKNOWN)][what] += 1
    for switch, counts in sorted(lacking.items(), key=lambda item: -item[1].total()):
        said = ", ".join(f"{n} {what}" for what, n in counts.most_common())
        yield Remedy(instrumentation=switch.instrumentation, lacking=said, switch=switch.text, attributes=switch.attributes)
        if not logs and any(a.startswith("event:") for a in switch.attributes):
            yield Remedy(instrumentation=switch.instrumentation, lacking="log records: none were read", switch=_EVENTS)
    met = {g.reason for c in conversations for g in c.gaps}
    for reason, text in _LIMITS.items():
        if reason in met:
            yield Remedy(instrumentation="OpenTelemetry SDK", lacking=GAP_SENTENCES[reason].partition(":")[0], switch=text)
    yield from _id_remedy(conversations, dialects)


def _lacks(conversations: Sequence[Conversation], steps: Sequence[Step]) -> Iterable[tuple[Step, str]]:
    """(step, what it lacks): model calls without words, and tool runs where nothing else tells what was asked or answered."""
    poor = {t for c in conversations for t in c.trace_ids if _lacks_tools(c)}
    for step in steps:
        content = step.content
        if step.kind is StepKind.INFERENCE:
            missing = [
                *(["input"] if not says_something(content.input) else []),
                *(["output"] if not says_something(content.output) and not has_failed(step) else []),
            ]
            if missing:
                yield step, f"model calls without {' and '.join(missing)}"
        elif step.kind is StepKind.TOOL and step.ref.trace_id in poor:
            missing = [
                *(["arguments"] if content.tool_call is None or content.tool_call.arguments is None else []),
                *(["result"] if content.tool_result is None and not step.is_error else []),
            ]
            if missing:
                yield step, f"tool runs without {' and '.join(missing)}"


def _lacks_tools(conversation: Conversation) -> bool:
    total, with_arguments, _ = tool_counts(conversation)
    return with_arguments < total or any(g.reason is GapReason.RESULT_NOT_RECORDED for g in conversation.gaps)


def _id_remedy(conversations: Sequence[Conversation], dialects: Sequence[Dialect]) -> Iterable[Remedy]:
    """How the application names its conversations, where several traces stand alone."""
    alone = [c for c in conversations if c.id is None and c.joined_by == "trace" and c.sub_agent_of is None]
    if len(alone) < 2:
        return
    spoken = {d for c in alone for d in c.dialects}
    keys = [d.info.conversation_ids[0] for d in dialects if d.info.name in spoken and d.info.conversation_ids]
    names = tuple(dict.fromkeys((*keys, "gen_ai.conversation.id")))
    yield Remedy(
        instrumentation="application",
        lacking=f"{len(alone)} conversations without id: each trace stands alone, turns of one conversation are not joined",
        switch=f"set {' or '.join(names[:2])} on the spans; or join by what is repeated, with --join-by-history",
        attributes=names,
    )
