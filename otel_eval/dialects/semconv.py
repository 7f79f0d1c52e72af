"""OpenTelemetry GenAI semantic conventions, all content generations.

A: span events `gen_ai.content.prompt` / `.completion` (and the attributes `gen_ai.prompt` / `gen_ai.completion`), to v1.27.
B: one event a message, `gen_ai.{system,user,assistant,tool}.message` and `gen_ai.choice`, as log records or span events, v1.28 to v1.36.
C: `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions` on spans, on log records or span events
   `gen_ai.client.inference.operation.details`, v1.37 to today.
Several may stand on one span: attributes win over log records, those over span events; they are never mixed within one field.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.calls import content_from_result
from otel_eval.dialects.shapes.events import EVENT_ROLES, GenAIEvent, calls_of_events, genai_events, messages_from_events
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import GapReason, Message, StepContent, StepKind, Text, ToolCall, ToolResult
from otel_eval.model.freeze import constructor_of

DETAILS = "gen_ai.client.inference.operation.details"

OPERATIONS: Mapping[str, StepKind] = {
    **dict.fromkeys(
        (
            "chat",
            "generate_content",
            "text_completion",
            "fetch_response",
            "completion",
            "acompletion",
            "responses",
            "aresponses",
            "response",
            "message",
            "messages",
            "generate",
            "generate_text",
            "stream_text",
            "chat_completion",
            "llm",
            "inference",
            "converse",
            "invoke_model",
        ),
        StepKind.INFERENCE,
    ),
    "execute_tool": StepKind.TOOL,
    "tool": StepKind.TOOL,
    "tool_call": StepKind.TOOL,
    "invoke_agent": StepKind.AGENT,
    "agent": StepKind.AGENT,
    "invoke_workflow": StepKind.WORKFLOW,
    "handle_conversation_turn": StepKind.WORKFLOW,
    "workflow": StepKind.WORKFLOW,
    "create_agent": StepKind.OTHER,
    "embeddings": StepKind.EMBEDDINGS,
    "embedding": StepKind.EMBEDDINGS,
    "retrieval": StepKind.RETRIEVAL,
    "rerank": StepKind.RETRIEVAL,
    "evaluation": StepKind.EVALUATION,
    "evaluate": StepKind.EVALUATION,
    **dict.fromkeys(("plan", "execute_task", "execute_event_loop_cycle", "task", "framework", "chain"), StepKind.WRAPPER),
}
"""`gen_ai.operation.name` to kind; behind the convention's own values, those that producers were seen to write."""


