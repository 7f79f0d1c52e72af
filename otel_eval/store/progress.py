"""Where traces and conversations stand, and which are due to be looked at.

What is complete is decided elsewhere (`completion`); here stands when to look. A unit with work in the queue is not due: what came
meanwhile makes it due
once that work is finished.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from otel_eval.store.access import Access
from otel_eval.store.inbox import known_conversations, link, marks, parts, unlink
from otel_eval.store.rows import Arrival, ConversationRow, TraceRow, Unit

_TRACE = (
    "t.id, t.trace_id, t.first_s, t.last_s, t.due_s, t.scored_s, t.revision, t.release_s, t.released, t.root_ended, t.end_marked, "
    "t.is_session, t.is_genai, t.has_error, t.spans, t.logs, t.own_spans, t.start_ns, t.end_ns, t.service, t.trace_state"
)
_CONVERSATION = "c.id, c.name, c.first_s, c.last_s, c.due_s, c.scored_s, c.revision, c.end_marked"
_READ = -1
"""Rank of an id that was read from the content: better than any spelling."""
_IDLE_TRACE = "NOT EXISTS (SELECT 1 FROM work w WHERE w.kind = 'trace' AND w.key = lower(hex(t.trace_id)))"
_IDLE_CONVERSATION = "NOT EXISTS (SELECT 1 FROM work w WHERE w.kind = 'conversation' AND w.key = c.name)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """When to look at a unit again. It takes effect only if nothing came after `seen_s`; else the unit stays due."""

    unit: Unit
    seen_s: float
    due_s: float | None
    is_settled: bool = False
    """Whether all that came until `seen_s` counts as known without a revision of its own (there were enough revisions)."""
    release_at_s: float | None = None
    """From when on nobody needs the bodies of a trace; None says nothing of it."""


class Progress:
    """Reads and moves the states of units."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def due_traces(self, now_s: float, *, limit: int = 200) -> list[TraceRow]:
        """Traces to look at now, those that wait longest first."""
        sql = f"SELECT {_TRACE} FROM traces t WHERE t.due_s <= ? AND {_IDLE_TRACE} ORDER BY t.due_s LIMIT ?"
        with self._access.read() as db:
            return _with_conversations(db, db.execute(sql, (now_s, limit)).fetchall())

    def due_conversations(self, now_s: float, *, limit: int = 200) -> list[ConversationRow]:
        """Conversations to look at now, those that wait longest first."""
        sql = f"SELECT {_CONVERSATION} FROM conversations c WHERE c.due_s <= ? AND {_IDLE_CONVERSATION} ORDER BY c.due_s LIMIT ?"
        with self._access.read() as db:
            return [_conversation(db, row) for row in db.execute(sql, (now_s, limit)).fetchall()]

    def next_due_s(self) -> float | None:
        """The next moment at which anything is due; None where nothing waits for time."""
        (trace_s,), (conversation_s,) = (
            self._access.row(f"SELECT min(due_s) FROM {table} WHERE due_s IS NOT NULL") for table in ("traces", "conversations")
        )
        return min((s for s in (trace_s, conversation_s) if s is not None), default=None)

    def trace(self, trace_id: str) -> TraceRow | None:
        with self._access.read() as db:
            return trace_of(db, trace_id)

    def traces(self, trace_ids: Sequence[str]) -> list[TraceRow]:
        """Those of the traces that are known, in this order."""
        found: dict[str, TraceRow] = {}
        with self._access.read() as db:
            for part in parts([bytes.fromhex(trace_id) for trace_id in trace_ids]):
                rows = db.execute(f"SELECT {_TRACE} FROM traces t WHERE t.trace_id IN ({marks(part)})", part).fetchall()
                found.update((row.trace_id, row) for row in _with_conversations(db, rows))
        return [found[trace_id] for trace_id in trace_ids if trace_id in found]

    def conversation(self, conversation_id: str) -> ConversationRow | None:
        with self._access.read() as db:
            return conversation_of(db, conversation_id)

    def look_again(self, looks: Sequence[Look]) -> "Future[None]":
        """Set when units are looked at next."""

        def run(db: sqlite3.Connection) -> None:
            for look in looks:
                set_due(db, look)

        return self._access.write(run)

    def set_limits(self, limits: str) -> "Future[bool]":
        """Tell by which limits moments are set. Where they were others before, everything that waits is due now, to be set anew."""

        def run(db: sqlite3.Connection) -> bool:
            known = db.execute("SELECT value FROM meta WHERE name = 'limits'").fetchone()
            if known == (limits,):
                return False
            db.execute("INSERT OR REPLACE INTO meta VALUES ('limits', ?)", (limits,))
            now_s = self._access.clock.now_s()
            for table in ("traces", "conversations"):
                db.execute(f"UPDATE {table} SET due_s = ? WHERE due_s > ?", (now_s, now_s))
            return True

        return self._access.write(run)

    def set_conversations(self, trace_id: str, conversations: Sequence[str], *, due_s: float | None) -> "Future[None]":
        """What a trace turned out to belong to once it was read: ids that stand where only conversion finds them."""

        def run(db: sqlite3.Connection) -> None:
            row = db.execute("SELECT id, last_s, end_marked FROM traces WHERE trace_id = ?", (bytes.fromhex(trace_id),)).fetchone()
            if row is None:
                return
            trace, last_s, end_marked = row
            _, known = known_conversations(db, [trace]).get(trace, (0, set()))
            unlink(db, trace, known - set(conversations))
            arrival = Arrival(
                trace_id=trace_id, conversations=tuple(set(conversations) - known), id_rank=_READ, end_marked=bool(end_marked), due_s=due_s
            )
            if arrival.conversations:
                link(db, trace, arrival, last_s)

        return self._access.write(run)


