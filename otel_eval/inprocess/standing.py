"""Threads that stand ready: at the end of a process no new one can be made, and Python's own pools take nothing any more.

A script's last spans end when its main thread does. What scores them then still has to look up a host and to read: that works only in
daemon threads that were there before, fed by a queue of their own.
"""

import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

_THREADS = 4

Job = tuple["Future[Any]", Callable[[], Any]]


class StandingThreads(ThreadPoolExecutor):
    """An executor of daemon threads made at once, each in the context of who made it.

    The only one that asyncio takes as a loop's default is a ThreadPoolExecutor: nothing of it is used but the name.
    """

    def __init__(self, name: str, threads: int = _THREADS, *, outlive_loops: bool = False) -> None:
        super().__init__(max_workers=threads)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._count, self._outlive_loops = threads, outlive_loops
        for number in range(threads):
            context = contextvars.copy_context()
            threading.Thread(target=context.run, args=(self._work,), name=f"{name} {number}", daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self._jobs.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What a loop calls when it closes; threads that outlive loops are ended by `end` alone."""
        if not self._outlive_loops:
            self.end()

    def end(self) -> None:
        """The threads end when they have done what was asked before; nobody waits for them."""
        for _ in range(self._count):
            self._jobs.put(None)
        self._count = 0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, run = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(run())
            except BaseException as fault:  # whoever asked is told, and the thread goes on: as Python's own executor does
                future.set_exception(fault)
