"""A request written out as a transcript: `system: …`, `user: …`, `assistant: …`, `tool: …`, each beginning a line.

So OpenLIT wrote prompts before it followed the conventions. What was no text is lost: an answer with calls only is `assistant: None`, a
result has no call id. **Source**: openlit/openlit `sdk/python/src/openlit/__helpers.py`, 1.0 to 1.33.
"""

import re

from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.parts import text_parts
from otel_eval.model import Message, Part, Role, SpanRef, Text, ToolResult

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_TURN = re.compile(rf"(?:\A|\n)({'|'.join(_ROLES)}): ")
_STARTS = tuple(f"{role}: " for role in _ROLES)


def is_transcript(text: str) -> bool:
    """Whether a text begins as a transcript does."""
    return text.startswith(_STARTS)


def messages_from_transcript(text: str, notes: Notes, source: SpanRef | None) -> list[Message]:
    """The messages of a transcript, in order."""
    pieces = _TURN.split(text)[1:]
    return [_message(_ROLES[role], told, notes, source) for role, told in zip(pieces[::2], pieces[1::2], strict=True)]


def _message(role: Role, told: str, notes: Notes, source: SpanRef | None) -> Message:
    parts: tuple[Part, ...] = () if told in ("None", "null") else text_parts(told, notes)
    if role == "tool":
        words = "\n".join(p.text for p in parts if type(p) is Text)
        parts = (ToolResult(content=words if parts else None),)
    return Message(role=role, parts=parts, source=source)
