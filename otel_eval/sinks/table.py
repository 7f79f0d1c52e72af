"""A table for people: conversation, metric, score or reason, evidence. On a terminal it fits the width; elsewhere nothing is cut."""

import unicodedata
from collections.abc import Iterator
from typing import TextIO

from otel_eval.model import Failed, Outcome, Report, Result, Score, Skipped

_HEAD = ("conversation", "metric", "score", "evidence")
_FIRST_WIDTHS = (22, 27, 24)
_NARROWEST_LAST = 20
_BOLD, _DIM, _GREEN, _RED, _YELLOW, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[33m", "\x1b[0m"


class TableSink:
    """Writes a row for each result as reports come, the conversation's name once. `width` None cuts nothing and colours nothing."""

    def __init__(self, stream: TextIO, *, width: int | None = None, head: bool = True) -> None:
        self._stream = stream
        self._width = width
        self._begun = not head

    async def write(self, report: Report) -> None:
        self.put(report)

    def put(self, report: Report) -> None:
        """Write the rows of a report."""
        if not self._begun:
            self._begun = True
            self._line(_HEAD, _BOLD)
        for number, result in enumerate(report.results):
            name = one_line(report.conversation.key or "(no id)") if number == 0 else ""
            self._line((name, _metric(result), score_cell(result.outcome), evidence_cell(result.outcome)), _colour(result.outcome))
        self._stream.flush()

    def _line(self, cells: tuple[str, str, str, str], colour: str) -> None:
        *first, last = cells
        padded = "  ".join(self._fitted(cell, width) for cell, width in zip(first, _FIRST_WIDTHS, strict=True))
        if self._width is None:
            self._stream.write(f"{padded}  {last}".rstrip() + "\n")
            return
        room = max(_NARROWEST_LAST, self._width - sum(_FIRST_WIDTHS) - 2 * len(_FIRST_WIDTHS))
        self._stream.write(f"{colour}{padded}{_OFF}  {_cut(last, room)}".rstrip() + "\n")

    def _fitted(self, cell: str, width: int) -> str:
        shown = cell if self._width is None else _cut(cell, width)
        return shown + " " * max(0, width - columns(shown))


def score_cell(outcome: Outcome) -> str:
    """`1.00 pass`, `skipped: undefined`, `failed: judge_timeout`."""
    if isinstance(outcome, Skipped):
        return f"skipped: {outcome.reason.value}"
    if isinstance(outcome, Failed):
        return f"failed: {outcome.error_type.value}"
    return f"{outcome.value:.2f} {outcome.label or ''}".rstrip()


def evidence_cell(outcome: Outcome) -> str:
    """Numbers of the messages a verdict rests on, then the reason; what to do where there is no score."""
    if not isinstance(outcome, Score):
        return one_line(outcome.detail)
    numbers = ", ".join(map(str, outcome.evidence))
    return " ".join(part for part in (f"[{numbers}]" if numbers else "", one_line(outcome.explanation or "")) if part)


def one_line(text: str) -> str:
    """The text on one line, without control characters: it may hold words of a conversation, and a terminal obeys some."""
    return "".join(_plain(" ".join(text.split())))


def _plain(text: str) -> Iterator[str]:
    yield from (char if unicodedata.category(char)[0] != "C" else "�" for char in text)


def columns(text: str) -> int:
    """Columns of a terminal that the text takes: East Asian wide characters two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cut(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    kept, used = "", 0
    for char in text:
        used += columns(char)
        if used > width - 1:
            break
        kept += char
    return kept + "…"


def _metric(result: Result) -> str:
    return result.metric


def _colour(outcome: Outcome) -> str:
    if isinstance(outcome, Score):
        return {"pass": _GREEN, "fail": _RED}.get(outcome.label or "", "")
    return _DIM if isinstance(outcome, Skipped) else _YELLOW
