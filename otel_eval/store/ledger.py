"""The judge's books in the store: the `Ledger` of `judges.ledger`, so that a restart goes on counting where the crash was.

Sums are kept in memory, so a reservation is decided at once whatever the books hold. It is written before it is granted: `reserve` waits
for the commit and
belongs in a thread. Settling waits for nothing: if it is lost in a crash the reservation counts in full, for it may have been spent.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from otel_eval.errors import OtelEvalError
from otel_eval.store.access import Access

_MINUTE_S, _DAY_S = 60.0, 86_400.0
_KEPT_S = 2 * _DAY_S


class AmountLike(Protocol):
    """Tokens, and USD where the price is known."""

    @property
    def tokens(self) -> int: ...

    @property
    def usd(self) -> float: ...


class LimitsLike(Protocol):
    """What may be reserved and spent in any minute, on any day (UTC) and in the run; None is no limit."""

    @property
    def minute_tokens(self) -> int | None: ...

    @property
    def minute_usd(self) -> float | None: ...

    @property
    def day_tokens(self) -> int | None: ...

    @property
    def day_usd(self) -> float | None: ...

    @property
    def run_tokens(self) -> int | None: ...

    @property
    def run_usd(self) -> float | None: ...


A_co = TypeVar("A_co", bound=AmountLike, covariant=True)
A = TypeVar("A", bound=AmountLike)


class MakeAmount(Protocol[A_co]):
    """The class of amounts: `judges.ledger.Amount`."""

    def __call__(self, *, tokens: int, usd: float) -> A_co: ...


class _Entry:
    """One reservation, as it counts now."""

    __slots__ = ("id", "run", "time_s", "tokens", "usd")

    def __init__(self, entry_id: int, run: str, time_s: float, tokens: int, usd: float) -> None:
        self.id, self.run, self.time_s, self.tokens, self.usd = entry_id, run, time_s, tokens, usd


class Books:
    """The sums of one store, shared by all its ledgers."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._guard = threading.Lock()
        self._day: deque[_Entry] = deque()
        """Of all runs, as far as minutes and days reach; oldest first."""
        self._open: dict[int, _Entry] = {}
        """Reserved and not settled."""
        self._day_tokens, self._day_usd = 0, 0.0
        self._runs: dict[str, tuple[int, float]] = {}
        self._next_id = 1
        self._load()

    def reserve(self, run: str, amount: AmountLike, limits: LimitsLike) -> int | None:
        now_s = self._access.clock.now_s()
        with self._guard:
            self._forget(now_s)
            if self._exceeds(run, amount, limits, now_s):
                return None
            entry = _Entry(self._next_id, run, now_s, amount.tokens, amount.usd)
            self._next_id += 1
            self._book(entry)
        values = (entry.id, run, now_s, amount.tokens, amount.usd)
        try:
            self._access.write(_executes("INSERT INTO ledger (id, run, time_s, tokens, usd) VALUES (?, ?, ?, ?, ?)", values)).result()
        except OtelEvalError:
            self._settle(entry.id, 0, 0.0)
            raise
        return entry.id

    def settle(self, reservation: int, amount: AmountLike) -> None:
        self._settle(reservation, amount.tokens, amount.usd)
        self._access.write(_executes("UPDATE ledger SET tokens = ?, usd = ? WHERE id = ?", (amount.tokens, amount.usd, reservation)))

    def since(self, since_s: float) -> tuple[int, float]:
        row = self._access.row("SELECT ifnull(sum(tokens), 0), ifnull(sum(usd), 0.0) FROM ledger WHERE time_s >= ?", (since_s,))
        return row[0], row[1]

    def of_run(self, run: str) -> tuple[int, float]:
        with self._guard:
            return self._runs.get(run, (0, 0.0))

    def _load(self) -> None:
        now_s = self._access.clock.now_s()
        self._access.write(lambda db: fold_old(db, now_s)).result()
        self._next_id = int(self._access.row("SELECT ifnull(max(id), 0) FROM ledger")[0]) + 1
        for row in self._access.rows("SELECT id, run, time_s, tokens, usd FROM ledger ORDER BY time_s, id"):
            self._book(_Entry(*row))
        self._open.clear()
        for run, tokens, usd in self._access.rows("SELECT run, tokens, usd FROM ledger_before"):
            self._add_to_run(run, tokens, usd)

    def _book(self, entry: _Entry) -> None:
        self._day.append(entry)
        self._open[entry.id] = entry
        self._day_tokens += entry.tokens
        self._day_usd += entry.usd
        self._add_to_run(entry.run, entry.tokens, entry.usd)

    def _add_to_run(self, run: str, tokens: int, usd: float) -> None:
        known_tokens, known_usd = self._runs.get(run, (0, 0.0))
        self._runs[run] = (known_tokens + tokens, known_usd + usd)

    def _settle(self, reservation: int, tokens: int, usd: float) -> None:
        with self._guard:
            entry = self._open.pop(reservation, None)
            if entry is None:
                return
            more_tokens, more_usd = tokens - entry.tokens, usd - entry.usd
            entry.tokens, entry.usd = tokens, usd
            self._add_to_run(entry.run, more_tokens, more_usd)
            if self._day and entry.time_s >= self._day[0].time_s:
                self._day_tokens += more_tokens
                self._day_usd += more_usd

    def _forget(self, now_s: float) -> None:
        """Let go of what neither today's nor the last minute's limit counts."""
        oldest_s = min(now_s - _MINUTE_S, now_s - now_s % _DAY_S)
        while self._day and self._day[0].time_s < oldest_s:
            gone = self._day.popleft()
            self._day_tokens -= gone.tokens
            self._day_usd -= gone.usd

    def _exceeds(self, run: str, amount: AmountLike, limits: LimitsLike, now_s: float) -> bool:
        minute, day, whole = self._newest(now_s - _MINUTE_S), self._today(now_s - now_s % _DAY_S), self._runs.get(run, (0, 0.0))
        return (
            _over(minute, amount, limits.minute_tokens, limits.minute_usd)
            or _over(day, amount, limits.day_tokens, limits.day_usd)
            or _over(whole, amount, limits.run_tokens, limits.run_usd)
        )

    def _newest(self, since_s: float) -> tuple[int, float]:
        """The sum of the newest entries; a minute holds few."""
        tokens, usd = 0, 0.0
        for entry in reversed(self._day):
            if entry.time_s < since_s:
                break
            tokens += entry.tokens
            usd += entry.usd
        return tokens, usd

    def _today(self, midnight_s: float) -> tuple[int, float]:
        """The sum since midnight: all that is kept, without the part of the last minute that was yesterday."""
        tokens, usd = self._day_tokens, self._day_usd
        for entry in self._day:
            if entry.time_s >= midnight_s:
                break
            tokens -= entry.tokens
            usd -= entry.usd
        return tokens, usd


