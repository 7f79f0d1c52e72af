"""Who has reserved and spent what: the books behind a budget, in SQLite, in memory or in a file that outlives the process.

A reservation is written before the call and settled after it. One that is never settled (a crash, a reply without usage) stays in the
books at its full size: it may have been spent.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from otel_eval.judges.settings import Limits

_MINUTE_S, _DAY_S = 60.0, 86_400.0
_TABLES = """
CREATE TABLE IF NOT EXISTS judge_reservations
    (id INTEGER PRIMARY KEY, run TEXT NOT NULL, time REAL NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL);
CREATE INDEX IF NOT EXISTS judge_reservations_time ON judge_reservations (time);
CREATE TABLE IF NOT EXISTS judge_totals (window TEXT PRIMARY KEY, tokens INTEGER NOT NULL, usd REAL NOT NULL);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Tokens, and USD where the price is known."""

    tokens: int
    usd: float = 0.0


class Ledger(Protocol):
    """The books. `reserve` and `settle` are atomic, also between processes."""

    def reserve(self, amount: Amount, limits: Limits) -> int | None:
        """The number of the reservation; None where it would go beyond a limit."""

    def settle(self, reservation: int, amount: Amount) -> None:
        """Replace what was reserved by what it took."""

    def spent(self, *, since: float) -> Amount:
        """All that was reserved and spent from this moment on (`time.time`)."""


class SqliteLedger:
    """Books in a SQLite database. `run` names the run: a restart under the same name goes on counting.

    `waits` says that calls wait for a disk, and belong in a thread.
    """

    def __init__(self, path: str | Path = ":memory:", *, run: str = "", clock: Callable[[], float] = time.time) -> None:
        self._run, self._clock = f"run {run}", clock
        self.waits = path != ":memory:"
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # a crash of the process loses nothing
        self._db.executescript(_TABLES)
        with _Transaction(self._db):
            self._db.execute("DELETE FROM judge_reservations WHERE time < ?", (clock() - _DAY_S,))

    def reserve(self, amount: Amount, limits: Limits) -> int | None:
        now = self._clock()
        with self._lock, _Transaction(self._db):
            if self._is_beyond(amount, limits, now):
                return None
            cursor = self._db.execute(
                "INSERT INTO judge_reservations (run, time, tokens, usd) VALUES (?, ?, ?, ?)", (self._run, now, amount.tokens, amount.usd)
            )
            self._add(self._run, now, amount)
            return cursor.lastrowid

    def settle(self, reservation: int, amount: Amount) -> None:
        with self._lock, _Transaction(self._db):
            row = self._db.execute("SELECT run, time, tokens, usd FROM judge_reservations WHERE id = ?", (reservation,)).fetchone()
            if row is None:
                return
            run, made, tokens, usd = row
            self._db.execute("UPDATE judge_reservations SET tokens = ?, usd = ? WHERE id = ?", (amount.tokens, amount.usd, reservation))
            self._add(run, made, Amount(tokens=amount.tokens - tokens, usd=amount.usd - usd))

    def spent(self, *, since: float) -> Amount:
        with self._lock:
            return self._since(since)

    def close(self) -> None:
        self._db.close()

    def _is_beyond(self, amount: Amount, limits: Limits, now: float) -> bool:
        """Whether a window would hold too much. Day and run are kept as totals; the minute slides, and is a sum over few."""
        windows = (
            (limits.run_tokens, limits.run_usd, self._run),
            (limits.day_tokens, limits.day_usd, _day(now)),
            (limits.minute_tokens, limits.minute_usd, None),
        )
        return any(
            _exceeds(self._since(now - _MINUTE_S) if window is None else self._total(window), amount, tokens, usd)
            for tokens, usd, window in windows
            if tokens is not None or usd is not None
        )

    def _add(self, run: str, made: float, amount: Amount) -> None:
        for window in (run, _day(made)):
            self._db.execute(
                "INSERT INTO judge_totals VALUES (?1, ?2, ?3) ON CONFLICT (window) DO UPDATE SET tokens = tokens + ?2, usd = usd + ?3",
                (window, amount.tokens, amount.usd),
            )

    def _total(self, window: str) -> Amount:
        row = self._db.execute("SELECT tokens, usd FROM judge_totals WHERE window = ?", (window,)).fetchone()
        return Amount(tokens=row[0], usd=row[1]) if row else Amount(tokens=0)

    def _since(self, moment: float) -> Amount:
        query = "SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(usd), 0) FROM judge_reservations WHERE time >= ?"
        tokens, usd = self._db.execute(query, (moment,)).fetchone()
        return Amount(tokens=tokens, usd=usd)


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT: nobody else writes between the sum and the insertion."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _day(moment: float) -> str:
    """The window of a day, in UTC."""
    return f"day {int(moment // _DAY_S)}"


def _exceeds(spent: Amount, wanted: Amount, tokens: int | None, usd: float | None) -> bool:
    over_tokens = tokens is not None and spent.tokens + wanted.tokens > tokens
    return over_tokens or (usd is not None and spent.usd + wanted.usd > usd)
