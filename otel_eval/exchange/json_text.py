"""Values to JSON text that every reader takes: one line, no NaN, no half characters."""

import base64
import json
import math
from collections.abc import Mapping
from typing import Any


def text_from_value(value: Any) -> str:
    """A value as one line of JSON; characters stand as themselves wherever UTF-8 can write them."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError):
        value = plain(value)
        line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, from text that was cut inside a character
        return json.dumps(value)
    return line


def plain(value: Any) -> Any:
    """A value of JSON's own kinds: mappings as objects, bytes as base64, what is no number (NaN, Infinity) as its name.

    **Source**: the JSON mapping of protobuf, as OTLP/JSON has it.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _name_of(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _name_of(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def without_unknown(members: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are known: None is left out."""
    return {k: v for k, v in members.items() if v is not None}
