"""What SQLite and the operating system say, in our words."""

import errno
import sqlite3
from pathlib import Path

from otel_eval.errors import NotStorable, OtelEvalError, Overloaded, StoreError

RETRY_FULL_S, RETRY_LOCKED_S = 10.0, 2.0
"""A full disk is not emptied at once; a lock by another program is short."""

ENVIRONMENT: tuple[type[Exception], ...] = (sqlite3.OperationalError, sqlite3.DatabaseError, sqlite3.NotSupportedError, OSError)


def error_from_fault(fault: Exception, place: str) -> OtelEvalError:
    """The error of ours for what went wrong at the store in `place`: Overloaded where waiting helps, NotStorable where the content is
    at fault, else StoreError."""
    if isinstance(fault, OtelEvalError):
        return fault
    kind = kind_of(fault)
    if kind == "full":
        return Overloaded(
            f"the disk of the store {place!r} is full: make room there, or lower `store.max_bytes`", retry_after_s=RETRY_FULL_S
        )
    if kind == "locked":
        return Overloaded(f"the store {place!r} is locked by another program: close it", retry_after_s=RETRY_LOCKED_S)
    made = NotStorable if kind == "other" else StoreError
    return made(f"the store {place!r} {_SENTENCES[kind]} ({type(fault).__name__}, {_name_of(fault)})")


_SENTENCES = {
    "readonly": "cannot be written: expected a file and folder that this user may write; check their owner, mode and mount",
    "corrupt": "is damaged: save what can be read with `otel-eval store export`, then move the file away and start with a new one",
    "input_output": "cannot be read or written: the disk reports a fault; check it and its mount",
    "other": "refused what was asked",
}


def kind_of(fault: BaseException) -> str:
    """`full`, `locked`, `readonly`, `corrupt`, `input_output` or `other`."""
    if isinstance(fault, OSError):
        return _OS_KINDS.get(fault.errno or 0, "input_output")
    code = getattr(fault, "sqlite_errorcode", None)
    return _SQLITE_KINDS.get(code & 0xFF, "other") if code is not None else "other"


def is_environment(fault: BaseException) -> bool:
    """Whether the disk, the file or another program is at fault, so that the same work done alone fails as well."""
    return kind_of(fault) != "other"


_OS_KINDS = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EROFS: "readonly",
    errno.EACCES: "readonly",
    errno.EPERM: "readonly",
}

_SQLITE_KINDS = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "readonly",
    sqlite3.SQLITE_CANTOPEN: "readonly",
    sqlite3.SQLITE_PERM: "readonly",
    sqlite3.SQLITE_CORRUPT: "corrupt",
    sqlite3.SQLITE_NOTADB: "corrupt",
    sqlite3.SQLITE_IOERR: "input_output",
}


def _name_of(fault: Exception) -> str:
    """SQLite's own name of the fault: it never holds content."""
    return str(getattr(fault, "sqlite_errorname", None) or getattr(fault, "strerror", None) or "no further reason given")


def place_of(path: Path | None) -> str:
    """How a store is called in messages."""
    return "in memory" if path is None else str(path)
