"""The straight road: messages exactly as the conventions' generation C writes them, which is what most spans hold.

Whatever is a hair's breadth different takes the general readers; both give the same messages (a test holds them together).
"""

from typing import Any

from otel_eval.dialects.shapes.notes import LONGEST_PLACEHOLDER, is_redacted
from otel_eval.dialects.shapes.text import json_text
from otel_eval.model import Message, Part, Role, SpanRef, Text, ToolCall, ToolResult
from otel_eval.model.freeze import constructor_of

_message = constructor_of(Message)
_text = constructor_of(Text)
_call = constructor_of(ToolCall)
_result = constructor_of(ToolResult)

_ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_MEMBERS = frozenset({"role", "parts", "name", "finish_reason"})
# First characters of the texts that other readers look into (quoted transcripts, text protocols, JSON, reprs).
_LOOKED_INTO = frozenset('F[NC{"')
# Members of a structured result that may be a wrapper around the result proper.
_WRAPPER_MEMBERS = frozenset({"type", "value", "lc", "content", "output", "text", "role", "json", "data", "isError", "kwargs"})


def plain_message(item: dict[str, Any], source: SpanRef | None) -> Message | None:
    """The message of a plain generation C object; None where the general readers must look."""
    role = _ROLES.get(item.get("role", ""))
    raw = item.get("parts")
    if role is None or type(raw) is not list or not _MEMBERS.issuperset(item):
        return None
    parts: list[Part] = []
    for part in raw:
        read = _BY_TYPE.get(part.get("type")) if type(part) is dict else None
        found = read(part) if read is not None else None
        if found is None:
            return None
        parts.append(found)
    if any(type(p) is ToolResult for p in parts) and (role != "tool" or len(parts) != 1):
        return None
    if role == "tool" and not (parts and type(parts[0]) is ToolResult):
        return None
    name, finish = item.get("name"), item.get("finish_reason")
    if (name is not None and type(name) is not str) or (finish is not None and type(finish) is not str):
        return None
    if role == "tool":
        name = finish = None
    return _message(role, tuple(parts), name or None, finish or None, source)  # type: ignore[no-any-return]  # constructor_of gives Any


def _plain_text(part: dict[str, Any]) -> Part | None:
    content = part.get("content")
    if type(content) is not str or not content or content[0] in _LOOKED_INTO:
        return None
    if len(content) <= LONGEST_PLACEHOLDER and is_redacted(content):
        return None
    return _text(content)  # type: ignore[no-any-return]  # as above


def _plain_call(part: dict[str, Any]) -> Part | None:
    call_id, name, arguments = part.get("id"), part.get("name"), part.get("arguments")
    if type(name) is not str or not name or type(arguments) is not dict or "function" in part:
        return None
    if call_id is not None and (type(call_id) is not str or not call_id or call_id.isspace()):
        return None
    return _call(call_id.strip() if call_id else None, name, arguments, None)  # type: ignore[no-any-return]  # as above


def _plain_result(part: dict[str, Any]) -> Part | None:
    call_id, content = part.get("id"), part.get("response")
    if type(call_id) is not str or not call_id or len(part) != 3:
        return None
    if type(content) is dict:
        if not _WRAPPER_MEMBERS.isdisjoint(content):
            return None
        content = json_text(content)
    elif type(content) is not str or content[:1] == "[" or len(content) <= LONGEST_PLACEHOLDER or content.startswith("Observation:"):
        return None
    return _result(call_id.strip(), None, content, None)  # type: ignore[no-any-return]  # as above


_BY_TYPE = {"text": _plain_text, "tool_call": _plain_call, "tool_call_response": _plain_result}
