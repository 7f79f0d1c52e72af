"""Metrics of the user's own: a Python function that gets a `MetricInput`, sync or async.

    def brand_voice(given):
        return "we are happy" in (given.messages[-1].text or "").lower()

`--metric my_metrics:brand_voice` runs it. It may return True or False (1 or 0), a number, a mapping with `value` and perhaps `label` and
`explanation`, or a `Score`, `Skipped` or `Failed`. An exception, None, and whatever is no number become `Failed` with the reason: one
metric that breaks takes nothing else down. A sync function runs in a thread of its own, so that a slow one does not hold up the others.
"""

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.metrics.base import UNBOUNDED, Metric, MetricCard, MetricInput
from otel_eval.metrics.functions import function_from_path
from otel_eval.metrics.requirements import nothing_to_judge
from otel_eval.model import Failed, FailReason, Outcome, Score, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomMetric:
    """A function as a metric. Its parameters are its own: they reach it unchecked in `given.parameters`."""

    card: MetricCard
    function: Callable[[MetricInput], Any]

    async def score(self, given: MetricInput) -> Outcome:
        stopped = nothing_to_judge(given)
        if stopped:
            return stopped
        try:
            found = await called(self.function, given)
        except Exception as error:
            return Failed(error_type=FailReason.METRIC_ERROR, detail=failure_sentence(self.card.name, error))
        return outcome_from_return(self.card.name, found)


def custom_metric_from_path(path: str, *, name: str | None = None) -> Metric:
    """The metric behind `module:function` (or `module:Class` of a metric); ValueError where the path is wrong."""
    return metric_from_object(name or path.partition(":")[2].replace(".", "_"), function_from_path(path), source=path)


def metric_from_object(name: str, found: Any, *, source: str = "") -> Metric:
    """A metric from whatever a path or entry point names: a metric, a class of one, or a plain function. ValueError otherwise."""
    made = found() if isinstance(found, type) else found
    if isinstance(getattr(made, "card", None), MetricCard) and callable(getattr(made, "score", None)):
        metric: Metric = made
        return metric
    if not callable(made):
        raise ValueError(f"{source or name!r} gives a {type(made).__name__}; a metric has `card` and `score`, or is a function")
    return CustomMetric(card=_card(name, made, source), function=made)


async def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, awaited if it has to be; a plain function runs in a thread."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        return await function(*arguments)
    found = await asyncio.to_thread(function, *arguments)
    return await found if inspect.isawaitable(found) else found


def outcome_from_return(name: str, found: Any) -> Outcome:
    """The outcome that a returned value stands for."""
    if isinstance(found, Score | Skipped | Failed):
        return found if not isinstance(found, Score) or _is_number(found.value) else _no_number(name, found.value)
    if isinstance(found, Mapping) and "value" in found:
        value, label, explanation = found["value"], found.get("label"), found.get("explanation")
        if not _is_number(value):
            return _no_number(name, value)
        return Score(value=float(value), label=_text(label), explanation=_text(explanation))
    return Score(value=float(found)) if _is_number(found) else _no_number(name, found)


def failure_sentence(name: str, error: Exception) -> str:
    """Where a function broke and with what, without its message, which may hold words of the conversation."""
    frames = inspect.getinnerframes(error.__traceback__, context=0) if error.__traceback__ else []
    place = f" in {frames[-1].function}, line {frames[-1].lineno}" if frames else ""
    return f"{name!r} raised {type(error).__name__}{place}"


def _no_number(name: str, found: Any) -> Failed:
    said = "not a number" if isinstance(found, float) else "None" if found is None else f"a {type(found).__name__}"
    detail = f"{name!r} returned {said}; return a bool, a finite number, a mapping with 'value', or Score, Skipped, Failed"
    return Failed(error_type=FailReason.METRIC_ERROR, detail=detail)


def _is_number(value: Any) -> bool:
    """Also numbers of other libraries, which have `__float__`; a text has not."""
    if isinstance(value, bool):
        return True
    try:
        return hasattr(value, "__float__") and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _card(name: str, function: Any, source: str) -> MetricCard:
    sentence = (inspect.getdoc(function) or "").partition("\n")[0].strip()
    return MetricCard(
        name=name,
        version=str(getattr(function, "version", "1")),
        sentence=sentence or "A metric of the user's own.",
        source=source or f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', name)}",
        example="",
        range=(-UNBOUNDED, UNBOUNDED),
        deterministic=False,
        stability="experimental",
    )
