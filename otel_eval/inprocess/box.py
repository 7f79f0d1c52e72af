"""The fence between the application and the worker: one side appends, the other takes out, neither waits for the other."""

from collections import deque
from typing import Any

_MOST_LOST = 10_000


class Box:
    """A bounded queue. Appending to a deque and taking from it need no lock."""

    __slots__ = ("dropped", "items", "lost", "most")

    def __init__(self, most: int) -> None:
        self.items: deque[Any] = deque()
        self.most = most
        self.dropped = 0
        """Spans and log records that found it full."""
        self.lost: dict[int, int] = {}
        """How many of which trace, of the latest traces."""

    def lose(self, trace_id: int) -> None:
        """Count one that finds no room."""
        self.dropped += 1
        lost = self.lost
        if trace_id not in lost and len(lost) >= _MOST_LOST:
            lost.pop(next(iter(lost)), None)
        lost[trace_id] = lost.get(trace_id, 0) + 1
