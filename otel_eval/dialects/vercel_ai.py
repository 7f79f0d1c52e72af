"""Vercel AI SDK 4 to 6, and the legacy mode of 7: `ai.*` attributes. (From 7 on the default is the GenAI conventions.)

**Source**: vercel/ai `packages/ai/src/telemetry`, versions 4.3, 5.0, 6.0, 7.0.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, StepContent, StepKind, ToolResult

_OUTER = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")
_EMBED = ("ai.embed", "ai.embedMany", "ai.rerank")


class VercelAI:
    """The `ai` package's own telemetry."""

    info = DialectCard(
        name="vercel_ai",
        version=1,
        sentence="Vercel AI SDK 4 to 7 (legacy telemetry): ai.prompt.messages, ai.response.*, ai.toolCall.*.",
        source="vercel/ai packages/ai/src/telemetry, 4.3 to 7.0",
        detects=("ai.operationId", "ai.prompt", "ai.prompt.", "ai.response.", "ai.toolCall.", "ai.model.", "ai.telemetry.", "ai.settings."),
        content=("ai.prompt.messages", "ai.prompt", "ai.response.text", "ai.response.toolCalls", "ai.toolCall.args", "ai.toolCall.result"),
        lacks="Version 4 marks no failed tool; tool spans of 4 carry no conversation id.",
        switch="experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }",
        conversation_ids=(
            "ai.telemetry.metadata.conversationId",
            "ai.telemetry.metadata.sessionId",
            "ai.telemetry.metadata.threadId",
            "ai.telemetry.metadata.chatId",
            "ai.telemetry.metadata.session_id",
            "ai.telemetry.metadata.conversation_id",
            "ai.telemetry.metadata.thread_id",
            "ai.settings.context.sessionId",
            "ai.settings.context.conversationId",
            "ai.settings.context.threadId",
            "ai.settings.context.chatId",
        ),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        operation = str(a.get("ai.operationId") or a.get("operation.name") or "").split(" ")[0]
        kind = _kind(operation, a)
        if kind is None:
            return None
        return Reading(
            kind=kind,
            agent_name=text_or_none(a.get("ai.telemetry.functionId")) if kind is StepKind.AGENT else None,
            tool_name=text_or_none(a.get("ai.toolCall.name")),
            tool_call_id=text_or_none(a.get("ai.toolCall.id")),
            response_id=text_or_none(a.get("ai.response.id")) if kind is StepKind.INFERENCE else None,
            model=text_or_none(a.get("ai.response.model")) or text_or_none(a.get("ai.model.id")),
            provider=text_or_none(a.get("ai.model.provider")),
            finish_reasons=(str(a["ai.response.finishReason"]),) if a.get("ai.response.finishReason") else (),
            usage=usage_from(a) if kind is StepKind.INFERENCE else None,
            content=(lambda: _content(evidence, kind)),
        )


def _kind(operation: str, a: Mapping[str, Any]) -> StepKind | None:
    if operation == "ai.toolCall" or "ai.toolCall.name" in a:
        return StepKind.TOOL
    if ".do" in operation:
        return StepKind.EMBEDDINGS if operation.startswith(_EMBED) else StepKind.INFERENCE
    if operation.startswith(_EMBED):
        return StepKind.EMBEDDINGS
    if operation.startswith(_OUTER):
        return StepKind.AGENT
    if "ai.prompt.messages" in a:
        return StepKind.INFERENCE
    if "ai.prompt" in a or "ai.response.text" in a:
        return StepKind.AGENT
    return None


def _content(evidence: Evidence, kind: StepKind) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes()
    if kind is StepKind.TOOL:
        return _tool(a, notes)
    given = evidence.messages(a.get("ai.prompt.messages"), "user", notes, "ai.prompt.messages")
    if given is None:
        given = _prompt(evidence, notes)
    tools = a.get("ai.prompt.tools")
    notes.at = "ai.prompt.tools"
    definitions = tool_definitions_of(evidence, tools, notes) if tools is not None else ()
    return StepContent(input=given, output=_answer(a, notes), tool_definitions=definitions, gaps=tuple(notes.gaps))


def _prompt(evidence: Evidence, notes: Notes) -> tuple[Message, ...] | None:
    """`ai.prompt` of an outer span: JSON of {system, prompt} or {system, messages}."""
    return evidence.messages(evidence.attributes.get("ai.prompt"), "user", notes, "ai.prompt")


def _answer(a: Mapping[str, Any], notes: Notes) -> tuple[Message, ...] | None:
    text = a.get("ai.response.text", a.get("ai.result.text"))
    calls = a.get("ai.response.toolCalls", a.get("ai.result.toolCalls"))
    made = a.get("ai.response.object", a.get("ai.result.object"))
    reasoning = a.get("ai.response.reasoning")
    if text is None and calls is None and made is None:
        return None
    notes.at = "ai.response"
    parts: list[Any] = [{"type": "reasoning", "content": reasoning}] if isinstance(reasoning, str) and reasoning else []
    if isinstance(text, str) and text:
        parts.append({"type": "text", "text": text})
    elif made is not None and not calls:
        parts.append({"type": "text", "text": made if isinstance(made, str) else str(made)})
    listed = value_from_text(calls, notes) if isinstance(calls, str) else calls
    for call in listed if isinstance(listed, list) else ():
        if isinstance(call, Mapping):
            parts.append({"type": "tool_call", **{k: v for k, v in call.items() if k not in ("type", "toolCallType")}})
    return messages_from_value([{"role": "assistant", "content": parts}], "assistant", notes, notes.source)


def _tool(a: Mapping[str, Any], notes: Notes) -> StepContent:
    call_id, name = text_or_none(a.get("ai.toolCall.id")), text_or_none(a.get("ai.toolCall.name"))
    notes.at = "ai.toolCall.args"
    call = tool_call_of_span(call_id, name, a.get("ai.toolCall.args", a.get("ai.toolCall.input")), notes)
    notes.at = "ai.toolCall.result"
    out = a.get("ai.toolCall.result", a.get("ai.toolCall.output"))
    content, is_error = content_of_result(out, notes) if out is not None else (None, None)
    result = ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


VERCEL_AI = VercelAI()
