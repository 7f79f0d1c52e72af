"""When two JSON values are the same value.

Objects are equal whatever the order of their members; a member that is null equals one that is absent (most tool schemas treat them
alike). Numbers are compared by value, whole numbers exactly and others within `RELATIVE_TOLERANCE`; a boolean is never a number, a text
never a number or a list. Texts are compared in Unicode form NFC, so that the two ways of writing é or 한 are one.
"""

import json
import math
from collections.abc import Mapping
from typing import Any
from unicodedata import normalize

RELATIVE_TOLERANCE = 1e-9
"""Far above the noise of double arithmetic (0.1 + 0.2 against 0.3 differs by 2e-16), far below any difference that is meant."""


def json_equal(first: Any, second: Any) -> bool:
    """Whether two JSON values mean the same. {"a": 1, "b": null} equals {"a": 1.0}; "1" does not equal 1, nor true 1."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, int | float) and isinstance(second, int | float):
        return _numbers_equal(first, second)
    if isinstance(first, str) and isinstance(second, str):
        return text(first) == text(second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _objects_equal(members(first), members(second))
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(json_equal, first, second))
    return first is None and second is None


def text(value: str) -> str:
    """A text as it is compared."""
    return value if value.isascii() else normalize("NFC", value)


def members(value: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an object that carry something, by name as it is compared."""
    return {text(str(name)): member for name, member in value.items() if member is not None}


def canonical_text(value: Any) -> str:
    """One text for all spellings of a JSON value: for counting repetitions, not for tolerance (0.1 + 0.2 and 0.3 differ)."""
    return json.dumps(_canonical(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def plain(value: Any) -> Any:
    """The value with plain dicts and lists: read-only views print differently, and printed forms are what ragas compares."""
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def _numbers_equal(first: float, second: float) -> bool:
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    try:
        return first == second or math.isclose(first, second, rel_tol=RELATIVE_TOLERANCE)
    except OverflowError:  # a whole number beyond every double
        return False


def _objects_equal(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return first.keys() == second.keys() and all(json_equal(member, second[name]) for name, member in first.items())


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _canonical(member) for name, member in members(value).items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return text(value) if isinstance(value, str) else value
