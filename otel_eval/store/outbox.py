"""What waits for sinks: sent at least once, in order for each unit, across restarts.

A sender takes letters, sends them, and says of each what became of it. Letters that are out are remembered in memory only: after a crash
they are taken
again, and the far side knows them again by the ids in them.
"""

import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from otel_eval.store.access import Access
from otel_eval.store.rows import Delivery, Depth, Letter, Unit

_NEXT = """
SELECT o.id, o.sink, o.kind, o.key, o.revision, o.created_s, o.tries, o.note, o.dead, o.payload FROM outbox o
WHERE o.sink = ? AND o.dead = 0 AND o.not_before_s <= ?
  AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.kind = o.kind AND b.key = o.key AND b.sink = o.sink AND b.id < o.id AND b.dead = 0)
ORDER BY o.not_before_s, o.id LIMIT ?
"""


class Outbox:
    """Letters for sinks."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._guard = threading.Lock()
        self._out: set[int] = set()

    def take(self, sink: str, *, limit: int = 64) -> list[Letter]:
        """The next letters for a sink that are due and not out: of each unit the oldest, those that wait longest first.

        They are out until `sent`, `try_again`, `bury` or `give_back` names them.
        """
        now_s = self._access.clock.now_s()
        with self._guard:
            rows = self._access.rows(_NEXT, (sink, now_s, limit + len(self._out)))
            letters = [letter_from_row(row) for row in rows if row[0] not in self._out][:limit]
            self._out.update(letter.id for letter in letters)
        return letters

    def hold(self, sink: str, unit: Unit, payload: bytes, *, until_s: float) -> "Future[None]":
        """Keep a payload that belongs to no revision; it is due at a moment, or when it is released."""
        now_s = self._access.clock.now_s()
        sql = "INSERT INTO outbox (sink, kind, key, revision, created_s, not_before_s, payload) VALUES (?, ?, ?, 0, ?, ?, ?)"
        values = (sink, unit.kind, unit.key, now_s, until_s, payload)

        def run(db: sqlite3.Connection) -> None:
            db.execute(sql, values)

        return self._access.write(run)

    def release(self, sink: str, unit: Unit, change: Callable[[bytes], bytes]) -> "Future[int]":
        """Make what is held of a unit due now, changed; how many payloads that were. One that is out is left as it is."""

        def run(db: sqlite3.Connection) -> int:
            now_s = self._access.clock.now_s()
            rows = db.execute("SELECT id, payload FROM outbox WHERE sink = ? AND kind = ? AND key = ? AND dead = 0", (sink, *_place(unit)))
            with self._guard:
                held = [(change(payload), now_s, letter) for letter, payload in rows.fetchall() if letter not in self._out]
            db.executemany("UPDATE outbox SET payload = ?, not_before_s = ? WHERE id = ?", held)
            return len(held)

        return self._access.write(run)

    def hurry(self, sink: str) -> "Future[int]":
        """Make everything that waits for a sink due now; how many payloads that are."""
        now_s = self._access.clock.now_s()
        sql = "UPDATE outbox SET not_before_s = ? WHERE sink = ? AND dead = 0 AND not_before_s > ?"
        return self._access.write(lambda db: db.execute(sql, (now_s, sink, now_s)).rowcount)

    def bytes_of(self, sink: str) -> int:
        """Bytes of the payloads that wait for a sink."""
        return int(self._access.row("SELECT ifnull(sum(length(payload)), 0) FROM outbox WHERE sink = ? AND dead = 0", (sink,))[0])

    def sent(self, letters: Sequence[Letter], *, note: str = "") -> "Future[None]":
        """The far side has them: they are gone, and the delivery stands in the unit's record. `note` says what it answered, never
        content."""
        done = self._access.write(lambda db: _deliver(db, letters, self._access.clock.now_s(), note))
        self._no_longer_out(letters, done)
        return done

    def try_again(self, letters: Sequence[Letter], *, at_s: float, note: str = "") -> "Future[None]":
        """The far side refused for now: they wait until a moment, and what comes after them for the same units waits with them."""
        values = [(at_s, note, letter.id) for letter in letters]
        done = self._access.write(lambda db: _update(db, "not_before_s = ?, note = ?, tries = tries + 1", values))
        self._no_longer_out(letters, done)
        return done

    def bury(self, letters: Sequence[Letter], *, note: str) -> "Future[None]":
        """The far side refused for good: they are kept for a person to look at, and stand in nobody's way."""
        values = [(note, letter.id) for letter in letters]
        done = self._access.write(lambda db: _update(db, "dead = 1, note = ?, tries = tries + 1", values))
        self._no_longer_out(letters, done)
        return done

    def give_back(self, letters: Sequence[Letter]) -> None:
        """Nothing was tried with them: they may be taken again."""
        with self._guard:
            self._out.difference_update(letter.id for letter in letters)

    def revive(self, sink: str) -> "Future[int]":
        """Send the dead letters of a sink once more; how many there are."""
        now_s = self._access.clock.now_s()
        sql = "UPDATE outbox SET dead = 0, not_before_s = ? WHERE sink = ? AND dead = 1"
        return self._access.write(lambda db: db.execute(sql, (now_s, sink)).rowcount)

    def depths(self) -> Mapping[str, Depth]:
        """How many letters wait for each sink, and since when the oldest does."""
        return depths(self._access.rows("SELECT sink, count(*), min(created_s) FROM outbox WHERE dead = 0 GROUP BY sink"))

    def next_s(self, sink: str) -> float | None:
        """The moment from which on there is something for a sink; None where nothing waits."""
        moment: float | None = self._access.row("SELECT min(not_before_s) FROM outbox WHERE sink = ? AND dead = 0", (sink,))[0]
        return moment

    def _no_longer_out(self, letters: Sequence[Letter], done: "Future[Any]") -> None:
        done.add_done_callback(lambda _: self.give_back(letters))


