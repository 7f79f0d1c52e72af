"""Pydantic AI instrumentation versions 1 to 6 and Logfire: what stands beside the GenAI conventions.

Version 1 writes generation B events as one JSON array (`events`, on the root `all_messages_events`) or as log records whose name is the
attribute `event.name`; from 2 on the conventions' attributes, and `pydantic_ai.all_messages` on the root. Tool spans of 1 and 2 have
`tool_arguments` / `tool_response`. Logfire's own instrumentations write `request_data` / `response_data`.

**Source**: pydantic/pydantic-ai `models/instrumented.py`, 0.2 to 2.68; pydantic/logfire `integrations/llm_providers`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.events import events_from_list, messages_from_events
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, Part, StepContent, StepKind, ToolCall, ToolResult


class PydanticAI:
    """Pydantic AI and Logfire."""

    info = DialectCard(
        name="pydantic_ai",
        version=1,
        sentence=(
            "Pydantic AI instrumentation versions 1 to 6 and Logfire: events arrays, all_messages, tool_arguments / "
            "tool_response, request_data."
        ),
        source="pydantic/pydantic-ai models/instrumented.py 0.2–2.68, pydantic/logfire integrations",
        detects=(
            "events",
            "all_messages_events",
            "all_messages",
            "pydantic_ai.all_messages",
            "tool_arguments",
            "tool_response",
            "request_data",
            "response_data",
            "final_result",
            "agent_name",
        ),
        content=(
            "events",
            "all_messages_events",
            "pydantic_ai.all_messages",
            "tool_arguments",
            "tool_response",
            "request_data",
            "response_data",
        ),
        lacks="include_content=False keeps roles, part types, names and ids without words.",
        switch="InstrumentationSettings(include_content=True) (the default)",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = _kind(a, evidence.span.name)
        if kind is None:
            return None
        return Reading(
            kind=kind,
            agent_name=text_or_none(a.get("agent_name")) if kind is StepKind.AGENT else None,
            tool_name=text_or_none(a.get("gen_ai.tool.name")) if kind is StepKind.TOOL else None,
            usage=usage_from(a) if kind is StepKind.INFERENCE else None,
            content=(lambda: _content(evidence, kind)),
        )


def _kind(a: Mapping[str, Any], name: str) -> StepKind | None:
    if ("tool_arguments" in a or "tool_response" in a) and "gen_ai.request.model" not in a:
        return StepKind.TOOL
    if any(k in a for k in ("pydantic_ai.all_messages", "all_messages_events", "all_messages", "final_result")):
        return StepKind.AGENT
    if "request_data" in a or "response_data" in a:
        return StepKind.INFERENCE
    if "events" in a and events_from_list(a["events"]):
        return StepKind.INFERENCE
    return StepKind.AGENT if "agent_name" in a and name.startswith(("agent run", "invoke_agent")) else None


def _content(evidence: Evidence, kind: StepKind) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes()
    if kind is StepKind.TOOL:
        return _tool(a, notes)
    if kind is StepKind.AGENT:
        return _run(evidence, notes)
    if "events" in a:
        given, answer = messages_from_events(events_from_list(a["events"]), notes, evidence.ref)
        if evidence.span.scope.name == "logfire.anthropic":
            given, answer = _unwrapped_input(given), _unwrapped_input(answer)
        return StepContent(input=given, output=answer, gaps=tuple(notes.gaps))
    request = evidence.messages(a.get("request_data"), "user", notes, "request_data") if _holds_messages(a.get("request_data")) else None
    answer = _response(evidence, notes)
    return StepContent(input=request, output=answer, tool_definitions=_tools(evidence, notes), gaps=tuple(notes.gaps))


def _run(evidence: Evidence, notes: Notes) -> StepContent:
    """A run's whole history as input; its last answer is the last message of it."""
    a = evidence.attributes
    found: tuple[Message, ...] | None
    if "all_messages_events" in a:
        given, answer = messages_from_events(events_from_list(a["all_messages_events"]), notes, evidence.ref)
        found = (*(given or ()), *(answer or ()))
    else:
        found = evidence.messages(a.get("pydantic_ai.all_messages", a.get("all_messages")), "user", notes, "pydantic_ai.all_messages")
    if not found:
        return StepContent(gaps=tuple(notes.gaps))
    last = found[-1:] if found[-1].role == "assistant" else ()
    return StepContent(input=found[: len(found) - len(last)], output=last or None, gaps=tuple(notes.gaps))


def _holds_messages(value: Any) -> bool:
    """Whether Logfire's request_data holds the request's messages (since version 2 only the model's name)."""
    return isinstance(value, str) and any(f'"{k}"' in value for k in ("messages", "input", "prompt", "contents"))


def _unwrapped_input(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Logfire's Anthropic events put a call's arguments into {"input": …}."""
    if not messages:
        return messages

    def opened(part: Part) -> Part:
        if (
            type(part) is ToolCall
            and part.arguments is not None
            and set(part.arguments) == {"input"}
            and isinstance(part.arguments["input"], dict)
        ):
            return replace(part, arguments=part.arguments["input"])
        return part

    return tuple(replace(m, parts=tuple(opened(p) for p in m.parts)) if m.tool_calls else m for m in messages)


def _response(evidence: Evidence, notes: Notes) -> tuple[Message, ...] | None:
    """Logfire's response_data: {message: {...}}, {combined_chunk_content: text}, or Responses items."""
    value = evidence.attributes.get("response_data")
    data = value_from_text(value, notes) if isinstance(value, str) else value
    notes.at = "response_data"
    if isinstance(data, Mapping) and isinstance(data.get("combined_chunk_content"), str) and not data.get("message"):
        data = {"role": "assistant", "content": data["combined_chunk_content"]}
    found = messages_from_value(data, "assistant", notes, notes.source) if data else None
    return _unwrapped_input(found) if evidence.span.scope.name == "logfire.anthropic" else found


def _tools(evidence: Evidence, notes: Notes) -> tuple[Mapping[str, Any], ...]:
    value = evidence.attributes.get("request_data")
    data = value_from_text(value) if isinstance(value, str) else value
    tools = data.get("tools") if isinstance(data, Mapping) else None
    return tool_definitions_of(evidence, tools, notes) if tools else ()


def _tool(a: Mapping[str, Any], notes: Notes) -> StepContent:
    call_id, name = text_or_none(a.get("gen_ai.tool.call.id")), text_or_none(a.get("gen_ai.tool.name"))
    notes.at = "tool_arguments"
    call = tool_call_of_span(call_id, name, a.get("tool_arguments"), notes)
    notes.at = "tool_response"
    out = a.get("tool_response")
    content, is_error = content_of_result(out, notes) if out is not None else (None, None)
    result = ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


PYDANTIC_AI = PydanticAI()
