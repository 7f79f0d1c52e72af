"""Traces that are another worker's now, and whether all that came of one is settled."""

import sqlite3
from collections.abc import Iterable
from concurrent.futures import Future

from otel_eval.store.access import Access
from otel_eval.store.inbox import known_conversations, unlink
from otel_eval.store.janitor import release

_OPEN_TRACE = "SELECT 1 FROM traces WHERE trace_id = ? AND (scored_s IS NULL OR last_s > scored_s)"
_OPEN_CONVERSATION = (
    "SELECT 1 FROM traces t JOIN conversation_traces l ON l.trace = t.id JOIN conversations c ON c.id = l.conversation "
    "WHERE t.trace_id = ? AND (c.scored_s IS NULL OR c.last_s > c.scored_s)"
)
_UNSENT_OF_TRACE = "SELECT 1 FROM outbox WHERE kind = 'trace' AND key = ? AND dead = 0"
_UNSENT_OF_CONVERSATION = (
    "SELECT 1 FROM traces t JOIN conversation_traces l ON l.trace = t.id JOIN conversations c ON c.id = l.conversation "
    "JOIN outbox o ON o.kind = 'conversation' AND o.key = c.name WHERE t.trace_id = ? AND o.dead = 0"
)
_TRACES_LEFT = "SELECT 1 FROM conversation_traces l WHERE l.conversation = conversations.id"
_IS_OPEN = " OR ".join(f"EXISTS ({sql})" for sql in (_OPEN_TRACE, _OPEN_CONVERSATION, _UNSENT_OF_TRACE, _UNSENT_OF_CONVERSATION))


def is_settled(access: Access, trace_id: str) -> bool:
    """Whether a trace and its conversations have their outcomes, all that came is in them, and the sinks have what they were to get.

    True for a trace that is not known: it was forgotten.
    """
    trace = bytes.fromhex(trace_id)
    row = access.row(f"SELECT {_IS_OPEN}", (trace, trace, trace_id, trace))
    return not row[0]


def forget(access: Access, trace_ids: Iterable[str]) -> "Future[None]":
    """Forget traces with all that stands of them; of their conversations too, where no other trace is left. Counts of outcomes stay."""
    listed = tuple(trace_ids)

    def run(db: sqlite3.Connection) -> None:
        for trace_id in listed:
            _forget(db, bytes.fromhex(trace_id))

    return access.write(run)


def _forget(db: sqlite3.Connection, trace_id: bytes) -> None:
    row = db.execute("SELECT id FROM traces WHERE trace_id = ?", (trace_id,)).fetchone()
    if row is None:
        return
    names = known_conversations(db, [row[0]]).get(row[0], (0, set[str]()))[1]
    release(db, [row[0]])
    unlink(db, row[0], names)
    db.execute("DELETE FROM traces WHERE id = ?", row)
    _forget_unit(db, "trace", trace_id.hex())
    for name in names:
        db.execute(f"DELETE FROM conversations WHERE name = ? AND NOT EXISTS ({_TRACES_LEFT})", (name,))
        if db.execute("SELECT 1 FROM conversations WHERE name = ?", (name,)).fetchone() is None:
            _forget_unit(db, "conversation", name)


def _forget_unit(db: sqlite3.Connection, kind: str, key: str) -> None:
    for table in ("work", "outbox", "outcomes", "results", "deliveries"):
        db.execute(f"DELETE FROM {table} WHERE kind = ? AND key = ?", (kind, key))
