"""Asks again after a failure that may pass: after the wait that the endpoint asks for, and only if it fits into the time left."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from otel_eval.errors import JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Judge, Question, Reply
from otel_eval.judges.wrap import error_with, reply_with, spent_sum
from otel_eval.model import JudgeUse

_MOST_RETRIES: Mapping[str, int] = {faults.UNAVAILABLE: 2, faults.TIMEOUT: 1, faults.RATE_LIMITED: 3}
_FIRST_LATENCY_S = 1.0
_WEIGHT = 0.2  # of the newest latency in the running average
_LONGEST_WAIT_S = 60.0
"""A longer wait is not slept through: the error goes up, and the breaker holds the endpoint until then."""


@dataclass(slots=True, kw_only=True)
class RetryJudge:
    """A judge that is asked again: at most twice after trouble, three times after "too many requests", once after a timeout."""

    judge: Judge
    base_s: float = 1.0
    """First wait where the endpoint names none; doubled each time, then drawn at random between 0 and that (full jitter)."""
    longest_wait_s: float = _LONGEST_WAIT_S
    most_retries: Mapping[str, int] = field(default_factory=lambda: _MOST_RETRIES)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    uniform: Callable[[float, float], float] = random.uniform
    _latency_s: float = _FIRST_LATENCY_S

    async def ask(self, question: Question) -> Reply:
        spent: JudgeUse | None = None
        attempt = 0
        while True:
            start = self.clock()
            try:
                reply = await self.judge.ask(question)
            except JudgeError as error:
                wait_s = self._wait_s(question, error, attempt)
                if wait_s is None:
                    raise error_with(error, spent) from None
                spent = spent_sum(spent, error)
            else:
                self._latency_s += _WEIGHT * (self.clock() - start - self._latency_s)
                return reply_with(reply, spent)
            attempt += 1
            await self.sleep(wait_s)

    def _wait_s(self, question: Question, error: JudgeError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None where there is none."""
        if attempt >= self.most_retries.get(error.reason, 0):
            return None
        wait_s = error.retry_after_s
        if wait_s is None:
            wait_s = self.uniform(0.0, self.base_s * 2**attempt)
        if wait_s > self.longest_wait_s or not self._fits(question, wait_s):
            return None
        return wait_s

    def _fits(self, question: Question, wait_s: float) -> bool:
        return question.deadline is None or self.clock() + wait_s + self._latency_s < question.deadline
