"""Messages read from JSON: their turns, and the names that their tool results go without."""

from collections.abc import Sequence
from dataclasses import replace

from otel_eval.model import Message, ToolCall, Turn


def turns_from_messages(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """A turn begins with each user message that follows something else."""
    groups: list[list[Message]] = []
    for message in messages:
        if not groups or (message.role == "user" and groups[-1][-1].role != "user"):
            groups.append([])
        groups[-1].append(message)
    return tuple(Turn(messages=tuple(group)) for group in groups)


def with_named_results(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Tool results with the name of their call where they carry none: by its id, else by place where there is one result for each call."""
    out: list[Message] = []
    by_id: dict[str, ToolCall] = {}
    for place, message in enumerate(messages):
        by_id.update((c.id, c) for c in message.tool_calls if c.id)
        result = message.tool_result
        if result is not None and result.name is None:
            call = by_id.get(result.call_id) if result.call_id else _call_by_place(messages, place)
            if call is not None:
                parts = tuple(replace(p, name=call.name) if p is result else p for p in message.parts)
                message = replace(message, parts=parts)
        out.append(message)
    return tuple(out)


def _call_by_place(messages: Sequence[Message], place: int) -> ToolCall | None:
    """The call that stands at the result's place, where a message with n calls is followed by exactly n results."""
    first, end = place, place
    while first > 0 and messages[first - 1].tool_result is not None:
        first -= 1
    while end < len(messages) and messages[end].tool_result is not None:
        end += 1
    calls = messages[first - 1].tool_calls if first > 0 else ()
    return calls[place - first] if len(calls) == end - first else None
