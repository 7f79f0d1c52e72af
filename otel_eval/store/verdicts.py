"""Verdicts in the store: the `Store` of `judges.cache`. A verdict is queued before the result that rests on it, so it is never on disk
later."""

import sqlite3
import threading
from concurrent.futures import Future

from otel_eval.store.access import Access

TTL_S = 30 * 86_400.0


class StoreVerdicts:
    """Verdicts by key, forgotten after `ttl_s`."""

    def __init__(self, access: Access, *, ttl_s: float = TTL_S) -> None:
        self._access, self._ttl_s = access, ttl_s
        self._guard = threading.Lock()
        self._pending: dict[str, str] = {}
        """Put and not yet committed: read from here."""

    def get(self, key: str) -> str | None:
        with self._guard:
            pending = self._pending.get(key)
        if pending is not None:
            return pending
        oldest_s = self._access.clock.now_s() - self._ttl_s
        row = self._access.row("SELECT value FROM verdicts WHERE key = ? AND time_s >= ?", (key, oldest_s))
        return row[0] if row is not None else None

    def put(self, key: str, value: str) -> None:
        """Keep a verdict. Where the store cannot, the same question costs once more, no worse."""
        with self._guard:
            self._pending[key] = value
        now_s = self._access.clock.now_s()

        def run(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO verdicts (key, time_s, value) VALUES (?, ?, ?)", (key, now_s, value))

        def forget(_: "Future[None]") -> None:
            with self._guard:
                if self._pending.get(key) is value:
                    del self._pending[key]

        self._access.write(run).add_done_callback(forget)
