"""Remembers verdicts: the same question to the same judge is not paid for twice.

A key is everything that matters: model, sampling, preamble, record (without its nonce), question, form, sample. Kept are answers, and the
two failures that come again for the same text: filtered and refused.
"""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply, question_key
from otel_eval.model import JudgeUse
from otel_eval.model.characters import whole

_KEPT_FAILURES = frozenset({"judge_filtered", "judge_refused"})
_TTL_S = 30 * 86_400.0


class Store(Protocol):
    """Where verdicts are kept."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, value: str) -> None: ...


class SqliteStore:
    """Verdicts in a SQLite database, in memory or in a file; forgotten after `ttl_s`."""

    def __init__(self, path: str | Path = ":memory:", *, ttl_s: float = _TTL_S, clock: Callable[[], float] = time.time) -> None:
        self._ttl_s, self._clock = ttl_s, clock
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS judge_cache (key TEXT PRIMARY KEY, time REAL NOT NULL, value TEXT NOT NULL)")
        self._db.execute("DELETE FROM judge_cache WHERE time < ?", (clock() - ttl_s,))

    def get(self, key: str) -> str | None:
        with self._lock:
            oldest = self._clock() - self._ttl_s
            row = self._db.execute("SELECT value FROM judge_cache WHERE key = ? AND time >= ?", (key, oldest)).fetchone()
        return row[0] if row else None

    def put(self, key: str, value: str) -> None:
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO judge_cache VALUES (?, ?, ?)", (key, self._clock(), value))

    def close(self) -> None:
        self._db.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheJudge:
    """A judge whose answers are kept. `identity` is everything about the judge that could change an answer: endpoint, model, sampling."""

    judge: Judge
    store: Store
    identity: str

    async def ask(self, question: Question) -> Reply:
        key = sha256(f"{self.identity}\n{question_key(question)}".encode()).hexdigest()
        kept = self.store.get(key)
        if kept is not None:
            return _reply_from_text(kept)
        try:
            reply = await self.judge.ask(question)
        except JudgeError as error:
            if error.reason in _KEPT_FAILURES:
                self.store.put(key, json.dumps({"reason": error.reason, "message": str(error)}))
            raise
        self.store.put(key, _text_from_reply(reply))
        return reply


def _text_from_reply(reply: Reply) -> str:
    use = {"kind": reply.use.kind, "model": reply.use.model, "prompt": reply.use.prompt, "prompt_hash": reply.use.prompt_hash}
    kept = {
        "answer": reply.answer,
        "use": use,
        "confidence": reply.confidence,
        "source": reply.confidence_source,
        "notes": dict(reply.notes),
    }
    return whole(json.dumps(kept, ensure_ascii=False))


def _reply_from_text(text: str) -> Reply:
    kept: Mapping[str, Any] = json.loads(text)
    if "reason" in kept:
        raise JudgeError(kept["reason"], kept["message"])
    return Reply(
        answer=kept["answer"],
        use=JudgeUse(**kept["use"], cached=True, input_tokens=0, output_tokens=0, cost_usd=0.0),
        confidence=kept["confidence"],
        confidence_source=kept["source"],
        notes=kept["notes"],
    )
