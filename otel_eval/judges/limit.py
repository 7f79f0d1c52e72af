"""How many questions an endpoint gets at a time: starts small, halves when it is too many, grows by one when all goes well."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from otel_eval.errors import JudgeError
from otel_eval.judges import faults
from otel_eval.judges.base import Judge, Question, Reply


@dataclass(slots=True, kw_only=True)
class LimitJudge:
    """A judge that is asked at most `most` questions at a time, at first `start`."""

    judge: Judge
    start: int = 4
    most: int = 32
    _limit: float = 0.0
    _running: int = 0
    _free: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self._limit = float(min(self.start, self.most))

    @property
    def limit(self) -> int:
        return int(self._limit)

    async def ask(self, question: Question) -> Reply:
        async with self._free:
            await self._free.wait_for(lambda: self._running < self.limit)
            self._running += 1
        try:
            with self._adapting():
                return await self.judge.ask(question)
        finally:
            async with self._free:
                self._running -= 1
                self._free.notify_all()

    @contextmanager
    def _adapting(self) -> Iterator[None]:
        try:
            yield
        except JudgeError as error:
            if error.reason == faults.RATE_LIMITED:
                self._limit = max(1.0, self._limit / 2)
            raise
        self._limit = min(float(self.most), self._limit + 1 / self._limit)
