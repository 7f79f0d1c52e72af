"""Waiting for what was written."""

import asyncio
from concurrent.futures import Future

import pytest

from otel_eval.errors import StoreError
from otel_eval.service.serve.weighing import all_written


def test_all_that_was_written_is_waited_for() -> None:
    """Writes end in the order in which they were begun: who waits for the last has waited for all."""

    async def told() -> None:
        writes: list[Future[None]] = [Future(), Future()]
        waiting = asyncio.create_task(all_written(writes))
        for write in writes:
            await asyncio.sleep(0)
            assert not waiting.done()
            write.set_result(None)
        await waiting

    asyncio.run(told())


@pytest.mark.parametrize("place", [0, 1])
def test_an_error_of_any_write_is_raised(place: int) -> None:
    """A write that failed is told, whether it was the last or one before it."""

    async def told() -> None:
        writes: list[Future[None]] = [Future(), Future()]
        for number, write in enumerate(writes):
            if number == place:
                write.set_exception(StoreError("full"))
            else:
                write.set_result(None)
        with pytest.raises(StoreError, match="full"):
            await all_written(writes)

    asyncio.run(told())
