"""Requests as they came, and which traces and conversations they touch."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from otel_eval.store.access import Access
from otel_eval.store.room import Room
from otel_eval.store.rows import Arrival, Body, NewRequest

T = TypeVar("T")

_STEP_S = 1e-6
"""Two requests never arrive at one moment: "later than what was seen" is then sure."""
_IDS_AT_ONCE = 400

_INSERT_BODY = "INSERT INTO bodies (id, received_s, signal, encoding, data) VALUES (?, ?, ?, ?, ?)"
_INSERT_LINK = "INSERT OR IGNORE INTO body_traces (trace, body) VALUES (?, ?)"
_JOIN = "INSERT OR IGNORE INTO conversation_traces (conversation, trace, rank) VALUES (?, ?, ?)"
_UPSERT_TRACE = """
INSERT INTO traces (trace_id, first_s, last_s, due_s, root_ended, end_marked, is_session, is_genai, has_error, spans, logs, own_spans,
                    start_ns, end_ns, service, trace_state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (trace_id) DO UPDATE SET
    last_s = CASE WHEN excluded.spans + excluded.logs = 0 THEN last_s ELSE max(last_s, excluded.last_s) END,
    due_s = CASE WHEN excluded.spans + excluded.logs = 0 OR excluded.due_s IS NULL THEN due_s
                 ELSE min(ifnull(due_s, excluded.due_s), excluded.due_s) END,
    release_s = CASE WHEN excluded.spans + excluded.logs = 0 THEN release_s ELSE NULL END,
    root_ended = root_ended | excluded.root_ended, end_marked = end_marked | excluded.end_marked,
    is_session = is_session | excluded.is_session, is_genai = is_genai | excluded.is_genai, has_error = has_error | excluded.has_error,
    spans = spans + excluded.spans, logs = logs + excluded.logs, own_spans = own_spans + excluded.own_spans,
    start_ns = min(ifnull(start_ns, excluded.start_ns), ifnull(excluded.start_ns, start_ns)),
    end_ns = max(ifnull(end_ns, excluded.end_ns), ifnull(excluded.end_ns, end_ns)),
    service = ifnull(service, excluded.service), trace_state = ifnull(trace_state, excluded.trace_state)
"""
_UPSERT_CONVERSATION = """
INSERT INTO conversations (name, first_s, last_s, due_s, end_marked) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    last_s = max(last_s, excluded.last_s), end_marked = end_marked | excluded.end_marked,
    due_s = CASE WHEN excluded.due_s IS NULL THEN due_s ELSE min(ifnull(due_s, excluded.due_s), excluded.due_s) END
"""


class Inbox:
    """Takes requests in and gives bodies out."""

    def __init__(self, access: Access, room: Room) -> None:
        self._access, self._room = access, room
        (newest,) = access.row("SELECT ifnull(max(id), 0) FROM bodies")
        self._next_id = int(newest) + 1
        self._last_s = access.clock.now_s()

    def put(self, request: NewRequest) -> "Future[None]":
        """Keep a request. The future is done once it is on disk, and only then may it be acknowledged.

        Overloaded, at once, where there is no room.
        """
        size = len(request.body or b"")
        self._room.check(size, self._access.writer.queued_bytes)
        return self._access.write_many(self._put_many, request, size=size)

    def bodies_of_traces(self, trace_ids: Iterable[str]) -> Iterator[Body]:
        """Every request that touches one of these traces, once, in order of arrival; one at a time is in memory."""
        for body_id in self.body_ids_of_traces(trace_ids):
            body = self.body(body_id)
            if body is not None:
                yield body

    def body_ids_of_traces(self, trace_ids: Iterable[str]) -> list[int]:
        """The numbers of these requests, in order of arrival."""
        ids: set[int] = set()
        for part in parts([bytes.fromhex(t) for t in trace_ids]):
            sql = f"SELECT l.body FROM traces t JOIN body_traces l ON l.trace = t.id WHERE t.trace_id IN ({marks(part)})"
            ids.update(row[0] for row in self._access.rows(sql, part))
        return sorted(ids)

    def body(self, body_id: int) -> Body | None:
        """A request by its number; None where it is gone."""
        row = self._access.row("SELECT received_s, signal, encoding, data FROM bodies WHERE id = ?", (body_id,))
        return Body(id=body_id, received_s=row[0], signal=row[1], encoding=row[2], data=row[3]) if row is not None else None

    def _put_many(self, db: sqlite3.Connection, requests: Sequence[NewRequest]) -> Sequence[None]:
        bodies: list[tuple[Any, ...]] = []
        links: list[tuple[bytes, int]] = []
        traces: list[tuple[Any, ...]] = []
        talks: list[tuple[bytes, Arrival, float]] = []
        for request in requests:
            now_s = self._last_s = max(self._access.clock.now_s(), self._last_s + _STEP_S)
            if request.body is not None:
                bodies.append((self._next_id, now_s, request.signal, request.encoding, request.body))
            for arrival in request.arrivals:
                trace = bytes.fromhex(arrival.trace_id)
                traces.append(_trace_values(trace, arrival, now_s))
                if arrival.spans or arrival.logs:
                    talks.append((trace, arrival, now_s))
                    if request.body is not None:
                        links.append((trace, self._next_id))
            self._next_id += request.body is not None
        db.executemany(_INSERT_BODY, bodies)
        db.executemany(_UPSERT_TRACE, traces)
        numbers = numbers_of(db, "traces", "trace_id", [trace for trace, _, _ in talks])
        db.executemany(_INSERT_LINK, [(numbers[trace], body) for trace, body in links])
        join_conversations(db, [(numbers[trace], arrival, now_s) for trace, arrival, now_s in talks])
        return [None] * len(requests)


def join_conversations(db: sqlite3.Connection, talks: Sequence[tuple[int, Arrival, float]]) -> None:
    """Tell the conversations of traces that something came; ids in a better spelling take the place of those known so far."""
    known = known_conversations(db, [trace for trace, _, _ in talks])
    links: list[tuple[str, int, int]] = []
    told: list[tuple[Any, ...]] = []
    for trace, arrival, now_s in talks:
        rank, names = known.get(trace, (None, set[str]()))
        if arrival.conversations and (rank is None or arrival.id_rank <= rank):
            if rank is not None and arrival.id_rank < rank:
                _tell(db, links, told)
                unlink(db, trace, names)
                names = set()
            links += [(name, trace, arrival.id_rank) for name in arrival.conversations]
            names = names | set(arrival.conversations)
            known[trace] = (arrival.id_rank, names)
        due_s = arrival.conversation_due_s if arrival.conversation_due_s is not None else arrival.due_s
        told += [(name, now_s, now_s, due_s, arrival.end_marked) for name in sorted(names)]
    _tell(db, links, told)


def _tell(db: sqlite3.Connection, links: list[tuple[str, int, int]], told: list[tuple[Any, ...]]) -> None:
    db.executemany(_UPSERT_CONVERSATION, told)
    numbers = numbers_of(db, "conversations", "name", [name for name, _, _ in links])
    db.executemany(_JOIN, [(numbers[name], trace, rank) for name, trace, rank in links])
    links.clear()
    told.clear()


def link(db: sqlite3.Connection, trace: int, arrival: Arrival, now_s: float) -> None:
    """Hang a trace on the conversations of an arrival."""
    told = [(name, now_s, now_s, arrival.due_s, arrival.end_marked) for name in arrival.conversations]
    _tell(db, [(name, trace, arrival.id_rank) for name in arrival.conversations], told)


def numbers_of(db: sqlite3.Connection, table: str, column: str, keys: Iterable[Any]) -> dict[Any, int]:
    """The numbers of rows by their keys."""
    numbers: dict[Any, int] = {}
    for part in parts(list(dict.fromkeys(keys))):
        numbers.update(db.execute(f"SELECT {column}, id FROM {table} WHERE {column} IN ({marks(part)})", part).fetchall())
    return numbers


def known_conversations(db: sqlite3.Connection, traces: Iterable[int]) -> dict[int, tuple[int, set[str]]]:
    """The conversations of traces that have some, with the rank of their spelling."""
    known: dict[int, tuple[int, set[str]]] = {}
    for part in parts(list(dict.fromkeys(traces))):
        sql = (
            "SELECT l.trace, c.name, l.rank FROM conversation_traces l JOIN conversations c ON c.id = l.conversation "
            f"WHERE l.trace IN ({marks(part)})"
        )
        for trace, name, rank in db.execute(sql, part):
            best, names = known.get(trace, (rank, set()))
            known[trace] = (min(best, rank), names | {name})
    return known


def unlink(db: sqlite3.Connection, trace: int, names: Iterable[str]) -> None:
    """Take a trace out of conversations. One that nothing is left of and that never was scored is forgotten."""
    for number in numbers_of(db, "conversations", "name", names).values():
        db.execute("DELETE FROM conversation_traces WHERE conversation = ? AND trace = ?", (number, trace))
        db.execute(
            "DELETE FROM conversations WHERE id = ? AND scored_s IS NULL "
            "AND NOT EXISTS (SELECT 1 FROM conversation_traces l WHERE l.conversation = conversations.id) "
            "AND NOT EXISTS (SELECT 1 FROM work WHERE kind = 'conversation' AND key = conversations.name)",
            (number,),
        )


def _trace_values(trace: bytes, a: Arrival, now_s: float) -> tuple[Any, ...]:
    seen = (a.root_ended, a.end_marked, a.is_session, a.is_genai, a.has_error)
    return (trace, now_s, now_s, a.due_s, *seen, a.spans, a.logs, a.own_spans, a.start_ns, a.end_ns, a.service, a.trace_state)


def parts(keys: list[T]) -> Iterator[list[T]]:
    """Keys in portions that one query can name."""
    for start in range(0, len(keys), _IDS_AT_ONCE):
        yield keys[start : start + _IDS_AT_ONCE]


def marks(keys: Sequence[Any]) -> str:
    """A question mark for each key."""
    return ",".join("?" * len(keys))
