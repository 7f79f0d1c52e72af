"""Codex CLI, Gemini CLI and Qwen Code: session events, and Gemini's own spans.

Codex tells prompts and tool runs (`codex.user_prompt`, `codex.tool_result` with arguments and output), never its answers. Gemini CLI
tells each model call in the conventions' details record (whose answers carry role `system`) and in `gemini_cli.api_response`; its spans
`llm_call`, `tool_call` and `schedule_tool_calls` hold the client's own request and response objects.

**Source**: @openai/codex 0.171.0 and @google/gemini-cli (both captured), google-gemini/gemini-cli `packages/core/src/telemetry`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import count_or_none, tool_definitions_of, usage_from
from otel_eval.dialects.session_logs import DETAILS, SessionEvent, session_events
from otel_eval.dialects.shapes.calls import arguments_from_value, result_from_value
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes, is_redacted
from otel_eval.dialects.shapes.text import text_or_none, unquoted, value_from_text
from otel_eval.model import Gap, GapReason, Message, Role, StepContent, StepKind, Text, ToolCall, ToolResult, Usage

_OPERATIONS: Mapping[str, StepKind] = {
    "llm_call": StepKind.INFERENCE,
    "tool_call": StepKind.TOOL,
    "agent_call": StepKind.AGENT,
    "schedule_tool_calls": StepKind.WRAPPER,
    "user_prompt": StepKind.WRAPPER,
    "system_prompt": StepKind.WRAPPER,
}
_EVENT_KINDS: Mapping[str, StepKind] = {
    "user_prompt": StepKind.AGENT,
    "tool_result": StepKind.TOOL,
    "tool_call": StepKind.TOOL,
    "api_request": StepKind.INFERENCE,
    "api_response": StepKind.INFERENCE,
    "api_error": StepKind.INFERENCE,
    "websocket_request": StepKind.INFERENCE,
    DETAILS: StepKind.INFERENCE,
}
_CLIENTS = ("codex.", "gemini_cli.", "qwen-code.")
_CONTEXT = re.compile(r"<(session_context|system-reminder|environment_context|user_instructions)>")
_TOKENS = (("input_token_count", "input_tokens"), ("output_token_count", "output_tokens"))


class CodingAgents:
    """Coding agents on the command line whose telemetry is a list of events."""

    info = DialectCard(
        name="coding_agents",
        version=1,
        sentence="Codex, Gemini and Qwen CLIs: events codex.*, gemini_cli.*, qwen-code.* by session.id or conversation.id; Gemini's spans.",
        source="@openai/codex 0.171.0, @google/gemini-cli packages/core/src/telemetry, QwenLM/qwen-code telemetry constants",
        detects=("event.name", "event:codex.", "event:gemini_cli.", "event:qwen-code.", "gen_ai.agent.description", "gen_ai.tool.call_id"),
        content=(
            "event:codex.user_prompt",
            "event:codex.tool_result",
            "event:gemini_cli.user_prompt",
            "event:gemini_cli.api_response",
            "event:gemini_cli.tool_call",
            f"event:{DETAILS}",
        ),
        lacks="Codex records no answer; Gemini's tool outputs stand in the next request or, with telemetry.traces, on tool_call spans.",
        switch='Codex: [otel] log_user_prompt = true; Gemini and Qwen: "telemetry": {"enabled": true, "logPrompts": true, "traces": true}',
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        events = session_events(evidence) if evidence.logs or evidence.events else []
        operation = _OPERATIONS.get(str(a.get("gen_ai.operation.name")))
        if operation is not None and a.get("gen_ai.agent.name") in ("gemini-cli", "qwen-code"):
            runs = [e for e in events if e.kind == "tool_call"]
            if operation is StepKind.WRAPPER and len(runs) == 1:
                return _events(evidence, runs)  # the scheduler's span of one tool run says whether it failed
            return _span(evidence, operation, events)
        if any(e.name.startswith(_CLIENTS) for e in events) or evidence.span.name == DETAILS:
            return _events(evidence, events)
        return None


CODING_AGENTS = CodingAgents()


def _span(evidence: Evidence, kind: StepKind, events: Sequence[SessionEvent]) -> Reading:
    a = evidence.attributes
    if kind is StepKind.WRAPPER:
        return Reading(kind=kind, alone=True)
    if kind is StepKind.TOOL:
        return Reading(
            kind=kind,
            tool_name=text_or_none(a.get("gen_ai.tool.name")),
            tool_call_id=text_or_none(a.get("gen_ai.tool.call_id")),
            is_error=True if _status(a.get("gen_ai.output.messages")) == "error" else None,
            content=lambda: _tool_span(evidence),
            alone=True,
        )
    return Reading(kind=kind, usage=usage_from(a), content=lambda: _model_call(evidence, [a, *(e.attributes for e in events)]), alone=True)


def _events(evidence: Evidence, events: Sequence[SessionEvent]) -> Reading | None:
    """A span of session events alone: a turn, a model call or a tool run."""
    kinds = {_EVENT_KINDS[e.kind] for e in events if e.kind in _EVENT_KINDS}
    if StepKind.AGENT in kinds or len(kinds) > 1 or evidence.span.name.endswith(".turn"):
        return Reading(kind=StepKind.AGENT, content=lambda: _turn(evidence, events), alone=True)
    if kinds == {StepKind.TOOL}:
        runs = [e for e in events if _EVENT_KINDS.get(e.kind) is StepKind.TOOL]
        if len(runs) > 1:
            return Reading(kind=StepKind.WRAPPER, alone=True)  # Gemini's scheduler: its tools have spans of their own
        a = runs[0].attributes
        return Reading(
            kind=StepKind.TOOL,
            tool_name=_tool_name(a),
            tool_call_id=text_or_none(a.get("call_id")),
            is_error=True if _failed(a) else None,
            content=lambda: _tool_event(evidence, a),
            alone=True,
        )
    if kinds == {StepKind.INFERENCE}:
        return _call_event(evidence, events)
    return None


def _call_event(evidence: Evidence, events: Sequence[SessionEvent]) -> Reading:
    merged: dict[str, Any] = {k: v for e in events for k, v in e.attributes.items() if v is not None}
    tells = any(k in merged for k in ("gen_ai.input.messages", "gen_ai.output.messages", "response_text", "request_text"))
    failed = any(e.kind == "api_error" for e in events)
    mute = not failed and any(e.name in ("codex.api_request", "codex.websocket_request") for e in events)
    return Reading(
        kind=StepKind.INFERENCE,
        model=text_or_none(merged.get("gen_ai.response.model")) or text_or_none(merged.get("model")),
        response_id=text_or_none(merged.get("gen_ai.response.id")),
        usage=_usage(merged),
        is_error=True if failed else None,
        content=(lambda: _model_call(evidence, [merged])) if tells else (lambda: _mute_answer(evidence)) if mute else None,
        alone=True,
    )


def _usage(a: Mapping[str, Any]) -> Usage | None:
    given, made = (next((n for k in names if (n := count_or_none(a.get(k))) is not None), None) for names in _TOKENS)
    return usage_from(a) or (None if given is None and made is None else Usage(input_tokens=given, output_tokens=made))


def _model_call(evidence: Evidence, places: Sequence[Mapping[str, Any]]) -> StepContent:
    notes = evidence.notes("gen_ai.input.messages")
    given = _messages(evidence, places, ("gen_ai.input.messages", "request_text"), "user", notes)
    notes.at = "gen_ai.output.messages"
    answer = _messages(evidence, places, ("gen_ai.output.messages", "response_text"), "assistant", notes)
    system = next((t for p in places if (t := _system(evidence, p.get("gen_ai.system_instructions"), notes))), None)
    definitions = next((p["gen_ai.tool.definitions"] for p in places if p.get("gen_ai.tool.definitions")), None)
    return StepContent(
        system=system,
        input=tuple(_without_context(m) for m in given) if given is not None else None,
        output=tuple(replace(m, role="assistant") if m.role == "system" else m for m in answer) if answer is not None else None,
        tool_definitions=tool_definitions_of(evidence, definitions, notes) if definitions else (),
        gaps=tuple(notes.gaps),
    )


def _mute_answer(evidence: Evidence) -> StepContent:
    """An answer was given; Codex never records its words. The tool runs that follow are its calls."""
    gap = Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="codex.api_request", source=evidence.ref)
    return StepContent(output=(Message(role="assistant", source=evidence.ref),), gaps=(gap,))


def _messages(
    evidence: Evidence, places: Sequence[Mapping[str, Any]], names: Sequence[str], role: Role, notes: Notes
) -> tuple[Message, ...] | None:
    for name in names:
        for place in places:
            value = place.get(name)
            if isinstance(value, str) and value:
                return _chunks(evidence, value_from_text(value, notes), role, notes)
    return None


def _chunks(evidence: Evidence, value: Any, role: Role, notes: Notes) -> tuple[Message, ...]:
    """Messages; of a list of response chunks each chunk's."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping) and "candidates" in value[0]:
        return tuple(m for chunk in value for m in messages_from_value(chunk, role, notes, evidence.ref))
    return messages_from_value(value, role, notes, evidence.ref)


