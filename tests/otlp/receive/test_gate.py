"""How much is let in at once."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.otlp.receive.gate import Budget, Gate
from otel_eval.otlp.refusals import Busy


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await work()

    asyncio.run(main())


def test_units_are_taken_and_given_back() -> None:
    """What is free can be taken at once, what is not cannot; what was given back can be again."""
    budget = Budget(10, "ten")
    assert budget.try_take(6)
    assert not budget.try_take(5)
    assert budget.try_take(4)
    budget.give(6)
    assert budget.taken == 4
    assert budget.try_take(5)


def test_who_waits_goes_in_order() -> None:
    """First come, first served: a small one does not overtake a large one that waits."""

    async def work() -> None:
        budget = Budget(10, "ten")
        assert budget.try_take(8)
        order: list[int] = []

        async def take(units: int) -> None:
            await budget.take(units, patience_s=9)
            order.append(units)

        tasks = [asyncio.create_task(take(units)) for units in (7, 1, 2)]
        await asyncio.sleep(0)
        assert not budget.try_take(1)
        budget.give(8)
        await asyncio.gather(*tasks)
        assert order == [7, 1, 2]
        assert budget.taken == 10

    run(work)


def test_patience_ends() -> None:
    """Who waits too long is told to come later, and leaves the line free for those behind."""

    async def work() -> None:
        budget = Budget(10, "ten")
        assert budget.try_take(9)
        with pytest.raises(Busy, match="ten at once"):
            await asyncio.gather(budget.take(5, patience_s=0.01), budget.take(1, patience_s=9))
        await asyncio.sleep(0)
        assert budget.taken == 10

    run(work)


def test_one_that_is_larger_than_all_goes_alone() -> None:
    """More than there is in all is let in when nothing else is: no body within the limit is refused for ever."""
    budget = Budget(10, "ten")
    assert budget.try_take(25)
    assert not budget.try_take(1)
    budget.give(25)
    assert budget.taken == 0


def test_who_is_cancelled_takes_nothing() -> None:
    """Cancelling someone who waits, also in the moment that the turn comes, loses no units."""

    async def work() -> None:
        budget = Budget(1, "one")
        assert budget.try_take(1)
        task = asyncio.create_task(budget.take(1, patience_s=9))
        await asyncio.sleep(0)
        budget.give(1)  # the turn has come, and the task has not run yet
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert budget.taken == 0

    run(work)


@given(sizes=st.lists(st.integers(0, 12), max_size=20), patience=st.sampled_from([0.0, 0.001, 5.0]))
def test_in_the_end_all_is_free(sizes: list[int], patience: float) -> None:
    """Whoever came, waited, got in or gave up: afterwards everything is free, and never was more let in than there is but for one alone."""

    async def work() -> None:
        budget = Budget(10, "ten")
        inside: list[int] = []

        async def visit(units: int) -> None:
            try:
                await budget.take(units, patience_s=patience)
            except Busy:
                return
            inside.append(units)
            assert sum(inside) <= 10 or len([u for u in inside if u]) == 1
            await asyncio.sleep(0)
            inside.remove(units)
            budget.give(units)

        await asyncio.gather(*(visit(units) for units in sizes))
        assert budget.taken == 0

    run(work)


def test_a_body_grows_into_its_room() -> None:
    """A body of unknown size takes room as it comes; where there is none it is refused, for it must not wait with a half in hand."""

    async def work() -> None:
        gate = Gate(max_calls=2, max_bytes=100, patience_s=0.01)
        async with gate.room(40) as first, gate.room(0) as second:
            first.grow(30)
            second.grow(60)
            assert gate.bytes.taken == 100
            with pytest.raises(Busy):
                second.grow(61)
        assert gate.bytes.taken == 0
        async with gate.call(), gate.call():
            with pytest.raises(Busy):
                async with gate.call():
                    pass
        assert gate.calls.taken == 0

    run(work)


def test_who_takes_long_gives_way() -> None:
    """A body that has been coming for long loses its place to one that waits; without anyone who waits it keeps it."""

    async def work() -> None:
        gate = Gate(max_calls=1, max_bytes=10, patience_s=0.4)
        ended: list[str] = []

        async def slow() -> None:
            try:
                async with gate.call(), gate.coming():
                    await asyncio.Event().wait()
            except TimeoutError:
                ended.append("slow")

        first = asyncio.create_task(slow())
        await asyncio.sleep(0)
        assert gate.calls.taken == 1
        await asyncio.wait([first], timeout=0.6)
        assert ended == []
        async with gate.call():
            ended.append("quick")
        await first
        assert ended == ["slow", "quick"]

    run(work)


def test_who_is_looked_after_does_not_give_way() -> None:
    """A request whose body has come keeps its place, and who waits is told to come later."""

    async def work() -> None:
        gate = Gate(max_calls=1, max_bytes=10, patience_s=0.05)
        over = asyncio.Event()

        async def whole() -> None:
            async with gate.call():
                async with gate.coming():
                    pass
                await over.wait()

        first = asyncio.create_task(whole())
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await gate.call().__aenter__()
        over.set()
        await first
        assert gate.calls.taken == 0

    run(work)
