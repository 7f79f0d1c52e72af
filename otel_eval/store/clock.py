"""The one clock of a store: seconds since the Unix epoch that never go back, whatever happens to the machine's clock.

While the process runs it goes with the monotonic clock. A start takes up where the machine's clock is; if that is behind what the store
has seen, the
store's times are moved back once (`opening`), so that what waited five minutes before still waited five minutes.
"""

import time
from collections.abc import Callable

TOLERANCE_S = 60.0
"""So far may the machine's clock be behind the store's last moment without its times being moved: clocks are adjusted by seconds."""


def uptime_s() -> float:
    """Monotonic seconds; on Linux those of sleep are counted too."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(boottime) if boottime is not None else time.monotonic()


class SteadyClock:
    """`now_s` never goes back and does not follow jumps of the machine's clock."""

    def __init__(self, *, wall: Callable[[], float] = time.time, uptime: Callable[[], float] = uptime_s) -> None:
        self._uptime = uptime
        self._wall = wall
        self._start_s, self._began_s = wall(), uptime()

    def now_s(self) -> float:
        return self._start_s + max(0.0, self._uptime() - self._began_s)

    def ahead_s(self) -> float:
        """How far this clock is before the machine's; negative where it is behind."""
        return self.now_s() - self._wall()

    def not_before(self, moment_s: float) -> None:
        """Go on from a moment that was seen before, if that is later."""
        self._start_s += max(0.0, moment_s - self.now_s())
