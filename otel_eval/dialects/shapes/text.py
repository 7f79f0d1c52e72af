"""Text to value: JSON, doubly encoded JSON, Python literals, and JSON that a length limit cut in the middle."""

import ast
import json
from typing import Any

from pydantic_core import from_json

from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import GapReason
from otel_eval.model.characters import whole, whole_value

_OPENERS = frozenset("[{")
_MAX_LITERAL = 200_000  # characters; ast is slow and deep, and real reprs of calls and results are short


def value_from_text(text: str, notes: Notes | None = None) -> Any:
    """The value that a text stands for: a list or dict where it is the JSON (or Python literal) of one, else the text itself.

    Text that decodes to text is decoded once more. JSON that ends in the middle gives its complete leading elements and a TRUNCATED gap.
    """
    stripped = text.lstrip()
    first = stripped[:1]
    if first in _OPENERS:
        return _container(stripped, notes)
    if first == '"' and stripped.rstrip()[-1:] == '"':
        try:
            inner = from_json(stripped)
        except ValueError:
            return text
        return value_from_text(inner, notes) if isinstance(inner, str) and inner[:1] in _OPENERS else inner
    return text


def unquoted(text: str) -> str:
    """The text inside a JSON string; any other text as it is."""
    try:
        inner = from_json(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text


def _container(text: str, notes: Notes | None) -> Any:
    try:
        return from_json(text)
    except ValueError:
        pass
    try:
        return _whole_characters(json.loads(text, strict=False))  # NaN, lone surrogates, control characters, deep nesting
    except (ValueError, RecursionError):
        pass
    literal = _literal(text)
    if literal is not None:
        return literal
    salvaged = _salvaged(text)
    if salvaged is None:
        return text
    if notes is not None:
        notes.add(GapReason.TRUNCATED)
    return salvaged


def _whole_characters(value: Any) -> Any:
    """The value with half surrogate pairs (text that was cut inside a character) as U+FFFD: no store and no sink could write them."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii():
        return value
    mended = whole(text)
    return value if mended == text else json.loads(mended)


def _literal(text: str) -> Any:
    """A Python list, dict or tuple written with repr; None where it is none."""
    if len(text) > _MAX_LITERAL:
        return None
    try:
        value = whole_value(ast.literal_eval(text.rstrip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return list(value) if isinstance(value, (list, tuple)) else value if isinstance(value, dict) else None


def _salvaged(text: str) -> Any:
    """What stands complete before the cut; None where the text is not JSON that was cut."""
    body = text.rstrip()
    for tail in ("…", "..."):
        body = body.removesuffix(tail)
    try:
        return from_json(body.rstrip().removesuffix(",") + "]")  # cut between two elements of a list: all are whole
    except ValueError:
        pass
    try:
        value = from_json(body, allow_partial=True)
    except ValueError:
        return None
    return _without_last(value)


def _without_last(value: Any) -> Any:
    """A value without its last, maybe half-read, element; inside an object the last member is searched instead."""
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, dict) and value:
        last = next(reversed(value))
        kept = {k: v for k, v in value.items() if k != last}
        if isinstance(value[last], list) and value[last][:-1]:
            kept[last] = value[last][:-1]
        elif isinstance(value[last], dict) and (inner := _without_last(value[last])):
            kept[last] = inner
        return kept
    return value


def json_text(value: Any) -> str:
    """A structured value as JSON text, non-ASCII unescaped, keys in their order; bytes as their length, never their content."""
    try:
        return _ENCODER.encode(value)
    except (ValueError, RecursionError):  # a circle, or nesting beyond any real result
        return str(value)


def _json_default(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return f"<{len(value)} bytes>"
    return str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_json_default)


def first_present(value: dict[str, Any], *names: str) -> Any:
    """The first member that is there and not null."""
    for name in names:
        found = value.get(name)
        if found is not None:
            return found
    return None


def id_or_none(value: Any) -> str | None:
    """A call's id. Some are lists (agent-framework over Assistants: run and call) told as JSON text, which exporters decode."""
    return json_text(value) if isinstance(value, list) and value else text_or_none(value)


def text_or_none(value: Any) -> str | None:
    """A non-empty text, else None; numbers as text. "null" and "None" count as absent (seen in exported span types)."""
    if value is None:
        return None
    if isinstance(value, str):
        return value if value and value not in ("null", "None") else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None
