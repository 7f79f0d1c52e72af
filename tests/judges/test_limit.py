"""How many questions at a time."""

import asyncio
from dataclasses import dataclass

from otel_eval.judges.base import Question, Reply
from otel_eval.judges.limit import LimitJudge
from tests.fakes.judges import failure, question, reply


@dataclass(slots=True)
class Counting:
    """Remembers how many were inside at the same time."""

    limited: bool = False
    inside: int = 0
    most: int = 0

    async def ask(self, question: Question) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.002)
        self.inside -= 1
        if self.limited:
            raise failure("judge_rate_limited")
        return reply()


def test_it_starts_small_and_grows_to_the_most() -> None:
    """Four at first; as all goes well one more each round, up to the configured most and never beyond."""

    async def run() -> tuple[int, int, int]:
        counting = Counting()
        judge = LimitJudge(judge=counting, start=4, most=8)
        await asyncio.gather(*(judge.ask(question()) for _ in range(4)))
        first = counting.most
        await asyncio.gather(*(judge.ask(question()) for _ in range(200)))
        return first, counting.most, judge.limit

    assert asyncio.run(run()) == (4, 8, 8)


def test_too_many_requests_halves_it() -> None:
    """Each "too many requests" halves it, down to one."""

    async def run() -> list[int]:
        judge = LimitJudge(judge=Counting(limited=True), start=8)
        limits = []
        for _ in range(4):
            await asyncio.gather(judge.ask(question()), return_exceptions=True)
            limits.append(judge.limit)
        return limits

    assert asyncio.run(run()) == [4, 2, 1, 1]


def test_one_that_is_cancelled_gives_its_place_back() -> None:
    """A question whose asker went away does not keep its place for ever."""

    async def run() -> Reply:
        judge = LimitJudge(judge=Counting(), start=1, most=1)
        first, waiting = (asyncio.ensure_future(judge.ask(question())) for _ in range(2))
        await asyncio.sleep(0.0005)
        waiting.cancel()
        first.cancel()
        await asyncio.gather(first, waiting, return_exceptions=True)
        return await asyncio.wait_for(judge.ask(question()), timeout=5)

    assert asyncio.run(run()).answer["verdict"] == "yes"
