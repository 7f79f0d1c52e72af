"""Works through what waits: claims units from two queues in turn, so many at a time, and has each rated.

A unit whose judge cannot be asked just now goes back to its place and is tried again until the patience is over; what the judge answered
before is in the verdict cache and costs nothing then.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from otel_eval.errors import NotStorable, OtelEvalError, Overloaded, StoreError
from otel_eval.model import FailReason, UnitOutcome
from otel_eval.service.serve.judgement import settled
from otel_eval.service.serve.rating import Rated, Rater
from otel_eval.store import Queue, Unit, Work

_log = logging.getLogger(__name__)

AGAIN = frozenset(
    {
        FailReason.JUDGE_UNAVAILABLE.value,
        FailReason.JUDGE_TIMEOUT.value,
        FailReason.JUDGE_RATE_LIMITED.value,
        FailReason.JUDGE_QUOTA.value,
        FailReason.JUDGE_AUTH.value,
        FailReason.JUDGE_MISCONFIGURED.value,
    }
)
"""Reasons that lie with the endpoint, not with the conversation."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
_IDLE_S = 0.5
_MOST_FAILURES = 3
"""So often a unit may fail by an error that is not foreseen, before that is its outcome."""


@dataclass(slots=True, kw_only=True)
class WorkCounts:
    """What was done, for instruments."""

    scored: "Counter[str]" = field(default_factory=Counter)
    """Units by queue."""
    given_back: int = 0
    faults: "Counter[str]" = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class Worker:
    """Claims and has rated, `concurrency` units at a time."""

    rater: Rater
    concurrency: int = 16
    patience_s: float = 900.0
    counts: WorkCounts = field(default_factory=WorkCounts)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    held_until: float = 0.0
    """Moment of `time.monotonic` until which nothing is claimed, since the judge cannot be asked."""
    first_pause_s: float = FIRST_PAUSE_S
    _pauses: int = 0
    _failures: "Counter[Unit]" = field(default_factory=Counter)
    _running: "set[asyncio.Task[None]]" = field(default_factory=set)

    @property
    def is_busy(self) -> bool:
        """Whether a unit is being rated."""
        return bool(self._running)

    async def run(self, stopping: asyncio.Event) -> None:
        """Work until told to stop; then what is begun is finished. Cancelled, it gives up what is begun: the next start takes it up."""
        try:
            while not stopping.is_set():
                begun = await self.begin()
                if not begun or len(self._running) >= self.concurrency:
                    await self._idle(stopping)
            await self.end()
        except asyncio.CancelledError:
            for task in self._running:
                task.cancel()
            raise
        finally:
            await self.end()

    async def begin(self) -> int:
        """Begin with units as far as there is room; how many."""
        claimed = await self._claimed()
        for work in claimed:
            task = asyncio.create_task(self._guarded(work))
            self._running.add(task)
            task.add_done_callback(self._done)
        return len(claimed)

    async def end(self) -> None:
        """Wait until what is begun is finished."""
        while self._running:
            await asyncio.wait(set(self._running))

    async def _claimed(self) -> Sequence[Work]:
        """Units to begin now. Where the store is in trouble, none."""
        free = self.concurrency - len(self._running)
        if free <= 0 or time.monotonic() < self.held_until:
            return ()
        queues = self.rater.store.queues
        try:
            queue = next_queue(queues.waiting(), self.counts.scored, self.rater.plan.rules.triage_share)
            if queue is None:
                return ()
            return await asyncio.wrap_future(queues.claim(queue, limit=1 if queue == "triage" else free))
        except OtelEvalError as fault:
            self.counts.faults[type(fault).__name__] += 1
            return ()

    async def _idle(self, stopping: asyncio.Event) -> None:
        self.wake.clear()
        waits = [asyncio.ensure_future(self.wake.wait()), asyncio.ensure_future(stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=_IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self.wake.set()
        if not task.cancelled() and (fault := task.exception()) is not None:
            self.counts.faults[type(fault).__name__] += 1

    async def _guarded(self, work: Work) -> None:
        """One unit. What goes wrong in it is counted and takes no other with it."""
        try:
            rated = await self.rater.rate(work)
            if self._must_wait(work, rated):
                await self._give_back(work)
                return
            await self._commit(work, rated)
        except NotStorable as fault:
            await self._failed(work, type(fault).__name__)
        except (Overloaded, StoreError) as fault:
            self.counts.faults[type(fault).__name__] += 1
            self._hold()
            await self._give_back(work)
        except Exception as fault:  # the worker must go on, whatever one unit holds
            await self._failed(work, type(fault).__name__)

    async def _commit(self, work: Work, rated: Rated) -> None:
        await self.rater.commit(work, rated)
        self._failures.pop(work.unit, None)
        if rated.reports:
            if self._pauses:
                _log.info("conversations are scored again")
            self._pauses = 0
            self.counts.scored[work.queue] += 1

    async def _failed(self, work: Work, name: str) -> None:
        """An error that nobody foresaw, or a result that the store refuses: some tries later that is the unit's outcome."""
        self.counts.faults[name] += 1
        self._failures[work.unit] += 1
        if self._failures[work.unit] < _MOST_FAILURES:
            await self._give_back(work)
            return
        verdict = settled(UnitOutcome.NOT_UNDERSTOOD, "scorer_error", f"scoring it raised {name}")
        await self._commit(work, Rated(verdict=verdict))

    def _must_wait(self, work: Work, rated: Rated) -> bool:
        """Whether a judge could not be asked, and may be in time."""
        reasons = rated.failures & AGAIN
        if not reasons:
            return False
        if not self._pauses:
            _log.warning(
                "the judge cannot be asked (%s): conversations wait for it, as long as scoring.patience says", ", ".join(sorted(reasons))
            )
        self._hold()
        return self.rater.store.now_s() - work.since_s < self.patience_s

    def _hold(self) -> None:
        """Claim nothing for a while, longer each time."""
        now = time.monotonic()
        if now >= self.held_until:
            self.held_until = now + min(self.first_pause_s * 2**self._pauses, LONGEST_PAUSE_S)
            self._pauses = min(self._pauses + 1, 10)

    async def _give_back(self, work: Work) -> None:
        """The unit waits again, as soon as the store can say so."""
        self.counts.given_back += 1
        while True:
            try:
                await asyncio.wrap_future(self.rater.store.queues.give_back([work.unit]))
                return
            except OtelEvalError:
                await asyncio.sleep(_IDLE_S)


def next_queue(waiting: Set[Queue], scored: Mapping[str, int], share: float) -> Queue | None:
    """The queue to take from: triage while it lags behind its share of what was scored, else the estimate; the other where one is empty."""
    if len(waiting) < 2:
        return next(iter(waiting), None)
    total = scored.get("estimate", 0) + scored.get("triage", 0)
    return "triage" if scored.get("triage", 0) < share * (total + 1) else "estimate"
