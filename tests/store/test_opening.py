"""Opening a file, and what may be wrong with it: before and while it is used."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.errors import ConfigError, Overloaded, StoreError
from otel_eval.store import Look, Store, Work
from otel_eval.store.schema import APPLICATION_ID, MIGRATIONS, PAGE_BYTES, VERSION, migrate
from tests.fakes.disks import small_disk
from tests.fakes.stores import START_S, Time, arrival, bodies, finished, open_store, put, request, talk, tend, trace_id, unit


def test_a_new_file_is_its_owners_alone_and_survives(tmp_path: Path) -> None:
    """The file is made for its owner alone; what was committed is there for the next start."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store, arrival(due_s=store.now_s()))
        pragmas = [store._access.row(f"PRAGMA {name}")[0] for name in ("page_size", "journal_mode", "application_id", "user_version")]
        assert pragmas == [PAGE_BYTES, "wal", APPLICATION_ID, VERSION]
        assert store._access.write(lambda db: db.execute("PRAGMA synchronous").fetchone()).result() == (2,)
    assert path.stat().st_mode & 0o077 == 0
    with open_store(path) as store:
        assert bodies(store, 1) == [b"body"]
        assert [row.trace_id for row in store.progress.due_traces(store.now_s())] == [trace_id(1)]


def test_work_that_was_claimed_is_taken_again(tmp_path: Path) -> None:
    """What was with a judge when the process ended is claimed anew after the next start."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store)
        store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=1.0)]).result()
        store.queues.claim("estimate").result()
    with open_store(path) as store:
        assert [w.unit for w in store.queues.claim("estimate").result()] == [unit(1)]


def test_one_worker_a_file(tmp_path: Path) -> None:
    """A second worker on the same file is refused with the first one's number; when that has gone, the file is free."""
    path = tmp_path / "store.db"
    with open_store(path), pytest.raises(ConfigError, match=rf"in use by process {os.getpid()}"):
        open_store(path)
    open_store(path).close()


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"this is no database, but long enough to be one" * 100, "no store of otel-eval"), (b"\x00" * 4096, "no store of otel-eval")],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path, content: bytes, says: str) -> None:
    """What is no store is not touched; the message says what to do."""
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        open_store(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """A SQLite file that somebody else made is not ours to change."""
    path = tmp_path / "store.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(ConfigError, match="another program"):
        open_store(path)


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    """A file that a newer otel-eval wrote is not read wrongly: it is refused, with both versions."""
    path = tmp_path / "store.db"
    open_store(path).close()
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.close()
    with pytest.raises(ConfigError, match=rf"has version {VERSION + 1}, this otel-eval knows {VERSION}"):
        open_store(path)


@pytest.mark.parametrize("place", ["missing/store.db", "folder"])
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, place: str) -> None:
    """A folder that is missing, or a folder in the file's place, is for the operator to mend."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConfigError, match=r"store\.path"):
        open_store(tmp_path / place)


def test_an_older_file_is_brought_forward() -> None:
    """Each missing step is made, in order, and once; a step that fails leaves the version before it."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    steps = ["CREATE TABLE a (x);", "CREATE TABLE b (x); INSERT INTO b VALUES (1);"]
    assert migrate(db, "here", steps[:1]) == 0
    assert migrate(db, "here", steps) == 1
    assert migrate(db, "here", steps) == 2
    assert db.execute("SELECT count(*) FROM b").fetchone() == (1,)
    with pytest.raises(sqlite3.OperationalError):
        migrate(db, "here", [*steps, "CREATE TABLE c (x); CREATE TABLE c (x);"])
    db.execute("ROLLBACK")
    assert db.execute("PRAGMA user_version").fetchone() == (2,)
    assert db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'c'").fetchone() is None
    db.close()


def test_the_tables_are_those_of_the_first_version() -> None:
    """A released step never changes: files of that version are out there."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db, "here", MIGRATIONS)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")}
    db.close()
    assert tables == {
        "bodies",
        "body_traces",
        "conversation_traces",
        "conversations",
        "deliveries",
        "ledger",
        "ledger_before",
        "meta",
        "outbox",
        "outcome_counts",
        "outcomes",
        "results",
        "traces",
        "verdicts",
        "work",
    }


def test_a_clock_set_back_between_starts_moves_the_store_back(tmp_path: Path) -> None:
    """When the machine's clock is behind the store, all its moments move: what was due in ten seconds still is due in ten."""
    path, time = tmp_path / "store.db", Time()
    with open_store(path, time) as store:
        put(store, arrival(1, due_s=START_S + 10, conversations=("c",), conversation_due_s=START_S + 20))
        time.pass_s(5)
    back = Time(wall_s=START_S - 7200)
    with open_store(path, back) as store:
        assert round(store.now_s()) == START_S - 7200
        assert store.progress.next_due_s() == pytest.approx(store.now_s() + 5, abs=0.1)
        row = store.progress.trace(trace_id(1))
        assert row is not None
        assert row.first_s == pytest.approx(store.now_s() - 5, abs=0.1)
        put(store, arrival(2))
        assert bodies(store, 1, 2) == [b"body", b"body"]


def test_a_clock_that_is_a_little_behind_waits_for_the_store(tmp_path: Path) -> None:
    """Seconds of difference move nothing: the store goes on from its own last moment."""
    path, time = tmp_path / "store.db", Time()
    with open_store(path, time) as store:
        put(store)
    with open_store(path, Time(wall_s=START_S - 30)) as store:
        assert store.now_s() >= START_S
        put(store)
        row = store.progress.trace(trace_id(1))
        assert row is not None
        assert row.last_s > row.first_s