class StoreLedger(Generic[A]):
    """Books of one run. A restart under the same name goes on counting."""

    def __init__(self, books: Books, amount: MakeAmount[A], *, run: str = "") -> None:
        self._books, self._amount, self._run = books, amount, run

    def reserve(self, amount: AmountLike, limits: LimitsLike) -> int | None:
        """The number of the reservation, once it is on disk; None where it would go beyond a limit."""
        return self._books.reserve(self._run, amount, limits)

    def settle(self, reservation: int, amount: AmountLike) -> None:
        """Replace what was reserved by what it took."""
        self._books.settle(reservation, amount)

    def spent(self, *, since: float) -> A:
        """All that is reserved and spent from this moment on, by all runs; what is older than two days is not told apart any more."""
        tokens, usd = self._books.since(since)
        return self._amount(tokens=tokens, usd=usd)

    def spent_in_run(self) -> A:
        """All that this run reserved and spent."""
        tokens, usd = self._books.of_run(self._run)
        return self._amount(tokens=tokens, usd=usd)


def _over(spent: tuple[int, float], amount: AmountLike, most_tokens: int | None, most_usd: float | None) -> bool:
    tokens, usd = spent
    over_tokens = most_tokens is not None and tokens + amount.tokens > most_tokens
    return over_tokens or (most_usd is not None and usd + amount.usd > most_usd)


def _executes(sql: str, values: tuple[object, ...]) -> Callable[[sqlite3.Connection], None]:
    def run(db: sqlite3.Connection) -> None:
        db.execute(sql, values)

    return run


def fold_old(db: sqlite3.Connection, now_s: float) -> None:
    """Entries that no minute and no day counts become one sum a run."""
    before_s = now_s - _KEPT_S
    db.execute(
        "INSERT INTO ledger_before (run, tokens, usd) SELECT run, sum(tokens), sum(usd) FROM ledger WHERE time_s < ? GROUP BY run "
        "ON CONFLICT (run) DO UPDATE SET tokens = tokens + excluded.tokens, usd = usd + excluded.usd",
        (before_s,),
    )
    db.execute("DELETE FROM ledger WHERE time_s < ?", (before_s,))
