"""Goal accuracy in two questions, the way of ragas: what was wanted and reached, then whether the two agree.

Ours shows the record to both questions, so that a claim the tools contradict cannot survive; `compat="ragas"` shows the second one two
sentences only, as ragas 0.4.3 does.
"""

from typing import Any

from otel_eval.judges.base import CERTAINTY, REASON, VERDICT, Blocks, Form, Question, Reply, Sentence, Words, use_sum
from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.judging import Asked, asked, joined_reasons, question_from, quoted
from otel_eval.metrics.ragas_transcript import ragas_record
from otel_eval.metrics.transcript import Record
from otel_eval.model import Conversation, Failed, FailReason, JudgeUse, Outcome, Score, Skipped, SkipReason

_BLOCKED_AS = {"pass": "yes", "fail": "no", "left_out": "blocked"}
_GOAL_VERDICT = Words(options=("yes", "no", "blocked", "cannot_tell"), yes_no=True)


async def stepwise_goal_score(
    given: MetricInput, conversation: Conversation, *, outcome: str | None = None, blocked: str = "left_out"
) -> Outcome:
    """Infer goal and end state, then compare; `outcome` is the reference, else the inferred goal is held against the record."""
    first = await asked(given, conversation, lambda record: _infer(given, conversation, record))
    if isinstance(first, Failed):
        return first
    goal = str(first.reply.answer["user_goal"]).strip()
    if outcome is None and not goal:
        return Skipped(reason=SkipReason.UNDEFINED, detail="the user asked for nothing that could be reached")
    return await compared_outcome(given, conversation, outcome=outcome, goal=goal, first=first, blocked=blocked)


async def compared_outcome(
    given: MetricInput,
    conversation: Conversation,
    *,
    outcome: str | None,
    goal: str = "",
    first: Asked | None = None,
    blocked: str = "left_out",
) -> Outcome:
    """The verdict of one comparison with the record: the reference outcome if there is one, else the inferred goal."""
    second = await asked(given, conversation, lambda record: _compare(given, conversation, record, outcome=outcome, goal=goal, first=first))
    if isinstance(second, Failed):
        return second
    return _outcome(second, first, blocked)


def _infer(given: MetricInput, conversation: Conversation, record: Record) -> Question:
    fields: dict[str, Any] = {
        "reason": REASON,
        "evidence": Blocks(count=len(conversation.messages)),
        "certainty": CERTAINTY,
        "user_goal": Sentence(max_chars=400),
        "end_state": Sentence(max_chars=400),
    }
    return question_from(
        given,
        conversation,
        record,
        name="infer_goal",
        prompt_name="goal_inference.v1",
        form=Form(name="infer_goal", fields=fields),
        places={},
        inputs={},
    )


def _compare(
    given: MetricInput, conversation: Conversation, record: Record, *, outcome: str | None, goal: str, first: Asked | None
) -> Question:
    desired = goal if outcome is None else outcome
    fields: dict[str, Any] = {
        "reason": REASON,
        "evidence": Blocks(count=len(conversation.messages)),
        "certainty": CERTAINTY,
        "verdict": _GOAL_VERDICT if outcome is None else VERDICT,
    }
    arrived = first.reply.answer["end_state"] if first else None
    name = "goal_comparison" if outcome is None else "outcome_comparison"
    return question_from(
        given,
        conversation,
        record,
        name="compare",
        prompt_name=f"{name}.v1",
        small=f"{name}_small.v1",
        form=Form(name="compare", fields=fields),
        places={"goal" if outcome is None else "outcome": quoted(desired, record)},
        inputs={"desired_outcome": desired, "arrived_outcome": arrived, "reference": outcome is not None},
    )


def _outcome(second: Asked, first: Asked | None, blocked: str) -> Outcome:
    answer = second.reply.answer
    use = use_sum(first.reply.use if first else None, second.reply.use)
    verdict = _BLOCKED_AS[blocked] if answer["verdict"] == "blocked" else answer["verdict"]
    if verdict == "cannot_tell":
        detail = joined_reasons([answer["reason"]]) or "the record does not decide"
        return Failed(error_type=FailReason.CANNOT_TELL, detail=detail, judge=use)
    if verdict == "blocked":
        detail = "the request was rightly declined; the parameter `blocked` can count it as pass or fail"
        return Skipped(reason=SkipReason.UNDEFINED, detail=detail)
    inferred = {k: first.reply.answer[k] for k in ("user_goal", "end_state")} if first else {}
    return Score(
        value=float(verdict == "yes"),
        label="pass" if verdict == "yes" else "fail",
        explanation=joined_reasons([answer["reason"]]),
        evidence=tuple(answer["evidence"]),
        details=second.details(**inferred, certainty=second.certainty()),
        judge=use,
    )


async def ragas_goal_score(given: MetricInput, *, desired: str | None) -> Outcome:
    """Value and questions of ragas 0.4.3: infer from the transcript, compare two sentences, take the verdict's number."""
    record, transcript = ragas_record(given)
    judge = given.judge
    if judge is None:
        return Failed(error_type=FailReason.METRIC_ERROR, detail="a judged metric needs a judge")
    inferred = await judge.ask(_ragas_infer(given, record, transcript))
    wanted = inferred.answer["user_goal"] if desired is None else desired
    compared = await judge.ask(_ragas_compare(given, record, wanted, inferred.answer["end_state"]))
    value = float(compared.answer["verdict"])
    return Score(
        value=value,
        label="pass" if value else "fail",
        explanation=joined_reasons([compared.answer["reason"]]),
        details={"user_goal": inferred.answer["user_goal"], "end_state": inferred.answer["end_state"]},
        judge=_used(inferred, compared),
    )


def _used(*replies: Reply) -> JudgeUse | None:
    use = None
    for reply in replies:
        use = use_sum(use, reply.use)
    return use


def _ragas_infer(given: MetricInput, record: Record, transcript: str) -> Question:
    return question_from(
        given,
        given.conversation,
        record,
        name="infer_goal",
        prompt_name="ragas_goal_inference.v1",
        form=Form(name="infer_goal", fields={"user_goal": Sentence(), "end_state": Sentence()}),
        places={},
        inputs={"transcript": transcript},
    )


def _ragas_compare(given: MetricInput, record: Record, desired: str, arrived: str) -> Question:
    empty = Record(text="", nonce=record.nonce, tokens=0)
    return question_from(
        given,
        given.conversation,
        empty,
        name="compare",
        prompt_name="ragas_outcome_comparison.v1",
        form=Form(name="compare", fields={"reason": REASON, "verdict": Words(options=("0", "1"))}),
        places={"desired_outcome": quoted(desired, record), "arrived_outcome": quoted(arrived, record)},
        inputs={"desired_outcome": desired, "arrived_outcome": arrived},
    )
