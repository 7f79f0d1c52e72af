"""Whether a conversation ended in the outcome that was wanted."""

from dataclasses import dataclass

from otel_eval.metrics.agent_goal_accuracy import STRATEGY
from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, MetricCard, MetricInput
from otel_eval.metrics.goal_steps import compared_outcome, ragas_goal_score, stepwise_goal_score
from otel_eval.metrics.judging import contentless, not_judged, subject
from otel_eval.metrics.requirements import not_scored
from otel_eval.model import Outcome

CARD = MetricCard(
    name="agent_goal_accuracy_with_reference",
    sentence="1 when the record shows that the wanted outcome holds at the end, else 0.",
    source="ragas 0.4.3 AgentGoalAccuracyWithReference; the comparison with the record itself is ours",
    example="wanted: 'order 5521 is cancelled'; the tool cancelled 5512: 0",
    labels=("pass", "fail"),
    prompts=(
        "preamble.v1",
        "outcome_comparison.v1",
        "outcome_comparison_small.v1",
        "goal_inference.v1",
        "ragas_goal_inference.v1",
        "ragas_outcome_comparison.v1",
    ),
    needs=frozenset({"judge", "reference_outcome"}),
    deterministic=False,
    parameters=(STRATEGY,),
    compat=(RAGAS, RAGAS_LEGACY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentGoalAccuracyWithReference:
    """The reference outcome held against the record: every part must be shown by results or delivered content.

    Wanted "a table at Golden Dragon for 8 pm", the tool confirms it: 1.0. The agent says so and no tool was called: 0.0.
    """

    card: MetricCard = CARD

    async def score(self, given: MetricInput) -> Outcome:
        wanted = given.reference.outcome or ""
        if given.compat:
            return not_scored(self.card, given) or await ragas_goal_score(given, desired=wanted)
        conversation = subject(given)
        decided = not_judged(self.card, given, conversation) or contentless(conversation)
        if decided:
            return decided
        if given.value(self.card, STRATEGY.name) == "stepwise":
            return await stepwise_goal_score(given, conversation, outcome=wanted)
        return await compared_outcome(given, conversation, outcome=wanted)
