"""The thread that writes."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from otel_eval.errors import OtelEvalError, StoreError
from otel_eval.store import writer as writer_module
from otel_eval.store.writer import Writer


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    made.execute("CREATE TABLE t (x UNIQUE)")
    yield made
    made.close()


@pytest.fixture
def lock() -> threading.RLock:
    return threading.RLock()


@pytest.fixture
def writer(db: sqlite3.Connection, lock: threading.RLock) -> Iterator[Writer]:
    made = Writer(db, "here", lock=lock, measure=nothing, tend=nothing)
    yield made
    made.close()


def nothing(db: sqlite3.Connection) -> None:
    """A hook that does nothing."""


def insert(value: int) -> Any:
    return lambda db: db.execute("INSERT INTO t VALUES (?)", (value,)).rowcount


def insert_many(db: sqlite3.Connection, values: Any) -> Any:
    db.executemany("INSERT INTO t VALUES (?)", [(v,) for v in values])
    return [len(values)] * len(values)


def held(writer: Writer, lock: threading.RLock, *work: Any) -> list["Future[Any]"]:
    """Queue work while the writer cannot begin, so that it is one group."""
    with lock:
        first = writer.submit(lambda db: None)  # taken by the thread, which then waits for the lock
        while writer._queue:
            pass
        futures = [writer.submit(run) for run in work]
    first.result()
    return futures


def rows(db: sqlite3.Connection) -> list[int]:
    return [x for (x,) in db.execute("SELECT x FROM t ORDER BY x")]


def test_what_is_queued_is_one_commit(writer: Writer, lock: threading.RLock, db: sqlite3.Connection) -> None:
    """All that came while a commit ran goes into the next one."""
    futures = held(writer, lock, *(insert(n) for n in range(50)))
    assert [f.result() for f in futures] == [1] * 50
    assert (writer.counts.commits, writer.counts.items) == (2, 51)
    assert rows(db) == list(range(50))


def test_one_that_fails_takes_nobody_with_it(writer: Writer, lock: threading.RLock, db: sqlite3.Connection) -> None:
    """Where one of a group fails, it alone is told so; the others are done."""
    futures = held(writer, lock, insert(1), insert(1), insert(2))
    assert futures[0].result() == 1
    with pytest.raises(StoreError):
        futures[1].result()
    assert futures[2].result() == 1
    assert rows(db) == [1, 2]
    assert writer.trouble is None
    assert writer.counts.faults["IntegrityError"] > 0


def test_a_fault_of_the_environment_fails_the_group_at_once(writer: Writer, lock: threading.RLock, db: sqlite3.Connection) -> None:
    """Where the disk or the file is at fault nobody is tried alone: all are told, each with an error of its own, and nothing is written."""

    def full(db: sqlite3.Connection) -> None:
        raise OSError(28, "No space left on device")

    futures = held(writer, lock, insert(1), full, insert(2))
    faults = [f.exception() for f in futures]
    assert all(isinstance(fault, OtelEvalError) and "full" in str(fault) for fault in faults)
    assert len({id(fault) for fault in faults}) == 3
    assert rows(db) == []
    assert writer.trouble is not None
    writer.submit(insert(3)).result()
    assert writer.trouble is None


def test_neighbours_of_a_kind_are_done_together(writer: Writer, lock: threading.RLock) -> None:
    """Values for the same work that stand next to each other are handed over at once."""
    with lock:
        first = writer.submit(lambda db: None)
        while writer._queue:
            pass
        futures = [writer.submit_many(insert_many, n) for n in (1, 2, 3)]
        futures.append(writer.submit(insert(4)))
        futures.append(writer.submit_many(insert_many, 5))
    first.result()
    assert [f.result() for f in futures] == [3, 3, 3, 1, 1]


def test_a_group_is_bounded_by_its_bytes(writer: Writer, lock: threading.RLock) -> None:
    """What would make a commit too large waits for the next; one larger than the bound goes alone."""
    with lock:
        first = writer.submit(lambda db: None)
        while writer._queue:
            pass
        size = writer_module.GROUP_BYTES // 2
        futures = [writer.submit_many(insert_many, n, size=size) for n in range(4)]
        futures.append(writer.submit_many(insert_many, 4, size=4 * size))
        assert writer.queued_bytes == 8 * size
    first.result()
    for future in futures:
        future.result()
    assert writer.counts.commits == 4
    writer.submit(lambda db: None).result()
    assert writer.queued_bytes == 0


def test_hooks_that_fail_are_counted(db: sqlite3.Connection, lock: threading.RLock) -> None:
    """Whatever house-keeping raises, the thread goes on."""

    def broken(db: sqlite3.Connection) -> None:
        raise RuntimeError

    writer = Writer(db, "here", lock=lock, measure=broken, tend=broken)
    assert writer.submit(insert(1)).result() == 1
    assert writer.submit(insert(2)).result() == 1
    writer.close()
    assert writer.counts.faults["RuntimeError"] >= 3


def test_closing_does_what_is_queued(writer: Writer, db: sqlite3.Connection) -> None:
    """What was asked before the end is done; what is asked later is refused."""
    futures = [writer.submit(insert(n)) for n in range(20)]
    writer.close()
    assert [f.result() for f in futures] == [1] * 20
    with pytest.raises(StoreError, match="closed"):
        writer.submit(insert(99))


def test_a_slow_disk_is_waited_for_only_where_others_wait(writer: Writer) -> None:
    """A moment is spent only when the last commit was slow and had company: half of it, at most 5 ms."""
    writer.counts.last_commit_s = 0.02
    writer._crowd = False
    assert writer._courtesy_s() == 0
    writer._crowd = True
    assert writer._courtesy_s() == 0.005
    writer.counts.last_commit_s = 0.004
    assert writer._courtesy_s() == 0.002
    writer.counts.last_commit_s = 0.001
    assert writer._courtesy_s() == 0
