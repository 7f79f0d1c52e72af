"""JSON values out of lines of any layout."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.otlp.json_split import values_from_lines
from otel_eval.otlp.tally import Tally

A, B, C = {"a": 1}, {"b": '}{"\\'}, {"c": [{"d": None}, []]}
PRETTY = "\n".join(json.dumps(value, indent=2) for value in (A, B, C))


def split(text: bytes, max_bytes: int = 1000) -> tuple[list[Any], dict[str, int]]:
    tally = Tally()
    return list(values_from_lines(io.BytesIO(text), tally, max_bytes=max_bytes)), tally.rejected


def lines(*values: Any) -> bytes:
    return b"\n".join(value if isinstance(value, bytes) else json.dumps(value).encode() for value in values)


LAYOUTS = {
    "lines": lines(A, B, C),
    "no newline between": lines(A) + lines(B) + lines(C),
    "carriage returns and blank lines": b"\r\n\r\n" + lines(A) + b"\r\n  \r\n" + lines(B) + b"\r\n" + lines(C) + b"\r\n",
    "pretty": PRETTY.encode(),
    "pretty without newline between": PRETTY.replace("}\n{", "}{").encode(),
    "commas at line ends": lines(A) + b",\n" + lines(B) + b",\n" + lines(C),
    "an array of lines": b"[\n" + lines(A) + b",\n" + lines(B) + b",\n" + lines(C) + b"\n]\n",
    "a pretty array": json.dumps([A, B, C], indent=2).encode(),
    "no indentation": json.dumps([A, B, C], indent=0).encode(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_does_not_matter(layout: str) -> None:
    """The same values in any layout are the same values in the same order."""
    assert split(LAYOUTS[layout]) == ([A, B, C], {})


def test_an_array_on_one_line_is_one_value() -> None:
    """A line that is a value is that value."""
    assert split(lines([A, B], C)) == ([[A, B], C], {})


BROKEN = [
    b'{"x": {"y',
    b'{"x": {"y": 1',
    b'{"x": {"y":',
    b'{"x": [',
    b"{",
    b'{"x": 1}}',
    b'{"x": [1, 2}]}',
    b'{"x": tru}',
    b"no json",
    b"\xff\xfe",
    b"]}",
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_line_costs_only_itself(broken: bytes) -> None:
    """Whatever a line is broken by, the lines before and after it are read, and it is counted once."""
    values, rejected = split(lines(A, broken, B, C))
    assert [value for value in values if value in (A, B, C)] == [A, B, C]
    assert rejected == {"broken_json": 1}


def test_two_broken_lines_count_twice() -> None:
    """Each broken value is one rejection; the lines of one broken value are not one each."""
    assert split(lines(b'{"x": "y', b'{"x": "z', A)) == ([A], {"broken_json": 2})
    assert split(b'{\n  "x": "y\n  "z": 1,\n  "v": 2\n}\n' + lines(A)) == ([A], {"broken_json": 1})


def test_a_request_ends_a_broken_value_at_once() -> None:
    """A line that is a whole OTLP request is not taken for the inside of a value that was cut off before it."""
    request: dict[str, Any] = {"resourceSpans": []}
    stream = iter(values_from_lines(io.BytesIO(lines(b'{"x": [', request, A)), Tally(), max_bytes=1000))
    assert next(stream) == request


def test_a_value_that_is_too_large_is_passed_over() -> None:
    """Too large a line, and too large a value over many lines, are counted and not held; what follows is read."""
    wide = {"x": "y" * 2000}
    assert split(lines(A, wide, B)) == ([A, B], {"item_too_large": 1})
    long = json.dumps({"x": list(range(500))}, indent=1).encode()
    assert split(lines(A, long, B)) == ([A, B], {"item_too_large": 1})


def test_lines_swallowed_by_a_broken_value_are_found_again() -> None:
    """A value cut off where JSON could go on gives back the lines behind it, when the limit or the end is reached."""
    many = [{"n": number} for number in range(300)]
    assert split(lines(b'{"x": [', *many)) == (many, {"broken_json": 1})


def test_lines_are_read_when_asked_for() -> None:
    """A value is given before the line after it is read."""

    class Endless(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:
            return lines(A) + b"\n"

    stream = values_from_lines(Endless(), Tally(), max_bytes=1000)
    assert [next(stream) for _ in range(3)] == [A, A, A]


HOSTILE = [b'\\"' * 500_000, b'{"' + b'\\"' * 500_000, b"[" * 1_000_000, b'"' * 1_000_000, b"{}" * 200_000 + b"x", b"\xff" * 1_000_000]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_lines_take_linear_time(number: int) -> None:
    """A long line made to be followed for ever is passed over like any other; the test ends because the time is linear."""
    assert split(lines(A, HOSTILE[number], B), max_bytes=2_000_000)[0][-1] == B


@given(st.lists(st.sampled_from([A, B, C, [], {}]), max_size=6), st.sampled_from([None, 1, "\t"]), st.sampled_from(["\n", "\r\n", " \n\n"]))
def test_any_mix_of_layouts_keeps_values_and_order(values: list[Any], indent: int | str | None, end: str) -> None:
    """Values written one after the other with any indentation and line end come back as they are."""
    text = "".join(json.dumps(value, indent=indent) + end for value in values)
    assert split(text.encode()) == (values, {})


@given(st.binary(max_size=60))
def test_any_bytes_are_survived(noise: bytes) -> None:
    """Nothing is raised, and a request on a line of its own after the noise is found."""
    request = {"resourceSpans": [{"n": 1}]}
    assert request in split(noise + b"\n" + lines(request))[0]
