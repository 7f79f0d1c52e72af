"""The plain form: one object a conversation, with messages as most people write them.

    {"id": str | null, "messages": [{"role", "content", "tool_calls": [{"id", "name", "arguments"}], "tool_call_id", "name", "is_error"}],
    "agent", "sub_agent_of", "trace_ids", "joined_by", "dialects", "gaps": [{"reason", "where"}]}

The system message, where there is one, comes first. `content` is null where nothing was recorded; `arguments` is an object, null where it
was not recorded or not readable (`raw_arguments` then holds what stood there). `is_error` stands only where it is known.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_eval.exchange.openai import conversation_from_openai
from otel_eval.exchange.own import gaps_from_record
from otel_eval.exchange.record import Record
from otel_eval.model import Conversation, Gap, Message, ToolCall


def messages_from_conversation(conversation: Conversation) -> dict[str, Any]:
    """The plain form of a conversation, with what it was read from."""
    out: dict[str, Any] = {"id": conversation.id, "messages": message_objects(conversation)}
    if conversation.sub_agent_of is not None:
        out["sub_agent_of"] = conversation.sub_agent_of
    out |= {
        "agent": conversation.agent,
        "trace_ids": list(conversation.trace_ids),
        "joined_by": conversation.joined_by,
        "dialects": list(conversation.dialects),
        "gaps": [{"reason": g.reason.value, "where": g.where} for g in conversation.gaps],
    }
    return out


def message_objects(conversation: Conversation) -> list[dict[str, Any]]:
    """All messages, the system message first."""
    system = [{"role": "system", "content": conversation.system}] if conversation.system else []
    return [*system, *(message_object(m) for m in conversation.messages)]


def message_object(message: Message) -> dict[str, Any]:
    """One message."""
    result = message.tool_result
    if message.role == "tool" and result is not None:
        out: dict[str, Any] = {"role": "tool", "content": result.content, "tool_call_id": result.call_id, "name": result.name}
        return out if result.is_error is None else out | {"is_error": result.is_error}
    out = {"role": message.role, "content": message.text}
    if message.tool_calls:
        out["tool_calls"] = [call_object(c) for c in message.tool_calls]
    return out


def call_object(call: ToolCall) -> dict[str, Any]:
    """One tool call."""
    out: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": dict(call.arguments) if call.arguments is not None else None}
    return out | {"raw_arguments": call.raw} if call.raw is not None else out


def conversation_from_messages(record: Mapping[str, Any]) -> Conversation:
    """The conversation of chat messages in the plain form or in OpenAI's, with what the plain form says beside them.

    `joined_by` is not read: it says how a conversation was found among spans, and here it is given.
    """
    read = conversation_from_openai(record)
    return replace(
        read,
        agent=_text(record.get("agent")) or read.agent,
        trace_ids=_texts(record.get("trace_ids")) or read.trace_ids,
        sub_agent_of=_text(record.get("sub_agent_of")) or read.sub_agent_of,
        dialects=_texts(record.get("dialects")),
        gaps=tuple(dict.fromkeys((*_gaps(record), *read.gaps))),
    )


def _text(value: Any) -> str | None:
    """A text of ours; the member may be another's, and then says nothing here."""
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) and all(isinstance(v, str) for v in value) else ()


def _gaps(record: Mapping[str, Any]) -> tuple[Gap, ...]:
    gaps = record.get("gaps")
    is_ours = isinstance(gaps, list) and all(isinstance(g, Mapping) and "reason" in g and "where" in g for g in gaps)
    return gaps_from_record(Record(record)) if is_ours else ()
