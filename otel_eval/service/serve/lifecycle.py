"""The life of a scorer: what is started in which order, what runs, and how it ends without losing anything.

Start: store, metrics, judge, sinks, receivers bound, ready. End: receivers stop taking requests, what is being scored is finished, what
is in the outbox is sent once more, the store is closed. What does not fit into the time stays in the store for the next start.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from otel_eval.errors import OtelEvalError
from otel_eval.service.judge_choice import JudgeChoice
from otel_eval.service.serve.chains import Chains
from otel_eval.service.serve.desk import Desk
from otel_eval.service.serve.looking import Looker
from otel_eval.service.serve.plan import Plan
from otel_eval.service.serve.rating import Rater
from otel_eval.service.serve.reading import TraceReader
from otel_eval.service.serve.sending import Sender
from otel_eval.service.serve.weighing import Weigher
from otel_eval.service.serve.working import Worker
from otel_eval.sinks.base import OutboxSink
from otel_eval.store import Store
from otel_eval.triage import Triage

_LOOK_EVERY_S = 0.1
"""Longest wait between two looks at what is due: arrivals make things due that were not a moment ago."""
_AFTER_FAULT_S = 1.0
DRAIN_S = 20.0

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Parts:
    """All that works between the store and the sinks."""

    store: Store
    looker: Looker
    worker: Worker
    senders: tuple[Sender, ...]
    judge: JudgeChoice
    executor: Executor
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    sending_over: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)
    _watch: "asyncio.Task[None] | None" = None

    def start(self) -> None:
        """Begin to look, to score and to send."""
        if self.looker.replicas is not None:
            self._watch = self._task(self.looker.replicas.watch(self.stopping), "watch replicas")
        self._tasks = [
            self._task(look_always(self.looker, self.stopping), "look"),
            self._task(self.worker.run(self.stopping), "score"),
            *(self._task(sender.run(self.sending_over), f"send {sender.name}") for sender in self.senders),
        ]

    def _task(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(_tell_fault)
        return task

    async def stop(self, *, within_s: float = DRAIN_S, keep_store: bool = False) -> None:
        """End in order: looking, scoring, sending; then close the store, unless it is kept to be asked."""
        self.stopping.set()
        looking, scoring, *sending = self._tasks
        await _ended([looking, scoring, *([self._watch] if self._watch is not None else [])], within_s)
        self.sending_over.set()
        await _ended(sending, within_s / 4)
        await self.close(keep_store=keep_store)

    async def close(self, *, keep_store: bool = False) -> None:
        """Let go of judge, thread and store."""
        await self.judge.close()
        self.executor.shutdown(wait=True, cancel_futures=True)
        if not keep_store:
            await asyncio.to_thread(self.store.close)


def parts_of(
    store: Store,
    plan: Plan,
    judge: JudgeChoice,
    sinks: Mapping[str, OutboxSink],
    *,
    executor: Executor | None = None,
    reader: TraceReader | None = None,
) -> Parts:
    """The parts, tied together. `executor` is where reading takes place: one thread at a time."""
    executor = executor or ThreadPoolExecutor(max_workers=1, thread_name_prefix="otel-eval read")
    desk = Desk()
    senders = tuple(Sender(name=name, store=store, sink=sink) for name, sink in sinks.items())
    reader = reader or TraceReader(store)
    reader.keep(plan.rules.attribute_names)
    rater = Rater(store=store, plan=plan, judge=judge.judge, sinks=sinks, desk=desk, reader=reader, executor=executor)
    working = Worker(rater=rater)
    loop = asyncio.get_running_loop()

    def wake_senders() -> None:
        for sender in senders:
            sender.wake.set()

    def wake_worker() -> None:
        loop.call_soon_threadsafe(working.wake.set)

    rater.on_letters = wake_senders
    weigher = Weigher(
        store=store,
        plan=plan,
        triage=Triage(plan.rules.triage_share),
        reader=reader,
        executor=executor,
        desk=desk,
        on_work=wake_worker,
    )
    looker = Looker(weigher=weigher, chains=Chains(store.verdicts()))
    return Parts(store=store, looker=looker, worker=working, senders=senders, judge=judge, executor=executor)


async def look_always(looker: Looker, stopping: asyncio.Event) -> None:
    """Rounds, one after the other while there is something due, else when the next thing is."""
    while not stopping.is_set():
        try:
            found = await looker.round()
            wait_s = 0.0 if found else _until_due_s(looker)
        except OtelEvalError as fault:  # the store's: nothing was done, and it is done again
            _log.warning("looking at what is due failed: %s", fault)
            wait_s = _AFTER_FAULT_S
        except Exception as fault:  # after the start nothing ends the process
            looker.weigher.counts.faults[type(fault).__name__] += 1
            _log.error("looking at what is due failed", exc_info=fault)
            wait_s = _AFTER_FAULT_S
        if wait_s:
            await _wait(stopping, wait_s)
        else:
            await asyncio.sleep(0)


def _until_due_s(looker: Looker) -> float:
    due_s = looker.store.progress.next_due_s()
    if due_s is None:
        return _LOOK_EVERY_S
    return min(max(due_s - looker.store.now_s(), 0.005), _LOOK_EVERY_S)


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def _ended(tasks: "list[asyncio.Task[None]]", within_s: float) -> None:
    """Wait for tasks; what is not done in time is stopped: the store takes it up at the next start."""
    if not tasks:
        return
    _, late = await asyncio.wait(tasks, timeout=within_s)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late)


def _tell_fault(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("%s ended: %s", task.get_name(), type(task.exception()).__name__, exc_info=task.exception())
