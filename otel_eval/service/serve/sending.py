"""One sender a sink: takes letters from the outbox, sends them, and says of each what became of it, by the rules for OTLP clients.

While the far side refuses for now, nothing is sent to it until it may be asked again, and everything keeps its order. What it refuses for
good is sent alone once more, so that one bad letter takes no other with it, and is then kept as dead.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.errors import OtelEvalError, SinkError
from otel_eval.sinks.base import OutboxSink
from otel_eval.store import Letter, Store

_log = logging.getLogger(__name__)

AT_ONCE = 64
FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_IDLE_S = 0.5


@dataclass(slots=True, kw_only=True)
class Sender:
    """Sends the letters of one sink."""

    name: str
    store: Store
    sink: OutboxSink
    at_once: int = AT_ONCE
    every_s: float = 0.0
    """Time between two sendings; 0: as soon as there is something."""
    always: bool = False
    """Whether something is sent at each such time, with letters or without."""
    on_sent: Callable[[Sequence[Letter]], None] = lambda letters: None
    """Told of letters that the far side has, once that is on disk."""
    jitter: Callable[[], float] = random.random
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    hurried: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where what waits for the next such time should leave now; not while the far side refuses."""
    sent: int = 0
    retried: int = 0
    dead: int = 0
    faults: "Counter[str]" = field(default_factory=Counter)
    """Errors of the sink that it should not raise, by class."""
    trouble: str = ""
    """Why the far side did not take the last letters; empty when it did."""
    first_pause_s: float = FIRST_PAUSE_S
    """How long to wait after a refusal that does not say; longer after each further one."""
    _refusals: int = 0
    _wait_s: float = 0.0

    async def run(self, stopping: asyncio.Event) -> None:
        """Send until told to stop."""
        while not stopping.is_set():
            try:
                count = await self.once()
            except OtelEvalError as fault:  # the store's: it says so itself, and is asked again
                self.trouble = str(fault)
                count = 0
            if self.trouble:
                await self._idle(stopping, max(self._wait_s, self.every_s / 4), deaf=True)
            elif self.every_s:
                await self._idle(stopping, self.every_s, deaf=True)
            elif not count:
                await self._idle(stopping, _IDLE_S)
        await self._last()

    async def _last(self) -> None:
        """At the end, what is there is sent once more, as long as it is taken."""
        try:
            self.trouble = ""
            while await self.once() and not self.trouble:
                pass
        except OtelEvalError as fault:
            self.trouble = str(fault)

    async def once(self) -> int:
        """Send the letters that are due; how many were taken out."""
        letters = self.store.outbox.take(self.name, limit=self.at_once)
        if letters or self.always:
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
        except Exception as fault:  # a sink's own: it is counted, and tried again like any other trouble
            self.faults[type(fault).__name__] += 1
            await self._refused(letters, SinkError(f"the sink raised {type(fault).__name__}", retryable=True))
        else:
            if self._refusals:
                _log.info("sink %s takes results again", self.name)
            self.trouble, self._refusals = "", 0
            self.sent += len(letters)
            if letters:
                await asyncio.wrap_future(self.store.outbox.sent(letters, note=note))
                self.on_sent(letters)

    async def _refused(self, letters: Sequence[Letter], error: SinkError) -> None:
        self.trouble = str(error)
        if error.retryable:
            if not self._refusals:
                _log.warning("sink %s takes no results for now, and they wait in the store: %s", self.name, error)
            pause_s = min(self.first_pause_s * 2**self._refusals, _LONGEST_PAUSE_S)
            self._wait_s = max(error.retry_after_s or 0.0, pause_s * (0.5 + self.jitter() / 2))
            self._refusals = min(self._refusals + 1, 10)
            self.retried += len(letters)
            at_s = self.store.now_s() + self._wait_s
            if letters:
                await asyncio.wrap_future(self.store.outbox.try_again(letters, at_s=at_s, note=str(error)))
        elif len(letters) > 1 and not self.every_s:
            await self._one_by_one(letters)
        else:
            self._wait_s = 0.0
            if letters and not self.dead:
                _log.warning("sink %s refused results for good, later ones are only counted: %s", self.name, error)
            self.dead += len(letters)
            if letters:
                await asyncio.wrap_future(self.store.outbox.bury(letters, note=str(error)))

    async def _one_by_one(self, letters: Sequence[Letter]) -> None:
        """Find the bad one. Once the far side refuses for now, the rest waits untried."""
        for place, letter in enumerate(letters):
            retried = self.retried
            await self._send([letter])
            if self.retried != retried:
                self.store.outbox.give_back(letters[place + 1 :])
                return

    async def _idle(self, stopping: asyncio.Event, seconds: float, *, deaf: bool = False) -> None:
        """Wait for letters, the end, or so long; a deaf one does not listen for letters."""
        self.wake.clear()
        self.hurried.clear()
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(stopping.wait())]
        if not deaf:
            waits.append(asyncio.ensure_future(self.wake.wait()))
        if not self.trouble:
            waits.append(asyncio.ensure_future(self.hurried.wait()))
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
