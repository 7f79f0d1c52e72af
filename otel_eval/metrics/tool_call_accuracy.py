"""Tool call accuracy: how much of the expected tool calls was made, with partial credit for arguments."""

from collections.abc import Sequence
from math import fsum

from otel_eval.metrics.assignment import Pairs, Weights, best_alignment
from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, MetricCard, MetricInput, Parameter
from otel_eval.metrics.calls import MadeCall, arguments_missing, groups_by_message, made_calls
from otel_eval.metrics.matchers import ArgumentComparer
from otel_eval.metrics.pairing import ARGUMENTS, assigned_by_tool, call_weights
from otel_eval.metrics.ragas_tools import ragas_tool_call_accuracy
from otel_eval.metrics.requirements import UNDEFINED_IS, not_scored, nothing_to_judge, undefined
from otel_eval.model import Failed, FailReason, Outcome, Score, ToolCall


class ToolCallAccuracy:
    """Share of the expected calls that were made, each counted by the share of its arguments that match.

    Score = sum over the best pairing of (matching arguments / all argument names of either call) / number of expected calls. Expected
    search(query, limit, sort) called with another sort gives 2/3. Additional calls cost nothing here (see `tool_call_f1`).
    """

    card = MetricCard(
        name="tool_call_accuracy",
        version="1",
        sentence="Share of the expected tool calls that were made, with partial credit for arguments.",
        source="ragas 0.4.3 ToolCallAccuracy, with JSON equality, best pairing and credit for what was right; compat gives its own numbers",
        example="search(query, limit, sort) with another sort: 2/3",
        needs=frozenset({"reference_tool_calls"}),
        parameters=(
            Parameter(
                name="strict_order", kind="boolean", default=True, sentence="Whether the expected calls must come in the expected order."
            ),
            Parameter(
                name="parallel_unordered",
                kind="boolean",
                default=True,
                sentence="Whether calls issued together in one message have no order among themselves.",
            ),
            ARGUMENTS,
            UNDEFINED_IS,
        ),
        compat=(RAGAS, RAGAS_LEGACY),
    )

    async def score(self, given: MetricInput) -> Outcome:
        stopped = not_scored(self.card, given)
        if stopped:
            return stopped
        expected = given.expected_calls or ()
        try:
            return self._compat(given, expected) if given.compat else self._default(given, expected)
        except ValueError as error:  # a matcher that broke its contract, or more calls than can be assigned
            return Failed(error_type=FailReason.METRIC_ERROR, detail=str(error))

    def _default(self, given: MetricInput, expected: Sequence[ToolCall]) -> Outcome:
        made = made_calls(given)
        if not made and not expected:
            return undefined(self.card, given, "no tool call was expected and none was made")
        stopped = nothing_to_judge(given) or arguments_missing(given, made, {c.name or "" for c in expected})
        if stopped:
            return stopped
        weights = call_weights(made, expected, ArgumentComparer(given.value(self.card, "arguments")))
        pairs = self._pairs(given, weights, made) if made and expected else ()
        value = fsum(weights[row][column] for row, column in pairs) / len(expected) if expected else 0.0
        return _score(given, value, weights, pairs, made, expected)

    def _pairs(self, given: MetricInput, weights: Weights, made: Sequence[MadeCall]) -> Pairs:
        if not given.value(self.card, "strict_order"):
            return assigned_by_tool(weights)
        together = given.value(self.card, "parallel_unordered")
        return best_alignment(weights, groups_by_message(made) if together else [[column] for column in range(len(made))])

    def _compat(self, given: MetricInput, expected: Sequence[ToolCall]) -> Outcome:
        calls = [call for message in given.messages for call in message.tool_calls]
        rules = given.value(self.card, "arguments")
        if rules and given.compat != RAGAS_LEGACY:
            raise ValueError("ragas compares arguments in one way; its deprecated class had others: use compat='ragas-legacy'")
        comparer = ArgumentComparer(rules)
        value = ragas_tool_call_accuracy(
            calls,
            expected,
            strict_order=given.value(self.card, "strict_order"),
            matches=(lambda tool, name, a, b: comparer.one(tool, name, a, b)) if rules else None,
        )
        return Score(value=value, details={"expected": len(expected), "made": len(calls), "compat": given.compat})


def _score(
    given: MetricInput, value: float, weights: Weights, pairs: Pairs, made: Sequence[MadeCall], expected: Sequence[ToolCall]
) -> Score:
    exact = sum(weights[row][column] == 1.0 for row, column in pairs)
    found, used = {row for row, _ in pairs}, {column for _, column in pairs}
    missing = [expected[row].name or "" for row in range(len(expected)) if row not in found]
    extra = [made[column].name for column in range(len(made)) if column not in used]
    imperfect = {column for row, column in pairs if weights[row][column] < 1.0} | (set(range(len(made))) - used)
    words = f"{exact} of {len(expected)} expected calls made as expected, {len(pairs) - exact} in part"
    words += f"; missing: {', '.join(missing)}" if missing else ""
    return Score(
        value=value,
        explanation=words + (f"; not expected: {', '.join(extra)}" if extra else ""),
        evidence=tuple(sorted({given.first_message + made[column].message for column in imperfect})),
        details={
            "expected": len(expected),
            "made": len(made),
            "exact": exact,
            "partial": len(pairs) - exact,
            "missing": tuple(missing),
            "extra": tuple(extra),
        },
    )
