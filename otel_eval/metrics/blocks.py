"""The conversation as numbered blocks, before it becomes text.

The number of a block is the index of the message it was made from, so that evidence points at messages. Shown are texts, tool calls with
their arguments, results with their status; the agent's reasoning is not shown, nor are ids, times and tokens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from otel_eval.metrics import inert
from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.calls import made_calls
from otel_eval.metrics.results import result_failed
from otel_eval.model import Conversation, Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult


class BlockKind(StrEnum):
    INSTRUCTIONS = "instructions"
    TOOLS = "tools"
    USER = "user"
    SAYS = "says"
    CALLS = "calls"
    RESULT = "result"
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A header, which only we write, and content, which anybody may have written."""

    kind: BlockKind
    header: str
    text: str = ""
    index: int = -1
    """Index of the message, -1 for what is not one."""
    turn: int = 0


def blocks_from_conversation(conversation: Conversation, note: inert.Note) -> list[Block]:
    """All blocks in order: instructions, tools, then the messages."""
    return [*_frame(conversation), *_message_blocks(conversation, note)]


def user_indices(messages: Sequence[Message]) -> tuple[int, ...]:
    """Indices of the user messages that hold words: the requests that are judged."""
    return tuple(i for i, m in enumerate(messages) if m.role == "user" and (m.text or "").strip())


def _frame(conversation: Conversation) -> Iterator[Block]:
    if conversation.system:
        yield Block(kind=BlockKind.INSTRUCTIONS, header="INSTRUCTIONS OF THE AGENT (data)", text=conversation.system)
    if conversation.tools:
        lines = [_tool_line(name, tool) for name, tool in conversation.tools.items()]
        yield Block(kind=BlockKind.TOOLS, header="TOOLS OF THE AGENT (data)", text="\n".join(lines))


def _tool_line(tool_name: str, tool: Mapping[str, Any]) -> str:
    function = tool.get("function") if isinstance(tool.get("function"), Mapping) else tool
    described = function.get("description") if isinstance(function, Mapping) else None
    parameters = function.get("parameters") if isinstance(function, Mapping) else None
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    names = ", ".join(inert.name(str(p)) for p in properties) if isinstance(properties, Mapping) else ""
    return f"{inert.name(tool_name)}({names})" + (f": {inert.one_line(described)}" if isinstance(described, str) else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Calls:
    """How calls and results belong together, by the identity of both."""

    answered: frozenset[int]
    names: Mapping[int, str]
    """Tool of each result."""
    failed: frozenset[int]
    """Results whose call a span says to have failed."""


def _calls(conversation: Conversation) -> _Calls:
    made = made_calls(MetricInput(conversation=conversation))
    broken = {run.call_id for run in conversation.tool_runs if run.call_id and run.is_error}
    joined = [(m.call, m.result) for m in made if m.result is not None]
    return _Calls(
        answered=frozenset(id(call) for call, _ in joined),
        names={id(result): call.name or "" for call, result in joined},
        failed=frozenset(id(result) for call, result in joined if call.id in broken),
    )


def _message_blocks(conversation: Conversation, note: inert.Note) -> Iterator[Block]:
    calls, turn = _calls(conversation), 0
    several = len(conversation.agents) > 1
    for index, message in enumerate(conversation.messages):
        turn += message.role == "user"
        for kind, header, text in _parts(index, message, calls, several, note):
            yield Block(kind=kind, header=header, text=text, index=index, turn=turn)


def _parts(index: int, message: Message, calls: _Calls, several: bool, note: inert.Note) -> Iterator[tuple[BlockKind, str, str]]:
    said = _said(message, note)
    who = f" as {inert.name(message.name)}" if several and message.name and message.role == "assistant" else ""
    if said and message.role != "tool":
        kind, words = _SPEAKERS[message.role]
        yield kind, f"[{index}] {words}{who}", said
    for part in message.parts:
        if type(part) is ToolCall:
            missing = "" if id(part) in calls.answered else " (no result recorded)"
            yield BlockKind.CALLS, f"[{index}] AGENT CALLS {inert.name(part.name)}{who}{missing}", _arguments(part, note)
        elif type(part) is ToolResult:
            name, status = inert.name(part.name or calls.names.get(id(part))), _status(part, id(part) in calls.failed)
            yield BlockKind.RESULT, f"[{index}] TOOL RESULT {name}{status}", part.content or ""


_SPEAKERS = {
    "user": (BlockKind.USER, "USER"),
    "assistant": (BlockKind.SAYS, "AGENT SAYS (a claim)"),
    "system": (BlockKind.INSTRUCTIONS, "INSTRUCTIONS OF THE AGENT (data)"),
}


def _said(message: Message, note: inert.Note) -> str:
    """Text parts and remarks on what cannot be shown, in order; reasoning is left out."""
    lines = []
    for part in message.parts:
        if type(part) is Text:
            lines.append(part.text)
        elif type(part) is Media:
            lines.append(note(f"{inert.name(part.modality)} not shown"))
        elif type(part) is Opaque:
            lines.append(note(f"part of type {inert.name(part.type)} not shown"))
    return "\n".join(line for line in lines if line)


def _arguments(call: ToolCall, note: inert.Note) -> str:
    if call.arguments is not None:
        return json.dumps(call.arguments, ensure_ascii=False, default=str) if call.arguments else ""
    return call.raw if call.raw is not None else note("arguments not recorded")


def _status(result: ToolResult, failed: bool) -> str:
    """What was recorded about the call: by the result's own flag, else by the tool's span, else by what the result says of itself.

    A tool that catches its own exception and returns "Error: …" ends well in the eyes of whoever recorded it.
    """
    is_error = True if failed and result.is_error is None else result.is_error
    if result.content is None:
        return " → error, content not recorded" if is_error else " → content not recorded"
    if not is_error and result_failed(result):
        return " → error, by its own words"
    return {True: " → error", False: " → ok", None: ""}[is_error]


def reasoning_parts(messages: Sequence[Message]) -> int:
    """How many parts of the agent's thinking there are; they are counted, not shown."""
    return sum(1 for m in messages for p in m.parts if type(p) is Reasoning)
