"""What the writer does between commits: deletes what nobody needs, gives up what waited too long, forgets what is old, gives room back
to the disk.

Deleting costs as much as inserting, so it is done for fifty traces at once, or what there is once a second (`performance.md` 3).
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_eval.store.clock import SteadyClock
from otel_eval.store.inbox import known_conversations, unlink
from otel_eval.store.opening import note_moment
from otel_eval.store.progress import place_of
from otel_eval.store.room import Room
from otel_eval.store.rows import Finished, Unit
from otel_eval.store.transaction import Transaction
from otel_eval.store.verdicts import TTL_S
from otel_eval.store.work import set_outcome

EXPIRED = "expired"
_TRACES_AT_ONCE, _EVERY_S = 50, 1.0
_MOST_AT_ONCE = 500
_RARELY_S = 15.0
_PAGES_AT_ONCE = 256
_FREE_BYTES_KEPT = 64 * 1024 * 1024


@dataclass(slots=True, kw_only=True)
class Gone:
    """What one round deleted and gave up; counted once it is committed."""

    bodies: int = 0
    units: int = 0


class Janitor:
    """Called by the writer after each commit and when idle; does little at a time."""

    def __init__(self, room: Room, clock: SteadyClock) -> None:
        self._room, self._clock = room, clock
        self._swept_s = self._rare_s = float("-inf")
        self.deleted_bodies = 0
        self.expired_units = 0

    def tend(self, db: sqlite3.Connection) -> None:
        """One round."""
        now_s = self._clock.now_s()
        if self._sweep_is_due(db, now_s):
            self._swept_s = now_s
            with Transaction(db):
                gone = self._sweep(db, now_s)
            self._count(db, gone)
        if now_s - self._rare_s >= _RARELY_S:
            self._rare_s = now_s
            with Transaction(db):
                gone = self._rare(db, now_s)
            self._count(db, gone)
            self._give_back(db)

    def _sweep_is_due(self, db: sqlite3.Connection, now_s: float) -> bool:
        waits_s = now_s - self._swept_s
        if waits_s >= _EVERY_S:
            return True
        (ready,) = db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM traces WHERE release_s <= ? LIMIT ?)", (now_s, _TRACES_AT_ONCE)
        ).fetchone()
        return bool(ready >= _TRACES_AT_ONCE)

    def _count(self, db: sqlite3.Connection, gone: Gone) -> None:
        self._room.measure(db)
        self.deleted_bodies += gone.bodies
        self.expired_units += gone.units

    def _sweep(self, db: sqlite3.Connection, now_s: float) -> Gone:
        gone = Gone(bodies=release_due(db, now_s))
        if self._room.is_high:
            gone.bodies += release_early(db)
            if self._room.limits.expire_when_full:
                self._expire_oldest(db, now_s, gone)
        return gone

    def _rare(self, db: sqlite3.Connection, now_s: float) -> Gone:
        gone = Gone()
        note_moment(db, now_s)
        self._expire_old(db, now_s - self._room.limits.max_age_s, now_s, gone)
        bury_old(db, now_s - self._room.limits.max_age_s)
        purge(db, now_s - self._room.limits.keep_s)
        db.execute("DELETE FROM verdicts WHERE time_s < ?", (now_s - TTL_S,))
        return gone

    def _expire_old(self, db: sqlite3.Connection, before_s: float, now_s: float, gone: Gone) -> None:
        """Give up what is due, waits for a judge, or lies unread since before a moment."""
        detail = f"waited longer than {self._room.limits.max_age_s:g} s: see `store.max_age`, the judge and its budget"
        for unit in old_units(db, before_s):
            gone.units += expire(db, unit, "age", detail, now_s)
        for trace in traces_of_oldest_bodies(db, before_s):
            gone.units += give_up_bodies(db, trace, "age", detail, now_s)

    def _expire_oldest(self, db: sqlite3.Connection, now_s: float, gone: Gone) -> None:
        detail = f"the store was full at {self._room.limits.max_bytes} bytes: see `store.max_bytes`, the judge and its budget"
        for trace in traces_of_oldest_bodies(db, now_s):
            gone.units += give_up_bodies(db, trace, "full", detail, now_s)
        gone.bodies += release_due(db, now_s)

    def _give_back(self, db: sqlite3.Connection) -> None:
        """Shrink the file by a little where much of it is free. `execute` would free one page (SQLite steps this pragma page by page)."""
        if self._room.free_bytes > max(_FREE_BYTES_KEPT, self._room.used_bytes // 4):
            db.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")


def release_due(db: sqlite3.Connection, now_s: float) -> int:
    """Delete the bodies of traces whose time has come; how many."""
    rows = db.execute("SELECT id FROM traces WHERE release_s <= ? ORDER BY release_s LIMIT ?", (now_s, _MOST_AT_ONCE)).fetchall()
    return release(db, [trace for (trace,) in rows])


def release_early(db: sqlite3.Connection) -> int:
    """Delete bodies that are only kept for late spans, those that would go first; how many."""
    rows = db.execute("SELECT id FROM traces WHERE release_s IS NOT NULL ORDER BY release_s LIMIT ?", (_TRACES_AT_ONCE,)).fetchall()
    return release(db, [trace for (trace,) in rows])


def release(db: sqlite3.Connection, traces: Sequence[int]) -> int:
    """Take traces off their bodies and delete those bodies that no other trace needs; how many."""
    bodies: set[int] = set()
    for trace in traces:
        bodies.update(body for (body,) in db.execute("DELETE FROM body_traces WHERE trace = ? RETURNING body", (trace,)).fetchall())
    db.executemany("UPDATE traces SET release_s = NULL, released = 1 WHERE id = ?", [(t,) for t in traces])
    free = [(b,) for b in sorted(bodies) if db.execute("SELECT 1 FROM body_traces WHERE body = ?", (b,)).fetchone() is None]
    db.executemany("DELETE FROM bodies WHERE id = ?", free)
    return len(free)


def old_units(db: sqlite3.Connection, before_s: float) -> list[Unit]:
    """Units that wait for a judge, or are due, since before a moment."""
    rows = db.execute(
        "SELECT kind, key FROM work WHERE since_s < ? AND claimed = 0 AND queue IN ('estimate', 'triage') ORDER BY since_s LIMIT ?",
        (before_s, _MOST_AT_ONCE),
    ).fetchall()
    rows += db.execute("SELECT 'trace', lower(hex(trace_id)) FROM traces WHERE due_s < ? LIMIT ?", (before_s, _MOST_AT_ONCE)).fetchall()
    rows += db.execute("SELECT 'conversation', name FROM conversations WHERE due_s < ? LIMIT ?", (before_s, _MOST_AT_ONCE)).fetchall()
    return [Unit(kind=kind, key=key) for kind, key in rows]


def traces_of_oldest_bodies(db: sqlite3.Connection, before_s: float) -> list[int]:
    """The traces of the oldest bodies, as far as they came before a moment and no judge is at work on them."""
    rows = db.execute(
        "SELECT DISTINCT l.trace FROM (SELECT id FROM bodies WHERE received_s < ? ORDER BY id LIMIT ?) b "
        "JOIN body_traces l ON l.body = b.id JOIN traces t ON t.id = l.trace "
        "WHERE NOT EXISTS (SELECT 1 FROM work w WHERE w.claimed <> 0 AND w.kind = 'trace' AND w.key = lower(hex(t.trace_id)))",
        (before_s, _TRACES_AT_ONCE),
    )
    return [trace for (trace,) in rows.fetchall()]


def expire(db: sqlite3.Connection, unit: Unit, reason: str, detail: str, now_s: float) -> int:
    """Give a unit up: it is out of the queue, not due, and its outcome says why, unless an earlier revision has one. 1 where it says so."""
    db.execute("DELETE FROM work WHERE kind = ? AND key = ?", (unit.kind, unit.key))
    table, column, key = place_of(unit)
    row = db.execute(f"SELECT revision, last_s FROM {table} WHERE {column} = ?", (key,)).fetchone()
    revision, seen_s = row if row is not None else (0, now_s)
    db.execute(f"UPDATE {table} SET due_s = NULL, scored_s = last_s WHERE {column} = ?", (key,))
    if unit.kind == "trace":
        db.execute("UPDATE traces SET release_s = ? WHERE trace_id = ?", (now_s, key))
    if revision:
        return 0
    done = Finished(unit=unit, revision=0, seen_s=seen_s, outcome=EXPIRED, reason=reason, detail=detail)
    expired = int(set_outcome(db, done, now_s))
    return expired + sum(int(set_outcome(db, replace(done, unit=part), now_s)) for part in _parts_without_outcome(db, unit))


def _parts_without_outcome(db: sqlite3.Connection, unit: Unit) -> list[Unit]:
    """The traces of a conversation that waited for it and have no outcome of their own."""
    if unit.kind != "conversation":
        return []
    rows = db.execute(
        "SELECT lower(hex(t.trace_id)) FROM conversations c JOIN conversation_traces l ON l.conversation = c.id "
        "JOIN traces t ON t.id = l.trace WHERE c.name = ? AND t.scored_s IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.kind = 'trace' AND o.key = lower(hex(t.trace_id)))",
        (unit.key,),
    )
    return [Unit(kind="trace", key=key) for (key,) in rows.fetchall()]


def give_up_bodies(db: sqlite3.Connection, trace: int, reason: str, detail: str, now_s: float) -> int:
    """Let a trace's bodies go; what of it and of its conversations is not scored is expired. How many units that are."""
    row = db.execute("SELECT trace_id, scored_s IS NULL OR last_s > scored_s FROM traces WHERE id = ?", (trace,)).fetchone()
    units = [Unit(kind="trace", key=row[0].hex())] if row is not None and row[1] else []
    unscored = (
        "SELECT c.name FROM conversation_traces l JOIN conversations c ON c.id = l.conversation WHERE l.trace = ? AND c.scored_s IS NULL"
    )
    units += [Unit(kind="conversation", key=name) for (name,) in db.execute(unscored, (trace,)).fetchall()]
    db.execute("UPDATE traces SET release_s = ?, due_s = NULL WHERE id = ?", (now_s, trace))
    return sum(expire(db, unit, reason, detail, now_s) for unit in units)


