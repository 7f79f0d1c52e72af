"""The one thread that writes: whatever is queued becomes one commit, and who asked is told after it.

Grouping is natural: while the disk syncs, requests queue, and the next commit takes them all, up to a size. There is no timer; only on a
slow disk, and
only where others were waiting the last time, is a moment spent to let them join (`performance.md` 3). A piece of work that fails takes
nobody with it: its
group is rolled back and done one by one.
"""

import logging
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Generic, TypeAlias, TypeVar

from otel_eval.errors import OtelEvalError, StoreError
from otel_eval.store.faults import error_from_fault, is_environment
from otel_eval.store.transaction import Transaction

T = TypeVar("T")
Hook: TypeAlias = Callable[[sqlite3.Connection], None]
Run: TypeAlias = Callable[[sqlite3.Connection], T]
RunMany: TypeAlias = Callable[[sqlite3.Connection, Sequence[Any]], Sequence[Any]]

GROUP_BYTES = 4 * 1024 * 1024
"""So many bytes of bodies go into one commit: more gain nothing and delay the first."""
GROUP_ITEMS = 1024
SLOW_COMMIT_S, LONGEST_WAIT_S = 0.002, 0.005
IDLE_S = 0.5
"""So often the thread looks after the house when nothing is asked of it."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class WriterCounts:
    """What the writer did, for instruments."""

    commits: int = 0
    items: int = 0
    last_commit_s: float = 0.0
    """How long the last commit took."""
    faults: "Counter[str]"
    """Failed pieces of work by the class of what was raised."""


@dataclass(slots=True, eq=False)
class _Item(Generic[T]):
    """A piece of work: done by `run_many` together with its neighbours of the same kind."""

    run_many: RunMany
    value: Any
    size: int
    future: "Future[T]"


def _run_each(db: sqlite3.Connection, runs: Sequence[Run[Any]]) -> Sequence[Any]:
    return [run(db) for run in runs]


class Writer:
    """Queue and thread. `measure` is called after each commit, before who asked is told; `tend` after that and when idle.

    Both are called outside any transaction; what they raise is counted.
    """

    def __init__(self, db: sqlite3.Connection, place: str, *, lock: threading.RLock, measure: Hook, tend: Hook) -> None:
        self._db, self._place, self._lock, self._measure, self._tend = db, place, lock, measure, tend
        self._queue: deque[_Item[Any]] = deque()
        self._ready = threading.Condition()
        self._closing = False
        self._crowd = False
        self.queued_bytes = 0
        self.trouble: OtelEvalError | None = None
        """Why the last commit failed; None when it did not."""
        self.counts = WriterCounts(faults=Counter())
        context = copy_context()  # where whoever opens the store wants no instrumentation of SQLite to tell of it, here neither
        self._thread = threading.Thread(target=context.run, args=(self._loop,), name="otel-eval store", daemon=True)
        self._thread.start()

    def submit(self, run: Run[T]) -> "Future[T]":
        """Do something in a transaction; the future has what it returned once that is committed."""
        return self.submit_many(_run_each, run)

    def submit_many(self, run_many: RunMany, value: Any, *, size: int = 0) -> "Future[Any]":
        """Do something that can be done for several values at once: those next to each other in the queue are handed over together."""
        item: _Item[Any] = _Item(run_many, value, size, Future())
        with self._ready:
            if self._closing:
                raise StoreError(f"the store {self._place!r} is closed")
            self._queue.append(item)
            self.queued_bytes += size
            self._ready.notify()
        return item.future

    def close(self, *, timeout_s: float | None = None) -> None:
        """Commit what is queued and end the thread."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        self._thread.join(timeout_s)

    def _loop(self) -> None:
        while True:
            group = self._next_group()
            if group is None:
                return
            if group:
                self._commit(group)
            self._call(self._tend)

    def _call(self, hook: Hook) -> None:
        try:
            with self._lock:
                hook(self._db)
        except Exception as fault:  # house-keeping must not end the one thread that writes; it is counted and tried again
            self._note(fault)

    def _next_group(self) -> list[_Item[Any]] | None:
        """What is queued; empty after a while of silence, None at the end."""
        with self._ready:
            if not self._queue and not self._closing:
                self._ready.wait(IDLE_S)
            if not self._queue:
                return None if self._closing else []
            wait_s = self._courtesy_s()
        if wait_s:
            time.sleep(wait_s)
        group: list[_Item[Any]] = []
        size = 0
        with self._ready:
            while self._queue and len(group) < GROUP_ITEMS and (not group or size + self._queue[0].size <= GROUP_BYTES):
                group.append(self._queue.popleft())
                size += group[-1].size
        self._crowd = len(group) > 1
        return group

    def _courtesy_s(self) -> float:
        """How long to wait for others: half of a slow commit, at most 5 ms, and only where there were others the last time."""
        last = self.counts.last_commit_s
        return min(last / 2, LONGEST_WAIT_S) if self._crowd and last > SLOW_COMMIT_S and not self._closing else 0.0

    def _commit(self, group: list[_Item[Any]]) -> None:
        began = time.perf_counter()
        try:
            results = self._in_transaction(group)
        except Exception as fault:
            self._fail(group, fault)
        else:
            self.trouble = None
            self.counts.last_commit_s = time.perf_counter() - began
            self._call(self._measure)
            _resolve(group, results)
        finally:
            with self._ready:
                self.queued_bytes -= sum(item.size for item in group)

    def _in_transaction(self, group: Sequence[_Item[Any]]) -> list[Any]:
        results: list[Any] = []
        with self._lock, Transaction(self._db):
            for run_many, items in groupby(group, key=lambda item: item.run_many):
                results += run_many(self._db, [item.value for item in items])
        self.counts.commits += 1
        self.counts.items += len(group)
        return results

    def _fail(self, group: list[_Item[Any]], fault: Exception) -> None:
        """Tell a group of one, or where the environment is at fault; else find the one that fails by doing them alone."""
        self._note(fault)
        if len(group) == 1 or is_environment(fault):
            self.trouble = error_from_fault(fault, self._place) if is_environment(fault) else None
            for item in group:
                _refuse(item, error_from_fault(fault, self._place), fault)
            return
        for item in group:
            try:
                results = self._in_transaction([item])
            except Exception as own_fault:
                self._note(own_fault)
                _refuse(item, error_from_fault(own_fault, self._place), own_fault)
            else:
                _resolve([item], results)

    def _note(self, fault: Exception) -> None:
        name = type(fault).__name__
        if self.counts.faults[name] == 0:
            _log.error("store %s: %s; later ones of this kind are only counted", self._place, error_from_fault(fault, self._place))
        self.counts.faults[name] += 1


def _resolve(group: Sequence[_Item[Any]], results: Sequence[Any]) -> None:
    for item, result in zip(group, results, strict=True):
        if item.future.set_running_or_notify_cancel():
            item.future.set_result(result)


def _refuse(item: _Item[Any], error: OtelEvalError, fault: Exception) -> None:
    if item.future.set_running_or_notify_cancel():
        error.__cause__ = fault
        item.future.set_exception(error)
