"""Units that wait for a judge: put in when selected, claimed by who scores them, finished in one transaction.

A claim lives as long as the process: the next start takes up every unit that was claimed. What was finished stays finished: the same
revision of a unit
is never written twice, so each of its results leaves once.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from otel_eval.model.characters import whole
from otel_eval.store.access import Access
from otel_eval.store.progress import place_of, set_release
from otel_eval.store.rows import QUEUES, Depth, Finished, Queue, Unit, Work

_COLUMNS = "kind, key, revision, queue, since_s, seen_s, probability, selected_by, facts"


class Queues:
    """The two queues of work."""

    def __init__(self, access: Access) -> None:
        self._access = access
        access.write(lambda db: db.execute("UPDATE work SET claimed = 0 WHERE claimed <> 0").rowcount).result()

    def add(self, work: Sequence[Work]) -> "Future[None]":
        """Put units in. A unit that waits already takes the new revision and keeps its place in the line; one that is claimed stays as
        it is."""

        def run(db: sqlite3.Connection) -> None:
            now_s = self._access.clock.now_s()
            for item in work:
                _add(db, item, now_s)

        return self._access.write(run)

    def claim(self, queue: Queue, *, limit: int = 1) -> "Future[list[Work]]":
        """The units that wait longest, now claimed. `seen_s` says anew what has arrived: read the bodies after this."""

        def run(db: sqlite3.Connection) -> list[Work]:
            sql = f"SELECT {_COLUMNS} FROM work WHERE queue = ? AND claimed = 0 ORDER BY since_s, kind, key LIMIT ?"
            return [_claimed(db, work_from_row(row)) for row in db.execute(sql, (queue, limit)).fetchall()]

        return self._access.write(run)

    def give_back(self, units: Sequence[Unit]) -> "Future[None]":
        """Claims that came to nothing: the units wait again, in their old places."""
        return self._access.write(lambda db: _set_claims(db, units))

    def claimed(self) -> list[Work]:
        """The units that are with a scorer."""
        return [work_from_row(row) for row in self._access.rows(f"SELECT {_COLUMNS} FROM work WHERE claimed <> 0")]

    @property
    def is_empty(self) -> bool:
        """Whether no unit waits and none is claimed."""
        return self._access.row("SELECT 1 FROM work LIMIT 1") is None

    def depths(self) -> Mapping[Queue, Depth]:
        """How many wait unclaimed in each queue, and since when the oldest does."""
        sql = "SELECT count(*), min(since_s) FROM work WHERE queue = ? AND claimed = 0"
        return {queue: Depth(waiting=n, oldest_s=oldest) for queue in QUEUES for n, oldest in [self._access.row(sql, (queue,))]}

    def waiting(self) -> frozenset[Queue]:
        """The queues in which something waits unclaimed: the same work however many those are."""
        sql = "SELECT EXISTS (SELECT 1 FROM work WHERE queue = ? AND claimed = 0)"
        return frozenset(queue for queue in QUEUES if self._access.row(sql, (queue,))[0])

    def finish(self, finished: Finished) -> "Future[bool]":
        """Commit all that becomes of a revision. False where it (or a later one) stood there already: then nothing is written."""
        return self._access.write(lambda db: finish(db, finished, self._access.clock.now_s()))

    def finish_all(self, finished: Sequence[Finished]) -> "Future[list[bool]]":
        """The same of several revisions, together or not at all."""
        return self._access.write(lambda db: [finish(db, each, self._access.clock.now_s()) for each in finished])


def _add(db: sqlite3.Connection, work: Work, now_s: float) -> None:
    db.execute(
        f"INSERT INTO work ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET "
        "revision = excluded.revision, queue = excluded.queue, seen_s = excluded.seen_s, probability = excluded.probability, "
        "selected_by = excluded.selected_by, facts = excluded.facts WHERE claimed = 0",
        (
            work.unit.kind,
            work.unit.key,
            work.revision,
            work.queue,
            now_s,
            work.seen_s,
            work.probability,
            work.selected_by,
            whole(work.facts),
        ),
    )
    table, column, key = place_of(work.unit)
    db.execute(f"UPDATE {table} SET due_s = NULL WHERE {column} = ? AND last_s <= ?", (key, work.seen_s))


def _claimed(db: sqlite3.Connection, work: Work) -> Work:
    unit = work.unit
    db.execute("UPDATE work SET claimed = 1 WHERE kind = ? AND key = ?", (unit.kind, unit.key))
    table, column, key = place_of(unit)
    row = db.execute(f"SELECT last_s FROM {table} WHERE {column} = ?", (key,)).fetchone()
    return replace(work, seen_s=max(work.seen_s, row[0])) if row is not None else work


def _set_claims(db: sqlite3.Connection, units: Sequence[Unit]) -> None:
    db.executemany("UPDATE work SET claimed = 0 WHERE kind = ? AND key = ?", [(u.kind, u.key) for u in units])


def work_from_row(row: tuple[Any, ...]) -> Work:
    return Work(
        unit=Unit(kind=row[0], key=row[1]),
        revision=row[2],
        queue=row[3],
        since_s=row[4],
        seen_s=row[5],
        probability=row[6],
        selected_by=row[7],
        facts=row[8],
    )


def finish(db: sqlite3.Connection, done: Finished, now_s: float) -> bool:
    """Outcome, results, outgoing payloads, the unit's state and what may be deleted: one piece."""
    unit = done.unit
    if done.is_first and _has_outcome(db, unit):
        return False
    db.execute("DELETE FROM work WHERE kind = ? AND key = ? AND revision <= ?", (unit.kind, unit.key, done.revision))
    if not set_outcome(db, done, now_s):
        return False
    db.executemany(
        "INSERT OR IGNORE INTO results (id, kind, key, revision, at_s, metric, outcome, reason, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(r.id, unit.kind, unit.key, done.revision, now_s, r.metric, r.outcome, whole(r.reason), whole(r.data)) for r in done.results],
    )
    db.executemany(
        "INSERT INTO outbox (sink, kind, key, revision, created_s, not_before_s, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(o.sink, unit.kind, unit.key, done.revision, now_s, now_s, o.payload) for o in done.outgoing],
    )
    table, column, key = place_of(unit)
    db.execute(
        f"UPDATE {table} SET revision = ?, scored_s = max(ifnull(scored_s, ?), ?), "
        f"due_s = CASE WHEN last_s <= ? THEN NULL ELSE ifnull(due_s, last_s) END WHERE {column} = ?",
        (done.revision, done.seen_s, done.seen_s, done.seen_s, key),
    )
    set_release(db, done.release, done.release_at_s if done.release_at_s is not None else now_s, done.seen_s)
    return True