def _place(unit: Unit) -> tuple[str, str]:
    return unit.kind, unit.key


def depths(rows: Sequence[tuple[str, int, float]]) -> dict[str, Depth]:
    return {sink: Depth(waiting=n, oldest_s=oldest) for sink, n, oldest in rows}


def letter_from_row(row: tuple[Any, ...]) -> Letter:
    return Letter(
        id=row[0],
        sink=row[1],
        unit=Unit(kind=row[2], key=row[3]),
        revision=row[4],
        created_s=row[5],
        tries=row[6],
        note=row[7],
        dead=bool(row[8]),
        payload=row[9],
    )


def deliveries_of(db: sqlite3.Connection, unit: Unit) -> tuple[Delivery, ...]:
    """What was sent where, what waits and what is dead, by sink and revision."""
    sent = db.execute("SELECT sink, revision, 'sent', at_s, tries, note FROM deliveries WHERE kind = ? AND key = ?", (unit.kind, unit.key))
    waits = db.execute(
        "SELECT sink, revision, CASE WHEN dead THEN 'dead' ELSE 'waiting' END, not_before_s, tries, note FROM outbox "
        "WHERE kind = ? AND key = ?",
        (unit.kind, unit.key),
    )
    rows = sorted([*sent.fetchall(), *waits.fetchall()])
    return tuple(Delivery(sink=s, revision=r, state=state, at_s=at, tries=n, note=note) for s, r, state, at, n, note in rows)


def _deliver(db: sqlite3.Connection, letters: Sequence[Letter], now_s: float, note: str) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO deliveries (kind, key, revision, sink, at_s, tries, note) "
        "SELECT kind, key, revision, sink, ?, tries + 1, ? FROM outbox WHERE id = ?",
        [(now_s, note, letter.id) for letter in letters],
    )
    db.executemany("DELETE FROM outbox WHERE id = ?", [(letter.id,) for letter in letters])


def _update(db: sqlite3.Connection, what: str, values: Sequence[tuple[Any, ...]]) -> None:
    db.executemany(f"UPDATE outbox SET {what} WHERE id = ?", values)
