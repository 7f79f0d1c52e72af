"""The breaker: when it stops asking, for how long, and what it never counts."""

import asyncio

import pytest

from otel_eval.errors import JudgeError
from otel_eval.judges.breaker import BreakerJudge
from tests.fakes.judges import Clock, Told, failure, outcome_of, question, reply


def ask(judge: BreakerJudge, times: int = 1) -> list[str]:
    return [getattr(outcome_of(lambda: judge.ask(question())), "reason", "answered") for _ in range(times)]


def test_five_failures_in_a_row_open_it() -> None:
    """After the fifth the endpoint is left in peace, and the error says why and until when."""
    told, clock = Told([failure("judge_unavailable")]), Clock()
    judge = BreakerJudge(judge=told, clock=clock)
    assert ask(judge, 8) == ["judge_unavailable"] * 8
    assert len(told.asked) == 5
    error = outcome_of(lambda: judge.ask(question()))
    assert error.retry_after_s == pytest.approx(30.0)


def test_one_probe_closes_it_or_doubles_the_wait() -> None:
    """When the time is over one question goes through: a failure keeps it open for twice as long, a success closes it."""
    told, clock = Told([failure("judge_timeout")] * 6 + [reply()]), Clock()
    judge = BreakerJudge(judge=told, clock=clock)
    ask(judge, 5)
    clock.now += 31
    assert ask(judge, 2) == ["judge_timeout", "judge_timeout"]
    assert len(told.asked) == 6
    clock.now += 31
    assert ask(judge) == ["judge_timeout"]
    clock.now += 30
    assert ask(judge, 2) == ["answered", "answered"]


def test_half_of_twenty_opens_it() -> None:
    """Every other question failing is trouble too, though never five in a row."""
    told = Told([failure("judge_unavailable"), reply()] * 20)
    judge = BreakerJudge(judge=told, clock=Clock())
    ask(judge, 40)
    assert judge.reason == "judge_unavailable"


@pytest.mark.parametrize("reason", ["judge_quota", "judge_auth", "judge_misconfigured"])
def test_what_only_a_person_can_cure_pauses_at_once(reason: str) -> None:
    """One refusal of key, account or model is enough, and the state has its name."""
    told = Told([failure(reason)])
    judge = BreakerJudge(judge=told, clock=Clock())
    assert ask(judge, 3) == [reason] * 3
    assert (len(told.asked), judge.paused) == (1, reason)


def test_too_many_requests_holds_the_endpoint_as_long_as_it_says() -> None:
    """The others wait as long as the endpoint asked one of them to; this is no failure of the endpoint."""
    told, clock = Told([failure("judge_rate_limited", retry_after_s=50.0), reply()]), Clock()
    judge = BreakerJudge(judge=told, clock=clock)
    assert ask(judge, 2) == ["judge_rate_limited"] * 2
    assert (len(told.asked), judge.failures) == (1, 0)
    clock.now += 51
    assert ask(judge) == ["answered"]


@pytest.mark.parametrize("reason", ["judge_filtered", "judge_refused", "conversation_too_long", "reply_schema", "budget_exhausted"])
def test_what_lies_with_the_question_is_not_counted(reason: str) -> None:
    """Ugly conversations and bad replies say nothing about the endpoint."""
    told = Told([failure(reason)])
    assert ask(BreakerJudge(judge=told, clock=Clock()), 30) == [reason] * 30
    assert len(told.asked) == 30


def test_only_one_probe_at_a_time() -> None:
    """While the probe is out the others are still turned away."""

    async def three() -> list[str]:
        clock = Clock()
        judge = BreakerJudge(judge=Told([failure("judge_unavailable")] * 5 + [reply()], delay_s=0.01), clock=clock)
        for _ in range(5):
            await asyncio.gather(judge.ask(question()), return_exceptions=True)
        clock.now += 31
        found = await asyncio.gather(*(judge.ask(question()) for _ in range(3)), return_exceptions=True)
        return ["turned away" if isinstance(f, JudgeError) else "answered" for f in found]

    assert asyncio.run(three()) == ["answered", "turned away", "turned away"]
