"""Counting while one request or file is read."""

_PLACES = 3


class Tally:
    """What could not be read, by reason, and what was read although it is not as the specification has it, by name.

    `line` is the line that is being read, from 1, or the message, as `word` says; 0 where nobody says. `lines` are those of the first
    rejected items, by reason.
    """

    __slots__ = ("line", "lines", "notes", "rejected", "word")

    def __init__(self) -> None:
        self.line = 0
        self.word = "line"
        self.rejected: dict[str, int] = {}
        self.lines: dict[str, list[int]] = {}
        self.notes: dict[str, int] = {}

    def reject(self, reason: str) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + 1
        lines = self.lines.setdefault(reason, [])
        if self.line and len(lines) < _PLACES and self.line not in lines:
            lines.append(self.line)

    def note(self, name: str) -> None:
        self.notes[name] = self.notes.get(name, 0) + 1
