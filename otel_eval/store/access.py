"""How every part of the store reaches its database: one thread writes, anyone reads."""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from otel_eval.errors import StoreError
from otel_eval.store.clock import SteadyClock
from otel_eval.store.faults import error_from_fault, place_of
from otel_eval.store.opening import FileLock, note_moment, open_file, open_memory, reader
from otel_eval.store.writer import Hook, RunMany, Writer

T = TypeVar("T")

_KEPT_READERS = 4


class Access:
    """The connections. `path` None is a store in memory, where readers and the writer take turns on one connection."""

    def __init__(self, path: Path | None, clock: SteadyClock, *, measure: Hook, tend: Hook) -> None:
        self.path, self.place, self.clock = path, place_of(path), clock
        self._file_lock: FileLock | None = None
        if path is None:
            self._db = open_memory(clock)
        else:
            self._db, self._file_lock = open_file(path, clock)
        self._lock, self._guard = threading.RLock(), threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._is_closed = False
        self.writer = Writer(self._db, self.place, lock=self._lock, measure=measure, tend=tend)

    def write(self, run: Callable[[sqlite3.Connection], T]) -> "Future[T]":
        """Do something in a transaction of the writer. StoreError when closed; the future raises Overloaded or StoreError."""
        return self.writer.submit(run)

    def write_many(self, run_many: RunMany, value: Any, *, size: int = 0) -> "Future[Any]":
        """The same for work that is cheaper for many at once."""
        return self.writer.submit_many(run_many, value, size=size)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with, for a short while. StoreError or Overloaded when it cannot."""
        if self._is_closed:
            raise StoreError(f"the store {self.place!r} is closed")
        if self.path is None:
            with self._lock, self._told():
                yield self._db
            return
        with self._told(), ExitStack() as undo:
            db = self._taken_reader(self.path)
            undo.callback(db.close)
            yield db
            undo.pop_all()
            self._put_back(db)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        with self.read() as db:
            return db.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """The first row of a query, None without one."""
        with self.read() as db:
            return db.execute(sql, values).fetchone()

    def close(self) -> None:
        """Commit what is queued, write the log into the file, close. A second time is harmless."""
        if self._is_closed:
            return
        self.writer.close()
        with self._lock, self._guard:
            self._is_closed = True
            readers, self._readers = self._readers, []
        for db in readers:
            db.close()
        try:
            note_moment(self._db, self.clock.now_s())
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error:
            pass  # what is committed stands in the log and is read from there at the next start
        finally:
            self._db.close()
            if self._file_lock is not None:
                self._file_lock.release()

    def abandon(self) -> None:
        """Let go of the lock's copy. Connections are neither used nor closed: SQLite forbids both on the other side of a fork."""
        self._is_closed = True
        if self._file_lock is not None:
            self._file_lock.release()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as fault:
            raise error_from_fault(fault, self.place) from fault

    def _taken_reader(self, path: Path) -> sqlite3.Connection:
        with self._guard:
            if self._readers:
                return self._readers.pop()
        return reader(path)

    def _put_back(self, db: sqlite3.Connection) -> None:
        with self._guard:
            if len(self._readers) < _KEPT_READERS and not self._is_closed:
                self._readers.append(db)
                return
        db.close()
