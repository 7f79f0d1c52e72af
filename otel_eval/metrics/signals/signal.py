"""A signal: a card and one plain function."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from otel_eval.metrics.base import UNBOUNDED, MetricCard, MetricInput
from otel_eval.metrics.requirements import not_scored, nothing_to_judge
from otel_eval.model import Outcome, Score, Skipped, SkipReason

YES, NO = "yes", "no"
OURS = "otel-eval; failure ratios from 862 runs of τ-bench agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Measures one thing about a conversation with messages."""

    card: MetricCard
    measure: Callable[[MetricInput], Outcome]

    async def score(self, given: MetricInput) -> Outcome:
        return not_scored(self.card, given) or nothing_to_judge(given) or self.measure(given)


def flag_card(name: str, sentence: str, example: str, source: str = OURS) -> MetricCard:
    """The card of a signal that is there (1, `yes`) or not (0, `no`)."""
    return MetricCard(name=name, sentence=sentence, example=example, source=source, better="lower", labels=(YES, NO))


def count_card(name: str, sentence: str, example: str, *, unit: str = "1", better: str = "lower", source: str = OURS) -> MetricCard:
    """The card of a signal that counts or sums; it has no upper end."""
    direction: Any = better
    return MetricCard(name=name, sentence=sentence, example=example, source=source, better=direction, unit=unit, range=(0.0, UNBOUNDED))


def flag(given: MetricInput, is_there: bool, explanation: str, evidence: Iterable[int] = (), **details: Any) -> Score:
    """1 or 0 with its label; `evidence` counts from the first judged message."""
    return Score(
        value=float(is_there),
        label=YES if is_there else NO,
        explanation=explanation,
        evidence=_evidence(given, evidence),
        details=details,
    )


def count(given: MetricInput, value: float, explanation: str, evidence: Iterable[int] = (), **details: Any) -> Score:
    """A number with what it counts."""
    return Score(value=float(value), explanation=explanation, evidence=_evidence(given, evidence), details=details)


def undefined(detail: str) -> Skipped:
    """The conversation has nothing that this signal could be measured on."""
    return Skipped(reason=SkipReason.UNDEFINED, detail=detail)


def not_captured(detail: str) -> Skipped:
    """What the signal reads was not recorded."""
    return Skipped(reason=SkipReason.CONTENT_NOT_CAPTURED, detail=f"{detail}: switch on content capture in the instrumentation")


def _evidence(given: MetricInput, indices: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted({given.first_message + index for index in indices}))
