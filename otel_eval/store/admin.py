"""The store for its operator: what is in it, out of it, and smaller. Works on the file of a running worker too, but for `vacuum`."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from otel_eval.store.clock import SteadyClock
from otel_eval.store.opening import foreign_reader, open_file
from otel_eval.store.outbox import depths
from otel_eval.store.records import records_of
from otel_eval.store.room import StoreLimits
from otel_eval.store.rows import QUEUES, Body, Depth, StoreInfo, UnitRecord

_EXPORTED = (
    (
        "outcome",
        "SELECT kind, key, revision, at_s, outcome, reason, detail, probability, selected_by, facts FROM outcomes ORDER BY at_s, kind, key",
    ),
    ("result", "SELECT kind, key, id, revision, at_s, metric, outcome, reason, data FROM results ORDER BY at_s, id"),
    ("delivery", "SELECT kind, key, revision, sink, at_s, tries, note FROM deliveries ORDER BY at_s, kind, key"),
    ("letter", "SELECT kind, key, revision, sink, created_s, tries, dead, note FROM outbox ORDER BY id"),
    ("work", "SELECT kind, key, revision, queue, since_s, probability, selected_by, claimed FROM work ORDER BY since_s, kind, key"),
    (
        "trace",
        "SELECT lower(hex(trace_id)) AS trace_id, first_s, last_s, spans, logs, revision, service FROM traces ORDER BY first_s, id",
    ),
)
_JSON_COLUMNS = frozenset({"facts", "data"})


def info_of_file(path: Path, limits: StoreLimits | None = None) -> StoreInfo:
    """What is in a store's file, counted row by row. ConfigError where there is none."""
    with foreign_reader(path) as db:
        return info(db, str(path), limits or StoreLimits(), SteadyClock())


def find_in_file(path: Path, any_id: str) -> list[UnitRecord]:
    """The records of the units that an id names, from a store's file. ConfigError where there is none."""
    with foreign_reader(path) as db:
        return records_of(db, any_id)


def info(db: sqlite3.Connection, place: str, limits: StoreLimits, clock: SteadyClock) -> StoreInfo:
    """What is in a store. Counts rows: for people, not for every second."""
    one = {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size", "user_version")}
    bodies, body_bytes, oldest = db.execute("SELECT count(*), ifnull(sum(length(data)), 0), min(received_s) FROM bodies").fetchone()
    queues = dict.fromkeys(QUEUES, Depth(waiting=0))
    return StoreInfo(
        place=place,
        version=one["user_version"],
        used_bytes=(one["page_count"] - one["freelist_count"]) * one["page_size"],
        free_bytes=one["freelist_count"] * one["page_size"],
        max_bytes=limits.max_bytes,
        bodies=bodies,
        body_bytes=body_bytes,
        traces=db.execute("SELECT count(*) FROM traces").fetchone()[0],
        conversations=db.execute("SELECT count(*) FROM conversations").fetchone()[0],
        work=queues | depths(db.execute("SELECT queue, count(*), min(since_s) FROM work GROUP BY queue").fetchall()),
        outbox=depths(db.execute("SELECT sink, count(*), min(created_s) FROM outbox WHERE dead = 0 GROUP BY sink").fetchall()),
        dead_letters=db.execute("SELECT count(*) FROM outbox WHERE dead = 1").fetchone()[0],
        oldest_body_s=oldest,
        clock_ahead_s=clock.ahead_s(),
    )


def export(path: Path) -> Iterator[dict[str, Any]]:
    """Everything but bodies, payloads and verdicts, one object a row, with its kind under `record`. A damaged table is left out and
    named."""
    with foreign_reader(path) as db:
        for record, sql in _EXPORTED:
            yield from _exported(db, record, sql)


def export_bodies(path: Path) -> Iterator[Body]:
    """The requests that are kept, as received, in order of arrival."""
    with foreign_reader(path) as db:
        ids = [row[0] for row in db.execute("SELECT id FROM bodies ORDER BY id")]
        for body_id in ids:
            row = db.execute("SELECT received_s, signal, encoding, data FROM bodies WHERE id = ?", (body_id,)).fetchone()
            if row is not None:
                yield Body(id=body_id, received_s=row[0], signal=row[1], encoding=row[2], data=row[3])


def vacuum(path: Path) -> tuple[int, int]:
    """Write the file anew without its free pages; its size before and after. ConfigError where a worker is using it."""
    with foreign_reader(path):
        before = path.stat().st_size
    db, lock = open_file(path, SteadyClock())
    try:
        with closing(db):
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        lock.release()
    return before, path.stat().st_size


def _exported(db: sqlite3.Connection, record: str, sql: str) -> Iterator[dict[str, Any]]:
    try:
        cursor = db.execute(sql)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield {"record": record} | {name: _value(name, value) for name, value in zip(names, row, strict=True)}
    except sqlite3.DatabaseError as fault:
        yield {"record": "damaged", "table": record, "fault": getattr(fault, "sqlite_errorname", type(fault).__name__)}


def _value(name: str, value: Any) -> Any:
    """JSON text as JSON; what is none as it is."""
    if name not in _JSON_COLUMNS or not value:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
