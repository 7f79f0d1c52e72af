"""Chat messages in: the plain form and OpenAI's, which differ only in how a tool call is written, and what is often met beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.calls import call_from_record
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.record import Record
from otel_eval.exchange.turns import with_named_results
from otel_eval.model import Gap, GapReason, Media, Message, Opaque, Part, Reasoning, Role, Text, ToolResult

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",  # OpenAI before tools
}
_TEXT_TYPES: Mapping[str, str] = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_MEDIA_TYPES: Mapping[str, str] = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "file": "document",
    "input_file": "document",
}


@dataclass(slots=True, kw_only=True)
class Chat:
    """What a list of chat messages holds."""

    system: str | None = None
    """The system and developer messages at the beginning; later ones stay among the messages."""
    messages: tuple[Message, ...] = ()
    gaps: list[Gap] = field(default_factory=list)


def chat_from_records(records: Sequence[Record]) -> Chat:
    """The messages of chat objects; InputError where one is none."""
    chat = Chat()
    messages = [_message(r, chat.gaps) for r in records]
    first = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    texts = [m.text for m in messages[:first] if m.text]
    chat.system = "\n".join(texts) if texts else None
    chat.messages = with_named_results(messages[first:])
    return chat


def _message(told: Record, gaps: list[Gap]) -> Message:
    role = _ROLES.get(told.text("role") or "")
    if role is None:
        raise InputError(f"{told.where('role')} is none of {', '.join(_ROLES)}: expected one of them")
    parts = _content(told, gaps)
    if role == "tool":
        return Message(role="tool", parts=(_result(told, parts),))
    reasoning = told.text("reasoning_content")
    refusal = told.text("refusal")
    calls = [call_from_record(r, gaps) for r in [*told.records("tool_calls"), *_legacy_call(told)]]
    return Message(
        role=role,
        parts=(
            *([Reasoning(text=reasoning)] if reasoning else []),
            *parts,
            *([Text(text=refusal)] if refusal else []),
            *calls,
        ),
        name=told.text("name"),
        finish_reason=told.text("finish_reason"),
    )


def _legacy_call(told: Record) -> list[Record]:
    """`function_call`, as OpenAI wrote one call before there were several."""
    inner = told.record("function_call")
    return [inner] if inner is not None else []


def _result(told: Record, parts: Sequence[Part]) -> ToolResult:
    texts = [p.text for p in parts if isinstance(p, Text)]
    content = told.members.get("content")
    return ToolResult(
        call_id=told.text("tool_call_id"),
        name=told.text("name"),
        content=content if isinstance(content, str) else "\n".join(texts) if texts else None,
        is_error=told.flag("is_error"),
    )


def _content(told: Record, gaps: list[Gap]) -> list[Part]:
    """The parts of a message's content: null, a text, a list of parts, or (of a tool) any value."""
    content = told.members.get("content")
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(text=content)]
    if isinstance(content, list):
        return [_part(item, f"{told.where('content')}[{place}]", gaps) for place, item in enumerate(content)]
    if told.members.get("role") in ("tool", "function"):
        return [Text(text=text_from_value(content))]
    raise told.wrong("content", "a text, a list of parts or null")


def _part(item: Any, at: str, gaps: list[Gap]) -> Part:
    if isinstance(item, str):
        return Text(text=item)
    told = Record(item, at)
    kind = told.text("type") or ""
    if kind in _TEXT_TYPES:
        return Text(text=told.text(_TEXT_TYPES[kind]) or "")
    if kind in _MEDIA_TYPES:
        return _media(told, kind)
    gaps.append(Gap(reason=GapReason.UNKNOWN_PART, where=at))
    return Opaque(type=kind)


def _media(told: Record, kind: str) -> Media:
    """What it is and where it stands; of data in the message itself only its type."""
    inner = told.value("image_url", "input_audio", "file")
    address = inner.get("url") if isinstance(inner, Mapping) else inner
    if not isinstance(address, str):
        return Media(modality=_MEDIA_TYPES[kind])
    if address.startswith("data:"):
        return Media(modality=_MEDIA_TYPES[kind], mime_type=address[5:].split(";")[0].split(",")[0] or None)
    return Media(modality=_MEDIA_TYPES[kind], uri=address)
