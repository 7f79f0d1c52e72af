"""Who has reserved and spent what: the books behind a budget, in SQLite, in memory or in a file that outlives the process.

A reservation is written before the call and settled after it. One that is never settled (a crash, a reply without usage) stays in the
books at its full size: it may have been spent.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from otel_eval.judges.settings import Limits

_MINUTE_S, _DAY_S = 60.0, 86_400.0
_KEPT_S = 2 * _DAY_S


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
        """All that is reserved and spent from this moment on (`time.time`)."""


class SqliteLedger:
    """Books in a SQLite database. `run` names the run: a restart under the same name goes on counting."""

    def __init__(self, path: str | Path = ":memory:", *, run: str = "", clock: Callable[[], float] = time.time) -> None:
        self._run, self._clock = run, clock
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")  # a crash of the process loses nothing
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS judge_ledger "
            "(id INTEGER PRIMARY KEY, run TEXT NOT NULL, time REAL NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL)"
        )
        self._db.execute("CREATE INDEX IF NOT EXISTS judge_ledger_time ON judge_ledger (time)")

    def reserve(self, amount: Amount, limits: Limits) -> int | None:
        now = self._clock()
        with self._lock, _Transaction(self._db):
            self._db.execute("DELETE FROM judge_ledger WHERE time < ? AND run <> ?", (now - _KEPT_S, self._run))
            if any(_exceeds(self._sum(since, run), amount, tokens, usd) for since, run, tokens, usd in self._windows(limits, now)):
                return None
            cursor = self._db.execute(
                "INSERT INTO judge_ledger (run, time, tokens, usd) VALUES (?, ?, ?, ?)", (self._run, now, amount.tokens, amount.usd)
            )
            return cursor.lastrowid

    def settle(self, reservation: int, amount: Amount) -> None:
        with self._lock:
            self._db.execute("UPDATE judge_ledger SET tokens = ?, usd = ? WHERE id = ?", (amount.tokens, amount.usd, reservation))

    def spent(self, *, since: float) -> Amount:
        with self._lock:
            return self._sum(since, None)

    def close(self) -> None:
        self._db.close()

    def _windows(self, limits: Limits, now: float) -> Sequence[tuple[float, str | None, int | None, float | None]]:
        windows = [
            (now - _MINUTE_S, None, limits.minute_tokens, limits.minute_usd),
            (now - now % _DAY_S, None, limits.day_tokens, limits.day_usd),
            (0.0, self._run, limits.run_tokens, limits.run_usd),
        ]
        return [w for w in windows if w[2] is not None or w[3] is not None]

    def _sum(self, since: float, run: str | None) -> Amount:
        where, values = ("", [since]) if run is None else (" AND run = ?", [since, run])
        row = self._db.execute(f"SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(usd), 0) FROM judge_ledger WHERE time >= ?{where}", values)
        tokens, usd = row.fetchone()
        return Amount(tokens=tokens, usd=usd)


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT: nobody else writes between the sum and the insertion."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _exceeds(spent: Amount, wanted: Amount, tokens: int | None, usd: float | None) -> bool:
    over_tokens = tokens is not None and spent.tokens + wanted.tokens > tokens
    return over_tokens or (usd is not None and spent.usd + wanted.usd > usd)
