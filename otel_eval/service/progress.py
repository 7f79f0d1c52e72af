"""What is being done, on a terminal, when it takes long: one line that is written over and taken away at the end."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TextIO, TypeVar

Item = TypeVar("Item")

PATIENCE_S = 1.0
"""Nothing is shown before: who waits less asks no question."""
_PAUSE_S = 0.2
_LOOK_EVERY = 64  # items between two looks at the clock; each takes from microseconds to a few milliseconds


class Watch(Protocol):
    """Sees items go by."""

    def __call__(self, items: Iterable[Item], doing: str) -> Iterable[Item]:
        """The same items; `doing` says what is done with them, as in "reading"."""
        ...


def unwatched(items: Iterable[Item], doing: str) -> Iterable[Item]:
    """The items as they are."""
    return items


@dataclass(slots=True, kw_only=True)
class Progress:
    """A `Watch` that writes. `clock` gives seconds."""

    stream: TextIO
    clock: Callable[[], float] = time.monotonic
    _since: float | None = None
    _written: float = 0.0
    _shown: bool = False

    def __call__(self, items: Iterable[Item], doing: str) -> Iterator[Item]:
        for count, item in enumerate(items, start=1):
            if count % _LOOK_EVERY == 1:
                self._look(f"{doing}: {count}")
            yield item

    def _look(self, text: str) -> None:
        now = self.clock()
        if self._since is None:
            self._since = now
        if now - self._since >= PATIENCE_S and now - self._written >= _PAUSE_S:
            self.stream.write(f"\r\x1b[Kotel-eval: {text}")
            self.stream.flush()
            self._written, self._shown = now, True

    def clear(self) -> None:
        """Take the line away; to be called before anything else is written."""
        if self._shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self._shown = False


def watch_for(stream: TextIO) -> Progress | None:
    """Progress where a terminal is there, None elsewhere."""
    return Progress(stream=stream) if stream.isatty() else None
