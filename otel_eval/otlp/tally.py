"""Counting while one request is read."""


class Tally:
    """What could not be read, by reason, and what was read although it is not as the specification has it, by name."""

    __slots__ = ("notes", "rejected")

    def __init__(self) -> None:
        self.rejected: dict[str, int] = {}
        self.notes: dict[str, int] = {}

    def reject(self, reason: str) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + 1

    def note(self, name: str) -> None:
        self.notes[name] = self.notes.get(name, 0) + 1
