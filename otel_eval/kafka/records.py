"""What is read of a topic, and who works on it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}[{self.partition}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message as it was read."""

    place: Place
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Mapping[str, bytes] = field(default_factory=dict)


class Source(NamedTuple):
    """One message: where it stands."""

    place: Place
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """A message to write. `done` is told None once the broker has it, else the name of what refused it for good."""

    topic: str
    key: bytes
    value: bytes
    headers: Mapping[str, bytes]
    done: Callable[[str | None], None]


class Handler(Protocol):
    """Who works on messages. Everything is called in the one thread that polls, and must come back soon."""

    def take(self, record: Record) -> None:
        """Begin with a message. InputError where it cannot be read and never will be."""

    def tick(self) -> None:
        """Go on with what is begun."""

    def is_full(self, topic: str) -> bool:
        """Whether nothing more of a topic should come for now."""

    def pause(self) -> None:
        """Partitions may be about to go to another: finish what is begun, for a moment, and begin nothing."""

    def drop(self, places: Collection[Place]) -> None:
        """Partitions are another's now: forget what is held of them."""

    def resume(self) -> None:
        """It is known which partitions are ours: go on."""
