"""Text to value: JSON in all its writings, and JSON that a limit cut. Semconv trap T4, field bug A4."""

import json
from typing import Any

import pytest

from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.reprs import value_from_repr
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import GapReason
from tests.fakes.spans import reasons

MESSAGES = [
    {"role": "user", "content": 'Hi, "you" 🌤'},
    {"role": "assistant", "content": "Yes", "n": [1, {"a": None}]},
    {"role": "user", "content": "Ok"},
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        (' {"a": 1} ', {"a": 1}),
        ('"[1]"', [1]),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"words"', "words"),
        ("[NaN, Infinity]", [float("nan"), float("inf")]),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('["\\ud83d"]', ["\ufffd"]),
        ("{'a': None, 'b': [True]}", {"a": None, "b": [True]}),
        ("('x', 'y')", "('x', 'y')"),
        ("words", "words"),
        ("", ""),
        ("{words}", "{words}"),
        ("[see 1]", "[see 1]"),
        ("12", "12"),
    ],
)
def test_a_text_is_the_value_it_writes_out(text: str, value: Any) -> None:
    """JSON, doubly encoded JSON, JSON beyond the standard and Python literals; all else is the text itself."""
    assert repr(value_from_text(text)) == repr(value)


@pytest.mark.parametrize("tail", ["", "…", "..."])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_cut_anywhere_the_complete_elements_remain(ascii_only: bool, tail: str) -> None:
    """A4: wherever a list is cut, its whole leading elements are given, and the cut is noted."""
    text = json.dumps(MESSAGES, ensure_ascii=ascii_only)
    ends = [len(json.dumps(MESSAGES[:n], ensure_ascii=ascii_only)) - 1 for n in range(4)]
    for size in range(2, len(text) - 1):
        notes = Notes()
        got = value_from_text(text[:size] + tail, notes)
        if isinstance(got, str):
            continue
        assert got == MESSAGES[: len(got)], text[:size]
        assert len(got) >= sum(end < size - 1 for end in ends[1:]), text[:size]
        assert reasons(notes.gaps) == {GapReason.TRUNCATED}


@pytest.mark.parametrize(
    "text", ['[{"role": "user", "content": "Hi"}, {"role": "assi', '{"messages": [{"role": "user", "content": "Hi"}, {"ro']
)
def test_a_cut_element_is_left_out(text: str) -> None:
    """A half-read last element is never given as if it were whole."""
    notes = Notes()
    got = value_from_text(text, notes)
    listed = got["messages"] if isinstance(got, dict) else got
    assert listed == [{"role": "user", "content": "Hi"}]
    assert notes.truncated


def test_deep_and_long_texts_end() -> None:
    """Nesting beyond any reader's depth and huge texts come back without an error."""
    for text in ("[" * 100_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 10_000, "[" + "1," * 200_000, "(" * 10_000, "[" + "-" * 50_000):
        value_from_text(text, Notes())


@pytest.mark.parametrize("text", ['[{"content": "cut \\ud83d"}]', '{"a": ["\\ude00 and \\ud800", "🌤"]}', "[{'a': ('cut \\ud83d',)}]"])
def test_half_characters_become_replacement_characters(text: str) -> None:
    """Text that an instrumentation cut inside a character can be written out again, by a store or a sink."""
    got = json.dumps(value_from_text(text), ensure_ascii=False)
    assert "\ufffd" in got.encode().decode()


def test_half_characters_in_a_repr_of_objects() -> None:
    """The same holds for texts inside constructor calls."""
    assert value_from_repr("Message(text='cut \\ud83d')") == {"__class__": "Message", "text": "cut \ufffd"}
