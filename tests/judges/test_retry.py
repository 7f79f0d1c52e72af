"""Asking again: how often, after which wait, and never beyond the deadline."""

import asyncio
import time

import pytest

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Reply
from otel_eval.judges.breaker import BreakerJudge
from otel_eval.judges.openai import OpenAIJudge
from otel_eval.judges.repair import RepairJudge
from otel_eval.judges.retry import RetryJudge
from otel_eval.judges.settings import JudgeSettings
from tests.fakes.judge_server import JudgeServer
from tests.fakes.judges import Clock, Told, failure, outcome_of, question, reply


def retrying(told: Told, clock: Clock) -> RetryJudge:
    return RetryJudge(judge=told, clock=clock, sleep=clock.sleep, uniform=lambda low, high: high)


@pytest.mark.parametrize(
    ("reason", "requests"),
    [
        ("judge_unavailable", 3),
        ("judge_timeout", 2),
        ("judge_rate_limited", 4),
        ("judge_auth", 1),
        ("judge_filtered", 1),
        ("judge_refused", 1),
        ("reply_schema", 1),
        ("conversation_too_long", 1),
        ("budget_exhausted", 1),
    ],
)
def test_how_often(reason: str, requests: int) -> None:
    """Twice after trouble, once after a timeout, three times when it was too many; what asking cannot cure is not asked again."""
    told, clock = Told([failure(reason)]), Clock()
    error = outcome_of(lambda: retrying(told, clock).ask(question()))
    assert (error.reason, len(told.asked)) == (reason, requests)


def test_the_wait_doubles_or_is_what_the_endpoint_says() -> None:
    """Its own backoff is 1 s, 2 s (before the draw); a wait that the endpoint names is kept exactly."""
    clock = Clock()
    outcome_of(lambda: retrying(Told([failure("judge_unavailable")]), clock).ask(question()))
    assert clock.slept == [1.0, 2.0]
    named = Clock()
    outcome_of(lambda: retrying(Told([failure("judge_rate_limited", retry_after_s=7.0), reply()]), named).ask(question()))
    assert named.slept == [7.0]


def test_no_wait_beyond_the_deadline() -> None:
    """A wait that does not fit is not begun: the error goes up at once, with the reason of the endpoint."""
    told, clock = Told([failure("judge_rate_limited", retry_after_s=30.0), reply()]), Clock()
    error = outcome_of(lambda: retrying(told, clock).ask(question(deadline=clock.now + 20.0)))
    assert isinstance(error, JudgeError)
    assert (error.reason, error.retry_after_s, len(told.asked), clock.slept) == ("judge_rate_limited", 30.0, 1, [])


def test_what_all_attempts_took_is_added_up() -> None:
    """A failed attempt that cost something is on the bill of the one that succeeded, and of the last error."""
    spent = failure("judge_unavailable", use=reply().use)
    answered = outcome_of(lambda: retrying(Told([spent, reply()]), Clock()).ask(question()))
    assert isinstance(answered, Reply)
    assert (answered.use.calls, answered.use.input_tokens) == (2, 200)
    failed = outcome_of(lambda: retrying(Told([spent]), Clock()).ask(question()))
    assert failed.use.calls == 3


def test_429_for_ever_ends_in_time_and_spares_the_others() -> None:
    """At most the configured retries, an end within the deadline as `judge_rate_limited`, and later questions are not even sent."""

    async def all_of_it() -> tuple[list[str], int, float]:
        refusal = {"status": 429, "headers": {"Retry-After": "1"}, "json": {"error": {"code": "rate_limit_exceeded"}}}
        async with JudgeServer([refusal]) as server:
            model = OpenAIJudge(JudgeSettings(model="m", base_url=server.url))
            judge = BreakerJudge(judge=RetryJudge(judge=RepairJudge(judge=model)))
            start, reasons = time.monotonic(), []
            for _ in range(5):
                try:
                    await judge.ask(question(deadline=start + 2.5))
                except JudgeError as error:
                    reasons.append(error.reason)
            await model.close()
            return reasons, len(server.requests), time.monotonic() - start

    reasons, requests, took_s = asyncio.run(all_of_it())
    assert reasons == ["judge_rate_limited"] * 5
    assert requests <= 4
    assert took_s < 3.0
