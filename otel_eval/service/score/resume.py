"""Going on after an interruption: results that stand in the file are neither judged nor written again.

A result counts as done when it is a score or was skipped; one that failed is tried again, and its newer line counts. A line that was cut
off by the interruption is taken away.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from otel_eval.errors import ConfigError
from otel_eval.model import Conversation
from otel_eval.scoring import MetricRun, result_id

_BEGINS = '{"conversation": '
"""How every line of a result begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Results of earlier runs by their ids, the newest of each."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def missing(self, conversation: Conversation, runs: Sequence[MetricRun]) -> list[MetricRun]:
        """The runs whose results are not all there."""
        return [run for run in runs if any(not self._is_done(i) for i in _ids(conversation, run))]

    def done_rows(self) -> list[dict[str, Any]]:
        return [row for i, row in self.rows.items() if self._is_done(i)]

    def _is_done(self, identifier: str) -> bool:
        return self.rows.get(identifier, {}).get("outcome") in ("score", "skipped")


def _ids(conversation: Conversation, run: MetricRun) -> list[str]:
    card = run.metric.card
    turns: list[int | None] = list(range(len(conversation.turns))) if card.level == "turn" else [None]
    return [result_id(conversation, 1, card.name, card.version, turn) for turn in turns]


def opened(path: Path) -> tuple[Earlier, TextIO]:
    """What earlier runs left in the file, and the file, open for more. ConfigError where it is not ours or cannot be written."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if not _is_cut_result(text.removeprefix(whole)):
            raise ConfigError(f"--out {str(path)!r}, last line, is no result of ours: name a new file")
        earlier = Earlier(rows=_rows(path, whole))
        stream = path.open("a", encoding="utf-8")
        if len(whole) < len(text):
            stream.truncate(len(whole.encode()))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--out {str(path)!r} cannot be used: {type(error).__name__}") from error
    return earlier, stream


def _is_cut_result(piece: str) -> bool:
    """Whether the text behind the last line's end is nothing, or the beginning of a result: only that is taken away."""
    return piece.startswith(_BEGINS) or _BEGINS.startswith(piece)


def _rows(path: Path, text: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            row = json.loads(line)
            rows[row["result_id"]] = row
        except (ValueError, TypeError, KeyError):
            raise ConfigError(f"--out {str(path)!r}, line {number}, is no result of ours: name a new file") from None
    return rows