class Semconv:
    """The conventions themselves, and every instrumentation that keeps to them."""

    info = DialectCard(
        name="otel_genai",
        version=1,
        sentence=(
            "OpenTelemetry GenAI conventions, generations A (v1.26–1.27), B (v1.28–1.36) and C (v1.37 to today), on "
            "attributes, span events or logs."
        ),
        source="open-telemetry/semantic-conventions v1.26–v1.44, open-telemetry/semantic-conventions-genai main",
        detects=("gen_ai.",),
        content=(
            "gen_ai.input.messages",
            "gen_ai.output.messages",
            "gen_ai.system_instructions",
            "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result",
            f"event:{DETAILS}",
            "event:gen_ai.{system,user,assistant,tool}.message",
            "event:gen_ai.choice",
            "event:gen_ai.content.{prompt,completion}",
        ),
        lacks=(
            "Generation B loses the text of an assistant message with tool calls in some instrumentations; EVENT_ONLY "
            "records no tool arguments."
        ),
        switch="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT (older packages: true)",
        conversation_ids=("gen_ai.conversation.id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names) or any(n.startswith("event:gen_ai.") for n in names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        op = a.get("gen_ai.operation.name")
        kind = OPERATIONS.get(op.lower()) if isinstance(op, str) else None
        if kind is None:
            kind = self._kind_without_operation(evidence, op)
        if kind is None and not evidence.logs and not evidence.events:
            return None
        get = a.get  # most of these are absent on most spans: a look first, the reading only where there is something
        finish, status = get("gen_ai.response.finish_reasons"), get("gen_ai.tool.status")
        agent, tool, call_id = get("gen_ai.agent.name"), get("gen_ai.tool.name"), get("gen_ai.tool.call.id")
        response, previous = get("gen_ai.response.id"), get("gen_ai.request.previous_response.id")
        agent_name = text_or_none(agent) if agent is not None else None
        if agent_name is None and op == "invoke_workflow":
            agent_name = text_or_none(get("gen_ai.workflow.name"))
        return Reading(
            kind=kind,
            agent_name=agent_name,
            tool_name=text_or_none(tool) if tool is not None else None,
            tool_call_id=text_or_none(call_id) if call_id is not None else None,
            response_id=text_or_none(response) if response is not None else None,
            previous_response_id=text_or_none(previous) if previous is not None else None,
            model=text_or_none(get("gen_ai.response.model")) or text_or_none(get("gen_ai.request.model")),
            provider=text_or_none(get("gen_ai.provider.name")) or text_or_none(get("gen_ai.system")),
            finish_reasons=_finish_reasons(finish) if finish is not None else (),
            usage=usage_from(a),
            is_error=True if isinstance(status, str) and status.lower() in ("error", "failed") else None,
            content=(lambda: _content(evidence, kind)),
        )

    def _kind_without_operation(self, evidence: Evidence, op: Any) -> StepKind | None:
        """The kind by the attributes that are there: tool, then model call, then agent."""
        a = evidence.attributes
        if "gen_ai.tool.name" in a or "gen_ai.tool.call.id" in a:
            return StepKind.TOOL
        if "gen_ai.evaluation.name" in a:
            return StepKind.EVALUATION
        speaks = (
            any(k in a for k in ("gen_ai.input.messages", "gen_ai.output.messages"))
            or any(e.name in EVENT_ROLES or e.name == DETAILS for e in evidence.events)
            or any(r.event_name in EVENT_ROLES or r.event_name == DETAILS for r in evidence.logs)
        )
        modelled = any(k in a for k in ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.response.id"))
        if modelled and (speaks or op is not None or _has_tokens(a)):
            return StepKind.INFERENCE
        if "gen_ai.agent.name" in a and not modelled:
            return StepKind.AGENT
        if speaks:
            return StepKind.INFERENCE if not isinstance(op, str) else StepKind.WRAPPER
        return StepKind.WRAPPER if isinstance(op, str) else None


def _has_tokens(a: Mapping[str, Any]) -> bool:
    return any(k.startswith("gen_ai.usage.") for k in a) or "gen_ai.system" in a or "gen_ai.provider.name" in a


def _finish_reasons(value: Any) -> tuple[str, ...]:
    """As list, JSON text of one, or a single text."""
    if type(value) is list and len(value) == 1 and type(value[0]) is str and value[0]:
        return (value[0],)
    if isinstance(value, str):
        value = value_from_text(value)
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(str(v) for v in items if v not in (None, ""))


_step_content = constructor_of(StepContent)
_tool_result = constructor_of(ToolResult)


def _content(evidence: Evidence, kind: StepKind | None) -> StepContent:
    notes = evidence.notes()
    if kind is StepKind.TOOL:
        return _tool_content(evidence, notes)
    places = [evidence.attributes, *_details(evidence)] if evidence.logs or evidence.events else [evidence.attributes]
    system = _first_system(evidence, places, notes)
    given = _first_messages(evidence, places, "gen_ai.input.messages", "user", notes)
    answer = _first_messages(evidence, places, "gen_ai.output.messages", "assistant", notes)
    earlier: tuple[StepContent, ...] = ()
    if given is None or answer is None:
        *before, (told, chosen) = _from_events(evidence, notes)
        if given is None and answer is None:
            earlier = tuple(StepContent(input=i, output=o) for i, o in before)
        given = given if given is not None else told
        answer = answer if answer is not None else chosen
    if given is None and ("gen_ai.input.messages_ref" in evidence.attributes or "gen_ai.output.messages_ref" in evidence.attributes):
        notes.add(GapReason.CONTENT_EXTERNAL, "gen_ai.input.messages_ref")
    tool_definitions = _definitions(evidence, places, notes)
    return _step_content(system, given, answer, None, None, tool_definitions, earlier, tuple(notes.gaps))


def _details(evidence: Evidence) -> list[Mapping[str, Any]]:
    """The attributes of details events, log records before span events; several on one span count as one."""
    out: list[Mapping[str, Any]] = []
    for record in evidence.logs:
        if record.event_name == DETAILS:
            body = record.body if isinstance(record.body, dict) else {}
            out.append({**body, **record.attributes})
    merged: dict[str, Any] = {}
    for event in evidence.events:
        if event.name == DETAILS:
            merged.update(event.attributes)
    if merged:
        out.append(merged)
    return out


def _first_messages(
    evidence: Evidence, places: Sequence[Mapping[str, Any]], key: str, role: Any, notes: Notes
) -> tuple[Message, ...] | None:
    if len(places) == 1:
        return evidence.messages(places[0].get(key), role, notes, key)
    best: tuple[Message, ...] | None = None
    for place in places:
        value = place.get(key)
        if value is None:
            continue
        tried = evidence.notes(key)
        found = evidence.messages(value, role, tried, key)
        if found is None:
            continue
        if not tried.truncated:
            notes.gaps.extend(g for g in tried.gaps if g not in notes.gaps)
            return found
        if best is None:
            best = found
            notes.gaps.extend(tried.gaps)
    return best


def _first_system(evidence: Evidence, places: Iterable[Mapping[str, Any]], notes: Notes) -> str | None:
    for place in places:
        value = place.get("gen_ai.system_instructions")
        if value is None:
            continue
        found = evidence.messages(value, "system", notes, "gen_ai.system_instructions")
        texts = [m.text for m in found or () if m.text]
        if texts:
            return "\n".join(texts)
    return None


def _definitions(evidence: Evidence, places: Iterable[Mapping[str, Any]], notes: Notes) -> tuple[Mapping[str, Any], ...]:
    for place in places:
        value = place.get("gen_ai.tool.definitions")
        if value is not None:
            notes.at = "gen_ai.tool.definitions"
            return tool_definitions_of(evidence, value, notes)
    return ()


_Sides = tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]


def _from_events(evidence: Evidence, notes: Notes) -> list[_Sides]:
    """(input, output) of generations B and A, one for each model call told on the span: log records if any, else span events."""
    for events in (genai_events(evidence.logs), genai_events(evidence.events)):
        if events:
            return [messages_from_events(call, notes, evidence.ref) for call in calls_of_events(events)]
    a = evidence.attributes
    given = evidence.messages(a.get("gen_ai.prompt"), "user", notes, "gen_ai.prompt") if isinstance(a.get("gen_ai.prompt"), str) else None
    completion = a.get("gen_ai.completion")
    answer = evidence.messages(completion, "assistant", notes, "gen_ai.completion") if isinstance(completion, str) else None
    return [(given, answer)]


def _tool_content(evidence: Evidence, notes: Notes) -> StepContent:
    """Call and result of an execute_tool span: its attributes, else what its events tell."""
    a = evidence.attributes
    call_id, name = text_or_none(a.get("gen_ai.tool.call.id")), text_or_none(a.get("gen_ai.tool.name"))
    notes.at = "gen_ai.tool.call.arguments"
    given = a.get("gen_ai.tool.call.arguments")
    call = tool_call_of_span(call_id, name, given, notes) if given is not None else ToolCall(id=call_id, name=name)
    raw = a.get("gen_ai.tool.call.result")
    notes.at = "gen_ai.tool.call.result"
    content, is_error = content_of_result(raw, notes) if raw is not None else (None, None)
    if call.arguments is None or content is None:
        told_call, told_result = _tool_from_events(evidence, notes)
        if call.arguments is None and told_call is not None:
            call = ToolCall(
                id=call_id or told_call.id, name=name or told_call.name, arguments=told_call.arguments, raw=told_call.raw or call.raw
            )
        if content is None and told_result is not None:
            content, is_error = told_result.content, told_result.is_error
    result = _tool_result(call_id, name, content, is_error) if content is not None else None
    return _step_content(None, None, None, call, result, (), (), tuple(notes.gaps))


def _tool_from_events(evidence: Evidence, notes: Notes) -> tuple[ToolCall | None, ToolResult | None]:
    """Strands and others: the call as `gen_ai.tool.message` or an input message, the result as `gen_ai.choice` or an output message."""
    call: ToolCall | None = None
    result: ToolResult | None = None
    places = [evidence.attributes, *_details(evidence)]
    for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
        for message in _first_messages(evidence, places, key, "tool", notes) or ():
            call = call or next(iter(message.tool_calls), None)
            result = result or message.tool_result
    for event in (*genai_events(evidence.logs), *genai_events(evidence.events)):
        if event.name == "gen_ai.tool.message" and call is None:
            call = tool_call_of_span(event.call_id, None, event.content, notes)
        elif event.name == "gen_ai.choice" and result is None:
            content, is_error = _choice_result(event, notes)
            result = ToolResult(call_id=event.call_id, content=content, is_error=is_error) if content is not None else None
    return call, result


def _choice_result(event: GenAIEvent, notes: Notes) -> tuple[str | None, bool | None]:
    value = value_from_text(event.content) if isinstance(event.content, str) else event.content
    if isinstance(value, list):
        return content_from_result(value, notes)
    texts = [p.text for m in messages_from_events([event], notes, None)[1] or () for p in m.parts if type(p) is Text]
    return ("\n".join(texts) if texts else None), None


SEMCONV = Semconv()
