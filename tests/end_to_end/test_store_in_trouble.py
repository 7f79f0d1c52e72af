"""A scorer whose disk is full or failing, whose store is damaged, whose clock was set back: clear answers, no crash, nothing lost that can
be kept."""

import http.client
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError
from otel_eval.store.admin import export, find_in_file, info_of_file
from tests.fakes.bench import otlp_json
from tests.fakes.disks import fill, make_read_only, small_disk
from tests.fakes.serving import ROOT, Server, settled, until
from tests.fakes.spans import agent, chat, says, trace_id, user

PAGE = 16_384
SIGNALS: dict[str, Any] = {"metrics": ["turn_count"], "sinks__console__enabled": False}
NOISE = random.Random(4).randbytes(150_000).hex()
"""As large packed as anything can be."""


def turn(number: int, words: str = "Hello") -> bytes:
    """One turn in a trace of its own."""
    call = chat(1, [user("Hi")], says(words), trace=number, parent=9, start=number * 100 + 1)
    return otlp_json([call, agent(9, "clerk", trace=number, start=number * 100, end=number * 100 + 2)])


def answer(server: Server, body: bytes) -> tuple[int, str | None]:
    """Status of a request, and after how many seconds it may be sent again."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=20)) as connection:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.headers["Retry-After"]


def taken_until_refused(server: Server, first: int) -> list[int]:
    """Numbers of the traces that were acknowledged before one was refused for now."""
    taken: list[int] = []
    for number in range(first, first + 200):
        status, later = answer(server, turn(number, NOISE + str(number)))
        if status != 200:
            assert (status, later is not None) == (503, True)
            return taken
        taken.append(number)
    raise AssertionError("nothing was refused")


def command(server: Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command with the server's configuration."""
    whole = [sys.executable, "-m", "otel_eval", *arguments]
    return subprocess.run(whole, env=server.environment(), cwd=server.folder, capture_output=True, text=True, timeout=60, check=False)


def check_refused_then_on(server: Server, taken: list[int], missing: str) -> None:
    """Whoever asks is told why, and what was there before can be asked for."""
    code, told = server.get("/readyz")
    assert (code, missing in str(told["missing"])) == (503, True), told
    assert server.get("/healthz")[0] == 200
    assert server.get(f"/explain/{trace_id(taken[0])}")[0] == 200


def test_a_full_disk(tmp_path: Path) -> None:
    """On a disk without a free byte, also over a restart, senders are told to come later; with room again all that was taken is scored."""
    with small_disk(tmp_path / "disk", "24m") as disk, Server(tmp_path, store__path=str(disk / "s.db"), **SIGNALS) as server:
        taken = [1]
        assert answer(server, turn(1))[0] == 200
        fill(disk / "filler")
        taken += taken_until_refused(server, 2)
        check_refused_then_on(server, taken, "disk")
        server.kill()
        server.start()
        assert answer(server, turn(901, NOISE)) == (503, "10")
        (disk / "filler").unlink()
        until(lambda: answer(server, turn(900))[0] == 200, 60, every_s=0.5)
        until(lambda: server.outcomes("trace").get("scored") == len(taken) + 1, 60)
        assert server.get("/readyz")[0] == 200
        assert server.stop() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets one process limit another's files")
def test_a_disk_that_fails(tmp_path: Path) -> None:
    """Where the operating system refuses to write on, senders are told to come later; afterwards it goes on by itself."""
    with Server(tmp_path, **SIGNALS) as server:
        assert answer(server, turn(1))[0] == 200
        until(lambda: settled(server), 30)
        largest = max(file.stat().st_size for file in tmp_path.glob("store.db*"))
        _, most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (largest + 4 * PAGE, most))
        taken = [1, *taken_until_refused(server, 2)]
        check_refused_then_on(server, taken, "cannot be read or written")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (most, most))
        until(lambda: answer(server, turn(900))[0] == 200, 60, every_s=0.5)
        until(lambda: server.outcomes("trace").get("scored") == len(taken) + 1, 60)
        assert server.stop() == 0


