"""The plain form: one object a conversation, with messages as most people write them.

    {"id": str | null, "messages": [{"role", "content", "tool_calls": [{"id", "name", "arguments"}], "tool_call_id", "name", "is_error"}], ...}

The system message, where there is one, comes first. `content` is null where nothing was recorded; `arguments` is an object, null where it was not
recorded or not readable (`raw_arguments` then holds what stood there). `is_error` stands only where it is known.
"""

from typing import Any

from otel_eval.model import Conversation, Message, ToolCall


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
