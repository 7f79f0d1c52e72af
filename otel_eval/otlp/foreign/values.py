"""The scalars of foreign forms: ids, times, kinds and statuses as various tools write them."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from otel_eval.model import AnyValue
from otel_eval.otlp.json_values import MAX_NANOS, attributes_from_pairs, id_from_text, value_from_any
from otel_eval.otlp.otlp_json import SPAN_KINDS, STATUS_CODES
from otel_eval.otlp.tally import Tally

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
"""Below the first number a time counts seconds, below the second milliseconds, below the third microseconds, else nanoseconds: for times
after 1973 the ranges do not meet."""


def first(data: Mapping[str, Any], *names: str) -> Any:
    """The value under the first of `names` that is there and not null; a dot goes into an inner object."""
    for name in names:
        value: Any = data
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            return value
    return None


def hex_id(value: Any, size: int, tally: Tally) -> str | None:
    """An id of `size` bytes in hexadecimal, however it was written; None where there is none or only zeros.

    Base64 is read only with its padding: a word of the right length is one, too.
    """
    text = value.removeprefix("0x").replace("-", "") if isinstance(value, str) else ""
    if not text.strip("0"):
        return None
    if _is_hex(text) and len(text) <= 2 * size:
        return text.lower().zfill(2 * size)
    base64_id = id_from_text(value, size, tally) if value.endswith("=") else None
    if base64_id is not None:
        return base64_id
    tally.note("foreign_id")
    return hash_id(value, size)


def hash_id(text: str, size: int) -> str:
    """An id made of a text: always the same, never zero."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[: 2 * size]


def content_id(data: Any, size: int, tally: Tally) -> str:
    """An id for what has none, made of its content."""
    tally.note("missing_id")
    return hash_id(json.dumps(data, sort_keys=True, default=str), size)


def _is_hex(text: str) -> bool:
    return bool(text) and all(c in "0123456789abcdefABCDEF" for c in text)


def nanos(value: Any) -> int | None:
    """A time in nanoseconds, from ISO 8601 (UTC where no zone is given), `[seconds, nanoseconds]`, or a number whose size tells its unit.

    None where there is none. Raises ValueError or TypeError where there is something else.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        number = int(value) if value.isdecimal() else None
        return _nanos_of_number(number) if number is not None else _nanos_of_iso(value)
    if isinstance(value, list):
        seconds, rest = value
        return _in_range(int(seconds) * 10**9 + int(rest))
    if isinstance(value, bool):
        raise TypeError("expected a time")
    return _nanos_of_number(value)


def _nanos_of_number(value: int | float) -> int | None:
    factor = next((factor for limit, factor in _UNITS if value < limit), 1)
    return _in_range(int(value * factor))


def _nanos_of_iso(text: str) -> int | None:
    """All nine digits of the fraction count, of which datetime keeps six."""
    whole, dot, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    moment = datetime.fromisoformat(whole + rest[len(digits) :] if dot else text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return _in_range((moment - _EPOCH) // timedelta(microseconds=1) * 1000 + int((digits + "0" * 9)[:9]))


def _in_range(time_ns: int) -> int | None:
    return time_ns if 0 < time_ns <= MAX_NANOS else None


def kind(value: Any) -> int:
    """A span kind from its name in any spelling (`SpanKind.CLIENT`, `client`, `SPAN_KIND_CLIENT`) or OTLP's number; 0 for others."""
    if isinstance(value, str):
        return SPAN_KINDS.get(_last_word(value, "SPAN_KIND_"), 0)
    return value if type(value) is int and 0 <= value <= 5 else 0


def status_code(value: Any) -> int:
    """A status code from its name in any spelling (`StatusCode.ERROR`, `Error`, `STATUS_CODE_ERROR`) or OTLP's number; 0 for others."""
    if isinstance(value, str):
        return STATUS_CODES.get(_last_word(value, "STATUS_CODE_"), 0)
    return value if type(value) is int and 0 <= value <= 2 else 0


def _last_word(value: str, prefix: str) -> str:
    return value.rpartition(".")[2].upper().removeprefix(prefix)


def text(value: Any) -> str:
    """A text; "" for what is none."""
    return value if isinstance(value, str) else ""


def attributes(value: Any) -> dict[str, AnyValue]:
    """Attributes from a plain map or from OTLP's list of pairs; a map may hold single values in OTLP's form."""
    if value is None:
        return {}
    if isinstance(value, list):
        return attributes_from_pairs(value)
    if not isinstance(value, dict):
        raise TypeError("expected attributes")
    return {key: _opened(held) if isinstance(held, dict) else held for key, held in value.items()}


_ANY_KINDS = frozenset({"stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue", "bytesValue"})


def _opened(value: dict[str, Any]) -> AnyValue:
    """A value that is an AnyValue, or the inside of an array of them (`{"values": [{"stringValue": …}]}`), as plain Python; else as it
    is."""
    inner = value.get("values")
    if set(value) == {"values"} and isinstance(inner, list) and all(_is_any_value(item) for item in inner):
        return [value_from_any(item) for item in inner]
    return value_from_any(value) if _is_any_value(value) else value


def _is_any_value(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and not _ANY_KINDS.isdisjoint(value)
