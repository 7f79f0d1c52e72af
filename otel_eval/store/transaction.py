"""All or nothing."""

import sqlite3
from types import TracebackType


class Transaction:
    """BEGIN IMMEDIATE … COMMIT; ROLLBACK where anything is raised. SQLite may have rolled back by itself (full disk)."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