def bury_old(db: sqlite3.Connection, before_s: float) -> None:
    """What a sink did not take for so long is dead."""
    db.execute(
        "UPDATE outbox SET dead = 1, note = 'too old' WHERE id IN "
        "(SELECT id FROM outbox WHERE dead = 0 AND created_s < ? ORDER BY id LIMIT ?)",
        (before_s, _MOST_AT_ONCE),
    )


def purge(db: sqlite3.Connection, before_s: float) -> None:
    """Forget units whose outcome is old, with all that stands with them, and dead letters as old."""
    rows = db.execute("SELECT kind, key FROM outcomes WHERE at_s < ? ORDER BY at_s LIMIT ?", (before_s, _MOST_AT_ONCE)).fetchall()
    for kind, key in rows:
        for table in ("outcomes", "results", "deliveries"):
            db.execute(f"DELETE FROM {table} WHERE kind = ? AND key = ?", (kind, key))
        if kind == "trace":
            _forget_trace(db, bytes.fromhex(key))
        else:
            _forget_conversation(db, key)
    db.execute(
        "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE dead = 1 AND created_s < ? ORDER BY id LIMIT ?)",
        (before_s, _MOST_AT_ONCE),
    )


def _forget_conversation(db: sqlite3.Connection, name: str) -> None:
    """Forget a conversation that is not due, and what hangs on its number: another may get it."""
    row = db.execute("DELETE FROM conversations WHERE name = ? AND due_s IS NULL RETURNING id", (name,)).fetchone()
    if row is not None:
        db.execute("DELETE FROM conversation_traces WHERE conversation = ?", row)


def _forget_trace(db: sqlite3.Connection, trace_id: bytes) -> None:
    """Forget a trace that is not due and has no bodies, and those of its conversations that nothing is left of."""
    row = db.execute(
        "DELETE FROM traces WHERE trace_id = ? AND due_s IS NULL AND NOT EXISTS (SELECT 1 FROM body_traces l WHERE l.trace = traces.id) "
        "RETURNING id",
        (trace_id,),
    ).fetchone()
    if row is not None:
        unlink(db, row[0], known_conversations(db, [row[0]]).get(row[0], (0, set()))[1])
