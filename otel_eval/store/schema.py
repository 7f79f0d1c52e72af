"""The tables, and how a file of an older version becomes one of this version.

Times are seconds of the store's clock, ids of traces are their 16 bytes, units are a kind (`trace`, `conversation`) and a key (the
hexadecimal trace id, the
conversation's id). Content stands in `bodies`, `results`, `outbox` and `verdicts`; everything else is ids, counts and times.
"""

import sqlite3
from collections.abc import Sequence

from otel_eval.errors import ConfigError

APPLICATION_ID = 0x6F74_6576
"""`otev`: tells a store from any other SQLite file."""

PAGE_BYTES = 16_384
"""Bodies are large: a page of 16 KiB costs a third less than one of 4 (`performance.md` 3). It holds only if set before the first table."""

MIGRATIONS: Sequence[str] = (
    # 1: the first version
    """
    CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

    -- Requests as they were received, still compressed.
    CREATE TABLE bodies (
        id INTEGER PRIMARY KEY, received_s REAL NOT NULL, signal TEXT NOT NULL, encoding TEXT NOT NULL, data BLOB NOT NULL
    );
    CREATE TABLE body_traces (trace INTEGER NOT NULL, body INTEGER NOT NULL, PRIMARY KEY (trace, body)) WITHOUT ROWID;
    CREATE INDEX body_traces_body ON body_traces (body);

    -- Traces and conversations have numbers in order of arrival: only one index of each is scattered over the file, so that a store of a
    -- million traces takes requests nearly as fast as an empty one.
    CREATE TABLE traces (
        id INTEGER PRIMARY KEY, trace_id BLOB NOT NULL UNIQUE,
        first_s REAL NOT NULL, last_s REAL NOT NULL, due_s REAL,
        scored_s REAL, revision INTEGER NOT NULL DEFAULT 0,
        release_s REAL, released INTEGER NOT NULL DEFAULT 0,
        root_ended INTEGER NOT NULL, end_marked INTEGER NOT NULL, is_session INTEGER NOT NULL,
        is_genai INTEGER NOT NULL, has_error INTEGER NOT NULL,
        spans INTEGER NOT NULL, logs INTEGER NOT NULL, own_spans INTEGER NOT NULL,
        start_ns INTEGER, end_ns INTEGER,
        service TEXT, trace_state TEXT
    );
    CREATE INDEX traces_due ON traces (due_s) WHERE due_s IS NOT NULL;
    CREATE INDEX traces_release ON traces (release_s) WHERE release_s IS NOT NULL;

    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
        first_s REAL NOT NULL, last_s REAL NOT NULL, due_s REAL,
        scored_s REAL, revision INTEGER NOT NULL DEFAULT 0,
        end_marked INTEGER NOT NULL
    );
    CREATE INDEX conversations_due ON conversations (due_s) WHERE due_s IS NOT NULL;
    -- `rank`: how good the spelling is in which the id came, 0 the best.
    CREATE TABLE conversation_traces (
        conversation INTEGER NOT NULL, trace INTEGER NOT NULL, rank INTEGER NOT NULL, PRIMARY KEY (conversation, trace)
    ) WITHOUT ROWID;
    CREATE INDEX conversation_traces_trace ON conversation_traces (trace, rank);

    -- Units that are selected and wait for a judge.
    CREATE TABLE work (
        kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, queue TEXT NOT NULL,
        since_s REAL NOT NULL, seen_s REAL NOT NULL, probability REAL, selected_by TEXT NOT NULL, facts TEXT NOT NULL,
        claimed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (kind, key)
    ) WITHOUT ROWID;
    CREATE INDEX work_order ON work (queue, claimed, since_s);

    CREATE TABLE outcomes (
        id INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, at_s REAL NOT NULL,
        outcome TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
        probability REAL, selected_by TEXT NOT NULL, facts TEXT NOT NULL, UNIQUE (kind, key)
    );
    CREATE INDEX outcomes_at ON outcomes (at_s);
    CREATE TABLE outcome_counts (
        kind TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, units INTEGER NOT NULL, PRIMARY KEY (kind, outcome, reason)
    ) WITHOUT ROWID;

    CREATE TABLE results (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, at_s REAL NOT NULL,
        metric TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, data TEXT NOT NULL
    );
    CREATE INDEX results_unit ON results (kind, key);

    -- What waits for a sink; in order of id for each unit.
    CREATE TABLE outbox (
        id INTEGER PRIMARY KEY, sink TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL,
        created_s REAL NOT NULL, not_before_s REAL NOT NULL, tries INTEGER NOT NULL DEFAULT 0, dead INTEGER NOT NULL DEFAULT 0,
        note TEXT NOT NULL DEFAULT '', payload BLOB NOT NULL
    );
    CREATE INDEX outbox_due ON outbox (sink, dead, not_before_s, id);
    CREATE INDEX outbox_unit ON outbox (kind, key, sink, id);
    CREATE TABLE deliveries (
        kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, sink TEXT NOT NULL,
        at_s REAL NOT NULL, tries INTEGER NOT NULL, note TEXT NOT NULL, PRIMARY KEY (kind, key, revision, sink)
    ) WITHOUT ROWID;

    CREATE TABLE ledger (id INTEGER PRIMARY KEY, run TEXT NOT NULL, time_s REAL NOT NULL, tokens INTEGER NOT NULL, usd REAL NOT NULL);
    CREATE INDEX ledger_time ON ledger (time_s);
    CREATE TABLE ledger_before (run TEXT PRIMARY KEY, tokens INTEGER NOT NULL, usd REAL NOT NULL) WITHOUT ROWID;
    CREATE TABLE verdicts (key TEXT PRIMARY KEY, time_s REAL NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX verdicts_time ON verdicts (time_s);
    """,
)

VERSION = len(MIGRATIONS)

TIMES: Sequence[tuple[str, tuple[str, ...]]] = (
    ("bodies", ("received_s",)),
    ("traces", ("first_s", "last_s", "due_s", "scored_s", "release_s")),
    ("conversations", ("first_s", "last_s", "due_s", "scored_s")),
    ("work", ("since_s", "seen_s")),
    ("outcomes", ("at_s",)),
    ("results", ("at_s",)),
    ("outbox", ("created_s", "not_before_s")),
    ("deliveries", ("at_s",)),
    ("ledger", ("time_s",)),
    ("verdicts", ("time_s",)),
)
"""Every column that holds a moment: what is moved when the clock was set back."""


def migrate(db: sqlite3.Connection, place: str, migrations: Sequence[str] = MIGRATIONS) -> int:
    """Bring the tables to the newest version; the version they had. ConfigError where the file is newer than we are.

    Each step is one transaction with its version: a crash between two leaves a whole older store.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise ConfigError(
            f"the store {place!r} has version {version}, this otel-eval knows {len(migrations)}: "
            "use the newer otel-eval that wrote it, or name another file in `store.path`"
        )
    for number in range(version, len(migrations)):
        db.executescript(f"BEGIN IMMEDIATE; {migrations[number]} PRAGMA user_version = {number + 1}; COMMIT;")
    return int(version)
