"""Conversations written down as they read: `conversation(user("Book it"), calls(("book", {"id": 7})), result("ok"), says("Done"))`."""

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Conversation, Message, Outcome, Reference, Score, Text, ToolCall, ToolResult, Turn

Call = tuple[str, Mapping[str, Any]] | ToolCall


def user(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))


def says(text: str) -> Message:
    """The agent's words."""
    return Message(role="assistant", parts=(Text(text=text),))


def calls(*made: Call) -> Message:
    """Tool calls issued together."""
    return Message(role="assistant", parts=tuple(map(call, made)))


def call(made: Call) -> ToolCall:
    return made if isinstance(made, ToolCall) else ToolCall(name=made[0], arguments=made[1])


def result(content: str | None, *, call_id: str | None = None, is_error: bool | None = None) -> Message:
    return Message(role="tool", parts=(ToolResult(call_id=call_id, content=content, is_error=is_error),))


def conversation(*messages: Message, **fields: Any) -> Conversation:
    """Messages as a conversation, with a turn for each message of the user."""
    starts = sorted({0, *(i for i, m in enumerate(messages) if m.role == "user")}) if messages else []
    turns = tuple(Turn(messages=messages[a:b]) for a, b in pairwise([*starts, len(messages)]))
    return Conversation(**{"id": "c-1", "messages": messages, "turns": turns, "joined_by": "given", **fields})


def expected(*made: Call) -> Reference:
    """A reference that names the tool calls."""
    return Reference(tool_calls=tuple(map(call, made)))


def outcome_of(
    metric: str, given: Conversation, reference: Reference | None = None, *, compat: str | None = None, **parameters: Any
) -> Outcome:
    """What a built-in metric makes of a conversation."""
    asked = MetricInput(conversation=given, reference=reference or Reference(), parameters=parameters, compat=compat)
    return asyncio.run(builtin_metric(metric).score(asked))


def value_of(
    metric: str, given: Conversation, reference: Reference | None = None, *, compat: str | None = None, **parameters: Any
) -> float:
    """The value of a built-in metric; anything but a score fails the test."""
    outcome = outcome_of(metric, given, reference, compat=compat, **parameters)
    assert isinstance(outcome, Score), outcome
    return outcome.value
