"""Microsoft's agent libraries: what Semantic Kernel, AutoGen and Agent Framework write beside the conventions.

Semantic Kernel to 1.18 (Python) and 1.6x (.NET) names its operations `chat.completions` and its tokens `gen_ai.response.prompt_tokens`;
its messages are generations A and B, which `semconv` reads. AutoGen's own spans hold no words: its logger `autogen_core.events` does, and
when logs are exported its records stand on the span of the run, each body the JSON text of an `LLMCall`, `LLMStreamEnd` or `ToolCall`.
Agent Framework adds workflow spans.

**Source**: microsoft/semantic-kernel `utils/telemetry` (Python 1.12 to 1.39) and `ModelDiagnostics.cs`; microsoft/autogen
`autogen_core/logging.py` 0.7; microsoft/agent-framework `observability.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import count_or_none, tool_definitions_of
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import LogRecord, Message, StepContent, StepKind, Usage

_OPERATIONS: Mapping[str, StepKind] = {
    "chat.completions": StepKind.INFERENCE,
    "chat.streaming_completions": StepKind.INFERENCE,
    "text.completions": StepKind.INFERENCE,
    "text.streaming_completions": StepKind.INFERENCE,
}
_WORKFLOW_SPANS: Mapping[str, StepKind] = {
    "workflow.run": StepKind.WORKFLOW,
    "workflow.build": StepKind.OTHER,
    "executor.process": StepKind.WRAPPER,
    "edge_group.process": StepKind.WRAPPER,
    "message.send": StepKind.WRAPPER,
}
_CALLS = ("LLMCall", "LLMStreamStart", "LLMStreamEnd")


class Microsoft:
    """Semantic Kernel, AutoGen and Agent Framework."""

    info = DialectCard(
        name="microsoft",
        version=1,
        sentence="Semantic Kernel, AutoGen (LLMCall events of its logger), Microsoft Agent Framework: what stands beside the conventions.",
        source="microsoft/semantic-kernel 1.12–1.39, microsoft/autogen 0.7, microsoft/agent-framework 1.x",
        detects=(
            "event:",
            "sk.available_functions",
            "gen_ai.response.prompt_tokens",
            "workflow.id",
            "executor.id",
            "edge_group.type",
            "message.source_id",
            "messaging.destination",
        ),
        content=("log body {type: LLMCall, messages, response}", "event:gen_ai.content.{prompt,completion}", "event:gen_ai.choice"),
        lacks="Semantic Kernel's events lose the text beside a tool call and carry no conversation id; AutoGen has no conversation id.",
        switch=(
            "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true; AutoGen: export the logger autogen_core.events; "
            "Agent Framework: ENABLE_SENSITIVE_DATA=true"
        ),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names) or "gen_ai.response.finish_reason" in names

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = _kind(evidence, a)
        calls = _calls(evidence.logs) if evidence.logs else []
        if calls and "gen_ai.operation.name" not in a:
            kind = kind or StepKind.WRAPPER
        usage = _usage(a)
        if kind is None and not calls and usage is None:
            return None
        return Reading(kind=kind, usage=usage, content=(lambda: _content(evidence, calls)) if calls else None)


MICROSOFT = Microsoft()


def _kind(evidence: Evidence, a: Mapping[str, Any]) -> StepKind | None:
    if "sk.available_functions" in a:
        return StepKind.WRAPPER  # the loop around model calls and functions
    if "workflow.id" in a or "executor.id" in a or "edge_group.type" in a or "message.source_id" in a:
        return next((k for name, k in _WORKFLOW_SPANS.items() if evidence.span.name.startswith(name)), None)
    if "messaging.destination" in a and evidence.span.name.startswith("autogen "):
        return StepKind.WRAPPER
    operation = a.get("gen_ai.operation.name")
    return _OPERATIONS.get(operation) if isinstance(operation, str) else None


def _usage(a: Mapping[str, Any]) -> Usage | None:
    given, made = count_or_none(a.get("gen_ai.response.prompt_tokens")), count_or_none(a.get("gen_ai.response.completion_tokens"))
    return None if given is None and made is None else Usage(input_tokens=given, output_tokens=made)


def _calls(logs: Sequence[LogRecord]) -> list[Mapping[str, Any]]:
    """AutoGen's model calls, in order; what a stream was asked with stands in the record of its start."""
    out: list[Mapping[str, Any]] = []
    started: Mapping[str, Any] = {}
    for record in logs:
        body = record.body
        if isinstance(body, str) and '"type": "LLM' in body:
            body = value_from_text(body)
        kind = body.get("type") if isinstance(body, Mapping) else None
        if not isinstance(body, Mapping) or kind not in _CALLS:
            continue
        if kind == "LLMStreamStart":
            started = body
        else:
            out.append({**started, **body} if kind == "LLMStreamEnd" else body)
            started = {}
    return out


def _content(evidence: Evidence, calls: Sequence[Mapping[str, Any]]) -> StepContent:
    """All model calls of a run: they stand on the run's span."""
    notes = evidence.notes("autogen_core.events")
    read = [_call(evidence, c, notes) for c in calls]
    last = read[-1]
    return StepContent(
        input=last.input,
        output=last.output,
        earlier=tuple(read[:-1]),
        tool_definitions=tool_definitions_of(evidence, calls[-1].get("tools"), notes),
        gaps=tuple(notes.gaps),
    )


def _call(evidence: Evidence, call: Mapping[str, Any], notes: Notes) -> StepContent:
    given, response = call.get("messages"), call.get("response")
    answer: tuple[Message, ...] = messages_from_value(response, "assistant", notes, evidence.ref) if response else ()
    return StepContent(input=messages_from_value(given, "user", notes, evidence.ref) if given else None, output=answer or None)
