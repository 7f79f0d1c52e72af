"""Opening a store's file: made if it is missing, refused with a reason if it is not ours, newer, read-only, damaged or in use."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from otel_eval.errors import ConfigError, InUse, OtelEvalError
from otel_eval.store.clock import TOLERANCE_S, SteadyClock
from otel_eval.store.faults import error_from_fault, kind_of
from otel_eval.store.schema import APPLICATION_ID, PAGE_BYTES, TIMES, migrate
from otel_eval.store.transaction import Transaction

try:
    import fcntl
except ImportError:  # not on Windows: there the file is only protected by SQLite's own locks
    fcntl: ModuleType | None = None  # type: ignore[no-redef]  # the name stands for the module or its absence

OLDEST_SQLITE = (3, 35, 0)
"""The first with RETURNING."""
BUSY_MS = 5_000
"""So long another program may hold the file before a commit is given up."""
_CHECKPOINT_PAGES = 256
_WAL_BYTES = 64 * 1024 * 1024


class FileLock:
    """One worker a store: held by the process as long as it lives, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        with ExitStack() as undo:
            undo.callback(os.close, self._file)
            self._take(path)
            undo.pop_all()

    def _take(self, path: Path) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pid = os.read(self._file, 20).decode("ascii", "replace").strip()
            raise InUse(
                f"the store {str(path)!r} is in use by process {pid or 'unknown'}: stop it, or give each worker a file of its own"
            ) from None
        with suppress(OSError):  # a full disk: the number is only told to others
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        os.close(self._file)


def open_file(path: Path, clock: SteadyClock) -> tuple[sqlite3.Connection, FileLock]:
    """The writing connection, with the newest tables, and the lock. ConfigError says what is wrong and what to do."""
    _check_library()
    _check_place(path)
    try:
        with ExitStack() as undo:
            lock = FileLock(path)
            undo.callback(lock.release)
            db = connect(path)
            undo.callback(db.close)
            _check_ours(db, path)
            prepare(db, str(path))
            align_clock(db, clock)
            undo.pop_all()
            return db, lock
    except (sqlite3.Error, OSError) as fault:
        raise _as_config_error(fault, path) from fault


def open_memory(clock: SteadyClock) -> sqlite3.Connection:
    """A store that ends with the process."""
    _check_library()
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    prepare(db, "in memory")
    align_clock(db, clock)
    return db


def connect(path: Path) -> sqlite3.Connection:
    """A connection as the writer needs it. The file is made for its owner alone: it holds conversations."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)


def prepare(db: sqlite3.Connection, place: str) -> None:
    """Settings, then tables. Page size and vacuum only take before the first table."""
    if db.execute("PRAGMA page_count").fetchone() == (0,):
        db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode not in ("wal", "memory"):
        raise ConfigError(
            f"the store {place!r} lies on a disk that cannot share memory (a network disk?): name a local file in `store.path`"
        )
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA fullfsync = ON")  # macOS: the only sync that reaches the disk there
    db.execute("PRAGMA checkpoint_fullfsync = ON")
    db.execute("PRAGMA cache_size = -8000")
    db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}").fetchall()
    db.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}").fetchall()
    db.execute("PRAGMA temp_store = MEMORY")
    if db.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(db, place)


def reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    db.execute("PRAGMA query_only = ON")
    db.execute("PRAGMA cache_size = -2000")
    return db


@contextmanager
def foreign_reader(path: Path) -> Iterator[sqlite3.Connection]:
    """A reading connection to a store that another process may be writing. ConfigError where there is no store."""
    if not path.is_file():
        raise ConfigError(f"there is no store at {str(path)!r}: expected the file that `store.path` names")
    try:
        with closing(_untouched(path) if _lies_still(path) else reader(path)) as db:
            if db.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                raise ConfigError(f"{str(path)!r} is no store of otel-eval: expected the file that `store.path` names")
            yield db
    except sqlite3.Error as fault:
        raise _as_config_error(fault, path) from fault


def _lies_still(path: Path) -> bool:
    """Whether a store that was closed lies where nothing can be written, such as a back-up: SQLite could not make its log there."""
    log = path.with_name(path.name + "-wal")
    return not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def _untouched(path: Path) -> sqlite3.Connection:
    """A connection that reads the file as it lies, without locks and without the files beside it."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False)


def align_clock(db: sqlite3.Connection, clock: SteadyClock) -> None:
    """Take up the store's time. Where the machine's clock was set back behind it, the store's moments are moved back by as much."""
    last_s = last_moment_s(db)
    behind_s = last_s - clock.now_s()
    if behind_s > TOLERANCE_S:
        with Transaction(db):
            for table, columns in TIMES:
                db.execute(f"UPDATE {table} SET {', '.join(f'{c} = {c} - ?' for c in columns)}", [behind_s] * len(columns))
            note_moment(db, last_s - behind_s)
    else:
        clock.not_before(last_s)


def note_moment(db: sqlite3.Connection, moment_s: float) -> None:
    """Remember how late it was."""
    db.execute("INSERT OR REPLACE INTO meta VALUES ('last_s', ?)", (moment_s,))


def last_moment_s(db: sqlite3.Connection) -> float:
    """The latest moment that the store surely saw: noted now and then, and the arrival of the newest body."""
    noted = db.execute("SELECT value FROM meta WHERE name = 'last_s'").fetchone()
    newest = db.execute("SELECT received_s FROM bodies ORDER BY id DESC LIMIT 1").fetchone()
    return max((float(row[0]) for row in (noted, newest) if row is not None), default=0.0)


def _check_library() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise ConfigError(f"this Python has SQLite {sqlite3.sqlite_version}, the store needs {'.'.join(map(str, OLDEST_SQLITE))} or newer")


def _check_place(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise ConfigError(f"the folder of the store {str(path)!r} does not exist: make it, or change `store.path`")
    if path.exists() and not path.is_file():
        raise ConfigError(f"the store {str(path)!r} is no file: change `store.path`")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ConfigError(f"the store {str(path)!r} cannot be written: give this user the right to write it and its folder")


def _check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with tables of somebody else."""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    tables = db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    if tables is not None and application != APPLICATION_ID:
        raise ConfigError(f"{str(path)!r} is a database of another program: name another file in `store.path`")


def _as_config_error(fault: Exception, path: Path) -> OtelEvalError:
    """What is wrong before the first byte is for the operator to mend."""
    if getattr(fault, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return ConfigError(f"{str(path)!r} is no store of otel-eval: move it away, or name another file in `store.path`")
    error = error_from_fault(fault, str(path))
    return error if kind_of(fault) == "other" else ConfigError(str(error))
