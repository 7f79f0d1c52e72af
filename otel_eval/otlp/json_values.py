"""The scalars of OTLP/JSON: ids, AnyValues, integers, times and enums.

**Source**: the OTLP specification 1.11, "JSON Protobuf Encoding": ids are hexadecimal of either case, other bytes base64, 64-bit integers
decimal strings or numbers, enums integers, non-finite doubles strings. Read beyond it, because such files exist: snake_case keys, enum
names, and ids in base64 where the length leaves no doubt. A value of a wrong type raises ValueError or TypeError.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.model import AnyValue
from otel_eval.otlp.tally import Tally

MAX_NANOS = 2**63 - 1
"""Beyond it lies the year 2262 and no 64-bit store: such a time is unknown."""

_BASE64_LENGTHS = {16: (22, 24), 8: (11, 12)}
"""Characters of so many bytes in base64, without and with padding."""


def camel(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same object with its snake_case keys in lowerCamelCase."""
    return {_camel_key(key): value for key, value in data.items()}


def _camel_key(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def id_from_text(text: Any, size: int, tally: Tally) -> str | None:
    """An id of `size` bytes as lower-case hexadecimal; None where it is absent, zero or no id. Base64 is counted as `base64_id`."""
    if type(text) is not str:
        return None
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    if len(raw) != size or len(text) != 2 * size:
        if len(text) not in _BASE64_LENGTHS[size]:
            return None
        raw = _id_from_base64(text, size)
        if raw:
            tally.note("base64_id")
    return raw.hex() if any(raw) else None


def _id_from_base64(text: str, size: int) -> bytes:
    try:
        raw = bytes_from_base64(text)
    except ValueError:
        return b""
    return raw if len(raw) == size else b""


def bytes_from_base64(text: str) -> bytes:
    """Bytes of standard or URL-safe base64, padded or not; ValueError when it is neither."""
    text = text.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def nanos_from_value(value: Any) -> int | None:
    """A time in nanoseconds; None where it is absent, 0 or no time of ours."""
    number = int_from_value(value) if value is not None else 0
    return number if 0 < number <= MAX_NANOS else None


def int_from_value(value: Any) -> int:
    """An integer given as number or decimal string."""
    if type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is str:
        return int(value)
    raise TypeError("expected an integer")


def text_from_value(value: Any) -> str:
    """A text; "" for null, which protobuf's JSON mapping takes for absent."""
    if value is None:
        return ""
    if type(value) is str:
        return value
    raise TypeError("expected a text")


def enum_from_value(value: Any, names: Mapping[str, int]) -> int:
    """An enum's number, given as such or by a name of `names` (any case, with or without the enum's prefix)."""
    if type(value) is int:
        return value
    if value is None:
        return 0
    if type(value) is str:
        name = value.upper()
        return int(name) if name.isdecimal() else names[name.removeprefix("SPAN_KIND_").removeprefix("STATUS_CODE_")]
    raise TypeError("expected an enum's number")


def attributes_from_pairs(pairs: Any) -> dict[str, AnyValue]:
    """The attributes of a list of `{"key": …, "value": {…}}`; the last of a repeated key counts."""
    attributes: dict[str, AnyValue] = {}
    for pair in pairs or ():
        value = pair.get("value")
        text = value.get("stringValue") if value is not None else None
        attributes[pair["key"]] = text if type(text) is str else value_from_any(value)
    return attributes


def event_name_from_attributes(attributes: Mapping[str, AnyValue]) -> str:
    """The name that producers before OTLP 1.6 put in the attribute `event.name`; "" without one."""
    name = attributes.get("event.name")
    return name if isinstance(name, str) else ""


def value_from_any(value: Any) -> AnyValue:
    """An AnyValue as Python; None for an empty one, for null and for kinds that OTLP does not name."""
    if value is None:
        return None
    for kind, raw in value.items():
        read = _READERS.get(kind) or _READERS.get(_camel_key(kind))
        if read is not None and raw is not None:
            return read(raw)
    return None


def _bool(raw: Any) -> bool:
    if type(raw) is bool:
        return raw
    raise TypeError("expected true or false")


def _double(raw: Any) -> float:
    if type(raw) is bool:
        raise TypeError("expected a number")
    return float(raw)


def _array(raw: Any) -> list[AnyValue]:
    return [value_from_any(item) for item in raw.get("values") or ()]


def _kvlist(raw: Any) -> dict[str, AnyValue]:
    return attributes_from_pairs(raw.get("values"))


_READERS: Mapping[str, Callable[[Any], AnyValue]] = {
    "stringValue": text_from_value,
    "intValue": int_from_value,
    "doubleValue": _double,
    "boolValue": _bool,
    "arrayValue": _array,
    "kvlistValue": _kvlist,
    "bytesValue": bytes_from_base64,
}
