"""Google ADK's own attributes: `gcp.vertex.agent.*` (the default before 2.x, beside the conventions after it).

**Source**: google/adk-python `telemetry/tracing.py`, 1.0 to 2.13.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of
from otel_eval.dialects.shapes.calls import content_from_result
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, StepContent, StepKind, ToolResult

_REQUEST, _RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
_ARGS, _TOOL_RESPONSE = "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"
_MERGED = "(merged tools)"
_EMPTY = frozenset({"", "{}", "N/A", "<not specified>", "<not serializable>"})


class ADK:
    """Google's Agent Development Kit."""

    info = DialectCard(
        name="adk",
        version=1,
        sentence="Google ADK: gcp.vertex.agent.llm_request / llm_response, tool_call_args / tool_response, session_id.",
        source="google/adk-python telemetry/tracing.py 1.0–2.13",
        detects=("gcp.vertex.agent.",),
        content=(_REQUEST, _RESPONSE, _ARGS, _TOOL_RESPONSE),
        lacks="A transfer shows what another agent did as a user message; the span of merged tools is no call.",
        switch=(
            "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true (the default); "
            "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT for the conventions"
        ),
        conversation_ids=("gcp.vertex.agent.session_id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        if a.get("gen_ai.tool.name") == _MERGED or evidence.span.name.endswith(_MERGED) or evidence.span.name == "execute_tool (merged)":
            return Reading(kind=StepKind.WRAPPER)
        if _ARGS in a or _TOOL_RESPONSE in a:
            if _filled(a, _ARGS) or _filled(a, _TOOL_RESPONSE):
                return Reading(kind=StepKind.TOOL, content=lambda: _tool(a, evidence.notes()))
            return Reading(kind=StepKind.TOOL if "gen_ai.tool.name" in a or evidence.span.name.startswith("execute_tool") else None)
        if _REQUEST in a or _RESPONSE in a:
            filled = _filled(a, _REQUEST) or _filled(a, _RESPONSE)
            response_id = text_or_none(a.get("gcp.vertex.agent.event_id"))
            return Reading(kind=StepKind.INFERENCE, response_id=response_id, content=(lambda: _content(evidence)) if filled else None)
        return None


def _filled(a: Mapping[str, Any], key: str) -> bool:
    return isinstance(a.get(key), str) and a[key] not in _EMPTY


def _content(evidence: Evidence) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes(_REQUEST)
    raw = a.get(_REQUEST)
    request = value_from_text(raw, notes) if isinstance(raw, str) else raw
    given = messages_from_value(request, "user", notes, evidence.ref) if isinstance(request, Mapping) and request else None
    config = request.get("config") if isinstance(request, Mapping) else None
    tools = config.get("tools") if isinstance(config, Mapping) else None
    notes.at = _RESPONSE
    definitions = tool_definitions_of(evidence, tools, notes) if tools else ()
    return StepContent(input=given, output=_answer(a.get(_RESPONSE), notes), tool_definitions=definitions, gaps=tuple(notes.gaps))


def _answer(raw: Any, notes: Notes) -> tuple[Message, ...] | None:
    value = value_from_text(raw, notes) if isinstance(raw, str) else raw
    content = value.get("content") if isinstance(value, Mapping) else None
    return messages_from_value(content, "assistant", notes, notes.source) if content else None


def _tool(a: Mapping[str, Any], notes: Notes) -> StepContent:
    call_id, name = text_or_none(a.get("gen_ai.tool.call.id")), text_or_none(a.get("gen_ai.tool.name"))
    notes.at = _ARGS
    call = tool_call_of_span(call_id, name, a.get(_ARGS) if _filled(a, _ARGS) or a.get(_ARGS) == "{}" else None, notes)
    notes.at = _TOOL_RESPONSE
    raw = a.get(_TOOL_RESPONSE) if _filled(a, _TOOL_RESPONSE) else None
    content, is_error = content_from_result(raw, notes)
    result = ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


GOOGLE_ADK = ADK()
