"""Untrusted text made inert: what cannot be seen is said, what repeats is counted, spelling is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.metrics import inert


def note(text: str) -> str:
    return f"⟨{text}⟩"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("ver\u200bdict", "ver⟨1 invisible⟩dict"),
        ("y\u200ce\u200ds", "y⟨1 invisible⟩e⟨1 invisible⟩s"),
        ("a\U000e0041\U000e0042b", "a⟨2 invisible⟩b"),
        ("\u202eevil\u202c", "⟨1 invisible⟩evil⟨1 invisible⟩"),
        ("a\ufe00\ufe01\ufe02b", "a⟨3 invisible⟩b"),
        ("half \ud800", "half ⟨1 invisible⟩"),
        ("bell\x07", "bell⟨1 invisible⟩"),
        ("blank \u3164", "blank ⟨1 invisible⟩"),
    ],
)
def test_what_cannot_be_seen_is_said(text: str, shown: str) -> None:
    """Zero-width, tag, direction, private and control characters become a remark with their number."""
    assert inert.visible(text, note) == shown


@pytest.mark.parametrize(
    "text",
    ["❤️ and 👩‍👩‍👧", "1️⃣", "क्‍ष", "می‌خواهم", "葛\U000e0100城", "한국어 텍스트", "Grüße, größer", "عربي", "tab\there", "a\u00a0b"],
)
def test_spelling_is_left_alone(text: str) -> None:
    """Emoji sequences, Persian and Indic joiners, and one variation selector of a Han sign are how words are written."""
    assert inert.visible(text, note) == text


def test_repeats_are_counted() -> None:
    """Three or more equal lines, or sentences in a line, are shown once; two are left."""
    sentence = "Step finished successfully. "
    assert inert.without_repeats(sentence * 180, note) == f"{sentence}⟨repeated 180 times⟩"
    assert inert.without_repeats("the same long line of a log file\n" * 3 + "end", note) == (
        "the same long line of a log file\n⟨repeated 3 times⟩\nend"
    )
    twice = "It is done as you wished. It is done as you wished."
    assert inert.without_repeats(twice, note) == twice
    assert inert.without_repeats("작업이 끝났습니다. " * 20, note).startswith("작업이 끝났습니다. ⟨repeated 20 times⟩")


@given(st.text())
def test_a_name_is_one_harmless_word(text: str) -> None:
    """A tool's name in a header has no space, line end, bracket or bar, whatever it was."""
    name = inert.name(text)
    assert 0 < len(name) <= 64
    assert not set(name) & set(" \n\r\t[]|()→⟨⟩\u2028")


@given(st.text(), st.integers(2, 50))
def test_one_line_is_one_line(text: str, most: int) -> None:
    """Lists that we write stay lists: no line end, never longer than allowed."""
    line = inert.one_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
