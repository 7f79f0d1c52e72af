"""The straight road: messages exactly as the conventions' generation C writes them, which is what most spans hold.

Whatever is a hair's breadth different takes the general readers; both give the same messages (a test holds them together).
"""

from typing import Any

from otel_eval.dialects.shapes.calls import RESULT_OBJECTS
from otel_eval.dialects.shapes.notes import LONGEST_PLACEHOLDER, is_redacted
from otel_eval.dialects.shapes.text import json_text
from otel_eval.model import Message, Part, SpanRef, Text, ToolCall, ToolResult
from otel_eval.model.freeze import constructor_of

_message = constructor_of(Message)
_text = constructor_of(Text)
_call = constructor_of(ToolCall)
_result = constructor_of(ToolResult)

_ABSENT = frozenset({"", "null", "None"})
_ROLES = frozenset({"system", "user", "assistant", "tool"})
# First characters of the texts that other readers look into (quoted transcripts, text protocols, JSON, reprs).
_LOOKED_INTO = frozenset('F[NC{"')
# Members of a structured result that may be a wrapper around the result proper.
_WRAPPER_MEMBERS = frozenset({"type", "value", "lc", "content", "output", "text", "role", "json", "data", "isError", "kwargs"})

_OPENED = ("Observation:", *RESULT_OBJECTS)


def plain_messages(items: list[Any], source: SpanRef | None) -> list[Message] | None:
    """All messages of a list of plain generation C objects; None where one of them is not plain."""
    out: list[Message] = []
    for item in items:
        message = plain_message(item, source) if type(item) is dict else None
        if message is None:
            return None
        out.append(message)
    return out


def plain_message(item: dict[str, Any], source: SpanRef | None) -> Message | None:
    """The message of a plain generation C object; None where the general readers must look."""
    role, raw = item.get("role"), item.get("parts")
    if type(role) is not str or role not in _ROLES or type(raw) is not list:
        return None
    members = 2
    name, finish = item.get("name"), item.get("finish_reason")
    if "name" in item:
        members += 1
    if "finish_reason" in item:
        members += 1
    if len(item) != members or (name is not None and type(name) is not str) or (finish is not None and type(finish) is not str):
        return None
    if role == "tool":
        result = _plain_result(raw[0]) if len(raw) == 1 and type(raw[0]) is dict else None
        return _message("tool", (result,), None, None, source) if result is not None else None
    parts: list[Part] = []
    for part in raw:
        if type(part) is not dict:
            return None
        kind = part.get("type")
        found = _plain_text(part) if kind == "text" else _plain_call(part) if kind == "tool_call" else None
        if found is None:
            return None
        parts.append(found)
    if name in _ABSENT or finish in _ABSENT:
        return None
    return _message(role, tuple(parts), name, finish, source)


def _plain_text(part: dict[str, Any]) -> Part | None:
    content = part.get("content")
    if type(content) is not str or not content or content[0] in _LOOKED_INTO:
        return None
    if len(content) <= LONGEST_PLACEHOLDER and is_redacted(content):
        return None
    return _text(content)


def _plain_call(part: dict[str, Any]) -> Part | None:
    call_id, name, arguments = part.get("id"), part.get("name"), part.get("arguments")
    if type(name) is not str or not name or type(arguments) is not dict or "function" in part:
        return None
    if call_id is not None and (type(call_id) is not str or not call_id or call_id.isspace()):
        return None
    return _call(call_id.strip() if call_id else None, name, arguments, None)


def _plain_result(part: dict[str, Any]) -> Part | None:
    call_id, content = part.get("id"), part.get("response")
    if part.get("type") != "tool_call_response" or type(call_id) is not str or not call_id or len(part) != 3:
        return None
    if type(content) is dict:
        if not _WRAPPER_MEMBERS.isdisjoint(content):
            return None
        content = json_text(content)
    elif type(content) is list:
        first = content[0] if content else None
        if type(first) is not dict or not first or not _WRAPPER_MEMBERS.isdisjoint(first):
            return None
        content = json_text(content)  # rows: no list of blocks, since its first is none
    elif type(content) is not str or content[:1] == "[" or len(content) <= LONGEST_PLACEHOLDER or content.startswith(_OPENED):
        return None
    return _result(call_id.strip(), None, content, None)
