"""A figure of the load of `serve`, with its goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One line of the table."""

    what: str
    found: str
    goal: str = ""
    holds: bool | None = None
    """None for what is told beside a goal."""

    @property
    def line(self) -> str:
        verdict = {True: "holds", False: "MISSED", None: ""}[self.holds]
        return f"| {self.what} | {self.goal} | {self.found} | {verdict} |"


def at_most(what: str, value: float, limit: float, *, unit: str = "", told: str = "") -> Figure:
    """A value that has a limit."""
    return Figure(what=what, found=f"{value:.2f}{unit}{told}", goal=f"≤ {limit:g}{unit}", holds=value <= limit)


def ratio(what: str, ours: Sequence[float], theirs: Sequence[float], limit: float, *, unit: str = "") -> Figure:
    """The median of the rounds' ratios, with the medians of both sides beside it."""
    value = median(a / b for a, b in zip(ours, theirs, strict=True))
    return at_most(what, value, limit, told=f" ({median(ours):.2f}{unit} / {median(theirs):.2f}{unit})")
