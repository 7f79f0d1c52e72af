"""From a table of requests to a verdict: the part of goal accuracy that is arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_eval.metrics.judging import Asked, joined_reasons
from otel_eval.model import Failed, FailReason, Outcome, Score, Skipped, SkipReason

_FAILING = frozenset({"partly", "not_reached"})
_NOT_A_GOAL = frozenset({"dropped", "no_request"})
_BLOCKED_AS = {"pass": "reached", "fail": "not_reached", "left_out": "blocked"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalRequest:
    """One thing the user asked for, and what became of it."""

    request: str
    message: int
    status: str
    goal: str = ""
    reason: str = ""
    evidence: tuple[int, ...] = ()
    same_as: str = ""


def requests_from_answer(answer: Mapping[str, Any], requests: Mapping[str, int]) -> list[GoalRequest]:
    """The judge's table in our order. Pointers are followed to their root; one to itself or forwards is ignored."""
    rows = {row["request"]: row for row in answer["requests"]}
    order = list(requests)
    table: list[GoalRequest] = []
    roots: dict[str, str] = {}
    for name in order:
        row = rows[name]
        target = row["same_as"]
        earlier = target in roots
        roots[name] = roots[target] if earlier else name
        table.append(
            GoalRequest(
                request=name,
                message=requests[name],
                status=row["status"],
                goal=row["goal"],
                reason=row["reason"],
                evidence=tuple(row["evidence"]),
                same_as=roots[name] if earlier else "",
            )
        )
    return table


def outcome_from_requests(table: Sequence[GoalRequest], answer: Asked, *, blocked: str) -> Outcome:
    """1 when all counted requests are reached, 0 when one is not; no verdict where none can be told.

    Counted are requests that stand for themselves and are not dropped; blocked ones as `blocked` says.
    """
    counted = [r for r in table if not r.same_as and r.status not in _NOT_A_GOAL]
    statuses = [_BLOCKED_AS[blocked] if r.status == "blocked" else r.status for r in counted]
    failing = [r for r, status in zip(counted, statuses, strict=True) if status in _FAILING]
    reached = statuses.count("reached")
    judged = reached + len(failing)
    if not failing and "cannot_tell" in statuses:
        doubtful = [r.reason for r in counted if r.status == "cannot_tell"]
        detail = joined_reasons(doubtful) or "the record does not decide whether the goals were reached"
        return Failed(error_type=FailReason.CANNOT_TELL, detail=detail, judge=answer.reply.use)
    if not judged:
        return Skipped(reason=SkipReason.UNDEFINED, detail=_nothing_counted(counted))
    return Score(
        value=0.0 if failing else 1.0,
        label="fail" if failing else "pass",
        explanation=joined_reasons([r.reason for r in failing or counted]),
        evidence=_evidence(failing or counted),
        details=answer.details(
            share=reached / judged,
            reached=reached,
            missed=len(failing),
            blocked=sum(r.status == "blocked" for r in counted),
            requests=[_row(r) for r in table],
            certainty=answer.certainty(),
        ),
        judge=answer.reply.use,
    )


def _nothing_counted(counted: Sequence[GoalRequest]) -> str:
    if counted:
        return "all requests were rightly declined; the parameter `blocked` can count them as pass or fail"
    return "the user asked for nothing that could be reached"


def _evidence(rows: Sequence[GoalRequest]) -> tuple[int, ...]:
    return tuple(sorted({i for r in rows for i in (r.evidence or (r.message,))}))


def _row(row: GoalRequest) -> dict[str, Any]:
    return {
        "request": row.request,
        "message": row.message,
        "status": row.status,
        "goal": row.goal,
        "reason": row.reason,
        "evidence": list(row.evidence),
        **({"same_as": row.same_as} if row.same_as else {}),
    }
