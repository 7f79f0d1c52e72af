"""What became of whom: outcomes, their counts, and everything known of one unit, for `explain`."""

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from otel_eval.store.access import Access
from otel_eval.store.inbox import marks, parts
from otel_eval.store.outbox import deliveries_of
from otel_eval.store.progress import conversation_of, conversations_of, trace_of
from otel_eval.store.rows import OutcomeCount, OutcomeRow, StoredResult, Unit, UnitRecord
from otel_eval.store.work import work_from_row

_OUTCOME = "kind, key, revision, at_s, outcome, reason, detail, probability, selected_by, facts"
_RESULT = "id, kind, key, revision, at_s, metric, outcome, reason, data"
_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")


class Records:
    """Questions about what happened."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def outcome(self, unit: Unit) -> OutcomeRow | None:
        """A unit's outcome; None where it has none yet or is unknown."""
        row = self._access.row(f"SELECT {_OUTCOME} FROM outcomes WHERE kind = ? AND key = ?", (unit.kind, unit.key))
        return outcome_from_row(row) if row is not None else None

    def with_outcome(self, units: Sequence[Unit]) -> set[Unit]:
        """Those of the units that have an outcome."""
        found: set[Unit] = set()
        with self._access.read() as db:
            for kind in dict.fromkeys(unit.kind for unit in units):
                for part in parts([unit.key for unit in units if unit.kind == kind]):
                    sql = f"SELECT key FROM outcomes WHERE kind = ? AND key IN ({marks(part)})"
                    found.update(Unit(kind=kind, key=key) for (key,) in db.execute(sql, (kind, *part)))
        return found

    def outcome_counts(self) -> list[OutcomeCount]:
        """Units by outcome and reason since the store was made; each unit counts once, with its latest outcome."""
        rows = self._access.rows("SELECT kind, outcome, reason, units FROM outcome_counts WHERE units > 0 ORDER BY kind, outcome, reason")
        return [OutcomeCount(kind=k, outcome=o, reason=r, units=n) for k, o, r, n in rows]

    def result(self, result_id: str) -> StoredResult | None:
        row = self._access.row(f"SELECT {_RESULT} FROM results WHERE id = ?", (result_id,))
        return result_from_row(row) if row is not None else None

    def find(self, any_id: str) -> list[UnitRecord]:
        """The records of the units that an id names: a trace's, a conversation's, a result's; empty where it names none.

        A trace comes with the conversations it belongs to.
        """
        with self._access.read() as db:
            return records_of(db, any_id)

    def record(self, unit: Unit) -> UnitRecord | None:
        """Everything known of a unit; None where nothing is."""
        with self._access.read() as db:
            return _record(db, unit)


def records_of(db: sqlite3.Connection, any_id: str) -> list[UnitRecord]:
    """The records of the units that an id names."""
    units = list(dict.fromkeys(_units_of(db, any_id)))
    return [record for unit in units if (record := _record(db, unit)) is not None]


def _units_of(db: sqlite3.Connection, any_id: str) -> list[Unit]:
    units = []
    if _TRACE_ID.fullmatch(any_id):
        units.append(Unit(kind="trace", key=any_id.lower()))
        row = db.execute("SELECT id FROM traces WHERE trace_id = ?", (bytes.fromhex(any_id),)).fetchone()
        units += [Unit(kind="conversation", key=name) for name in (conversations_of(db, row[0]) if row is not None else ())]
    units.append(Unit(kind="conversation", key=any_id))
    row = db.execute("SELECT kind, key FROM results WHERE id = ?", (any_id,)).fetchone()
    return [*units, Unit(kind=row[0], key=row[1])] if row is not None else units


def _record(db: sqlite3.Connection, unit: Unit) -> UnitRecord | None:
    """One snapshot would be finer; a record that is half a second old and half new misleads nobody."""
    key = (unit.kind, unit.key)
    outcome = db.execute(f"SELECT {_OUTCOME} FROM outcomes WHERE kind = ? AND key = ?", key).fetchone()
    work = db.execute(
        "SELECT kind, key, revision, queue, since_s, seen_s, probability, selected_by, facts, claimed FROM work WHERE kind = ? AND key = ?",
        key,
    ).fetchone()
    trace = trace_of(db, unit.key) if unit.kind == "trace" else None
    conversation = conversation_of(db, unit.key) if unit.kind == "conversation" else None
    if outcome is None and work is None and trace is None and conversation is None:
        return None
    results = db.execute(f"SELECT {_RESULT} FROM results WHERE kind = ? AND key = ? ORDER BY revision, metric, id", key).fetchall()
    traces = (unit.key,) if unit.kind == "trace" else conversation.traces if conversation is not None else ()
    return UnitRecord(
        unit=unit,
        outcome=outcome_from_row(outcome) if outcome is not None else None,
        work=work_from_row(work[:9]) if work is not None else None,
        claimed=bool(work is not None and work[9]),
        trace=trace,
        conversation=conversation,
        results=tuple(result_from_row(row) for row in results),
        deliveries=deliveries_of(db, unit),
        bodies=_bodies(db, traces),
    )


def _bodies(db: sqlite3.Connection, traces: tuple[str, ...]) -> int:
    sql = "SELECT l.body FROM traces t JOIN body_traces l ON l.trace = t.id WHERE t.trace_id = ?"
    return len({body for t in traces for (body,) in db.execute(sql, (bytes.fromhex(t),))})


def outcome_from_row(row: tuple[Any, ...]) -> OutcomeRow:
    return OutcomeRow(
        unit=Unit(kind=row[0], key=row[1]),
        revision=row[2],
        at_s=row[3],
        outcome=row[4],
        reason=row[5],
        detail=row[6],
        probability=row[7],
        selected_by=row[8],
        facts=row[9],
    )


def result_from_row(row: tuple[Any, ...]) -> StoredResult:
    return StoredResult(
        id=row[0],
        unit=Unit(kind=row[1], key=row[2]),
        revision=row[3],
        at_s=row[4],
        metric=row[5],
        outcome=row[6],
        reason=row[7],
        data=row[8],
    )
