"""The tool calls a conversation made, each with the message it stands in and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.equality import json_equal
from otel_eval.metrics.results import json_value, result_failed
from otel_eval.model import GapReason, Message, Skipped, SkipReason, ToolCall, ToolResult

RAW_ARGUMENT = "(raw)"
"""Stands for the whole where arguments are not an object, such as a plain string: such calls can still be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """One call. `message` is the index among the judged messages; `result` None where none was recorded; `failed` None where unknown."""

    call: ToolCall
    message: int
    result: ToolResult | None = None
    failed: bool | None = None

    @property
    def name(self) -> str:
        return self.call.name or ""

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        return arguments_of(self.call)

    def same_as(self, other: "MadeCall") -> bool:
        """Whether both ask the same tool for the same; unknown arguments are never the same."""
        mine, theirs = self.arguments, other.arguments
        return self.name == other.name and mine is not None and theirs is not None and json_equal(mine, theirs)


def arguments_of(call: ToolCall) -> Mapping[str, Any] | None:
    """The arguments to compare: {} for a call without any, None where they are unknown."""
    if call.arguments is not None:
        return call.arguments
    if call.raw is None:
        return None
    raw = call.raw.strip()
    if raw in ("", "null", "None"):
        return {}
    value = json_value(raw)
    return value if isinstance(value, dict) else {RAW_ARGUMENT: raw if value is None else value}


def made_calls(given: MetricInput) -> tuple[MadeCall, ...]:
    """All calls of the judged messages in order, joined with their results: by call id, else by order within the same step."""
    conversation, made = given.memo.get((made_calls, given.turn), (None, ()))
    if conversation is not given.conversation:
        made = _made_calls(given)
        given.memo[made_calls, given.turn] = given.conversation, made
    found: tuple[MadeCall, ...] = made
    return found


def _made_calls(given: MetricInput) -> tuple[MadeCall, ...]:
    messages = given.messages
    broken = {run.call_id for run in given.conversation.tool_runs if run.call_id and run.is_error}
    named = _results_by_id(messages)
    made: list[MadeCall] = []
    for index, message in enumerate(messages):
        calls = message.tool_calls
        loose = _results_after(messages, index) if calls else []
        for call in calls:
            result = _named_result(named.get(call.id or "", []), index) or (loose.pop(0) if loose else None)
            failed = True if call.id in broken else result_failed(result) if result else None
            made.append(MadeCall(call=call, message=index, result=result, failed=failed))
    return tuple(made)


def without_retries(made: Sequence[MadeCall]) -> tuple[MadeCall, ...]:
    """The calls without those that failed and were then made again as they were: book(7) → error, book(7) → ok is one call."""
    kept: list[MadeCall] = []
    for call in made:
        if kept and kept[-1].failed and kept[-1].message != call.message and kept[-1].same_as(call):
            kept.pop()
        kept.append(call)
    return tuple(kept)


def groups_by_message(made: Sequence[MadeCall]) -> list[list[int]]:
    """The indices of the calls, those of one message together: they were issued at once."""
    groups: dict[int, list[int]] = {}
    for index, call in enumerate(made):
        groups.setdefault(call.message, []).append(index)
    return list(groups.values())


def arguments_missing(given: MetricInput, made: Sequence[MadeCall], tools: set[str]) -> Skipped | None:
    """Why calls of these tools cannot be compared: their arguments were not recorded, or were cut."""
    if any(call.arguments is None for call in made if call.name in tools):
        detail = "arguments of tool calls were not recorded: switch on content capture in the instrumentation"
        return Skipped(reason=SkipReason.CONTENT_NOT_CAPTURED, detail=detail)
    cut = any(gap.reason is GapReason.TRUNCATED for gap in given.conversation.gaps)
    if cut and any(RAW_ARGUMENT in (call.arguments or {}) for call in made if call.name in tools):
        detail = "arguments of tool calls were cut: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT where the agent runs"
        return Skipped(reason=SkipReason.TRUNCATED, detail=detail)
    return None


def _results_by_id(messages: Sequence[Message]) -> dict[str, list[tuple[int, ToolResult]]]:
    """Each result that names its call, with the index of its message."""
    named: dict[str, list[tuple[int, ToolResult]]] = {}
    for index, message in enumerate(messages):
        result = message.tool_result
        if result is not None and result.call_id:
            named.setdefault(result.call_id, []).append((index, result))
    return named


def _named_result(results: list[tuple[int, ToolResult]], index: int) -> ToolResult | None:
    """Takes out the first result that follows the call's message: some agents use their ids again."""
    place = next((place for place, (at, _) in enumerate(results) if at > index), None)
    return None if place is None else results.pop(place)[1]


def _results_after(messages: Sequence[Message], index: int) -> list[ToolResult]:
    """The results without a call id that follow a message, up to the next one that calls tools or is the user's."""
    found = []
    for message in messages[index + 1 :]:
        if message.role == "user" or message.tool_calls:
            break
        result = message.tool_result
        if result is not None and not result.call_id:
            found.append(result)
    return found