def test_a_read_only_disk(tmp_path: Path) -> None:
    """`serve` does not start where it cannot write, and says so; what the store holds can still be looked at."""
    with small_disk(tmp_path / "disk", "24m") as disk:
        server = Server(tmp_path, store__path=str(disk / "s.db"), **SIGNALS)
        with server:
            assert answer(server, turn(1))[0] == 200
            until(lambda: server.outcomes() == {"scored": 1}, 30)
        make_read_only(disk)
        ended = command(server, "serve")
        assert (ended.returncode, "cannot be written" in ended.stderr, "Traceback" in ended.stderr) == (2, True, False), ended.stderr
        assert info_of_file(disk / "s.db").traces == 1
        assert [unit.outcome_name for unit in find_in_file(disk / "s.db", trace_id(1))] == ["scored"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a scorer that was killed with scored and unscored traces, the last of them only in the write-ahead log."""
    folder = tmp_path_factory.mktemp("killed")
    with Server(folder, **SIGNALS) as server:
        for number in range(1, 31):
            assert answer(server, turn(number, NOISE[:2000] + str(number)))[0] == 200
        until(lambda: server.outcomes("trace") == {"scored": 30}, 60)
        for number in range(31, 41):
            assert answer(server, turn(number, NOISE[:2000] + str(number)))[0] == 200
        server.kill()
    return folder


@pytest.fixture
def copied(killed: Path, tmp_path: Path) -> Path:
    for file in killed.glob("store.db*"):
        shutil.copy(file, tmp_path)
    return tmp_path


def overwrite(file: Path, place: int, size: int = PAGE) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        opened.write(random.Random(place).randbytes(size))


def test_a_damaged_head(copied: Path) -> None:
    """A store without a readable head is refused with a sentence on what to do, and is not touched."""
    (copied / "store.db-wal").unlink()
    overwrite(copied / "store.db", 0, 200)
    before = (copied / "store.db").read_bytes()
    ended = command(Server(copied), "serve")
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False), ended.stderr
    assert "is no store of otel-eval: move it away" in ended.stderr
    with pytest.raises(ConfigError, match="is no store of otel-eval: move it away"):
        info_of_file(copied / "store.db")
    assert (copied / "store.db").read_bytes() == before


def damage(store: Path, table: str) -> None:
    """Noise on a table's first page."""
    with closing(sqlite3.connect(store)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    overwrite(store, (page - 1) * PAGE)


def test_a_damaged_page(copied: Path) -> None:
    """With a page of noise it serves what it can: senders get an answer, pages say what is wrong, what can be read is exported."""
    damage(copied / "store.db", "results")
    with Server(copied, **SIGNALS) as server:
        assert {answer(server, turn(number))[0] for number in range(100, 105)} <= {200, 503}
        assert server.get("/healthz")[0] == 200
        for page in ("/status", "/outcomes", f"/explain/{trace_id(1)}"):
            code, told = server.get(page)
            assert code == 200 or "is damaged" in told["error"]
        until(lambda: server.get("/status")[1]["store"]["trouble"] is not None, 30)
        exported = list(export(copied / "store.db"))
        assert [r["table"] for r in exported if r["record"] == "damaged"] == ["result"]
        assert sum(r["record"] == "outcome" for r in exported) >= 30
        assert server.stop() == 0


def test_damaged_requests(copied: Path) -> None:
    """Where the requests themselves cannot be read it does not start; the sentence says how to save the rest, and that works."""
    damage(copied / "store.db", "bodies")
    ended = command(Server(copied), "serve")
    assert (ended.returncode, "save what can be read with `otel-eval store export`" in ended.stderr) == (2, True), ended.stderr
    assert sum(r["record"] == "outcome" for r in export(copied / "store.db")) >= 30


@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_a_log_that_was_cut(copied: Path, kept: float) -> None:
    """With the write-ahead log cut, as by a disk that lied, it goes on from what is whole, and new traces are scored."""
    log = copied / "store.db-wal"
    os.truncate(log, int(log.stat().st_size * kept))
    with Server(copied, **SIGNALS) as server:
        assert answer(server, turn(100))[0] == 200
        until(lambda: server.get(f"/explain/{trace_id(100)}")[1]["units"][0]["outcome"] == "scored", 30)
        until(lambda: settled(server), 30)
        assert server.get("/status")[1]["faults"] == {}


CLOCK = """
import time
_real = time.time
def _shifted():
    try:
        return _real() + float(open({file!r}).read())
    except (OSError, ValueError):
        return _real()
time.time = _shifted
"""


def test_a_clock_that_is_set_back(tmp_path: Path) -> None:
    """The machine's clock goes back by a day while traces wait, and again over a restart: they are scored after the same silence."""
    shift, patch = tmp_path / "shift", tmp_path / "patch"
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(CLOCK.format(file=str(shift)))

    class Shifted(Server):
        def environment(self) -> dict[str, str]:
            return {**super().environment(), "PYTHONPATH": f"{patch}{os.pathsep}{ROOT}"}

    with Shifted(tmp_path, completion__trace_quiet="2s", **SIGNALS) as server:
        assert answer(server, turn(1))[0] == 200
        shift.write_text("-86400")
        assert answer(server, turn(2))[0] == 200
        until(lambda: server.outcomes("trace") == {"scored": 2}, 30)
        assert answer(server, turn(3))[0] == 200
        server.kill()
        shift.write_text("-172800")
        server.start()
        assert answer(server, turn(4))[0] == 200
        until(lambda: server.outcomes("trace") == {"scored": 4}, 30)
