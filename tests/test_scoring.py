"""Scoring: a report always comes, failures are values, ids are the same everywhere, and questions are shared."""

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricCard, MetricInput
from otel_eval.model import Conversation, Failed, FailReason, JudgeUse, Outcome, Reference, Report, Score, Skipped, SkipReason
from otel_eval.scoring import MetricRun, Settings, result_id, score_conversation, score_conversations, unit_key
from otel_eval.testing import ScriptedJudge
from tests.fakes.talk import REACHED, agent, booking, ref, user

SETTINGS = Settings(secret=b"secret of a test")
TOPICS = {"requests": [{"request": "r1", "in_domain": "yes", "handling": "answered"}]}


class Made:
    """A metric that does what it is told."""

    def __init__(self, does: Callable[[MetricInput], Any], name: str = "made", **card: Any) -> None:
        self.card = MetricCard(name=name, sentence="-", source="-", example="-", **card)
        self._does = does

    async def score(self, given: MetricInput) -> Outcome:
        found = self._does(given)
        outcome: Outcome = await found if asyncio.iscoroutine(found) else found
        return outcome


def scored(metric: Made, judge: Judge | None = None, settings: Settings = SETTINGS) -> Outcome:
    report = asyncio.run(score_conversation(booking(), None, [MetricRun(metric=metric)], judge, settings))
    return report.results[0].outcome


def failing(error: Exception) -> Made:
    def does(_: MetricInput) -> Outcome:
        raise error

    return Made(does)


def test_a_metric_that_raises_is_a_value() -> None:
    """An exception becomes `metric_error` with the class's name, never its message: that may hold words of the conversation."""
    outcome = scored(failing(KeyError("the user's card number")))
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.METRIC_ERROR
    assert "KeyError" in outcome.detail
    assert "card" not in outcome.detail


def test_a_judge_error_keeps_its_reason_and_cost() -> None:
    """What the judge could not do is the result's `error_type`, with what it took all the same."""
    use = JudgeUse(kind="model", calls=3, input_tokens=10)
    outcome = scored(failing(JudgeError("judge_rate_limited", "too many requests", use=use)))
    assert outcome == Failed(error_type=FailReason.JUDGE_RATE_LIMITED, detail="too many requests", judge=use)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, -0.1])
def test_a_value_outside_the_card_is_no_score(value: float) -> None:
    """Not-a-number, infinity and values outside the card's range never leave as scores."""
    outcome = scored(Made(lambda _: Score(value=value)))
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.METRIC_ERROR


def test_what_is_no_outcome_is_a_failure() -> None:
    """A metric that forgets to return is `metric_error`."""
    outcome = scored(Made(lambda _: None))
    assert isinstance(outcome, Failed)
    assert "NoneType" in outcome.detail