def _has_outcome(db: sqlite3.Connection, unit: Unit) -> bool:
    return db.execute("SELECT 1 FROM outcomes WHERE kind = ? AND key = ?", (unit.kind, unit.key)).fetchone() is not None


def set_outcome(db: sqlite3.Connection, done: Finished, now_s: float) -> bool:
    """Write the outcome and keep the counts of outcomes; False where this revision or a later one has one."""
    unit = done.unit
    before = db.execute("SELECT revision, outcome, reason FROM outcomes WHERE kind = ? AND key = ?", (unit.kind, unit.key)).fetchone()
    if before is not None and before[0] >= done.revision:
        return False
    db.execute(
        "INSERT INTO outcomes (kind, key, revision, at_s, outcome, reason, detail, probability, selected_by, facts) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET revision = excluded.revision, at_s = excluded.at_s, "
        "outcome = excluded.outcome, reason = excluded.reason, detail = excluded.detail, probability = excluded.probability, "
        "selected_by = excluded.selected_by, facts = excluded.facts",
        (
            unit.kind,
            unit.key,
            done.revision,
            now_s,
            done.outcome,
            done.reason,
            whole(done.detail),
            done.probability,
            done.selected_by,
            whole(done.facts),
        ),
    )
    if before is not None:
        _count(db, unit.kind, before[1], before[2], -1)
    _count(db, unit.kind, done.outcome, done.reason, 1)
    return True


def _count(db: sqlite3.Connection, kind: str, outcome: str, reason: str, more: int) -> None:
    db.execute(
        "INSERT INTO outcome_counts VALUES (?, ?, ?, ?) ON CONFLICT (kind, outcome, reason) DO UPDATE SET units = units + excluded.units",
        (kind, outcome, reason, more),
    )
