"""Reads the conversation and the reference of a metric case; the formats are described with the case files."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, TypeAlias

from otel_eval.model import Conversation, Message, Part, Reference, Role, Text, ToolCall, ToolResult, Turn, TurnReference

Case: TypeAlias = Mapping[str, Any]

ROLES: Mapping[str, Role] = {"human": "user", "ai": "assistant", "tool": "tool"}


class InvalidInput(ValueError):
    """The case is not a conversation with a reference: what the reference implementations refuse with an exception."""


def conversation_of(case: Case) -> Conversation:
    """The messages of a case as a conversation; a turn begins at each message of the user."""
    if not isinstance(case["messages"], list):
        raise InvalidInput("messages are not a list")
    messages = tuple(_message(m) for m in case["messages"])
    starts = [i for i, m in enumerate(messages) if m.role == "user"]
    starts = [0, *starts] if messages and 0 not in starts else starts
    turns = tuple(Turn(messages=messages[a:b]) for a, b in pairwise([*starts, len(messages)]))
    return Conversation(id=case["id"], messages=messages, turns=turns, joined_by="given")


def _message(message: Mapping[str, Any]) -> Message:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return Message(role="tool", parts=(ToolResult(content=content),))
    parts: list[Part] = [Text(text=content)] if content else []
    parts += [_call(c) for c in message.get("tool_calls") or []]
    return Message(role=ROLES[message["role"]], parts=tuple(parts))


def _call(call: Mapping[str, Any]) -> ToolCall:
    arguments = call["args"]
    return ToolCall(name=call["name"], arguments=arguments, raw="null" if arguments is None else None)


def reference_of(case: Case) -> Reference:
    """The reference of a case, of whatever kind its metric takes."""
    calls, topics, turns = case.get("reference_tool_calls"), case.get("reference_topics"), case.get("reference_turns")
    for name, value in (("reference_tool_calls", calls), ("reference_topics", topics)):
        if value is not None and not isinstance(value, list):
            raise InvalidInput(f"{name} is not a list")
    return Reference(
        outcome=case.get("reference"),
        tool_calls=None if calls is None else tuple(map(_call, calls)),
        topics=None if topics is None else tuple(topics),
        turns=None if turns is None else tuple(TurnReference(tool_calls=tuple(map(_call, turn))) for turn in turns),
    )
