"""Generations A and B: one event a message, whether it came as log record or as span event.

Carriers seen: log body (`{content, tool_calls, id}`), span event attributes `content`, `message`, `tool.result` (Strands),
`gen_ai.event.content`
(Azure SDKs, Semantic Kernel), `gen_ai.prompt` / `gen_ai.completion` (generation A, OpenLIT), and JSON arrays of events (Pydantic AI,
Logfire).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import first_present, text_or_none, value_from_text
from otel_eval.model import LogRecord, Message, Role, SpanEvent, SpanRef

EVENT_ROLES: Mapping[str, Role] = {
    "gen_ai.system.message": "system",
    "gen_ai.developer.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.tool.developer": "system",  # Semantic Kernel for .NET
    "gen_ai.function.message": "tool",
    "gen_ai.choice": "assistant",
    "gen_ai.content.prompt": "user",
    "gen_ai.content.completion": "assistant",
}
_OUTPUTS = frozenset({"gen_ai.choice", "gen_ai.content.completion"})
_CARRIERS = ("content", "message", "gen_ai.event.content", "gen_ai.prompt", "gen_ai.completion", "event_body", "body")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenAIEvent:
    """One message event: its name and the body as an object."""

    name: str
    body: Mapping[str, Any]

    @property
    def content(self) -> Any:
        return first_present(dict(self.body), "content", "message")

    @property
    def call_id(self) -> str | None:
        return text_or_none(first_present(dict(self.body), "id", "tool_call_id"))


def genai_events(items: Sequence[LogRecord | SpanEvent]) -> list[GenAIEvent]:
    """The message events among log records or span events, in the order of their times, then of arrival."""
    found: list[tuple[tuple[int, int], GenAIEvent]] = []
    for place, item in enumerate(items):
        if isinstance(item, LogRecord):
            name, moment, body = item.event_name, item.time_ns or item.observed_ns or 0, item.body
        else:
            name, moment, body = item.name, item.time_ns or 0, None
        if name in EVENT_ROLES:
            found.append(((moment, place), GenAIEvent(name=name, body=_body(body, item.attributes))))
    found.sort(key=lambda f: f[0])
    return [event for _, event in found]


def events_from_list(value: Any) -> list[GenAIEvent]:
    """The message events of a JSON array whose members carry `event.name` (Pydantic AI v1, Logfire)."""
    if isinstance(value, str):
        value = value_from_text(value)
    out = []
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping) and item.get("event.name") in EVENT_ROLES:
            out.append(GenAIEvent(name=str(item["event.name"]), body=item))
    return out


def _body(body: Any, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The body as an object: the log's own, or put together from the attributes that carry it."""
    if isinstance(body, str) and body[:1] in ("{", "["):
        body = value_from_text(body)
    if isinstance(body, Mapping):
        return body
    if body is not None:
        return {**attributes, "content": body}
    for key in ("gen_ai.event.content", "event_body", "body"):
        value = attributes.get(key)
        if isinstance(value, str) and value:
            decoded = value_from_text(value)
            return decoded if isinstance(decoded, Mapping) else {**attributes, "content": decoded}
    return attributes


def messages_from_events(
    events: Iterable[GenAIEvent], notes: Notes, source: SpanRef | None
) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    """(input, output); None for a side of which there is no event.

    Events of one `gen_ai.message.index` are the parts of one message (Pydantic AI v1 writes a part an event).
    """
    given: list[Message] = []
    answer: list[Message] = []
    seen_given = seen_answer = False
    for event in events:
        notes.at = event.name
        out = event.name in _OUTPUTS
        seen_given, seen_answer = seen_given or not out, seen_answer or out
        (answer if out else given).extend(_messages(event, notes, source))
    return (tuple(given) if seen_given else None), (tuple(answer) if seen_answer else None)


def calls_of_events(events: Sequence[GenAIEvent]) -> list[list[GenAIEvent]]:
    """The events cut into model calls: a call begins where a message follows an answer (several calls may share one span)."""
    calls: list[list[GenAIEvent]] = []
    for event in events:
        if not calls or (calls[-1][-1].name in _OUTPUTS and event.name not in _OUTPUTS):
            calls.append([])
        calls[-1].append(event)
    return calls


def _messages(event: GenAIEvent, notes: Notes, source: SpanRef | None) -> tuple[Message, ...]:
    role = EVENT_ROLES[event.name]
    body = event.body
    if event.name == "gen_ai.choice":
        return _choice(body, notes, source)
    if event.name.startswith("gen_ai.content."):
        return messages_from_value(first_present(dict(body), *_CARRIERS), role, notes, source)
    content = first_present(dict(body), *_CARRIERS)
    if isinstance(content, Mapping) and isinstance(content.get("tools"), list) and len(content) == 1:
        return ()  # OpenLLMetry lists the tool definitions as a user's message
    if isinstance(content, str) and content[:1] in "[{":
        decoded = value_from_text(content, notes)
        if isinstance(decoded, list) and _are_blocks(decoded):
            content = decoded
        elif isinstance(decoded, Mapping) and "role" in decoded:
            return messages_from_value(decoded, role, notes, source)
    if isinstance(content, Mapping) and ("parts" in content or "role" in content) and role != "tool":
        return messages_from_value({"role": role, **content}, role, notes, source)
    item = {
        "role": body.get("role") if isinstance(body.get("role"), str) and body.get("role") else role,
        "content": content,
        "tool_calls": _calls(body.get("tool_calls"), notes),
        "tool_call_id": first_present(dict(body), "tool_call_id", "id") if role == "tool" else None,
        "name": body.get("name"),
    }
    return messages_from_value({k: v for k, v in item.items() if v is not None}, role, notes, source)


def _are_blocks(value: list[Any]) -> bool:
    return (
        bool(value)
        and all(isinstance(b, Mapping) for b in value)
        and any(
            k in value[0]
            for k in ("text", "toolUse", "toolResult", "type", "reasoningContent", "image", "document", "functionCall", "function_call")
        )
    )


def _calls(value: Any, notes: Notes) -> Any:
    return value_from_text(value, notes) if isinstance(value, str) else value


def _choice(body: Mapping[str, Any], notes: Notes, source: SpanRef | None) -> tuple[Message, ...]:
    """A choice: `message` inside or `content` beside, calls in either place; Gemini's `content: {role, parts}`; Strands' JSON blocks."""
    inner = first_present(dict(body), "message", "content", "gen_ai.completion", "gen_ai.event.content")
    if isinstance(inner, str) and inner[:1] in "[{":
        decoded = value_from_text(inner, notes)
        inner = decoded if isinstance(decoded, Mapping) or (isinstance(decoded, list) and _are_blocks(decoded)) else inner
    item: dict[str, Any] = dict(inner) if isinstance(inner, Mapping) else {"content": inner}
    item.setdefault("role", "assistant")
    calls = _calls(body.get("tool_calls"), notes)
    if calls and not item.get("tool_calls"):
        item["tool_calls"] = calls
    if body.get("finish_reason") and "finish_reason" not in item:
        item["finish_reason"] = body["finish_reason"]
    return messages_from_value(item, "assistant", notes, source)
