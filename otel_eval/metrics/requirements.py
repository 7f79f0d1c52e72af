"""What must hold before a metric is worked out, and the outcome when it does not."""

from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, Kind, MetricCard, MetricInput, Need, Parameter
from otel_eval.model import Failed, FailReason, Score, Skipped, SkipReason

UNDEFINED_IS = Parameter(
    name="undefined_is",
    kind="number",
    sentence="Value to give where the definition gives none (nothing expected, nothing done); without it such a conversation is skipped.",
)


def not_scored(card: MetricCard, given: MetricInput) -> Skipped | Failed | None:
    """Why this metric has no value here, whatever the conversation says; None when it can be worked out.

    First what an operator must change (parameters, compat), then what is missing (`card.needs`).
    """
    problems = parameter_problems(card, given.parameters, given.compat)
    if problems:
        return Failed(error_type=FailReason.METRIC_ERROR, detail="; ".join(problems))
    missing = [_MISSING[need][1] for need in sorted(card.needs) if not _MISSING[need][0](given)]
    return Skipped(reason=SkipReason.NEEDS_MISSING, detail="; ".join(missing)) if missing else None


def nothing_to_judge(given: MetricInput) -> Skipped | None:
    """The outcome for a conversation without messages."""
    if given.messages:
        return None
    return Skipped(reason=SkipReason.NOTHING_TO_JUDGE, detail="the conversation has no messages")


def undefined(card: MetricCard, given: MetricInput, detail: str) -> Score | Skipped:
    """The outcome where the definition gives no number: skipped, unless the parameter `undefined_is` names one."""
    value = given.value(card, UNDEFINED_IS.name)
    if value is None:
        return Skipped(reason=SkipReason.UNDEFINED, detail=f"{detail}; `undefined_is=1` would call it 1")
    return Score(value=float(value), explanation=f"{detail}; called {float(value)} by `undefined_is`", details={"undefined": True})


def parameter_problems(card: MetricCard, parameters: Mapping[str, Any], compat: str | None = None) -> tuple[str, ...]:
    """What is wrong with these parameters, each in a sentence; empty when nothing is. For configuration and for `score` alike."""
    known = {p.name: p for p in card.parameters}
    problems = [
        f"metric {card.name!r} has no parameter {name!r}; it has {', '.join(map(repr, known)) or 'none'}"
        for name in parameters
        if name not in known
    ]
    problems += [p for name, value in parameters.items() if name in known and (p := _value_problem(card, known[name], value))]
    if compat is not None and compat not in card.compat:
        problems.append(f"metric {card.name!r} has no compat={compat!r}; it has {', '.join(map(repr, card.compat)) or 'none'}")
    return tuple(problems)


def _value_problem(card: MetricCard, parameter: Parameter, value: Any) -> str | None:
    place = f"parameter {parameter.name!r} of metric {card.name!r}"
    if value is None and parameter.default is None:
        return None
    if not _OF_KIND[parameter.kind](value):
        return f"{place} must be a {parameter.kind}, not {type(value).__name__}"
    if parameter.choices and spelled(value) not in parameter.choices:
        return f"{place} must be one of {', '.join(map(repr, parameter.choices))}, not {value!r}"
    return None


def spelled(value: Any) -> str:
    """A choice as we spell it: `IN_ORDER`, `in order` and `in-order` are `in_order`."""
    return str(value).strip().lower().replace("-", "_").replace(" ", "_")


def _has_outcome(given: MetricInput) -> bool:
    """Words that say something; ragas takes a blank text too, and its deprecated class even an empty one."""
    outcome = given.reference.outcome
    if outcome is None or given.compat == RAGAS_LEGACY:
        return outcome is not None
    return bool(outcome if given.compat == RAGAS else outcome.strip())


def _has_topics(given: MetricInput) -> bool:
    topics = given.reference.topics
    return topics is not None and (bool(topics) or given.compat == RAGAS_LEGACY)


def _has_response(given: MetricInput) -> bool:
    by_turn = any(t.response is not None for t in given.reference.turns or ())
    return by_turn or given.reference.response is not None


_MISSING: Mapping[Need, tuple[Callable[[MetricInput], bool], str]] = {
    "judge": (lambda g: g.judge is not None, "no judge is configured: name one with --judge or in the section `judge`"),
    "reference_tool_calls": (lambda g: g.expected_calls is not None, "no expected tool calls: give `reference_tool_calls` (--references)"),
    "reference_outcome": (_has_outcome, "no desired outcome: give `reference` (words that say how it should end)"),
    "reference_response": (_has_response, "no expected response: give `reference_response`"),
    "topics": (_has_topics, "no topics to keep to: give `reference_topics` (--topics, --references)"),
    "question": (lambda g: bool(g.parameters.get("question")), "no question to ask: give the parameter `question`"),
}

_OF_KIND: Mapping[Kind, Callable[[Any], bool]] = {
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "text": lambda v: isinstance(v, str),
    "list": lambda v: isinstance(v, list | tuple),
    "mapping": lambda v: isinstance(v, Mapping),
    "any": lambda v: True,
}
