"""AWS Distro for OpenTelemetry (Bedrock AgentCore): what other instrumentations wrote as attributes, moved into one log record a span.

The distribution takes large texts (`input.value`, `llm.input_messages.N.message.content`, `gen_ai.prompt.N.content`, Strands' events, …)
out of the spans and writes `{"input": {"messages": […]}, "output": {"messages": […]}}`, each message a role and the text that stood there.
The record has the span's ids; its event name is the name of the span's instrumentation scope. Whole requests come before their single
messages.

**Source**: aws-observability/aws-otel-python-instrumentation `llo_handler.py`, 0.10 to 0.14.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.calls import content_from_result
from otel_eval.dialects.shapes.messages import ROLES, content_of_result
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import first_present, text_or_none, value_from_text
from otel_eval.model import Message, Role, StepContent, StepKind, ToolResult

_TELLING = (
    "openinference.span.kind",
    "gen_ai.operation.name",
    "gen_ai.system",
    "gen_ai.provider.name",
    "traceloop.span.kind",
    "llm.request.type",
)


class AdotEvents:
    """Only says where the words are; what a span is, its own attributes tell, else the shape of its output."""

    info = DialectCard(
        name="aws_adot",
        version=1,
        sentence="AWS Distro for OpenTelemetry: texts of any instrumentation in one log record {input: {messages}, output: …} a span.",
        source="aws-observability/aws-otel-python-instrumentation llo_handler.py 0.10–0.14",
        detects=(
            "event:openinference.instrumentation.",
            "event:opentelemetry.instrumentation.",
            "event:strands.",
            "event:openlit.",
            "event:traceloop.",
            "event:crewai.",
        ),
        content=("log body input.messages", "log body output.messages"),
        lacks="Tool calls of indexed messages stay on the span without their words.",
        switch="AGENT_OBSERVABILITY_ENABLED=true",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        body = _body(evidence)
        if body is None:
            return None
        guessed = None if any(k in evidence.attributes for k in _TELLING) else _kind_of(body)
        told = _tool_message(body) if guessed is StepKind.TOOL else {}
        return Reading(
            kind=guessed,
            tool_name=text_or_none(told.get("name")),
            tool_call_id=text_or_none(told.get("tool_call_id")),
            content=lambda: _content(evidence, body),
        )


def _body(evidence: Evidence) -> Mapping[str, Any] | None:
    """The record's body; None where no record is of this form."""
    for record in evidence.logs:
        body = record.body
        if isinstance(body, Mapping) and set(body) <= {"input", "output"} and (_items(body, "input") or _items(body, "output")):
            return body
    return None


def _items(body: Mapping[str, Any], side: str) -> list[tuple[Role | None, Any]]:
    """(role, what stood there) of one side; Strands' texts stand one deeper."""
    held = body.get(side)
    listed = held.get("messages") if isinstance(held, Mapping) else None
    out: list[tuple[Role | None, Any]] = []
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping):
            content = item.get("content")
            if isinstance(content, Mapping):
                content = first_present(dict(content), "content", "message", "tool.result") or content
            out.append((ROLES.get(str(item.get("role")).lower()), content))
    return out


def _kind_of(body: Mapping[str, Any]) -> StepKind:
    """What the outputs of LangChain's runs tell: a model's generations, a tool's message, or a chain's state."""
    text = next((c for _, c in _items(body, "output") if isinstance(c, str)), "")
    if text.startswith(('{"generations"', '{"choices"')):
        return StepKind.INFERENCE
    return StepKind.TOOL if _tool_message(body) else StepKind.WRAPPER


def _tool_message(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tool message that an output is; empty where it is none."""
    for _, content in _items(body, "output"):
        value = value_from_text(content) if isinstance(content, str) and "tool_call_id" in content[:100_000] else None
        if isinstance(value, Mapping) and "tool_call_id" in value and "content" in value:
            return value
    return {}


def _content(evidence: Evidence, body: Mapping[str, Any]) -> StepContent:
    notes = evidence.notes("body")
    if (evidence.kind or _kind_of(body)) is StepKind.TOOL:
        return _tool(body, notes)
    given = _messages(evidence, _items(body, "input"), "user", notes)
    answer = _messages(evidence, _items(body, "output"), "assistant", notes)
    return StepContent(input=given, output=answer, gaps=tuple(notes.gaps))


def _messages(evidence: Evidence, items: Sequence[tuple[Role | None, Any]], role: Role, notes: Notes) -> tuple[Message, ...] | None:
    """The messages of one side: of a whole request (or answer) and the single messages behind it what says more; repetitions once."""
    if not items:
        return None
    read = [evidence.messages(content, told or role, notes) or () for told, content in items]
    single = tuple(m for messages in read[1:] for m in messages)
    if single and _is_whole(items[0][1]):
        return read[0] if len(read[0]) >= len(single) or any(m.tool_calls for m in read[0]) else single
    found: list[Message] = []
    for message in (*read[0], *single):
        if not found or message.text is None or (message.role, message.text) != (found[-1].role, found[-1].text):
            found.append(message)
    return tuple(found)


def _is_whole(content: Any) -> bool:
    """Whether a text is the JSON of a request or answer, or of a list of messages, rather than words or the blocks of one message."""
    value = value_from_text(content) if isinstance(content, str) and content[:1] in ("{", "[") else None
    if isinstance(value, list):
        return any(isinstance(item, Mapping) and "role" in item for item in value)
    return isinstance(value, Mapping)


def _tool(body: Mapping[str, Any], notes: Notes) -> StepContent:
    told = _tool_message(body)
    call_id, name = text_or_none(told.get("tool_call_id")), text_or_none(told.get("name"))
    raw = next((content for _, content in _items(body, "input")), None)
    out = next((content for _, content in _items(body, "output")), None)
    content, is_error = content_from_result(dict(told), notes) if told else content_of_result(out, notes)
    return StepContent(
        tool_call=tool_call_of_span(call_id, name, raw, notes),
        tool_result=ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None,
        gaps=tuple(notes.gaps),
    )


AWS_ADOT = AdotEvents()