def _system(evidence: Evidence, value: Any, notes: Notes) -> str | None:
    if not isinstance(value, str) or not value:
        return None
    if value[:1] == '"':
        return unquoted(value)
    texts = [m.text for m in messages_from_value(value, "system", notes, evidence.ref) if m.text]
    return "\n".join(texts) or None


def _without_context(message: Message) -> Message:
    """A user's message without what the client put before it (folders, date, rules)."""
    if message.role != "user" or len(message.parts) < 2:
        return message
    kept = tuple(p for p in message.parts if not (type(p) is Text and _CONTEXT.match(p.text)))
    return replace(message, parts=kept) if kept else message


def _status(value: Any) -> str | None:
    decoded = value_from_text(value) if isinstance(value, str) else value
    return text_or_none(decoded.get("status")) if isinstance(decoded, Mapping) else None


def _tool_span(evidence: Evidence) -> StepContent:
    """The scheduler's request and what came of it."""
    a = evidence.attributes
    notes = evidence.notes("gen_ai.input.messages")
    call_id, name = text_or_none(a.get("gen_ai.tool.call_id")), text_or_none(a.get("gen_ai.tool.name"))
    request = value_from_text(str(a.get("gen_ai.input.messages", "")), notes)
    arguments, raw = arguments_from_value(request.get("args"), notes) if isinstance(request, Mapping) else (None, None)
    made = value_from_text(str(a.get("gen_ai.output.messages", "")), notes)
    parts = (made.get("response") or {}).get("responseParts") if isinstance(made, Mapping) else None
    inner = next((p["functionResponse"] for p in parts if isinstance(p, Mapping) and "functionResponse" in p), None) if parts else None
    result = result_from_value(inner, notes) if isinstance(inner, Mapping) else None
    failed = _status(made) == "error"
    return StepContent(
        tool_call=ToolCall(id=call_id, name=name, arguments=arguments, raw=raw),
        tool_result=ToolResult(call_id=call_id, name=name, content=result.content, is_error=failed or result.is_error) if result else None,
        gaps=tuple(notes.gaps),
    )


