"""How the costs of `serve` grow: with what its store remembers, with the turns of a conversation, with what waits at a start."""

import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from benchmarks.processes import cpu_s, rss_mb
from benchmarks.sending import bodies, send
from benchmarks.servers import OtelEval
from benchmarks.serving_figures import Figure, at_most
from benchmarks.serving_load import REQUESTS, Run, run, run_on, wait_for
from otel_eval.store import Store
from tests.fakes.serving import settled

FEW_ROWS, MANY_ROWS = 1_000, 1_000_000
FEW_TURNS, MANY_TURNS = 90, 400
FEW_WAITING, MANY_WAITING = 1, 100
"""Requests of twenty traces that wait at a start."""
_OUTCOMES = "INSERT INTO outcomes (kind, key, revision, at_s, outcome, reason, detail, selected_by, facts)"


def remember(store: Path, rows: int) -> None:
    """Make a store that remembers so many traces and conversations, all of them scored an hour ago, of which nothing waits."""
    Store(store).close()
    with closing(sqlite3.connect(store)) as db:
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -1000000"):  # it only has to be quick
            db.execute(f"PRAGMA {setting}").fetchall()
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})"
        then = "unixepoch() - 3600.0"
        for statement in (
            "INSERT INTO traces (id, trace_id, first_s, last_s, scored_s, revision, released, root_ended, end_marked, is_session, "
            f"is_genai, has_error, spans, logs, own_spans) {numbers} "
            f"SELECT i, randomblob(16), {then}, {then}, {then}, 1, 1, 1, 0, 0, 1, 0, 10, 0, 0 FROM n",
            f"INSERT INTO conversations (id, name, first_s, last_s, scored_s, revision, end_marked) {numbers} "
            f"SELECT i, hex(randomblob(8)), {then}, {then}, {then}, 1, 0 FROM n",
            f"INSERT INTO conversation_traces {numbers} SELECT i, i, 0 FROM n",
            f"{_OUTCOMES} SELECT 'trace', lower(hex(trace_id)), 1, last_s, 'scored', '', '', '', '{{}}' FROM traces",
            f"{_OUTCOMES} SELECT 'conversation', name, 1, last_s, 'scored', '', '', '', '{{}}' FROM conversations",
        ):
            db.execute(statement)
        db.commit()


class Remembering(OtelEval):
    """A server whose store remembers much; only spans that came since count."""

    def __enter__(self) -> "Remembering":
        self._before = self._one("SELECT max(id) FROM traces")
        super().__enter__()
        return self

    def converted(self) -> int:
        return self._one(f"SELECT ifnull(sum(spans), 0) FROM traces WHERE id > {self._before}") if settled(self.server) else 0

    def _one(self, sql: str) -> int:
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return int(db.execute(sql).fetchone()[0])


def rows(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """The same requests to a store of a thousand rows and of a million."""
    runs: dict[int, list[Run]] = {FEW_ROWS: [], MANY_ROWS: []}
    with tempfile.TemporaryDirectory() as folder:
        for count in runs:
            (Path(folder) / str(count)).mkdir()
            remember(Path(folder) / str(count) / "store.db", count)
        for turn in range(rounds):
            requests = bodies(requests=REQUESTS, turns=10, seed=turn * REQUESTS)
            for count, found in runs.items():
                found.append(run_on(Remembering(Path(folder) / str(count), store__max_bytes="20GiB"), requests))
    few, many = runs[FEW_ROWS], runs[MANY_ROWS]
    acknowledged = median(m.acknowledged_s / f.acknowledged_s for m, f in zip(many, few, strict=True))
    converted = median(m.converted_s / f.converted_s for m, f in zip(many, few, strict=True))
    told = f"{FEW_ROWS:,} → {MANY_ROWS:,} rows in the store: CPU s until"
    return [at_most(f"{told} acknowledged, times", acknowledged, 2.0), at_most(f"{told} converted and scored, times", converted, 1.5)]


def turns(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """One conversation that comes turn by turn; processor seconds a turn."""
    settings = {"completion__trace_quiet": "200ms", "completion__conversation_idle": "3s"}
    few, many = [], []
    for _ in range(rounds):
        for count, found in ((FEW_TURNS, few), (MANY_TURNS, many)):
            requests = bodies(requests=count, spans=10, conversation="conv-of-many-turns")
            made = run(lambda folder: OtelEval(folder, **settings), requests, gap_s=0.2, spans=10)
            found.append(made.converted_s)
    told = f" ({median(few):.2f} and {median(many):.2f} CPU s per 10k spans)"
    value = median(m / f for m, f in zip(many, few, strict=True))
    return [at_most(f"{FEW_TURNS} → {MANY_TURNS} turns of one conversation: CPU s a turn, times", value, 1.3, told=told)]


def backlog(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """A start while much waits: processor seconds until requests are taken, and memory then."""
    started = {count: [_start_with(count) for _ in range(rounds)] for count in (FEW_WAITING, MANY_WAITING)}
    few_s, many_s = (median(cpu for cpu, _ in started[count]) for count in (FEW_WAITING, MANY_WAITING))
    few_mb, many_mb = (median(mb for _, mb in started[count]) for count in (FEW_WAITING, MANY_WAITING))
    told = f"start with {FEW_WAITING * 20} → {MANY_WAITING * 20:,} traces that wait"
    return [
        at_most(f"{told}: CPU s until ready, times", many_s / few_s, 1.25, told=f" ({few_s:.2f} and {many_s:.2f} s)"),
        at_most(f"{told}: memory when ready, more by", many_mb - few_mb, 5, unit=" MB", told=f" ({few_mb:.0f} and {many_mb:.0f} MB)"),
    ]


def _start_with(waiting: int) -> tuple[float, float]:
    """(processor seconds until the ports are bound, MB then) of a start with so many requests kept and not due."""
    with tempfile.TemporaryDirectory() as folder:
        side = OtelEval(Path(folder), completion__trace_quiet="1h", completion__trace_max_age="2h", completion__conversation_idle="1h")
        with side:
            sent = send(side.target, bodies(requests=waiting))
            wait_for(lambda: sent.accepted == waiting)
        with side:
            found = cpu_s(side.pid), rss_mb(side.pid)
            time.sleep(0.1)
        return found
