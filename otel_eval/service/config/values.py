"""Durations and sizes as people write them: `10s`, `15m`, `2GiB`; plain numbers are seconds and bytes."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, PlainSerializer, SecretStr, WithJsonSchema

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_BYTES: Mapping[str, int] = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 10**3, "MB": 10**6, "GB": 10**9}


def seconds_from_value(value: Any) -> float:
    """Seconds from a number or a text like `250ms`, `10s`, `15m`, `24h`, `3d`; ValueError for anything else."""
    return _scaled(value, _SECONDS, "s", "a duration such as 10s, 15m or 24h")


def bytes_from_value(value: Any) -> int:
    """Bytes from a number or a text like `64MiB`, `2GiB`, `500MB`; ValueError for anything else."""
    return int(_scaled(value, _BYTES, "B", "a size such as 64MiB or 2GiB"))


def _scaled(value: Any, units: Mapping[str, float], own: str, expected: str) -> float:
    match = _NUMBER.fullmatch(str(value)) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    if match is None or (match[2] or own) not in units:
        raise ValueError(f"expected {expected}")
    return float(match[1]) * units[match[2] or own]


def text_from_seconds(seconds: float) -> str:
    """The shortest way to write a duration: 90 gives `90s`, 900 `15m`."""
    return _written(seconds, _SECONDS, ("d", "h", "m", "s", "ms"))


def text_from_bytes(size: int) -> str:
    """The shortest way to write a size: 67108864 gives `64MiB`."""
    return _written(size, _BYTES, ("GiB", "MiB", "KiB", "B"))


def _written(value: float, units: Mapping[str, float], order: tuple[str, ...]) -> str:
    for unit in order:
        share = value / units[unit]
        if share >= 1 and share == int(share):
            return f"{int(share)}{unit}"
    return f"{value / units[order[-1]]:g}{order[-1]}"


_TEXT_OR_NUMBER = {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}]}
Duration: TypeAlias = Annotated[
    float,
    BeforeValidator(seconds_from_value),
    PlainSerializer(text_from_seconds, return_type=str),
    WithJsonSchema({**_TEXT_OR_NUMBER, "title": "Duration", "examples": ["10s", "15m", "24h"]}),
]
Size: TypeAlias = Annotated[
    int,
    BeforeValidator(bytes_from_value),
    PlainSerializer(text_from_bytes, return_type=str),
    WithJsonSchema({**_TEXT_OR_NUMBER, "title": "Size", "examples": ["64MiB", "2GiB"]}),
]
Secret: TypeAlias = SecretStr
"""Never in the file: only by environment, or from a file that the key beside it names."""