def _tool_name(a: Mapping[str, Any]) -> str | None:
    """The tool's name; Codex writes the namespace of an MCP tool beside it."""
    name = text_or_none(a.get("function_name")) or text_or_none(a.get("tool_name"))
    space = text_or_none(a.get("tool_namespace"))
    return f"{space}__{name}" if name and space else name


def _failed(a: Mapping[str, Any]) -> bool:
    return str(a.get("success", "")).lower() == "false"


def _call(a: Mapping[str, Any], notes: Notes) -> ToolCall:
    given = next((a[k] for k in ("arguments", "function_args") if a.get(k) is not None), None)
    arguments, raw = arguments_from_value(given, notes) if given is not None else (None, None)
    return ToolCall(id=text_or_none(a.get("call_id")), name=_tool_name(a), arguments=arguments, raw=raw)


def _result(a: Mapping[str, Any]) -> ToolResult | None:
    content = next((t for k in ("output", "error", "error.message") if (t := text_or_none(a.get(k)))), None)
    if content is None and not _failed(a):
        return None
    return ToolResult(call_id=text_or_none(a.get("call_id")), name=_tool_name(a), content=content, is_error=_failed(a) or None)


def _tool_event(evidence: Evidence, a: Mapping[str, Any]) -> StepContent:
    notes = evidence.notes("arguments")
    return StepContent(tool_call=_call(a, notes), tool_result=_result(a), gaps=tuple(notes.gaps))


def _turn(evidence: Evidence, events: Sequence[SessionEvent]) -> StepContent:
    """The prompt of a turn; its model calls and tool runs have spans of their own."""
    notes = evidence.notes("event:user_prompt")
    prompts = [e.attributes.get("prompt") for e in events if e.kind == "user_prompt"]
    words = [p for p in prompts if isinstance(p, str) and p and not is_redacted(p)]
    if prompts and not words:
        notes.add(GapReason.REDACTED if any(prompts) else GapReason.CONTENT_NOT_CAPTURED)
    given = tuple(Message(role="user", parts=(Text(text=w),), source=evidence.ref) for w in words)
    return StepContent(input=given or None, gaps=tuple(notes.gaps))
