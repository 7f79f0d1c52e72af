"""The doubles and contract checks for plug-in authors: ours keep the contracts, and what breaks them is found."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.heuristic import HeuristicJudge
from otel_eval.metrics import BUILTIN, builtin_metric
from otel_eval.metrics.base import MetricCard, MetricInput
from otel_eval.model import JudgeUse, Reference, Report, Score, Skipped, SkipReason
from otel_eval.testing import RememberingSink, ScriptedJudge, judge_problems, metric_problems, sink_problems
from tests.fakes.judges import failure, question

REFERENCE = Reference(outcome="Two seats are booked", topics=("seats",), tool_calls=())


class Made:
    """A metric that does what it is told."""

    def __init__(self, does: Callable[[MetricInput], Any]) -> None:
        self.card = MetricCard(name="made", sentence="-", source="-", example="-", labels=("pass",))
        self._does = does

    async def score(self, given: MetricInput) -> Any:
        return self._does(given)


@pytest.mark.parametrize("name", BUILTIN)
def test_every_built_in_metric_keeps_the_contract(name: str) -> None:
    """All of ours, on all samples, with the built-in judge."""
    assert asyncio.run(metric_problems(builtin_metric(name), HeuristicJudge(), reference=REFERENCE)) == []


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda given: 1 / len(given.messages), "ZeroDivisionError"),
        (lambda given: None, "NoneType"),
        (lambda given: Score(value=1.0), "empty conversation"),
        (lambda given: Score(value=2.0), "outside"),
        (lambda given: Score(value=1.0, label="bad"), "label"),
        (lambda given: Score(value=1.0, evidence=(99,)), "not there"),
        (lambda given: Score(value=1.0, explanation=str(id(given))), "two runs differ"),
    ],
)
def test_a_broken_metric_is_found(does: Callable[[MetricInput], Any], said: str) -> None:
    """Raising, returning nothing, inventing, leaving the range, naming what is not there: each is said."""
    assert said in "\n".join(asyncio.run(metric_problems(Made(does))))


def test_a_good_metric_has_no_problems() -> None:
    """A metric that skips what it cannot score."""
    good = Made(lambda given: Score(value=1.0) if given.messages else Skipped(reason=SkipReason.NOTHING_TO_JUDGE))
    assert asyncio.run(metric_problems(good)) == []


def test_a_broken_judge_is_found() -> None:
    """An answer outside the form, a reason that nobody knows, another exception."""

    class Broken:
        def __init__(self, does: Callable[[Question], Any]) -> None:
            self._does = does

        async def ask(self, question: Question) -> Reply:
            found: Reply = self._does(question)
            return found

    def raises(error: Exception) -> Callable[[Question], Any]:
        def does(_: Question) -> Any:
            raise error

        return does

    odd = Reply(answer={"verdict": "maybe"}, use=JudgeUse(kind="none"))
    assert "not in the form" in str(asyncio.run(judge_problems(Broken(lambda q: odd))))
    assert "no reason" in str(asyncio.run(judge_problems(Broken(raises(JudgeError("tired", "x"))))))
    assert "KeyError" in str(asyncio.run(judge_problems(Broken(raises(KeyError("x"))))))
    scripted = ScriptedJudge(answers={"yes_no": {"verdict": "yes"}, "table": failure("cannot_tell")})
    assert asyncio.run(judge_problems(scripted)) == []


def test_a_sink_that_loses_is_found() -> None:
    """A sink that drops scores is said by the ids that did not arrive."""

    class Losing:
        async def write(self, report: Report) -> None:
            """Nothing."""

    keeping = RememberingSink()
    arrived = lambda: [r.id for report in keeping.reports for r in report.results]  # noqa: E731 - read after writing
    assert asyncio.run(sink_problems(keeping, arrived)) == []
    assert asyncio.run(sink_problems(Losing(), list)) == ["the result 'id-0' did not arrive"]


def test_scripts_in_every_form() -> None:
    """An object, a list in order, a function of the question, an error; an answer that the form does not allow is refused."""
    judge = ScriptedJudge(answers={"yes_no": [{"verdict": "no"}, {"verdict": "yes"}]})
    assert [asyncio.run(judge.ask(question())).answer["verdict"] for _ in range(3)] == ["no", "yes", "yes"]
    by_question = ScriptedJudge(answers={"yes_no": lambda q: {"verdict": "yes" if "so" in q.ask else "no"}})
    assert asyncio.run(by_question.ask(question())).answer["verdict"] == "yes"
    with pytest.raises(JudgeError, match="must be one of"):
        asyncio.run(ScriptedJudge(answers={"yes_no": {"verdict": "maybe"}}).ask(question()))
    with pytest.raises(JudgeError, match="no answer to"):
        asyncio.run(ScriptedJudge(answers={}).ask(question()))