def test_a_locked_file_says_so_and_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another program holds the file, requests are refused for now; then they are taken. Nothing acknowledged is lost."""
    monkeypatch.setattr("otel_eval.store.opening.BUSY_MS", 50)
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store, body=b"before")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Overloaded, match="locked by another program"):
            put(store, body=b"refused")
        assert isinstance(store.trouble, Overloaded)
        other.execute("ROLLBACK")
        other.close()
        put(store, body=b"after")
        assert store.trouble is None
        assert bodies(store, 1) == [b"before", b"after"]


def test_a_full_file_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    """Where SQLite has no page left the request is refused for now, and all before it is there."""
    with open_store(tmp_path / "store.db") as store:
        put(store, body=b"before")
        pages = store._access.row("PRAGMA page_count")[0]
        store._access.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages + 10}").fetchall()).result()
        with pytest.raises(Overloaded, match=r"disk of the store .* is full"):
            put(store, body=bytes(5_000_000))
        assert isinstance(store.trouble, Overloaded)
        put(store, body=b"small enough")
        assert bodies(store, 1) == [b"before", b"small enough"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", "9m") as place:
        yield place


def test_a_full_disk_says_so_and_is_used_again(disk: Path) -> None:
    """On a disk that is really full requests are refused for now and nothing breaks; what was acknowledged is there after a restart."""
    path, filler = disk / "store.db", disk / "filler"
    filler.write_bytes(bytes(3_000_000))
    with open_store(path) as store:
        taken = taken_until_full(store)
        with pytest.raises(Overloaded, match="full"):
            put(store, arrival(100), body=bytes(3_000_000))
        assert [len(bodies(store, n)) for n in range(1, taken + 2)] == [1] * taken + [0]
    filler.unlink()
    with open_store(path) as store:
        assert [len(bodies(store, n)) for n in range(1, taken + 2)] == [1] * taken + [0]
        put(store, arrival(100), body=b"small")
        assert bodies(store, 100) == [b"small"]
    assert taken >= 3


def taken_until_full(store: Store) -> int:
    """Bodies of 300 kB until one is refused because the disk is full; how many were taken."""
    for number in range(1, 100):
        try:
            put(store, arrival(number), body=bytes(300_000))
        except Overloaded:
            return number - 1
    raise AssertionError("the disk is larger than it should be")


READ_ONLY = """
import os, sys
from otel_eval.errors import ConfigError
from otel_eval.store import Store
os.setuid(65534)
try:
    Store(sys.argv[1])
except ConfigError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become somebody who may not write")
def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    """A file or folder without the right to write says so at the start."""
    path = tmp_path / "store.db"
    open_store(path).close()
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    run = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(path)], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert "cannot be written" in run.stdout, run.stderr


def test_a_file_that_becomes_read_only_says_so(tmp_path: Path) -> None:
    """When the file can no longer be written, requests get an error that may be answered with "later"; what is there can be read."""
    with open_store(tmp_path / "store.db") as store:
        put(store, body=b"before")
        store._access._db.execute("PRAGMA query_only = ON")  # what the operating system would refuse, SQLite refuses
        with pytest.raises(StoreError, match="cannot be written"):
            put(store, body=b"refused")
        assert isinstance(store.trouble, StoreError)
        assert bodies(store, 1) == [b"before"]
        store._access._db.execute("PRAGMA query_only = OFF")


def damage(path: Path, table: str) -> None:
    """Overwrite the root page of a table with noise."""
    db = sqlite3.connect(path)
    (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    db.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE_BYTES)
        file.write(b"\xa5" * PAGE_BYTES)


def test_a_damaged_page_costs_only_what_stands_on_it(tmp_path: Path) -> None:
    """A damaged table gives clear errors to whoever needs it; the rest works, and nothing crashes."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store, arrival(due_s=store.now_s()))
        store.queues.finish(finished(talk("c"), store)).result()
    damage(path, "outcomes")
    with open_store(path) as store:
        with pytest.raises(StoreError, match="is damaged"):
            store.records.outcome(talk("c"))
        with pytest.raises(StoreError, match="is damaged"):
            store.queues.finish(finished(unit(1), store)).result()
        put(store, arrival(1), body=b"more")
        assert bodies(store, 1) == [b"body", b"more"]
        store.progress.look_again([Look(unit=unit(1), seen_s=store.now_s(), due_s=None)]).result()
        tend(store)


def test_a_file_damaged_at_its_head_is_refused(tmp_path: Path) -> None:
    """A store whose table of contents is gone does not open, and says how to go on."""
    path = tmp_path / "store.db"
    open_store(path).close()
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xa5" * 8000)
    with pytest.raises(ConfigError, match="is damaged"):
        open_store(path)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """After closing, whatever is asked is refused; closing twice is harmless; what was queued before is on disk."""
    path = tmp_path / "store.db"
    store = open_store(path)
    futures = [store.put_request(request(arrival(n))) for n in range(1, 50)]
    store.close()
    store.close()
    assert [f.result() for f in futures] == [None] * 49
    with pytest.raises(StoreError, match="closed"):
        store.put_request(request())
    with pytest.raises(StoreError, match="closed"):
        store.info()
    with open_store(path) as store:
        assert store.info().bodies == 49
