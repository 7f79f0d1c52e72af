"""The JSON values of a stream of lines: one a line, pretty-printed over many, an array, or one after the other without a newline.

A line that is a value by itself is parsed as it is. Anything else is followed bracket by bracket until a value is complete; the elements of
an array whose bracket stands alone on its line are values of their own, so that a long one needs no memory. A broken value costs only
itself: it ends where no JSON could go on, and the lines that it seemed to swallow are read each for itself.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from otel_eval.errors import InputError
from otel_eval.otlp.json_text import TooDeep, value_from_text
from otel_eval.otlp.tally import Tally

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
"""A whole string, a bracket, or the quote of a string without end. It never goes back, so that any line takes linear time."""

_REQUEST_LINE = re.compile(rb'\{\s*"resource(?:Spans|Logs|Metrics)"')
_GOES_ON_AFTER = tuple(b"{[,:")
_GOES_ON_WITH = tuple(b"}],:")
_NOTHING, _TOO_DEEP = object(), object()
_FAULTS: Mapping[object, str] = {_NOTHING: "broken_json", _TOO_DEEP: "json_nested_too_deep"}


def values_from_lines(stream: BinaryIO, tally: Tally, *, max_bytes: int) -> Iterator[Any]:
    """The values in order, `tally.line` being the line on which the one that came last begins.

    Counted in `tally`: `broken_json`, `json_nested_too_deep`, and `item_too_large` for one of more than `max_bytes`.
    """
    splitter = _Splitter(tally, max_bytes)
    for line in _lines(stream, tally, max_bytes):
        yield from splitter.feed(line)
    yield from splitter.close()


def _lines(stream: BinaryIO, tally: Tally, max_bytes: int) -> Iterator[bytes]:
    """The lines that are not blank. One that is too long is passed over without being held."""
    number = 0
    while line := stream.readline(max_bytes + 1):
        tally.line = number = number + 1
        if len(line) > max_bytes and not line.endswith(b"\n"):
            tally.reject("item_too_large")
            while line and not line.endswith(b"\n"):
                line = stream.readline(max_bytes)
        elif not line.isspace():
            yield line


def _whole_value(line: bytes) -> Any:
    """The value that the line is, `_NOTHING` if it is none, `_TOO_DEEP` if it is nested too deep to be read."""
    try:
        return value_from_text(line.strip().removesuffix(b","))
    except TooDeep:
        return _TOO_DEEP
    except InputError:
        return _NOTHING


class _Splitter:
    """Holds lines until the brackets close."""

    def __init__(self, tally: Tally, max_bytes: int) -> None:
        self._tally = tally
        self._max_bytes = max_bytes
        self._depth = 0
        self._held: list[bytes] = []
        self._size = 0
        self._in_garbage = False
        self._began = 0
        """The line on which the value that is held begins."""

    def feed(self, line: bytes) -> Iterator[Any]:
        """The values that end with this line."""
        if line.startswith(b"{"):
            self._in_garbage = False
        if self._depth and self._is_broken_before(line):
            yield from self.close()
        if self._depth:
            yield from self._follow(line)
        elif line.strip() not in (b"[", b"]", b"],"):
            value = _whole_value(line)
            if value is _NOTHING:
                yield from self._follow(line)
            elif value is _TOO_DEEP:
                self._reject(_FAULTS[value])
            else:
                self._in_garbage = False
                yield value

    def close(self) -> Iterator[Any]:
        """Give up what is not complete; the values that stand on lines of their own in it."""
        if not self._depth:
            return
        swallowed = self._held[1:]
        self._reject("item_too_large" if self._size > self._max_bytes else "broken_json")
        self._forget()
        yield from _values_of_lines(swallowed)

    def _follow(self, line: bytes) -> Iterator[Any]:
        start = 0
        for token in _TOKEN.finditer(line):
            mark = token.group()
            if mark in b"[{":
                if not self._depth:
                    self._check_between(line[start : token.start()])
                    start = token.start()
                    self._began = self._tally.line
                self._depth += 1
            elif mark in b"]}" and self._depth:
                self._depth -= 1
                if not self._depth:
                    self._held.append(line[start : token.end()])
                    start = token.end()
                    yield from self._take()
            elif mark == b'"':  # a string never goes over a line's end
                if not self._depth:
                    self._reject("broken_json")
                yield from self.close()
                return
        yield from self._hold_rest(line[start:])

    def _hold_rest(self, rest: bytes) -> Iterator[Any]:
        if not self._depth:
            self._check_between(rest)
            return
        self._size += len(rest)
        if self._size <= self._max_bytes:
            self._held.append(rest)
        elif self._held:
            yield from self._overflow()

    def _overflow(self) -> Iterator[Any]:
        """Too large to hold: go on following the brackets of a value, or give up a broken one that swallowed lines of values."""
        swallowed = _values_of_lines(self._held[1:])
        self._held.clear()
        first = next(swallowed, _NOTHING)
        if first is not _NOTHING:
            self._reject("broken_json")
            self._forget()
            yield first
            yield from swallowed

    def _take(self) -> Iterator[Any]:
        text, too_large = b"".join(self._held), self._size > self._max_bytes
        value = _NOTHING if too_large else _whole_value(text)
        if value is _NOTHING or value is _TOO_DEEP:
            self._reject("item_too_large" if too_large else _FAULTS[value])
            self._forget()
        else:
            here, self._tally.line = self._tally.line, self._began
            self._forget()
            self._in_garbage = False
            yield value
            self._tally.line = here

    def _is_broken_before(self, line: bytes) -> bool:
        """Whether no JSON value could go on with this line."""
        if _REQUEST_LINE.match(line):
            return _whole_value(line) not in (_NOTHING, _TOO_DEEP)
        before, after = (self._held or [b""])[-1].rstrip()[-1:], line.lstrip()[:1]
        return bool(before) and before[0] not in _GOES_ON_AFTER and after[0] not in _GOES_ON_WITH

    def _check_between(self, text: bytes) -> None:
        if text.strip(b"[], \t\r\n"):
            self._reject("broken_json")

    def _reject(self, reason: str) -> None:
        """Count once what belongs together: the rest of a broken value is the same fault."""
        if not self._in_garbage:
            here, self._tally.line = self._tally.line, self._began if self._depth else self._tally.line
            self._tally.reject(reason)
            self._tally.line = here
        self._in_garbage = True

    def _forget(self) -> None:
        self._depth = self._size = 0
        self._held.clear()


def _values_of_lines(lines: list[bytes]) -> Iterator[Any]:
    """The objects that stand on lines of their own, not indented."""
    for line in lines:
        if line.startswith(b"{"):
            value = _whole_value(line)
            if value is not _NOTHING and value is not _TOO_DEEP:
                yield value
