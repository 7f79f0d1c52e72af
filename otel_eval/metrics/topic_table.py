"""From a table of requests to a score of topic adherence; the formulas stand in `topic_arithmetic`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from otel_eval.metrics.base import MetricCard, MetricInput
from otel_eval.metrics.judging import Asked, joined_reasons
from otel_eval.metrics.requirements import undefined
from otel_eval.metrics.topic_arithmetic import Mode, TopicCounts, value_from_counts
from otel_eval.model import Failed, FailReason, JudgeUse, Outcome, Score, Skipped, SkipReason

_GIVEN = frozenset({"answered", "partly"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRequest:
    """One thing the user asked about: whether it belongs to the domain, and how it was handled."""

    request: str
    in_domain: str
    handling: str
    message: int | None = None
    topic: str = ""
    domain: str = ""
    reason: str = ""
    evidence: tuple[int, ...] = ()

    @property
    def counts(self) -> TopicCounts:
        """What this request adds.

        A mixed request that was answered adds one of both kinds; answered in part, its domain half was answered and the rest left.
        """
        given = self.handling in _GIVEN
        if self.in_domain == "mixed":
            return TopicCounts(answered_inside=int(given), answered_outside=int(self.handling == "answered"), refused_inside=int(not given))
        if self.in_domain == "yes":
            return TopicCounts(answered_inside=int(given), refused_inside=int(not given))
        if self.in_domain == "no":
            return TopicCounts(answered_outside=int(given), refused_outside=int(not given))
        return TopicCounts()


def counts_of(requests: Sequence[TopicRequest]) -> TopicCounts:
    """All requests together."""
    each = [r.counts for r in requests]
    return TopicCounts(
        answered_inside=sum(c.answered_inside for c in each),
        answered_outside=sum(c.answered_outside for c in each),
        refused_inside=sum(c.refused_inside for c in each),
        refused_outside=sum(c.refused_outside for c in each),
    )


def count_details(counts: TopicCounts) -> dict[str, int]:
    """The counts by name, as they stand in the details of a score."""
    return asdict(counts)


def outcome_from_topics(
    given: MetricInput, card: MetricCard, mode: Mode, table: Sequence[TopicRequest], answer: Asked, use: JudgeUse | None
) -> Outcome:
    """The score of one mode. Requests the judge could not place are left out and counted; too many of them, and there is no score."""
    requests = [r for r in table if r.in_domain != "no_request"]
    undecided = [r for r in requests if r.in_domain == "cannot_tell"]
    if len(undecided) * 2 > len(requests):
        detail = joined_reasons([r.reason for r in undecided]) or "the record does not say what the requests are about"
        return Failed(error_type=FailReason.CANNOT_TELL, detail=detail, judge=use)
    if not requests:
        return Skipped(reason=SkipReason.UNDEFINED, detail="the user asked about nothing")
    counts = counts_of(requests)
    value = value_from_counts(counts, mode)
    if value is None:
        return undefined(card, given, _UNDEFINED[mode])
    wrong = [r for r in requests if _is_wrong(r, mode)]
    return Score(
        value=value,
        explanation=joined_reasons([r.reason for r in wrong or requests]),
        evidence=_evidence(wrong or requests),
        details=answer.details(
            **count_details(counts), undecided=len(undecided), requests=[_row(r) for r in table], certainty=answer.certainty()
        ),
        judge=use,
    )


_UNDEFINED: Mapping[Mode, str] = {
    "precision": "no request was answered, so the share of them that is in the domain is undefined",
    "recall": "no request was in the domain, so the share of them that was answered is undefined",
    "f1": "no request was answered and none was in the domain",
}


def _is_wrong(request: TopicRequest, mode: Mode) -> bool:
    counts = request.counts
    return bool((mode != "recall" and counts.answered_outside) or (mode != "precision" and counts.refused_inside))


def _evidence(rows: Sequence[TopicRequest]) -> tuple[int, ...]:
    own = {i for r in rows for i in (r.evidence or (() if r.message is None else (r.message,)))}
    return tuple(sorted(own))


def _row(row: TopicRequest) -> dict[str, Any]:
    shown: dict[str, Any] = {"request": row.request, "topic": row.topic, "in_domain": row.in_domain, "handling": row.handling}
    shown |= {"message": row.message} if row.message is not None else {}
    shown |= {"domain": row.domain} if row.domain else {}
    return shown | {"reason": row.reason, "evidence": list(row.evidence)}
