"""How much is let in at once: calls, and bytes of bodies. Who does not fit waits a little, in order of coming, and is then told to come
later."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from otel_eval.otlp.refusals import Busy

RETRY_S = 1.0


class Budget:
    """A number of units that are taken and given back. First come, first served. For one event loop."""

    def __init__(self, size: int, what: str) -> None:
        self._free = self._size = size
        self._what = what
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @property
    def taken(self) -> int:
        return self._size - self._free

    def try_take(self, units: int) -> bool:
        """Take units at once if they are free and nobody waits. More than there are in all can be taken when nothing else is."""
        if self._waiting or not self._fits(units):
            return False
        self._free -= units
        return True

    async def take(self, units: int, *, patience_s: float) -> None:
        """Take units, waiting for them; Busy after that long."""
        if self.try_take(units):
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        place = (units, turn)
        self._waiting.append(place)
        is_taken = False
        try:
            async with asyncio.timeout(patience_s):
                await turn
            is_taken = True
        except TimeoutError:
            raise Busy(f"{self._what} at once: send later", retry_after_s=RETRY_S) from None
        finally:
            if not is_taken:
                self._leave(place)

    def give(self, units: int) -> None:
        """Give units back; those who wait first go first."""
        self._free += units
        while self._waiting and self._fits(self._waiting[0][0]):
            wanted, turn = self._waiting.popleft()
            if not turn.done():
                self._free -= wanted
                turn.set_result(None)

    def _fits(self, units: int) -> bool:
        return units <= self._free or self._free == self._size

    def _leave(self, place: tuple[int, "asyncio.Future[None]"]) -> None:
        """Who goes away leaves the line, and gives back what came in the same moment."""
        units, turn = place
        if place in self._waiting:
            self._waiting.remove(place)
            self.give(0)
        elif not turn.cancelled():
            self.give(units)


class Gate:
    """Calls and bytes of one receiver, over both transports.

    Who holds a place while its body comes in, and takes long over it, gives way to those who wait for one: a crowd of connections that
    never get on with it keeps nobody out.
    """

    def __init__(self, *, max_calls: int, max_bytes: int, patience_s: float) -> None:
        self.calls = Budget(max_calls, f"{max_calls} requests are looked after")
        self.bytes = Budget(max_bytes, f"{max_bytes} bytes are held")
        self._patience_s = patience_s
        self._coming: dict[asyncio.Timeout, float] = {}
        """Bodies on their way, by when they began; the oldest first."""

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """A place for one request."""
        await self._take(self.calls, 1)
        try:
            yield
        finally:
            self.calls.give(1)

    @asynccontextmanager
    async def room(self, size: int) -> AsyncIterator["Room"]:
        """Room for a body of a size that is known, or 0."""
        await self._take(self.bytes, size)
        room = Room(self.bytes, size)
        try:
            yield room
        finally:
            self.bytes.give(room.size)

    @asynccontextmanager
    async def coming(self) -> AsyncIterator[None]:
        """While a body comes in. TimeoutError where it has to give way."""
        async with asyncio.timeout(None) as limit:
            self._coming[limit] = asyncio.get_running_loop().time()
            try:
                yield
            finally:
                self._coming.pop(limit, None)

    async def _take(self, budget: Budget, units: int) -> None:
        if budget.try_take(units):
            return
        hurry = asyncio.create_task(self._hurry())
        try:
            await budget.take(units, patience_s=self._patience_s)
        finally:
            hurry.cancel()

    async def _hurry(self) -> None:
        """While somebody waits: one after the other, those give way whose bodies have been coming for longer than half of his patience."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._patience_s / 4)
        while True:
            oldest = next(iter(self._coming), None)
            if oldest is not None and self._coming[oldest] < loop.time() - self._patience_s / 2:
                del self._coming[oldest]
                oldest.reschedule(loop.time())
            await asyncio.sleep(self._patience_s / 16)


class Room:
    """What one body takes of the bytes."""

    __slots__ = ("_budget", "size")

    def __init__(self, budget: Budget, size: int) -> None:
        self._budget, self.size = budget, size

    def grow(self, size: int) -> None:
        """Make it at least so large; Busy where that is not free: a body that is half received must not wait for another."""
        more = size - self.size
        if more > 0:
            if not self._budget.try_take(more):
                raise Busy("too many bytes are held at once: send later", retry_after_s=RETRY_S)
            self.size = size
