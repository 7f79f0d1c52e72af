"""ragas' multi-turn samples, without references.

    {"id": str, "user_input": [{"type": "human" | "ai" | "tool", "content", "tool_calls": [{"name", "args"}], "metadata"}]}

**Source**: ragas 0.4.3, `messages.py` and `dataset_schema.py` (`MultiTurnSample`; it ignores `id`). ragas has no system message: ours is
left out. It knows neither call ids nor failures: they stand in a message's `metadata`, which is free. Words or arguments that were not
recorded are null, which ragas refuses: a sample without them cannot be scored there honestly. A call without words has the content "".
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.calls import call_from_record
from otel_eval.exchange.json_text import plain, text_from_value, without_unknown
from otel_eval.exchange.record import Record
from otel_eval.exchange.turns import turns_from_messages, with_named_results
from otel_eval.model import Conversation, Gap, Message, Part, Text, ToolCall, ToolResult

_TYPES = ("human", "ai", "tool", "system")
_SPELLINGS: Mapping[str, str] = {"user": "human", "assistant": "ai"}


def ragas_from_conversation(conversation: Conversation) -> dict[str, Any]:
    """A conversation as a multi-turn sample."""
    messages = [_object(m) for m in conversation.messages if m.role != "system"]
    return without_unknown({"id": conversation.id, "user_input": messages})


def _object(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        result = message.tool_result or ToolResult()
        about = {"tool_call_id": result.call_id, "name": result.name, "is_error": result.is_error}
        return _typed("tool", result.content, about)
    if message.role == "user":
        return _typed("human", message.text, {})
    content = message.text if message.text is not None or not message.tool_calls else ""
    ids = [c.id for c in message.tool_calls]
    out = _typed("ai", content, {"tool_call_ids": ids if any(ids) else None})
    if message.tool_calls:
        out["tool_calls"] = [{"name": c.name, "args": plain(c.arguments)} for c in message.tool_calls]
    return out


def _typed(kind: str, content: str | None, about: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"type": kind, "content": content}
    known = without_unknown(about)
    return out | {"metadata": known} if known else out


def conversation_from_ragas(record: Mapping[str, Any]) -> Conversation:
    """The conversation of a multi-turn sample; its reference fields are not read here."""
    told = Record(record)
    gaps: list[Gap] = []
    read = [_message(r, gaps) for r in told.records("user_input")]
    system = [m.text for m in read if m.role == "system" and m.text]
    messages = with_named_results([m for m in read if m.role != "system"])
    return Conversation(
        id=told.text("id"),
        messages=messages,
        turns=turns_from_messages(messages),
        system="\n".join(system) if system else None,
        joined_by="given",
        gaps=tuple(gaps),
    )


def _message(told: Record, gaps: list[Gap]) -> Message:
    kind = told.text("type", "role") or ""
    kind = _SPELLINGS.get(kind, kind)
    about = Record(told.value("metadata") or {}, told.where("metadata"))
    if kind == "human":
        return Message(role="user", parts=_texts(told))
    if kind == "system":
        return Message(role="system", parts=_texts(told))
    if kind == "tool":
        return Message(role="tool", parts=(_result(told, about),))
    if kind == "ai":
        return Message(role="assistant", parts=(*_texts(told), *_calls(told, about, gaps)))
    raise InputError(f"{told.where('type')} is none of {', '.join(_TYPES)}: expected one of them")


def _texts(told: Record) -> tuple[Part, ...]:
    text = told.text("content")
    return (Text(text=text),) if text else ()


def _result(told: Record, about: Record) -> ToolResult:
    content = told.members.get("content")
    return ToolResult(
        call_id=about.text("tool_call_id"),
        name=about.text("name"),
        content=content if content is None or isinstance(content, str) else text_from_value(content),
        is_error=about.flag("is_error"),
    )


def _calls(told: Record, about: Record, gaps: list[Gap]) -> list[ToolCall]:
    calls = [call_from_record(r, gaps) for r in told.records("tool_calls")]
    ids = about.values("tool_call_ids")
    if len(ids) != len(calls):
        return calls
    return [
        ToolCall(id=i if isinstance(i, str) else c.id, name=c.name, arguments=c.arguments, raw=c.raw)
        for i, c in zip(ids, calls, strict=True)
    ]
