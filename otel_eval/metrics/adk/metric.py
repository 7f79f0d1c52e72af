"""ADK's metrics as ours: a function with ADK's four arguments, a built-in one that we have under another name, and one that we have not."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from otel_eval.metrics.adk.classes import adk_classes
from otel_eval.metrics.adk.invocations import actual_invocations, expected_invocations
from otel_eval.metrics.base import ADK, Metric, MetricCard, MetricInput
from otel_eval.metrics.custom import called, failure_sentence
from otel_eval.metrics.requirements import not_scored, nothing_to_judge
from otel_eval.model import Failed, FailReason, Outcome, Score, Skipped, SkipReason

STATUSES = {1: "PASSED", 2: "FAILED", 3: "NOT_EVALUATED", 4: "INFORMATIONAL"}
LABELS: Mapping[str, str | None] = {"PASSED": "pass", "FAILED": "fail", "INFORMATIONAL": None}
_UNCOUNTED = frozenset({"NOT_EVALUATED", "INFORMATIONAL"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkFunctionMetric:
    """A function as ADK calls it: (eval_metric, actual_invocations, expected_invocations, conversation_scenario).

    The function decides on the status; its score is not held against the threshold again, nor against the interval of `metric_info`.
    `eval_metric.threshold` is None and the threshold stands in `eval_metric.criterion`, as in ADK.
    """

    card: MetricCard
    function: Callable[..., Any]
    path: str
    criterion: Mapping[str, Any]

    async def score(self, given: MetricInput) -> Outcome:
        stopped = not_scored(self.card, given) or nothing_to_judge(given)
        if stopped:
            return stopped
        classes = adk_classes()
        actual, expected = actual_invocations(given, classes), expected_invocations(given, classes)
        if expected is not None and len(expected) != len(actual):
            return _wrong_number_of_turns(len(expected), len(actual))
        metric = classes.metrics.EvalMetric(
            metric_name=self.card.name,
            criterion=classes.metrics.BaseCriterion(**self.criterion),
            custom_function_path=self.path,
        )
        try:
            result = await called(self.function, metric, actual, expected, None)
        except Exception as error:
            return Failed(error_type=FailReason.METRIC_ERROR, detail=failure_sentence(self.path, error))
        return self._outcome(result, turns=len(actual), has_reference=expected is not None)

    def _outcome(self, result: Any, *, turns: int, has_reference: bool) -> Outcome:
        """The outcome that an `EvaluationResult`, or any object or mapping of its shape, stands for."""
        status, score = _status(_read(result, "overall_eval_status")), _read(result, "overall_score")
        results = _read(result, "per_invocation_results")
        problem = _problem(status, score, results, turns)
        if problem:
            return Failed(error_type=FailReason.METRIC_ERROR, detail=f"{self.path!r} {problem}")
        if status == "NOT_EVALUATED":
            return _not_evaluated(has_reference)
        per_turn: Sequence[Any] = results or ()
        return Score(
            value=float(score),
            label=LABELS[status or ""],
            details={
                "status": status,
                "threshold": self.criterion["threshold"],
                "turns": tuple(_read(r, "score") for r in per_turn),
                "turn_statuses": tuple(_status(_read(r, "eval_status")) for r in per_turn),
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkNamedMetric:
    """One of ADK's built-in metrics that we have: ours, under ADK's name, with ADK's values."""

    card: MetricCard
    metric: Metric
    parameters: Mapping[str, Any] = field(default_factory=dict)

    async def score(self, given: MetricInput) -> Outcome:
        stopped = not_scored(self.card, given)
        return stopped or await self.metric.score(replace(given, parameters=self.parameters, compat=ADK))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkMissingMetric:
    """One of ADK's built-in metrics that we have not: every conversation is skipped with what to use instead."""

    card: MetricCard
    instead: str

    async def score(self, given: MetricInput) -> Outcome:
        detail = f"ADK's {self.card.name!r} is not among our metrics: {self.instead}"
        return Skipped(reason=SkipReason.NEEDS_MISSING, detail=detail)


def named_metric(name: str, metric: Metric, parameters: Mapping[str, Any]) -> AdkNamedMetric:
    """Our metric under ADK's name, its parameters fixed by the criterion."""
    card = replace(metric.card, name=name, parameters=(), compat=())
    return AdkNamedMetric(card=card, metric=metric, parameters=parameters)


def _problem(status: str | None, score: Any, results: Any, turns: int) -> str | None:
    """What is wrong with a result, None where nothing is."""
    if status is None:
        return "gave no EvaluationResult: an object with overall_score, overall_eval_status and per_invocation_results is expected"
    if status not in _UNCOUNTED and len(results or ()) != turns:
        return f"gave {len(results or ())} results for {turns} turns: one for each is expected"
    if status == "NOT_EVALUATED":
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return f"says {status} but gave no finite overall_score"
    return None


def _not_evaluated(has_reference: bool) -> Skipped:
    if has_reference:
        return Skipped(reason=SkipReason.UNDEFINED, detail="the function says NOT_EVALUATED")
    detail = "the function says NOT_EVALUATED, and there are no expected invocations: give `turns`, or `reference_response`"
    return Skipped(reason=SkipReason.NEEDS_MISSING, detail=detail)


def _wrong_number_of_turns(expected: int, actual: int) -> Skipped:
    """ADK's own examples pair them by position and leave the rest out without a word."""
    detail = f"expectations for {expected} turns, but the conversation has {actual}: give one for each"
    return Skipped(reason=SkipReason.NEEDS_MISSING, detail=detail)


def _read(found: Any, name: str) -> Any:
    """A field of an object or mapping, in snake or camel case."""
    if isinstance(found, Mapping):
        head, *rest = name.split("_")
        return found.get(name, found.get(head + "".join(map(str.title, rest))))
    return getattr(found, name, None)


def _status(value: Any) -> str | None:
    """The name of a status given as an enumeration's member, a name or a number; None where it is none of ADK's."""
    name = getattr(value, "name", value)
    name = STATUSES.get(name, name) if isinstance(name, int) else name
    return name.upper() if isinstance(name, str) and name.upper() in STATUSES.values() else None
