"""Sets the moment after which no answer is wanted, for all questions of one conversation together."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineJudge:
    """A judge that is not asked after `at` (on the clock of `time.monotonic`), and knows of it when asked before."""

    judge: Judge
    at: float
    clock: Callable[[], float] = time.monotonic

    async def ask(self, question: Question) -> Reply:
        if self.clock() >= self.at:
            raise JudgeError("deadline", "the time for this conversation was over before the judge could be asked")
        deadline = self.at if question.deadline is None else min(self.at, question.deadline)
        return await self.judge.ask(replace(question, deadline=deadline))
