"""Where a worker stands in each of its partitions, and what of that the group does not know yet. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from otel_eval.kafka.offsets import Offsets
from otel_eval.kafka.records import Place


class Commit(NamedTuple):
    """What is to be committed of a partition."""

    place: Place
    offset: int
    metadata: str


@dataclass(slots=True)
class Positions:
    """By partition. A partition that is not held is none of ours: what is said of it has no effect."""

    held: dict[Place, Offsets] = field(default_factory=dict)
    _committed: dict[Place, tuple[int, str]] = field(default_factory=dict)

    def begin(self, place: Place, offsets: Offsets) -> None:
        """A partition is ours from now on."""
        self.held[place] = offsets
        self._committed[place] = (offsets.floor, offsets.metadata())

    def read(self, place: Place, offset: int) -> bool:
        """Note a message; False where it is not to be worked on: finished before, or of a partition that is not ours any more."""
        offsets = self.held.get(place)
        return offsets is not None and offsets.read(offset)

    def finish(self, place: Place, offset: int) -> None:
        """A message is finished."""
        offsets = self.held.get(place)
        if offsets is not None:
            offsets.finish(offset)

    def drop(self, places: Iterable[Place]) -> None:
        """Partitions are not ours any more."""
        for place in places:
            self.held.pop(place, None)
            self._committed.pop(place, None)

    def changes(self) -> list[Commit]:
        """What moved since it was committed last."""
        found = (Commit(place, offsets.floor, offsets.metadata()) for place, offsets in self.held.items())
        return [commit for commit in found if self._committed.get(commit.place) != (commit.offset, commit.metadata)]

    def committed(self, commits: Collection[Commit]) -> None:
        """These were taken by the group."""
        for commit in commits:
            if commit.place in self.held:
                self._committed[commit.place] = (commit.offset, commit.metadata)

    def forget_committed(self) -> None:
        """The last commits may have failed: say everything again."""
        self._committed.clear()

    @property
    def unfinished(self) -> int:
        """Messages that were read and are not finished."""
        return sum(offsets.unfinished for offsets in self.held.values())

    @property
    def widest(self) -> int:
        """The largest distance from a floor to what was read last, in offsets."""
        return max((offsets.width for offsets in self.held.values()), default=0)
