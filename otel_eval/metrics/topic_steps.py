"""Topic adherence in n + 2 questions, the way of ragas: find the topics, ask of each whether it was refused, classify all.

Ours counts a topic once, shows the fenced record and takes a classification only when it is complete. `compat="ragas"` gives the numbers
of ragas 0.4.3: every topic as extracted, classifications padded with false or cut, an epsilon of 1e-10.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from otel_eval.judges.base import CERTAINTY, REASON, Blocks, Flag, Flags, Form, Items, Question, Sentences, Words, use_sum
from otel_eval.metrics.base import RAGAS_LEGACY, MetricCard, MetricInput
from otel_eval.metrics.inert import one_line
from otel_eval.metrics.judging import Asked, asked, question_from, quoted
from otel_eval.metrics.ragas_transcript import ragas_record
from otel_eval.metrics.topic_arithmetic import (
    Mode,
    counts_from_verdicts,
    merged_topics,
    ragas_padded,
    ragas_value,
    ragas_value_without_topics,
)
from otel_eval.metrics.topic_table import TopicRequest, count_details, outcome_from_topics
from otel_eval.metrics.transcript import Record
from otel_eval.model import Conversation, Failed, FailReason, JudgeUse, Outcome, Score, Skipped, SkipReason

_CLASSES = Words(options=("yes", "no", "cannot_tell"), yes_no=True)


async def stepwise_topic_score(given: MetricInput, card: MetricCard, conversation: Conversation, mode: Mode) -> Outcome:
    """One question for the topics, one a topic, one for the classification; topics that differ in case only are one."""
    found = await asked(given, conversation, lambda record: _extraction(given, conversation, record), results_first=True)
    if isinstance(found, Failed):
        return found
    topics = _distinct(found.reply.answer["topics"])
    if not topics:
        return Skipped(reason=SkipReason.UNDEFINED, detail="the user asked about nothing")
    steps = [found]
    for topic in topics.values():
        step = await asked(given, conversation, _refusal_of(given, conversation, topic), results_first=True)
        if isinstance(step, Failed):
            return step
        steps.append(step)
    last = await asked(given, conversation, lambda record: _classification(given, conversation, record, topics), results_first=True)
    if isinstance(last, Failed):
        return last
    use = None
    for step in [*steps, last]:
        use = use_sum(use, step.reply.use)
    table = [_row(name, topic, step, last) for (name, topic), step in zip(topics.items(), steps[1:], strict=True)]
    return outcome_from_topics(given, card, mode, table, last, use)


def _distinct(topics: Sequence[str]) -> dict[str, str]:
    named = [topic for topic in topics if topic.strip()]
    return {f"t{n}": named[group[0]] for n, group in enumerate(merged_topics(named), start=1)}


def _row(name: str, topic: str, step: Asked, last: Asked) -> TopicRequest:
    classes = {row["topic"]: row["in_domain"] for row in last.reply.answer["topics"]}
    answer = step.reply.answer
    return TopicRequest(
        request=name,
        topic=topic,
        in_domain=classes[name],
        handling="refused" if answer["refused_to_answer"] else "answered",
        reason=answer["reason"],
        evidence=tuple(answer["evidence"]),
    )


def _extraction(given: MetricInput, conversation: Conversation, record: Record) -> Question:
    return question_from(
        given,
        conversation,
        record,
        name="extract_topics",
        prompt_name="topic_extraction.v1",
        form=Form(name="extract_topics", fields={"topics": Sentences()}),
        places={},
        inputs={},
    )


def _refusal_of(given: MetricInput, conversation: Conversation, topic: str) -> Any:
    fields: dict[str, Any] = {"reason": REASON, "evidence": Blocks(count=len(conversation.messages)), "refused_to_answer": Flag()}
    return lambda record: question_from(
        given,
        conversation,
        record,
        name="refused",
        prompt_name="topic_refusal.v1",
        form=Form(name="refused", fields=fields),
        places={"topic": one_line(topic)},
        inputs={"topic": topic},
    )


def _classification(given: MetricInput, conversation: Conversation, record: Record, topics: Mapping[str, str]) -> Question:
    domain = tuple(given.reference.topics or ())
    items = Items(key="topic", ids=tuple(topics), fields={"in_domain": _CLASSES})
    return question_from(
        given,
        conversation,
        record,
        name="classify",
        prompt_name="topic_classification.v1",
        form=Form(name="classify", fields={"topics": items, "certainty": CERTAINTY}),
        places={"candidates": _listed(topics), "topics": "\n".join(f"| {one_line(t)}" for t in domain)},
        inputs={"topics": list(topics.values()), "reference_topics": list(domain)},
    )


def _listed(topics: Mapping[str, str]) -> str:
    return "\n".join(f"| {name} = {one_line(topic)}" for name, topic in topics.items())


async def ragas_topic_score(given: MetricInput, mode: Mode) -> Outcome:
    """Value and questions of ragas 0.4.3. Nothing extracted: no number; its legacy class asks once more and says 0."""
    judge = given.judge
    if judge is None:
        return Failed(error_type=FailReason.METRIC_ERROR, detail="a judged metric needs a judge")
    record, transcript = ragas_record(given)
    found = await judge.ask(_ragas(given, record, "extract_topics", {"topics": Sentences()}, {}, {"transcript": transcript}))
    topics, use = list(found.answer["topics"]), found.use
    if not topics and given.compat != RAGAS_LEGACY:
        return Skipped(reason=SkipReason.UNDEFINED, detail="no topic was found; ragas gives not-a-number")
    refused = []
    for topic in topics:
        inputs = {"transcript": transcript, "topic": topic}
        step = await judge.ask(_ragas(given, record, "refused", {"refused_to_answer": Flag()}, {"topic": one_line(topic)}, inputs))
        refused.append(step.answer["refused_to_answer"])
        use = use_sum(use, step.use)
    last = await judge.ask(_ragas_classification(given, record, topics))
    inside = ragas_padded(last.answer["classifications"], len(topics))
    return _ragas_outcome(given, mode, topics, refused, inside, use_sum(use, last.use))


def _ragas_outcome(
    given: MetricInput, mode: Mode, topics: Sequence[str], refused: Sequence[bool], inside: Sequence[bool], use: JudgeUse
) -> Score:
    counts = counts_from_verdicts([not r for r in refused], inside)
    rows = [{"topic": t, "refused": r, "in_domain": i} for t, r, i in zip(topics, refused, inside, strict=True)]
    value = ragas_value(counts, mode) if topics else ragas_value_without_topics(RAGAS_LEGACY)
    return Score(value=value, details={**count_details(counts), "topics": rows}, judge=use)


def _ragas(
    given: MetricInput, record: Record, name: str, fields: Mapping[str, Any], places: Mapping[str, str], inputs: Mapping[str, Any]
) -> Question:
    return question_from(
        given,
        given.conversation,
        record,
        name=name,
        prompt_name=_RAGAS_PROMPTS[name],
        form=Form(name=name, fields=fields),
        places=places,
        inputs=inputs,
    )


_RAGAS_PROMPTS = {
    "extract_topics": "ragas_topic_extraction.v1",
    "refused": "ragas_topic_refusal.v1",
    "classify": "ragas_topic_classification.v1",
}


def _ragas_classification(given: MetricInput, record: Record, topics: Sequence[str]) -> Question:
    domain = tuple(given.reference.topics or ())
    places = {"candidates": quoted("\n".join(map(one_line, topics)), record), "topics": quoted("\n".join(map(one_line, domain)), record)}
    inputs = {"topics": list(topics), "reference_topics": list(domain)}
    empty = Record(text="", nonce=record.nonce, tokens=0)
    return _ragas(given, empty, "classify", {"classifications": Flags()}, places, inputs)
