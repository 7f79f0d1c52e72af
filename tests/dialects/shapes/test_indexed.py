"""Flattened attributes to lists. Field bug A14."""

from typing import Any

import pytest

from otel_eval.dialects.shapes.indexed import nested_from_indexed
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import GapReason
from tests.fakes.spans import reasons


def test_indices_order_as_numbers() -> None:
    """A14: 10 stands behind 9, whatever the order of the attributes."""
    attributes = {f"m.{n}.content": str(n) for n in sorted(range(12), key=str)}
    assert [m["content"] for m in nested_from_indexed(attributes, "m") or ()] == [str(n) for n in range(12)]


def test_missing_indices_are_left_out_and_noted() -> None:
    """A14: an attribute limit drops the oldest; the others keep their order and the loss is told."""
    notes = Notes()
    got = nested_from_indexed({"m.3.content": "b", "m.2.content": "a"}, "m", notes)
    assert got == [{"content": "a"}, {"content": "b"}]
    assert reasons(notes.gaps) == {GapReason.ATTRIBUTES_DROPPED}


def test_a_hole_behind_the_first_is_no_dropped_attribute() -> None:
    """A limit takes the oldest first: where they stand, a missing index is a message of which nothing was written."""
    notes = Notes()
    got = nested_from_indexed({"m.0.content": "a", "m.2.content": "b"}, "m", notes)
    assert got == [{"content": "a"}, {"content": "b"}]
    assert reasons(notes.gaps) == {GapReason.HISTORY_BREAK}


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ({}, None),
        ({"m": "x"}, None),
        ({"m.count": 2}, None),
        ({"mm.0.content": "x"}, None),
        ({"m.0": "x", "m.1": "y"}, ["x", "y"]),
        ({"m.0.calls.1.name": "b", "m.0.calls.0.name": "a"}, [{"calls": [{"name": "a"}, {"name": "b"}]}]),
        ({"m.0.message": "flat", "m.0.message.role": "user"}, [{"message": {"role": "user"}}]),
        ({"m.0.message.role": "user", "m.0.message": "flat"}, [{"message": {"role": "user"}}]),
        ({"m.0.x": 1, "m.total": 5}, [{"x": 1}]),
        ({"m.²": 1}, None),
        ({"m.0.²": 1}, [{"²": 1}]),
        ({"m..0": 1}, None),
    ],
)
def test_nested_values(attributes: dict[str, Any], value: Any) -> None:
    """Lists inside lists; a scalar in the way gives way; names that are no index make no list."""
    assert nested_from_indexed(attributes, "m") == value
