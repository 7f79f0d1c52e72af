"""Whether the agent keeps to its topics: precision, recall and F1 from one table of the user's requests.

The three share one question, so they cost one call together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.judges.base import CERTAINTY, REASON, Blocks, Form, Items, Known, Question, Sentence, Words
from otel_eval.metrics.agent_goal_accuracy import STRATEGY
from otel_eval.metrics.base import RAGAS, RAGAS_LEGACY, MetricCard, MetricInput
from otel_eval.metrics.blocks import user_indices
from otel_eval.metrics.inert import one_line
from otel_eval.metrics.judging import asked, not_judged, question_from, requests_place, subject
from otel_eval.metrics.requirements import UNDEFINED_IS, not_scored
from otel_eval.metrics.topic_arithmetic import Mode
from otel_eval.metrics.topic_steps import ragas_topic_score, stepwise_topic_score
from otel_eval.metrics.topic_table import TopicRequest, outcome_from_topics
from otel_eval.metrics.transcript import Record
from otel_eval.model import Conversation, Failed, Outcome

IN_DOMAIN = Words(options=("yes", "no", "mixed", "no_request", "cannot_tell"), yes_no=True)
HANDLING = Words(options=("answered", "refused", "partly", "not_addressed"))
_REPLY_TOKENS, _REQUEST_TOKENS, _MOST_TOKENS = 512, 120, 8192


def _card(mode: Mode, sentence: str, example: str) -> MetricCard:
    return MetricCard(
        name=f"topic_adherence_{mode}",
        sentence=sentence,
        source="ragas 0.4.3 TopicAdherence; counted over the user's requests, correct refusals never punished",
        example=example,
        prompts=(
            "preamble.v1",
            "topic_adherence.v1",
            "topic_extraction.v1",
            "topic_refusal.v1",
            "topic_classification.v1",
            "ragas_topic_extraction.v1",
            "ragas_topic_refusal.v1",
            "ragas_topic_classification.v1",
        ),
        needs=frozenset({"judge", "topics"}),
        deterministic=False,
        parameters=(STRATEGY, UNDEFINED_IS),
        compat=(RAGAS, RAGAS_LEGACY),
    )


CARDS: Mapping[Mode, MetricCard] = {
    "precision": _card(
        "precision",
        "Share of the answered requests that belong to the agent's topics.",
        "two requests on relativity and one on chocolate cake answered, the domain is physics: 2/3",
    ),
    "recall": _card(
        "recall",
        "Share of the requests on the agent's topics that were answered.",
        "two requests in the domain, one answered and one refused: 1/2",
    ),
    "f1": _card(
        "f1",
        "Harmonic mean of topic adherence precision and recall.",
        "P = 2/3 and R = 1: 0.8",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAdherence:
    """Of what was answered, how much is on topic (precision); of what is on topic, how much was answered (recall); F1 of both.

    Three requests answered, two of them in the domain: precision 2/3, recall 1, F1 0.8. Only correctly declined requests: 1.
    """

    mode: Mode

    @property
    def card(self) -> MetricCard:
        return CARDS[self.mode]

    async def score(self, given: MetricInput) -> Outcome:
        if given.compat:
            return not_scored(self.card, given) or await ragas_topic_score(given, self.mode)
        conversation = subject(given)
        decided = not_judged(self.card, given, conversation)
        if decided:
            return decided
        if given.value(self.card, STRATEGY.name) == "stepwise":
            return await stepwise_topic_score(given, self.card, conversation, self.mode)
        return await self._fused(given, conversation)

    async def _fused(self, given: MetricInput, conversation: Conversation) -> Outcome:
        requests = {f"r{n}": index for n, index in enumerate(user_indices(conversation.messages), start=1)}
        answer = await asked(given, conversation, lambda record: _question(given, conversation, record, requests), results_first=True)
        if isinstance(answer, Failed):
            return answer
        table = [_request(row, requests) for row in answer.reply.answer["requests"]]
        return outcome_from_topics(given, self.card, self.mode, table, answer, answer.reply.use)


def _request(row: Mapping[str, Any], requests: Mapping[str, int]) -> TopicRequest:
    return TopicRequest(
        request=row["request"],
        message=requests[row["request"]],
        topic=row["topic"],
        in_domain=row["in_domain"],
        handling=row["handling"],
        domain=row["domain"],
        reason=row["reason"],
        evidence=tuple(row["evidence"]),
    )


def _question(given: MetricInput, conversation: Conversation, record: Record, requests: dict[str, int]) -> Question:
    topics = {f"d{n}": topic for n, topic in enumerate(given.reference.topics or (), start=1)}
    return question_from(
        given,
        conversation,
        record,
        name="topic_adherence",
        prompt_name="topic_adherence.v1",
        form=topic_form(tuple(requests), tuple(topics), blocks=len(conversation.messages)),
        places={"requests": requests_place(requests), "topics": topics_place(topics)},
        inputs={"requests": requests, "topics": topics},
        output_tokens=min(_MOST_TOKENS, _REPLY_TOKENS + _REQUEST_TOKENS * len(requests)),
    )


def topics_place(topics: Mapping[str, str]) -> str:
    """The domain as it stands in the question, a topic a line, marked like the record: topics may come from a span attribute."""
    return "\n".join(f"| {name} = {one_line(topic)}" for name, topic in topics.items())


def topic_form(ids: tuple[str, ...], domains: tuple[str, ...], *, blocks: int) -> Form:
    """One entry a request: what it is about, why, where it shows, whether it belongs, and how it was handled."""
    fields: dict[str, Any] = {
        "topic": Sentence(max_chars=80),
        "reason": REASON,
        "evidence": Blocks(count=blocks),
        "in_domain": IN_DOMAIN,
        "domain": Known(options=domains),
        "handling": HANDLING,
    }
    return Form(name="topic_adherence", fields={"requests": Items(key="request", ids=ids, fields=fields), "certainty": CERTAINTY})


def precision() -> TopicAdherence:
    return TopicAdherence(mode="precision")


def recall() -> TopicAdherence:
    return TopicAdherence(mode="recall")


def f1() -> TopicAdherence:
    return TopicAdherence(mode="f1")
