"""Whether the agent reached what the user wanted, without a reference."""

from dataclasses import dataclass
from typing import Any

from otel_eval.judges.base import CERTAINTY, REASON, Blocks, Form, Items, Known, Question, Sentence, Words
from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, MetricCard, MetricInput, Parameter
from otel_eval.metrics.blocks import user_indices
from otel_eval.metrics.goal_steps import ragas_goal_score, stepwise_goal_score
from otel_eval.metrics.goal_table import outcome_from_requests, requests_from_answer
from otel_eval.metrics.judging import asked, contentless, not_judged, question_from, requests_place, subject
from otel_eval.metrics.requirements import not_scored
from otel_eval.metrics.transcript import Record
from otel_eval.model import Conversation, Failed, Outcome

STATUSES = ("reached", "partly", "not_reached", "blocked", "dropped", "no_request", "cannot_tell")
STRATEGY = Parameter(
    name="strategy",
    kind="text",
    default="fused",
    choices=("fused", "stepwise"),
    sentence="`fused`: one question with a table of requests; `stepwise`: infer goal and end state, then compare, as ragas does.",
)
BLOCKED = Parameter(
    name="blocked",
    kind="text",
    default="left_out",
    choices=("left_out", "pass", "fail"),
    sentence="What a request counts as that the agent's instructions or tools do not allow and that it declined honestly.",
)
_REPLY_TOKENS, _REQUEST_TOKENS, _MOST_TOKENS = 512, 160, 8192

CARD = MetricCard(
    name="agent_goal_accuracy",
    sentence="1 when the record shows that everything the user asked for was reached, else 0.",
    source="ragas 0.4.3 AgentGoalAccuracyWithoutReference; the table of requests, the evidence and the abstentions are ours",
    example="two requests, one reached and one only claimed: 0, with a share of 0.5 in the details",
    labels=("pass", "fail"),
    prompts=(
        "preamble.v1",
        "goal_accuracy.v1",
        "goal_accuracy_small.v1",
        "goal_inference.v1",
        "goal_comparison.v1",
        "goal_comparison_small.v1",
        "ragas_goal_inference.v1",
        "ragas_outcome_comparison.v1",
    ),
    needs=frozenset({"judge"}),
    deterministic=False,
    parameters=(STRATEGY, BLOCKED),
    compat=(RAGAS, RAGAS_LEGACY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentGoalAccuracy:
    """All requests reached: 1. The verdict sees what the tools returned, so a claim of success alone does not pass.

    Two requests, the first reached, the second partly: value 0, share 0.5. A request that the agent rightly declined is left out; when
    nothing else was asked, the metric is undefined.
    """

    card: MetricCard = CARD

    async def score(self, given: MetricInput) -> Outcome:
        if given.compat:
            return not_scored(self.card, given) or await ragas_goal_score(given, desired=None)
        conversation = subject(given)
        decided = not_judged(self.card, given, conversation) or contentless(conversation)
        if decided:
            return decided
        if given.value(self.card, STRATEGY.name) == "stepwise":
            return await stepwise_goal_score(given, conversation, blocked=given.value(self.card, BLOCKED.name))
        return await _fused(given, conversation, given.value(self.card, BLOCKED.name))


async def _fused(given: MetricInput, conversation: Conversation, blocked: str) -> Outcome:
    requests = {f"r{n}": index for n, index in enumerate(user_indices(conversation.messages), start=1)}
    answer = await asked(given, conversation, lambda record: _question(given, conversation, record, requests))
    if isinstance(answer, Failed):
        return answer
    return outcome_from_requests(requests_from_answer(answer.reply.answer, requests), answer, blocked=blocked)


def _question(given: MetricInput, conversation: Conversation, record: Record, requests: dict[str, int]) -> Question:
    return question_from(
        given,
        conversation,
        record,
        name="goal_accuracy",
        prompt_name="goal_accuracy.v1",
        small="goal_accuracy_small.v1",
        form=goal_form(tuple(requests), blocks=len(conversation.messages)),
        places={"requests": requests_place(requests)},
        inputs={"requests": requests},
        output_tokens=min(_MOST_TOKENS, _REPLY_TOKENS + _REQUEST_TOKENS * len(requests)),
    )


def goal_form(ids: tuple[str, ...], *, blocks: int) -> Form:
    """One entry a request: what it belongs to, what was wanted, why, where it shows, and what became of it."""
    fields: dict[str, Any] = {
        "same_as": Known(options=ids),
        "goal": Sentence(max_chars=200),
        "reason": REASON,
        "evidence": Blocks(count=blocks),
        "status": Words(options=STATUSES),
    }
    return Form(name="goal_accuracy", fields={"requests": Items(key="request", ids=ids, fields=fields), "certainty": CERTAINTY})
