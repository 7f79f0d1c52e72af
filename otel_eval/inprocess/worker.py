"""The thread that scores. Whatever happens in it stays in it: it is begun again, and what it was at is accounted for."""

import asyncio
import contextvars
import logging
import threading
import time
from contextlib import suppress
from typing import Final

from otel_eval.errors import OtelEvalError
from otel_eval.inprocess.engine import Engine, Flush
from otel_eval.inprocess.standing import StandingThreads
from otel_eval.quiet import hush

INSIDE: Final[contextvars.ContextVar[bool]] = contextvars.ContextVar("otel_eval_inside", default=False)
"""Whether this is the scorer at work: what ends or is logged here is not the application's."""

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
_MOST_TEARS = 10
_LEAST_S = 0.2
"""Time to end in order, however late it is."""

_log = logging.getLogger(__name__)


class Worker:
    """Runs an engine in a daemon thread, from its first start to its end."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        self._end = threading.Event()
        self._deadline = 0.0

    @property
    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_ended(self) -> bool:
        return self._end.is_set()

    def start(self) -> None:
        """Begin, where that was not done before. RuntimeError where the interpreter makes no threads any more."""
        with self._guard:
            if not self.is_alive and not self._end.is_set():
                thread = threading.Thread(target=self._main, name="otel-eval score", daemon=True)
                thread.start()
                self._thread = thread

    def flush(self, timeout_s: float, *, closing: bool = False) -> bool:
        """Wait until all that is complete is scored and sent; whether that was so in time."""
        flush = Flush(closing=closing)
        self.engine.flushes.append(flush)
        self.engine.wake()
        try:
            flush.done.result(max(0.0, timeout_s))
        except TimeoutError:
            with suppress(ValueError):
                self.engine.flushes.remove(flush)
            return False
        return True

    def end(self, timeout_s: float) -> bool:
        """End in order; whether that was so in time."""
        self._deadline = time.monotonic() + timeout_s
        self._end.set()
        self.engine.stopping = True
        self.engine.wake()
        if self._thread is None:
            return True
        self._thread.join(max(_LEAST_S, timeout_s))
        return not self._thread.is_alive()

    def _left_s(self) -> float:
        return max(_LEAST_S, self._deadline - time.monotonic())

    def _main(self) -> None:
        INSIDE.set(True)
        hush()
        threads = StandingThreads("otel-eval", outlive_loops=True)
        pause_s = _FIRST_PAUSE_S
        while not self.engine.stopping:
            began = time.monotonic()
            loop = asyncio.new_event_loop()
            loop.set_default_executor(threads)
            try:
                loop.run_until_complete(self.engine.run(within_s=self._left_s))
            except BaseException as fault:  # the application's thread this is not, and nobody is above it: it is counted and begun again
                pause_s = _FIRST_PAUSE_S if time.monotonic() - began > _LONGEST_PAUSE_S else min(pause_s * 2, _LONGEST_PAUSE_S)
                self._crashed(fault)
                _tear_down(loop)
                self._end.wait(pause_s)
            finally:
                with suppress(RuntimeError):
                    loop.close()
        threads.end()

    def _crashed(self, fault: BaseException) -> None:
        known = isinstance(fault, OtelEvalError)
        self.engine.trouble = str(fault) if known else f"the scorer's thread ended by {type(fault).__name__} and is begun again"
        _log.error("%s", self.engine.trouble)
        with suppress(OtelEvalError):
            self.engine.crashed(fault)


def _tear_down(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left in a loop that broke off; an error that breaks it off again does so in a task more each time."""
    for _ in range(_MOST_TEARS):
        tasks = asyncio.all_tasks(loop)
        if not tasks:
            return
        for task in tasks:
            task.cancel()
        with suppress(BaseException):
            loop.run_until_complete(asyncio.wait(tasks, timeout=2.0))
