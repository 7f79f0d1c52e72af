"""JSON text to plain Python values, fast."""

import json
from typing import Any

from pydantic_core import from_json

from otel_eval.errors import InputError


class TooDeep(InputError):
    """A JSON text whose brackets are nested deeper than can be read."""


_KINDS = {"NoneType": "null", "list": "an array", "dict": "an object", "str": "a string", "bool": "a boolean"}


def kind_of(value: Any) -> str:
    """What JSON calls a value, with its article."""
    return _KINDS.get(type(value).__name__, "a number")


def value_from_text(text: bytes | str) -> Any:
    """The value of one JSON text; InputError when it is none, TooDeep where it may be one. NaN and Infinity are read.

    The fast reader refuses half surrogate pairs, bytes that are no UTF-8 and deep nesting; the standard one then has its turn. Half pairs,
    which could never be written out again, and broken characters become U+FFFD.
    """
    try:
        return from_json(text)
    except ValueError as error:
        return _slow_value(text, error)


def _slow_value(text: bytes | str, first_error: ValueError) -> Any:
    try:
        value = json.loads(text.decode(errors="replace") if isinstance(text, bytes) else text)
        as_text = json.dumps(value, ensure_ascii=False)
        if as_text.isascii() or _is_unicode(as_text):
            return value
        return json.loads(as_text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except RecursionError:
        raise TooDeep("JSON nested too deep: expected some hundred brackets within each other at most") from None
    except ValueError:
        where = str(first_error).rpartition(" at ")[2]
        raise InputError(f"no JSON: expected one JSON value, cannot be read at {where}") from None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
