"""How much room there is: the store refuses requests in time, so that what is in it can still be finished."""

import os
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from otel_eval.errors import Overloaded
from otel_eval.store.clock import SteadyClock
from otel_eval.store.schema import PAGE_BYTES

RETRY_S = 5.0
"""Room is made by judging, which takes seconds."""
_RETRY_QUEUE_S = 0.5
_LOOK_AT_DISK_S = 1.0
_RELIEVED = 0.9
"""Share of the high mark below which the pressure is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLimits:
    """How large and how old things may get."""

    max_bytes: int = 2 * 1024**3
    high_water: float = 0.9
    """Share of `max_bytes` above which requests are refused; the rest is for finishing what is there."""
    min_disk_bytes: int = 64 * 1024**2
    """So much is left free on the disk."""
    max_queued_bytes: int = 128 * 1024**2
    """Bodies that wait for a commit, in memory."""
    max_age_s: float = 3 * 86_400.0
    """A unit that is due or waits for a judge for so long is given up with the outcome `expired`; what a sink does not take for so long
    is dead."""
    keep_s: float = 14 * 86_400.0
    """How long outcomes, results, dead letters and deliveries are kept for `explain`."""
    expire_when_full: bool = False
    """Whether the oldest waiting units are given up above the high mark, so that new requests are taken; else new ones are refused."""


class Room:
    """Keeps the sums. The writer tells it what the file holds after each commit; anyone may ask before handing in a request."""

    def __init__(self, path: Path | None, limits: StoreLimits, clock: SteadyClock) -> None:
        self.limits = limits
        self._clock = clock
        self.used_bytes = 0
        self.free_bytes = 0
        self._folder = path.parent if path is not None else None
        self._disk_bytes: int | None = None
        self._looked_s = float("-inf")
        self._has_refused = False

    @property
    def high_bytes(self) -> int:
        return int(self.limits.max_bytes * self.limits.high_water)

    @property
    def is_high(self) -> bool:
        """Whether requests are refused: the mark is reached, or one was too large for what is left and little was freed since."""
        return self._has_refused or self.used_bytes >= self.high_bytes or self.is_disk_low

    @property
    def is_disk_low(self) -> bool:
        return self._disk_bytes is not None and self._disk_bytes < self.limits.min_disk_bytes

    def measure(self, db: sqlite3.Connection) -> None:
        """Look at the file, and once a second at the disk. Two numbers of SQLite's, whatever the number of rows."""
        (pages,), (free,) = db.execute("PRAGMA page_count").fetchone(), db.execute("PRAGMA freelist_count").fetchone()
        self.used_bytes, self.free_bytes = (pages - free) * PAGE_BYTES, free * PAGE_BYTES
        self._has_refused = self._has_refused and self.used_bytes > self.high_bytes * _RELIEVED
        now_s = self._clock.now_s()
        if self._folder is not None and now_s - self._looked_s >= _LOOK_AT_DISK_S:
            self._looked_s = now_s
            self._disk_bytes = _free_bytes(self._folder)

    def check(self, size: int, queued_bytes: int) -> None:
        """Overloaded where a body of this size has no room."""
        if self.is_disk_low and self.free_bytes < size:
            raise Overloaded(
                f"the disk of the store has {self._disk_bytes} bytes left: {self.limits.min_disk_bytes} stay free; make room there",
                retry_after_s=RETRY_S,
            )
        if self.used_bytes + queued_bytes + size > self.high_bytes:
            self._has_refused = True
            raise Overloaded(
                f"the store holds {self.used_bytes} of {self.limits.max_bytes} bytes: send later, or raise `store.max_bytes`",
                retry_after_s=RETRY_S,
            )
        if queued_bytes and queued_bytes + size > self.limits.max_queued_bytes:
            raise Overloaded(f"{queued_bytes} bytes wait for the disk: send later", retry_after_s=_RETRY_QUEUE_S)


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(os.fspath(folder)).free
    except OSError:
        return None
