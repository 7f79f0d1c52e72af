"""Tool call F1: precision and recall of the tool calls, each counted as often as it was made."""

from collections import Counter
from collections.abc import Sequence

from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, MetricCard, MetricInput, Parameter
from otel_eval.metrics.calls import MadeCall, arguments_missing, made_calls, without_retries
from otel_eval.metrics.equality import text
from otel_eval.metrics.matchers import ArgumentComparer
from otel_eval.metrics.pairing import ARGUMENTS, assigned_by_tool, call_weights
from otel_eval.metrics.ragas_tools import ragas_tool_call_f1
from otel_eval.metrics.requirements import UNDEFINED_IS, not_scored, nothing_to_judge, undefined
from otel_eval.model import Failed, FailReason, Outcome, Score, ToolCall

DIGITS = 4
"""The definition's own rounding (ragas): two thirds is 0.6667."""


class ToolCallF1:
    """F1 of the made calls against the expected ones, in [0, 1]; a call matches with its name and all its arguments.

    F1 = 2 matched / (made + expected), rounded to four digits. Two matched and one extra give 0.8; paying five times instead of once and
    not mailing gives 2/7 = 0.2857. A call that failed and was repeated as it was counts once (`collapse_retries`).
    """

    card = MetricCard(
        name="tool_call_f1",
        version="1",
        sentence="F1 of the tool calls made against the expected ones; a call matches with its name and all its arguments.",
        source="ragas 0.4.3 ToolCallF1, as a multiset and with JSON equality; compat gives its own numbers",
        example="two expected calls made and one more: 0.8",
        needs=frozenset({"reference_tool_calls"}),
        parameters=(
            Parameter(
                name="collapse_retries",
                kind="boolean",
                default=True,
                sentence="Whether a call that failed and was then repeated with the same arguments counts once.",
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
        if given.compat:
            calls = [call for message in given.messages for call in message.tool_calls]
            return Score(value=ragas_tool_call_f1(calls, expected), details={"compat": given.compat})
        try:
            return self._default(given, expected)
        except ValueError as error:  # a matcher that broke its contract, or more calls than can be assigned
            return Failed(error_type=FailReason.METRIC_ERROR, detail=str(error))

    def _default(self, given: MetricInput, expected: Sequence[ToolCall]) -> Outcome:
        made = made_calls(given)
        if not made and not expected:
            return undefined(self.card, given, "no tool call was expected and none was made")
        stopped = nothing_to_judge(given) or arguments_missing(given, made, {c.name or "" for c in expected})
        if stopped:
            return stopped
        if given.value(self.card, "collapse_retries"):
            made = without_retries(made)
        weights = call_weights(made, expected, ArgumentComparer(given.value(self.card, "arguments")))
        pairs = assigned_by_tool([[float(weight == 1.0) for weight in line] for line in weights]) if made else ()
        used = {column for _, column in pairs}
        return Score(
            value=f1_from_counts(len(pairs), len(made) - len(pairs), len(expected) - len(pairs)),
            explanation=f"{len(pairs)} matched, {len(made) - len(pairs)} extra, {len(expected) - len(pairs)} missed",
            evidence=tuple(sorted({given.first_message + call.message for i, call in enumerate(made) if i not in used})),
            details=_details(len(pairs), made, expected),
        )


def f1_from_counts(matched: int, extra: int, missed: int) -> float:
    """F1 of tool calls, in [0, 1]; 0.0 when nothing matched.

    F1 = 2PR / (P + R) with P = matched / (matched + extra), R = matched / (matched + missed). Two matched and one extra give P = 2/3,
    R = 1, F1 = 0.8.
    """
    return round(2 * matched / (2 * matched + extra + missed), DIGITS) if matched else 0.0


def _details(matched: int, made: Sequence[MadeCall], expected: Sequence[ToolCall]) -> dict[str, object]:
    """Counts, precision and recall (None where undefined), and the same F1 by names alone."""
    names = (Counter(text(c.name) for c in made) & Counter(text(c.name or "") for c in expected)).total()
    return {
        "matched": matched,
        "made": len(made),
        "expected": len(expected),
        "precision": matched / len(made) if made else None,
        "recall": matched / len(expected) if expected else None,
        "f1_of_names": f1_from_counts(names, len(made) - names, len(expected) - names),
    }
