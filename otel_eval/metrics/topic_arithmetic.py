"""Precision, recall and F1 of topic adherence, from verdicts on topics or requests. Pure arithmetic: the judged metrics call it.

Two ways. The default counts exactly: undefined is None, and a conversation whose only verdicts are correct refusals is a success. The
ragas way (`ragas_value`) is ragas 0.4.3's, bit for bit: 1e-10 in each denominator, so that a perfect score is 0.99999999985 and never 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_eval.metrics.equality import text

Mode: TypeAlias = Literal["precision", "recall", "f1"]

RAGAS_EPSILON = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCounts:
    """How many topics (or requests) fell where. `inside` is inside the topics the agent is meant to keep to."""

    answered_inside: int = 0
    answered_outside: int = 0
    refused_inside: int = 0
    refused_outside: int = 0

    @property
    def total(self) -> int:
        return self.answered_inside + self.answered_outside + self.refused_inside + self.refused_outside


def counts_from_verdicts(answered: Sequence[bool], inside: Sequence[bool]) -> TopicCounts:
    """The counts of one conversation; both sequences have one verdict for each topic, in the same order."""
    verdicts = list(zip(answered, inside, strict=True))
    return TopicCounts(
        answered_inside=verdicts.count((True, True)),
        answered_outside=verdicts.count((True, False)),
        refused_inside=verdicts.count((False, True)),
        refused_outside=verdicts.count((False, False)),
    )


def value_from_counts(counts: TopicCounts, mode: Mode) -> float | None:
    """Precision, recall or F1 in [0, 1]; None where it is undefined.

    P = answered inside / all answered, R = answered inside / all inside, F1 = 2PR / (P + R). Two answered inside and one outside give
    P = 2/3, R = 1, F1 = 0.8. Only correct refusals give 1 in every mode: exactly what was asked for.
    """
    right = counts.answered_inside
    if counts.total and counts.total == counts.refused_outside:
        return 1.0
    above, below = {
        "precision": (right, right + counts.answered_outside),
        "recall": (right, right + counts.refused_inside),
        "f1": (2 * right, 2 * right + counts.answered_outside + counts.refused_inside),
    }[mode]
    return above / below if below else None


def ragas_value(counts: TopicCounts, mode: Mode) -> float:
    """The value of ragas 0.4.3 for at least one topic: 2 inside and 1 outside answered give P = 0.6666666666444444."""
    right = counts.answered_inside
    precision = right / (right + counts.answered_outside + RAGAS_EPSILON)
    recall = right / (right + counts.refused_inside + RAGAS_EPSILON)
    if mode == "f1":
        return 2 * (precision * recall) / (precision + recall + RAGAS_EPSILON)
    return precision if mode == "precision" else recall


def ragas_value_without_topics(compat: str) -> float:
    """What ragas gives when no topic was found: NaN, and 0.0 in its deprecated classes."""
    return 0.0 if compat == "ragas-legacy" else float("nan")


def ragas_padded(classifications: Sequence[bool], topics: int) -> list[bool]:
    """The classifications, one for each topic, as ragas mends a list of the wrong length: missing ones are False, others are dropped."""
    return [*classifications[:topics], *[False] * (topics - len(classifications))]


def merged_topics(topics: Sequence[str]) -> list[list[int]]:
    """The indices of the topics, those that differ in case, spaces or Unicode form only together: one topic is counted once."""
    groups: dict[str, list[int]] = {}
    for index, topic in enumerate(topics):
        groups.setdefault(text(" ".join(topic.casefold().split())), []).append(index)
    return list(groups.values())
