"""Tool trajectory: whether the tool calls of each turn are the expected ones, exactly, in order or in any order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from otel_eval.metrics.base import ADK, MetricCard, MetricInput, Parameter
from otel_eval.metrics.calls import MadeCall, arguments_missing, arguments_of, made_calls
from otel_eval.metrics.equality import plain, text
from otel_eval.metrics.matchers import ArgumentComparer
from otel_eval.metrics.pairing import ARGUMENTS, assigned_by_tool
from otel_eval.metrics.requirements import UNDEFINED_IS, not_scored, nothing_to_judge, spelled, undefined
from otel_eval.model import Failed, FailReason, Outcome, Score, Skipped, SkipReason, ToolCall

PASS, FAIL = "pass", "fail"

Same: TypeAlias = Callable[[ToolCall, ToolCall], bool]
"""Whether a made call is an expected one."""


class ToolTrajectory:
    """Share of turns whose tool calls are the expected ones, in [0, 1]; without expectations by turn, the conversation is one turn.

    A turn counts 1 or 0. `exact`: the same calls in the same order and no others. `in_order`: the expected calls occur in their order,
    others may stand between. `any_order`: each expected call uses up one equal made call. 2 of 3 turns right give 2/3, label `fail` at
    the default threshold of 1.
    """

    card = MetricCard(
        name="tool_trajectory",
        version="1",
        sentence="Share of turns whose tool calls are the expected ones: exactly, in order or in any order.",
        source="google-adk 2.13.0 TrajectoryEvaluator, with JSON equality; compat='adk' gives its own numbers",
        example="2 of 3 turns with the expected calls: 2/3",
        labels=(PASS, FAIL),
        needs=frozenset({"reference_tool_calls"}),
        parameters=(
            Parameter(
                name="match",
                kind="any",
                default="exact",
                choices=("exact", "in_order", "any_order"),
                sentence="How the calls of a turn are held against the expected ones.",
            ),
            Parameter(name="ignore_args", kind="boolean", default=False, sentence="Whether only the names of the tools are compared."),
            Parameter(name="threshold", kind="number", default=1.0, sentence="The label is `pass` from this value on."),
            ARGUMENTS,
            UNDEFINED_IS,
        ),
        compat=(ADK,),
    )

    async def score(self, given: MetricInput) -> Outcome:
        stopped = not_scored(self.card, given) or nothing_to_judge(given)
        if stopped:
            return stopped
        try:
            rule = self._rule(given)
        except ValueError as error:
            return Failed(error_type=FailReason.METRIC_ERROR, detail=str(error))
        turns = _turns(given)
        if isinstance(turns, Skipped):
            return turns
        calls = [c for t in turns for c in t.made]
        names = {c.name or "" for t in turns for c in t.expected}
        stopped = None if rule.loose else arguments_missing(given, calls, names)
        return stopped or self._score(given, rule, turns)

    def _rule(self, given: MetricInput) -> "_Rule":
        match = spelled(given.value(self.card, "match"))
        ignore = given.value(self.card, "ignore_args")
        comparer = ArgumentComparer(given.value(self.card, "arguments"))
        same = _same_name if ignore else _adk_same if given.compat else lambda made, wanted: _same(comparer, made, wanted)
        return _Rule(match=match, same=same, loose=ignore or given.compat == ADK, compat=given.compat == ADK)

    def _score(self, given: MetricInput, rule: "_Rule", turns: Sequence["_Turn"]) -> Outcome:
        """The mean over the turns that can be told right from wrong."""
        if not rule.compat and not any(t.expected or t.made for t in turns):
            return undefined(self.card, given, "no tool call was expected and none was made")
        try:
            values = [rule.value(t) for t in turns]
        except ValueError as error:
            return Failed(error_type=FailReason.METRIC_ERROR, detail=str(error))
        known = [v for v in values if v is not None]
        if not known:
            return undefined(self.card, given, f"no tool call was expected, so {rule.match} cannot fail; `match=exact` can")
        value, threshold = sum(known) / len(known), given.value(self.card, "threshold")
        labels = tuple(None if v is None else _label(v, threshold) for v in values)
        wrong = [t for t, v in zip(turns, values, strict=True) if v == 0.0]
        return Score(
            value=value,
            label=_label(value, threshold),
            explanation=f"{sum(map(int, known))} of {len(known)} turns have the expected tool calls ({rule.match})",
            evidence=tuple(sorted({given.first_message + c.message for t in wrong for c in t.made})),
            details={"turns": tuple(values), "turn_labels": labels, "threshold": threshold, "match": rule.match},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    made: Sequence[MadeCall]
    expected: Sequence[ToolCall]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    match: str
    same: Same
    loose: bool
    compat: bool

    def value(self, turn: _Turn) -> float | None:
        """1.0 or 0.0; None where nothing is expected and nothing could be wrong (ADK: 1.0)."""
        if not turn.expected and self.match != "exact":
            return 1.0 if self.compat else None
        made = [c.call for c in turn.made]
        return float(_MATCHES[self.match](made, turn.expected, self.same))


def _label(value: float, threshold: float) -> str:
    return PASS if value >= threshold else FAIL


def _turns(given: MetricInput) -> list[_Turn] | Skipped:
    """Made and expected calls turn by turn, or as one where expectations are for the whole."""
    made, turns, wanted = made_calls(given), given.conversation.turns, given.reference.turns
    if given.turn is not None or given.reference.tool_calls is not None or wanted is None:
        return [_Turn(made=made, expected=given.expected_calls or ())]
    if len(turns) != len(wanted):
        detail = f"expectations for {len(wanted)} turns, but the conversation has {len(turns)}: give one a turn, or `reference_tool_calls`"
        return Skipped(reason=SkipReason.NEEDS_MISSING, detail=detail)
    found, start = [], 0
    for turn, reference in zip(turns, wanted, strict=True):
        stop = start + len(turn.messages)
        found.append(_Turn(made=[c for c in made if start <= c.message < stop], expected=reference.tool_calls or ()))
        start = stop
    return found


def _same(comparer: ArgumentComparer, made: ToolCall, wanted: ToolCall) -> bool:
    return _same_name(made, wanted) and comparer.share(wanted.name or "", arguments_of(made) or {}, arguments_of(wanted) or {}) == 1.0


def _same_name(made: ToolCall, wanted: ToolCall) -> bool:
    return text(made.name or "") == text(wanted.name or "")


def _adk_same(made: ToolCall, wanted: ToolCall) -> bool:
    """Python's equality: 1 is true, 75.0 is 75, absent arguments are not {}."""
    mine: Any = plain(made.arguments)
    return made.name == wanted.name and bool(mine == plain(wanted.arguments))


def _exact(made: Sequence[ToolCall], expected: Sequence[ToolCall], same: Same) -> bool:
    return len(made) == len(expected) and all(map(same, made, expected))


def _in_order(made: Sequence[ToolCall], expected: Sequence[ToolCall], same: Same) -> bool:
    rest = iter(made)
    return all(any(same(call, wanted) for call in rest) for wanted in expected)


def _any_order(made: Sequence[ToolCall], expected: Sequence[ToolCall], same: Same) -> bool:
    weights = [[float(same(call, wanted)) for call in made] for wanted in expected]
    return len(expected) <= len(made) and len(assigned_by_tool(weights)) == len(expected)


_MATCHES: Mapping[str, Callable[[Sequence[ToolCall], Sequence[ToolCall], Same], bool]] = {
    "exact": _exact,
    "in_order": _in_order,
    "any_order": _any_order,
}
