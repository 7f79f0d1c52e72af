"""Every reason has its sentence."""

from collections.abc import Mapping
from enum import StrEnum

import pytest

from otel_eval.model import FailReason, GapReason, SkipReason
from otel_eval.model.sentences import FAIL_SENTENCES, GAP_SENTENCES, SKIP_SENTENCES


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [(GapReason, GAP_SENTENCES), (SkipReason, SKIP_SENTENCES), (FailReason, FAIL_SENTENCES)],
    ids=["gaps", "skips", "fails"],
)
def test_every_reason_has_a_sentence(kind: type[StrEnum], sentences: Mapping[StrEnum, str]) -> None:
    """No reason is shown to a reader without words: each table holds its whole enumeration, in its order."""
    assert list(sentences) == list(kind)
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in sentences.values())
