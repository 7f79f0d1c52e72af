"""Half characters: what UTF-8 cannot write is replaced, all else stays."""

from typing import Any

import pytest

from otel_eval.model.characters import whole, whole_value


@pytest.mark.parametrize(
    ("text", "said"), [("plain", "plain"), ("é 🌤", "é 🌤"), ("cut \ud83d", "cut \ufffd"), ("\ude00!", "\ufffd!"), ("\ud83c\udf24", "🌤")]
)
def test_texts(text: str, said: str) -> None:
    """A half becomes U+FFFD, two halves of a pair their character."""
    assert whole(text) == said


@pytest.mark.parametrize(
    ("value", "said"), [({"\ud800": ["\ud800", ("\ud800", 1)]}, {"\ufffd": ["\ufffd", ("\ufffd", 1)]}), (b"\xff", b"\xff"), (None, None)]
)
def test_values(value: Any, said: Any) -> None:
    """Texts at any depth, keys too; kinds of values stay."""
    assert whole_value(value) == said
