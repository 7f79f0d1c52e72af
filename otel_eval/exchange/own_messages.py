"""Messages and their parts in our own JSON: one table a kind of part, out and in."""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from otel_eval.errors import InputError
from otel_eval.exchange.json_text import plain, without_unknown
from otel_eval.exchange.record import Record
from otel_eval.model import Media, Message, Opaque, Part, Reasoning, Role, SpanRef, Text, ToolCall, ToolResult


def object_from_ref(ref: SpanRef | None) -> dict[str, Any] | None:
    """Where something stands."""
    return {"trace_id": ref.trace_id, "span_id": ref.span_id} if ref is not None else None


def object_from_message(message: Message) -> dict[str, Any]:
    """A message with its parts, and the span it was read from."""
    return without_unknown(
        {
            "role": message.role,
            "parts": [object_from_part(p) for p in message.parts],
            "name": message.name,
            "finish_reason": message.finish_reason,
            "source": object_from_ref(message.source),
        }
    )


def message_from_object(told: Record) -> Message:
    """A message of our schema."""
    role = told.text("role")
    known: Role | None = next((r for r in get_args(Role) if r == role), None)
    if known is None:
        raise InputError(f"{told.where('role')} is none of {', '.join(get_args(Role))}: expected one of them")
    return Message(
        role=known,
        parts=tuple(part_from_object(p) for p in told.records("parts")),
        name=told.text("name"),
        finish_reason=told.text("finish_reason"),
        source=told.ref("source"),
    )


def object_from_part(part: Part) -> dict[str, Any]:
    """A part; its `type` says which members it has."""
    kind, members = _WRITERS[type(part)](part)
    return {"type": kind, **without_unknown(members)}


def part_from_object(told: Record) -> Part:
    """A part of our schema."""
    read = _READERS.get(told.text("type") or "")
    if read is None:
        raise InputError(f"{told.where('type')} is no type of part: expected one of {', '.join(_READERS)}")
    return read(told)


def _arguments(call: ToolCall) -> Any:
    return plain(call.arguments) if call.arguments is not None else None


_WRITERS: Mapping[type, Callable[[Any], tuple[str, dict[str, Any]]]] = {
    Text: lambda p: ("text", {"text": p.text}),
    Reasoning: lambda p: ("reasoning", {"text": p.text}),
    ToolCall: lambda p: ("tool_call", {"id": p.id, "name": p.name, "arguments": _arguments(p), "raw": p.raw}),
    ToolResult: lambda p: ("tool_result", {"call_id": p.call_id, "name": p.name, "content": p.content, "is_error": p.is_error}),
    Media: lambda p: ("media", {"modality": p.modality, "mime_type": p.mime_type, "uri": p.uri}),
    Opaque: lambda p: ("opaque", {"kind": p.type}),
}

_READERS: Mapping[str, Callable[[Record], Part]] = {
    "text": lambda t: Text(text=t.text("text") or ""),
    "reasoning": lambda t: Reasoning(text=t.text("text")),
    "tool_call": lambda t: ToolCall(id=t.text("id"), name=t.text("name"), arguments=t.mapping("arguments"), raw=t.text("raw")),
    "tool_result": lambda t: ToolResult(
        call_id=t.text("call_id"), name=t.text("name"), content=t.text("content"), is_error=t.flag("is_error")
    ),
    "media": lambda t: Media(modality=t.text("modality") or "document", mime_type=t.text("mime_type"), uri=t.text("uri")),
    "opaque": lambda t: Opaque(type=t.text("kind") or ""),
}