def test_a_metric_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the conversation's deadline a metric is stopped, and the others' results stand."""
    monkeypatch.setattr("otel_eval.scoring._GRACE_S", 0.0)
    runs = [
        MetricRun(metric=Made(lambda _: asyncio.sleep(60), name="slow")),
        MetricRun(metric=Made(lambda _: Score(value=1.0), name="fast")),
    ]
    report = asyncio.run(score_conversation(booking(), None, runs, None, replace(SETTINGS, deadline_s=0.05)))
    slow, fast = (r.outcome for r in report.results)
    assert isinstance(slow, Failed)
    assert slow.error_type is FailReason.DEADLINE
    assert fast == Score(value=1.0)


def test_nothing_is_asked_after_the_deadline() -> None:
    """With no time left the judge is not asked at all."""
    judge = ScriptedJudge(answers={"goal_accuracy": REACHED})
    runs = [MetricRun(metric=builtin_metric("agent_goal_accuracy"))]
    report = asyncio.run(score_conversation(booking(), None, runs, judge, replace(SETTINGS, deadline_s=0.0)))
    outcome = report.results[0].outcome
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.DEADLINE
    assert not judge.asked


def test_metrics_share_a_question() -> None:
    """Precision, recall and F1 of topic adherence cost one call together; the first carries its cost."""
    judge = ScriptedJudge(answers={"topic_adherence": TOPICS})
    runs = [MetricRun(metric=builtin_metric(f"topic_adherence_{mode}")) for mode in ("precision", "recall", "f1")]
    report = asyncio.run(score_conversation(booking(), Reference(topics=("theatre tickets",)), runs, judge, SETTINGS))
    scores = [r.outcome for r in report.results]
    assert len(judge.asked) == 1
    assert all(isinstance(s, Score) and s.value == 1.0 for s in scores)
    assert [s.judge.calls for s in scores if isinstance(s, Score) and s.judge] == [1, 0, 0]


def test_a_shared_failure_is_asked_once() -> None:
    """A judge that cannot answer is not asked again by the next metric of the same conversation."""
    judge = ScriptedJudge(answers={"topic_adherence": JudgeError("judge_refused", "no")})
    runs = [MetricRun(metric=builtin_metric(f"topic_adherence_{mode}")) for mode in ("precision", "recall")]
    report = asyncio.run(score_conversation(booking(), Reference(topics=("tickets",)), runs, judge, SETTINGS))
    assert len(judge.asked) == 1
    assert [r.outcome.error_type for r in report.results if isinstance(r.outcome, Failed)] == [FailReason.JUDGE_REFUSED] * 2


def test_needs_are_checked_before_the_judge_is_asked() -> None:
    """Without topics there is no question: the metric is skipped and says what to give."""
    judge = ScriptedJudge(answers={})
    runs = [MetricRun(metric=builtin_metric("topic_adherence_f1"))]
    outcome = asyncio.run(score_conversation(booking(), None, runs, judge, SETTINGS)).results[0].outcome
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.NEEDS_MISSING
    assert not judge.asked


def test_ids_are_the_same_everywhere() -> None:
    """A result's id depends on unit, revision, metric and version, and on nothing else."""
    one = result_id(booking(), 1, "agent_goal_accuracy", "1")
    assert one == result_id(replace(booking(), messages=()), 1, "agent_goal_accuracy", "1") == "09cd2e48-c3c0-5b6e-8d2d-9c8da0556398"
    others = [
        result_id(booking("c2"), 1, "agent_goal_accuracy", "1"),
        result_id(booking(), 2, "agent_goal_accuracy", "1"),
        result_id(booking(), 1, "tool_call_f1", "1"),
        result_id(booking(), 1, "agent_goal_accuracy", "2"),
        result_id(booking(), 1, "agent_goal_accuracy", "1", turn=0),
    ]
    assert len({one, *others}) == 6


def test_a_conversation_without_any_id_has_a_key() -> None:
    """Two conversations that nobody named are told apart by what they say."""
    first, second = (Conversation(id=None, messages=(user(text), agent("Hello."))) for text in ("Hi", "Good morning"))
    assert unit_key(first) != unit_key(second)
    assert unit_key(first) == unit_key(replace(first, agent="x"))


def test_results_hang_on_the_judged_turn() -> None:
    """The anchor is the root of the last turn, and of the judged turn where a metric looks at turns."""
    whole = asyncio.run(score_conversation(booking(), None, [MetricRun(metric=Made(lambda _: Score(value=1.0)))], None, SETTINGS))
    assert whole.results[0].anchor == ref(1)
    turns = Made(lambda given: Score(value=1.0, evidence=(given.turn or 0,)), level="turn")
    report = asyncio.run(score_conversation(booking(), None, [MetricRun(metric=turns)], None, SETTINGS))
    assert [(r.level, r.anchor) for r in report.results] == [("turn", ref(1))]


def test_reports_come_in_order_and_not_too_many_at_a_time() -> None:
    """However long each takes, reports come in the order of the input, and never more run together than allowed."""
    running, most = 0, 0

    async def slow(given: MetricInput) -> Outcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02 if given.conversation.id == "c0" else 0.001)
        running -= 1
        return Score(value=1.0)

    async def all_reports() -> list[Report]:
        units = ((booking(f"c{n}"), Reference()) for n in range(20))
        runs = [MetricRun(metric=Made(slow))]
        return [r async for r in score_conversations(units, runs, None, replace(SETTINGS, concurrency=4))]

    reports = asyncio.run(all_reports())
    assert [r.conversation.id for r in reports] == [f"c{n}" for n in range(20)]
    assert most == 4


def test_a_failed_metric_shows_what_it_took() -> None:
    """A stepwise metric that fails at its second question still shows the cost of the first."""

    class Costly:
        def __init__(self) -> None:
            self._inner = ScriptedJudge(answers={"infer_goal": {"user_goal": "two seats", "end_state": "booked"}})

        async def ask(self, question: Question) -> Reply:
            if question.name == "compare":
                raise JudgeError("judge_refused", "no")
            return await self._inner.ask(question)

    runs = [MetricRun(metric=builtin_metric("agent_goal_accuracy"), parameters={"strategy": "stepwise"})]
    outcome = asyncio.run(score_conversation(booking(), None, runs, Costly(), SETTINGS)).results[0].outcome
    assert isinstance(outcome, Failed)
    assert outcome.judge is not None
    assert outcome.judge.calls == 1