def set_due(db: sqlite3.Connection, look: Look) -> None:
    """Move one unit, unless something came that the caller did not see."""
    table, column, key = place_of(look.unit)
    db.execute(
        f"UPDATE {table} SET due_s = ?, scored_s = CASE WHEN ? THEN ? ELSE scored_s END WHERE {column} = ? AND last_s <= ?",
        (look.due_s, look.is_settled, look.seen_s, key, look.seen_s),
    )
    if look.release_at_s is not None:
        set_release(db, (look.unit.key,), look.release_at_s, look.seen_s)


def set_release(db: sqlite3.Connection, trace_ids: Iterable[str], release_s: float, seen_s: float) -> None:
    """From when on the bodies of traces may go; not where something came that nobody has seen."""
    db.executemany(
        "UPDATE traces SET release_s = ? WHERE trace_id = ? AND last_s <= ?", [(release_s, bytes.fromhex(t), seen_s) for t in trace_ids]
    )


def place_of(unit: Unit) -> tuple[str, str, bytes | str]:
    """Table, column of the key, and the key of a unit."""
    return ("traces", "trace_id", bytes.fromhex(unit.key)) if unit.kind == "trace" else ("conversations", "name", unit.key)


def trace_of(db: sqlite3.Connection, trace_id: str) -> TraceRow | None:
    rows = db.execute(f"SELECT {_TRACE} FROM traces t WHERE t.trace_id = ?", (bytes.fromhex(trace_id),)).fetchall()
    return next(iter(_with_conversations(db, rows)), None)


def conversation_of(db: sqlite3.Connection, conversation_id: str) -> ConversationRow | None:
    row = db.execute(f"SELECT {_CONVERSATION} FROM conversations c WHERE c.name = ?", (conversation_id,)).fetchone()
    return _conversation(db, row) if row is not None else None


def _with_conversations(db: sqlite3.Connection, rows: Iterable[tuple[Any, ...]]) -> list[TraceRow]:
    listed = list(rows)
    names: dict[int, list[str]] = {}
    for part in parts([row[0] for row in listed]):
        sql = (
            "SELECT l.trace, c.name FROM conversation_traces l JOIN conversations c ON c.id = l.conversation "
            f"WHERE l.trace IN ({marks(part)}) ORDER BY l.trace, l.rank, c.name"
        )
        for trace, name in db.execute(sql, part):
            names.setdefault(trace, []).append(name)
    return [_trace(row[1:], tuple(names.get(row[0], ()))) for row in listed]


def conversations_of(db: sqlite3.Connection, trace: int) -> tuple[str, ...]:
    """The ids of a trace's conversations, those in the best spelling first."""
    sql = "SELECT c.name FROM conversation_traces l JOIN conversations c ON c.id = l.conversation WHERE l.trace = ? ORDER BY l.rank, c.name"
    return tuple(name for (name,) in db.execute(sql, (trace,)))


def _trace(row: tuple[Any, ...], conversations: tuple[str, ...]) -> TraceRow:
    return TraceRow(
        trace_id=row[0].hex(),
        first_s=row[1],
        last_s=row[2],
        due_s=row[3],
        scored_s=row[4],
        revision=row[5],
        release_s=row[6],
        released=bool(row[7]),
        root_ended=bool(row[8]),
        end_marked=bool(row[9]),
        is_session=bool(row[10]),
        is_genai=bool(row[11]),
        has_error=bool(row[12]),
        spans=row[13],
        logs=row[14],
        own_spans=row[15],
        start_ns=row[16],
        end_ns=row[17],
        service=row[18],
        trace_state=row[19],
        conversations=conversations,
    )


def _conversation(db: sqlite3.Connection, row: tuple[Any, ...]) -> ConversationRow:
    traces = db.execute(
        "SELECT t.trace_id, t.scored_s IS NULL OR t.last_s > t.scored_s FROM conversation_traces l JOIN traces t ON t.id = l.trace "
        "WHERE l.conversation = ? ORDER BY t.first_s, t.trace_id",
        (row[0],),
    ).fetchall()
    return ConversationRow(
        id=row[1],
        first_s=row[2],
        last_s=row[3],
        due_s=row[4],
        scored_s=row[5],
        revision=row[6],
        end_marked=bool(row[7]),
        traces=tuple(t.hex() for t, _ in traces),
        waiting_traces=sum(w for _, w in traces),
    )
