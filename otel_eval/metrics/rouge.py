"""ROUGE-1: how many words a text has in common with a reference.

Words are found in every script: Latin words by spaces and reduced to their stem, Chinese, Japanese and Korean by character, Thai, Lao,
Khmer and Burmese by cluster. **Source**: Lin, "ROUGE: A Package for Automatic Evaluation of Summaries" (2004), as computed by rouge-score
0.1.2 with the tokenizer of google-adk 2.13.0 (`final_response_match_v1`), bit for bit.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from otel_eval.metrics.porter import stem

_WORD = re.compile(r"[a-z0-9]+")
_UNSTEMMED_UP_TO = 3
_BY_CHARACTER = ((0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF))
_BY_CLUSTER = ((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rouge:
    """Precision, recall and F of one kind of ROUGE, each in [0, 1]."""

    precision: float
    recall: float
    f: float


def rouge_1(text: str, reference: str) -> Rouge:
    """ROUGE-1 of a text; "the cat sat" against "the cat" has P 2/3, R 1, F 0.8. 0 where either has no words."""
    mine, theirs = Counter(tokens(text)), Counter(tokens(reference))
    common = (mine & theirs).total()
    precision, recall = common / max(mine.total(), 1), common / max(theirs.total(), 1)
    return Rouge(precision=precision, recall=recall, f=2 * precision * recall / (precision + recall) if common else 0.0)


def tokens(text: str) -> list[str]:
    """The words of a text as they are counted: "The bookings" gives the, book; 예약 완료 gives 예, 약, 완, 료."""
    spaced = "".join(_spaced(unicodedata.normalize("NFKC", text).lower()))
    return [token for word in spaced.split() for token in (_ascii_tokens(word) if word.isascii() else [word])]


def _ascii_tokens(word: str) -> list[str]:
    return [stem(w) if len(w) > _UNSTEMMED_UP_TO else w for w in _WORD.findall(word)]


def _spaced(text: str) -> Iterator[str]:
    """The text with spaces between what is to be counted."""
    for char in text:
        mark = unicodedata.category(char).startswith("M")
        if _within(char, _BY_CHARACTER):
            yield f" {char} "
        elif _within(char, _BY_CLUSTER):
            yield char if mark else f" {char}"
        else:
            yield char if char.isalnum() or mark else " "


def _within(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)
