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


def _message_blocks(conversation: Conversation, note: inert.Note) -> Iterator[Block]:
    messages, turn = conversation.messages, 0
    names = {c.id: c.name for c in conversation.tool_calls if c.id}
    answered = _answered_calls(messages)
    several = len(conversation.agents) > 1
    for index, message in enumerate(messages):
        turn += message.role == "user"
        for kind, header, text in _parts(index, message, names, answered, several, note):
            yield Block(kind=kind, header=header, text=text, index=index, turn=turn)


def _parts(
    index: int, message: Message, names: Mapping[str, str | None], answered: set[int], several: bool, note: inert.Note
) -> Iterator[tuple[BlockKind, str, str]]:
    said = _said(message, note)
    who = f" as {inert.name(message.name)}" if several and message.name and message.role == "assistant" else ""
    if said and message.role != "tool":
        kind, words = _SPEAKERS[message.role]
        yield kind, f"[{index}] {words}{who}", said
    for part in message.parts:
        if type(part) is ToolCall:
            missing = "" if id(part) in answered else " (no result recorded)"
            yield BlockKind.CALLS, f"[{index}] AGENT CALLS {inert.name(part.name)}{who}{missing}", _arguments(part, note)
        elif type(part) is ToolResult:
            called = part.name or names.get(part.call_id or "")
            yield BlockKind.RESULT, f"[{index}] TOOL RESULT {inert.name(called)}{_status(part)}", part.content or ""


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


def _status(result: ToolResult) -> str:
    if result.content is None:
        return " → error, content not recorded" if result.is_error else " → content not recorded"
    return {True: " → error", False: " → ok", None: ""}[result.is_error]


def _answered_calls(messages: Sequence[Message]) -> set[int]:
    """Identities of the calls that a result belongs to: by id, else by place (as many results follow as calls were made)."""
    ids = {r.call_id for m in messages if (r := m.tool_result) and r.call_id}
    answered = set()
    for index, message in enumerate(messages):
        loose = sum(1 for r in _following_results(messages, index) if not r.call_id)
        for call in message.tool_calls:
            if call.id in ids and call.id is not None:
                answered.add(id(call))
            elif loose:
                loose -= 1
                answered.add(id(call))
    return answered


def _following_results(messages: Sequence[Message], index: int) -> Iterator[ToolResult]:
    for message in messages[index + 1 :]:
        if message.role != "tool":
            return
        if message.tool_result:
            yield message.tool_result


def reasoning_parts(messages: Sequence[Message]) -> int:
    """How many parts of the agent's thinking there are; they are counted, not shown."""
    return sum(1 for m in messages for p in m.parts if type(p) is Reasoning)
