"""A JSON object as strangers wrote it: members asked for by name and kind.

What is of another kind than asked for is an InputError that says where it stands and what was expected, never what stood there. What is
absent or null is None, 0 or empty.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.model import SpanRef

_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}

_DIGITS = 20  # of a 64-bit number with its sign


def kind_of(value: Any) -> str:
    """A JSON value's kind in words."""
    return _KINDS.get(type(value), "no JSON value")


class Record:
    """One object and its path from the top, as in `messages[2].tool_calls[0]`."""

    __slots__ = ("at", "members")

    def __init__(self, value: Any, at: str = "") -> None:
        if not isinstance(value, Mapping):
            raise InputError(f"{at or 'the conversation'} is {kind_of(value)}: expected an object")
        self.members = value
        self.at = at

    def where(self, name: str) -> str:
        """The path of a member."""
        return f"{self.at}.{name}" if self.at else name

    def value(self, *names: str) -> Any:
        """The first of these members that is there and not null."""
        return next((v for n in names if (v := self.members.get(n)) is not None), None)

    def wrong(self, name: str, expected: str) -> InputError:
        """The error of a member that is not as expected."""
        return InputError(f"{self.where(name)} is {kind_of(self.members.get(name))}: expected {expected}")

    def text(self, *names: str) -> str | None:
        """A text; a number is taken as its digits, for ids are written so."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, str):
                return value
            if isinstance(value, int | float) and not isinstance(value, bool):
                return str(value)
            if value is not None:
                raise self.wrong(name, "a text or null")
        return None

    def flag(self, name: str) -> bool | None:
        value = self.members.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true, false or null")
        return value

    def number(self, name: str) -> int | None:
        """A whole number, also written as text (64-bit numbers are, as in OTLP/JSON)."""
        value = self.members.get(name)
        if isinstance(value, str) and len(value) <= _DIGITS and value.removeprefix("-").isdecimal():
            return int(value)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise self.wrong(name, "a whole number")
        return value

    def mapping(self, *names: str) -> Mapping[str, Any] | None:
        for name in names:
            value = self.members.get(name)
            if isinstance(value, Mapping):
                return value
            if value is not None:
                raise self.wrong(name, "an object or null")
        return None

    def record(self, *names: str) -> "Record | None":
        """An object, to be read on."""
        for name in names:
            if self.members.get(name) is not None:
                return Record(self.members[name], self.where(name))
        return None

    def values(self, *names: str) -> list[Any]:
        """A list as it stands."""
        for name in names:
            value = self.members.get(name)
            if isinstance(value, list | tuple):
                return list(value)
            if value is not None:
                raise self.wrong(name, "a list")
        return []

    def records(self, *names: str) -> list["Record"]:
        """A list of objects."""
        name = next((n for n in names if self.members.get(n) is not None), names[0])
        return [Record(item, f"{self.where(name)}[{place}]") for place, item in enumerate(self.values(name))]

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self.values(name)
        if not all(isinstance(v, str) for v in values):
            raise self.wrong(name, "a list of texts")
        return tuple(values)

    def ref(self, name: str) -> SpanRef | None:
        """A span's ids."""
        inner = self.record(name)
        return inner.as_ref() if inner is not None else None

    def refs(self, name: str) -> tuple[SpanRef, ...]:
        return tuple(inner.as_ref() for inner in self.records(name))

    def as_ref(self) -> SpanRef:
        trace_id, span_id = self.text("trace_id"), self.text("span_id")
        if trace_id is None or span_id is None:
            raise InputError(f"{self.at} is no span reference: expected an object with trace_id and span_id")
        return SpanRef(trace_id=trace_id, span_id=span_id)
