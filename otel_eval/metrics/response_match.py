"""Response match: how many words the agent's answers share with the expected ones."""

from collections.abc import Sequence

from otel_eval.metrics.base import ADK, MetricCard, MetricInput, Parameter
from otel_eval.metrics.requirements import UNDEFINED_IS, not_scored, nothing_to_judge, undefined
from otel_eval.metrics.rouge import rouge_1, tokens
from otel_eval.model import GapReason, Message, Outcome, Score, Skipped, SkipReason

PASS, FAIL = "pass", "fail"


class ResponseMatch:
    """ROUGE-1 F of the last answer of each turn against the expected one, mean over turns, in [0, 1].

    Without expectations by turn, the last answer of the conversation is held against `reference_response`. "The cat sat" against "the
    cat" gives 0.8. Shared words are not shared meaning: a judged check says more.
    """

    card = MetricCard(
        name="response_match",
        sentence="Words that the agent's answers share with the expected ones (ROUGE-1 F), mean over turns.",
        source="google-adk 2.13.0 response_match_score; rouge-score 0.1.2",
        example="'the cat sat' against 'the cat': 0.8",
        labels=(PASS, FAIL),
        needs=frozenset({"reference_response"}),
        parameters=(
            Parameter(
                name="threshold", kind="number", default=0.8, sentence="The label is `pass` from this value on; ADK's default is 0.8."
            ),
            UNDEFINED_IS,
        ),
        compat=(ADK,),
    )

    async def score(self, given: MetricInput) -> Outcome:
        stopped = not_scored(self.card, given) or nothing_to_judge(given) or _not_recorded(given)
        if stopped:
            return stopped
        pairs = _pairs(given)
        if isinstance(pairs, Skipped):
            return pairs
        values = [None if not given.compat and not tokens(wanted) else rouge_1(answer, wanted).f for answer, wanted in pairs]
        known = [value for value in values if value is not None]
        if not known:
            return undefined(self.card, given, "the expected response has no words")
        value, threshold = sum(known) / len(known), given.value(self.card, "threshold")
        return Score(
            value=value,
            label=PASS if value >= threshold else FAIL,
            explanation=f"mean ROUGE-1 F over {len(known)} turns",
            details={"turns": tuple(values), "turn_labels": tuple(None if v is None else PASS if v >= threshold else FAIL for v in values)},
        )


def _pairs(given: MetricInput) -> list[tuple[str, str]] | Skipped:
    """Answer and expected answer of each turn."""
    wanted, turns = given.reference.turns, given.conversation.turns
    if given.turn is not None and given.expected_turn is not None:
        return [(_answer(given.messages), given.expected_turn.response or "")]
    if wanted is None or given.turn is not None or not any(t.response is not None for t in wanted):
        return [(_answer(given.messages), given.reference.response or "")]
    if len(wanted) != len(turns):
        detail = f"expectations for {len(wanted)} turns, but the conversation has {len(turns)}: give one a turn, or `reference_response`"
        return Skipped(reason=SkipReason.NEEDS_MISSING, detail=detail)
    return [(_answer(turn.messages), reference.response or "") for turn, reference in zip(turns, wanted, strict=True)]


def _answer(messages: Sequence[Message]) -> str:
    """The last words of the agent; "" where it said nothing."""
    return next((m.text for m in reversed(messages) if m.role == "assistant" and m.text), "")


def _not_recorded(given: MetricInput) -> Skipped | None:
    """Answers that were not recorded, or were cut, share words with nothing."""
    reasons = {gap.reason for gap in given.conversation.gaps}
    silent = not any(m.role == "assistant" and m.text for m in given.messages)
    if silent and reasons & {GapReason.CONTENT_NOT_CAPTURED, GapReason.REDACTED, GapReason.CONTENT_EXTERNAL}:
        detail = "the words of the agent were not recorded: switch on content capture in the instrumentation"
        return Skipped(reason=SkipReason.CONTENT_NOT_CAPTURED, detail=detail)
    if GapReason.TRUNCATED in reasons:
        return Skipped(reason=SkipReason.TRUNCATED, detail="the conversation was cut: raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT at the agent")
    return None
