"""One sender a sink: takes letters from the outbox, sends them, and says of each what became of it, by the rules for OTLP clients.

While the far side refuses for now, nothing is sent to it until it may be asked again, and everything keeps its order. What it refuses for
good is sent alone once more, so that one bad letter takes no other with it, and is then kept as dead.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.errors import OtelEvalError, SinkError
from otel_eval.sinks.base import OutboxSink
from otel_eval.store import Letter, Store

AT_ONCE = 64
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_IDLE_S = 0.5


@dataclass(slots=True, kw_only=True)
class Sender:
    """Sends the letters of one sink. `pause_s` grows while the far side refuses."""

    name: str
    store: Store
    sink: OutboxSink
    jitter: Callable[[], float] = random.random
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    sent: int = 0
    retried: int = 0
    dead: int = 0
    trouble: str = ""
    """Why the far side did not take the last letters; empty when it did."""
    pause_s: float = _FIRST_PAUSE_S

    async def run(self, stopping: asyncio.Event) -> None:
        """Send until told to stop."""
        while not stopping.is_set():
            try:
                count = await self.once()
            except OtelEvalError as fault:  # the store's: it says so itself, and is asked again
                self.trouble = str(fault)
                count = 0
            if not count:
                await self._idle(stopping, _IDLE_S)
            elif self.trouble:
                await self._idle(stopping, self._wait_s, deaf=True)

    _wait_s: float = 0.0

    async def once(self) -> int:
        """Send the letters that are due; how many were taken out."""
        letters = self.store.outbox.take(self.name, limit=AT_ONCE)
        if letters:
            await self._send(letters)
        return len(letters)

    async def _send(self, letters: Sequence[Letter]) -> None:
        try:
            note = await self.sink.send([letter.payload for letter in letters])
        except SinkError as error:
            await self._refused(letters, error)
        except asyncio.CancelledError:
            self.store.outbox.give_back(letters)
            raise
        else:
            self.trouble, self.pause_s = "", _FIRST_PAUSE_S
            self.sent += len(letters)
            await asyncio.wrap_future(self.store.outbox.sent(letters, note=note))

    async def _refused(self, letters: Sequence[Letter], error: SinkError) -> None:
        self.trouble = str(error)
        if error.retryable:
            self._wait_s = max(error.retry_after_s or 0.0, self.pause_s * (0.5 + self.jitter() / 2))
            self.pause_s = min(2 * self.pause_s, _LONGEST_PAUSE_S)
            self.retried += len(letters)
            at_s = self.store.now_s() + self._wait_s
            await asyncio.wrap_future(self.store.outbox.try_again(letters, at_s=at_s, note=str(error)))
        elif len(letters) > 1:
            for letter in letters:
                await self._send([letter])
        else:
            self._wait_s = 0.0
            self.dead += 1
            await asyncio.wrap_future(self.store.outbox.bury(letters, note=str(error)))

    async def _idle(self, stopping: asyncio.Event, seconds: float, *, deaf: bool = False) -> None:
        """Wait for letters, the end, or so long; a deaf one does not listen for letters."""
        self.wake.clear()
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(stopping.wait())]
        if not deaf:
            waits.append(asyncio.ensure_future(self.wake.wait()))
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
