"""Turns of a conversation as ADK's invocations, and expectations likewise."""

from collections.abc import Sequence
from typing import Any

from otel_eval.metrics.adk.classes import AdkClasses
from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.equality import plain
from otel_eval.metrics.results import json_value
from otel_eval.model import Message, ToolCall, ToolResult, Turn, TurnReference

_AUTHOR = "agent"
_NS = 1_000_000_000


def actual_invocations(given: MetricInput, classes: AdkClasses) -> list[Any]:
    """One invocation a turn, in order; the judged turn alone where one is named."""
    turns = _turns(given)
    first = given.turn or 0
    return [_invocation(given, turn, first + number, classes) for number, turn in enumerate(turns)]


def expected_invocations(given: MetricInput, classes: AdkClasses) -> list[Any] | None:
    """One invocation for each turn that something is expected of; None where nothing is.

    Expectations for the conversation as a whole are those of its one turn; for several turns they cannot be placed.
    """
    turns, wanted = _turns(given), _expectations(given)
    if wanted is None:
        return None
    said = [_user_text(turn.messages) for turn in turns]
    return [_expected(reference, said[i] if i < len(said) else "", i, classes) for i, reference in enumerate(wanted)]


def _turns(given: MetricInput) -> Sequence[Turn]:
    turns = given.conversation.turns or (Turn(messages=given.messages),)
    return turns if given.turn is None else turns[given.turn : given.turn + 1]


def _expectations(given: MetricInput) -> Sequence[TurnReference] | None:
    reference = given.reference
    if reference.turns is not None:
        return reference.turns if given.turn is None else reference.turns[given.turn : given.turn + 1]
    if len(_turns(given)) != 1 or (reference.response is None and reference.tool_calls is None):
        return None
    return [TurnReference(response=reference.response, tool_calls=reference.tool_calls)]


def _invocation(given: MetricInput, turn: Turn, number: int, classes: AdkClasses) -> Any:
    final = next((i for i in reversed(range(len(turn.messages))) if _is_final(turn.messages[i])), None)
    author = given.conversation.agent or _AUTHOR
    events = [
        classes.case.InvocationEvent(author=author, content=None if i == final else _content(message, classes))
        for i, message in enumerate(turn.messages)
        if message.role in ("assistant", "tool")
    ]
    return classes.case.Invocation(
        invocation_id=turn.trace_ids[-1] if turn.trace_ids else f"{given.conversation.key}-{number}",
        user_content=_text_content("user", _user_text(turn.messages), classes),
        final_response=None if final is None else _content(turn.messages[final], classes),
        intermediate_data=classes.events(invocation_events=events),
        creation_timestamp=turn.start_ns / _NS,
        duration=(turn.end_ns - turn.start_ns) / _NS if 0 < turn.start_ns <= turn.end_ns else None,
    )


def _is_final(message: Message) -> bool:
    """Words of the agent without calls: what ADK takes as the answer of a turn."""
    return message.role == "assistant" and message.text is not None and not message.tool_calls


def _expected(reference: TurnReference, said: str, number: int, classes: AdkClasses) -> Any:
    calls = [_call(c, classes) for c in reference.tool_calls or ()]
    event = classes.case.InvocationEvent(author=_AUTHOR, content=classes.types.Content(role="model", parts=calls))
    return classes.case.Invocation(
        invocation_id=f"expected-{number}",
        user_content=_text_content("user", reference.user or said, classes),
        final_response=None if reference.response is None else _text_content("model", reference.response, classes),
        intermediate_data=classes.events(invocation_events=[event] if calls else []),
    )


def _content(message: Message, classes: AdkClasses) -> Any:
    """A message as content; Gemini has the roles user and model, and tool responses are the user's."""
    result = message.tool_result
    if result is not None:
        return classes.types.Content(role="user", parts=[_response(result, classes)])
    words = [classes.types.Part(text=message.text)] if message.text is not None else []
    return classes.types.Content(role="model", parts=[*words, *(_call(c, classes) for c in message.tool_calls)])


def _call(call: ToolCall, classes: AdkClasses) -> Any:
    arguments = None if call.arguments is None else plain(call.arguments)
    return classes.types.Part(function_call=classes.types.FunctionCall(id=call.id, name=call.name, args=arguments))


def _response(result: ToolResult, classes: AdkClasses) -> Any:
    """A response is an object; ADK itself wraps a tool's other values as `result`."""
    value = json_value(result.content) if result.content is not None else None
    body = value if isinstance(value, dict) else {"result": result.content}
    return classes.types.Part(function_response=classes.types.FunctionResponse(id=result.call_id, name=result.name, response=body))


def _text_content(role: str, text: str, classes: AdkClasses) -> Any:
    return classes.types.Content(role=role, parts=[classes.types.Part(text=text)])


def _user_text(messages: Sequence[Message]) -> str:
    return "\n".join(m.text for m in messages if m.role == "user" and m.text)
