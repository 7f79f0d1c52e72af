"""A process that is killed at any moment loses nothing that it acknowledged, and does nothing twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from otel_eval.store import Store
from tests.fakes.stores import open_store, trace_id, unit

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("OTEL_EVAL_KILLS", "6"))
LONGEST_S = 30.0


def live_and_die(path: Path, log: Path, seed: int, life_s: float) -> None:
    """One life of the victim: it is killed so long after it said that it is ready."""
    before = lines(log).count("ready")
    command = [sys.executable, "-m", "tests.fakes.store_victim", str(path), str(log), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
        started = time.monotonic()
        while lines(log).count("ready") == before:
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() - started < LONGEST_S
            time.sleep(0.01)
        time.sleep(life_s)  # the moment of death is the point of the test
        process.send_signal(signal.SIGKILL)
        process.wait()


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def test_killed_at_random_moments_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    """Every acknowledged request is still there or was finished; each unit was finished once; letters are there until they were sent;
    the books hold at least what was spent."""
    path, log, chance = tmp_path / "store.db", tmp_path / "log", random.Random(7)
    for life in range(KILLS):
        live_and_die(path, log, life, chance.uniform(0.02, 0.6))
    said = told(log)
    assert len(said["kept"]) > 20
    assert len(said["finished"]) > 0
    with open_store(path) as store:
        assert store._access.write(lambda db: db.execute("PRAGMA integrity_check").fetchone()).result() == ("ok",)
        for kept in said["kept"]:
            assert is_finished(store, kept) or is_waiting(store, kept)
        results = Counter(store._access.rows("SELECT key FROM results"))
        outcomes = Counter(store._access.rows("SELECT key FROM outcomes"))
        letters = Counter(store._access.rows("SELECT key FROM outbox UNION ALL SELECT key FROM deliveries"))
        assert results == outcomes == letters
        assert set(results.values()) == {1}
        assert set(said["finished"]) <= {int(key, 16) for (key,) in outcomes}
        assert set(said["finished"].values()) == {1}
        assert {int(key, 16) for (key,) in store._access.rows("SELECT key FROM deliveries")} <= set(said["sent"])
        (spent,) = store._access.row("SELECT ifnull(sum(tokens), 0) FROM ledger")
        assert spent >= sum(said["asked"].values())


def told(log: Path) -> dict[str, Counter[int]]:
    """What the victim said, by word: how often of each number."""
    said: dict[str, Counter[int]] = {word: Counter() for word in ("kept", "finished", "asked", "sent")}
    for line in lines(log):
        if line != "ready":
            word, number = line.split()
            said[word][int(number)] += 1
    return said


def is_finished(store: Store, number: int) -> bool:
    return store.records.outcome(unit(number)) is not None


def is_waiting(store: Store, number: int) -> bool:
    """Whether a trace is due or in the queue, with its body as it was."""
    record = store.records.record(unit(number))
    body = next(iter(store.bodies_of_traces([trace_id(number)])), None)
    is_whole = body is not None and body.data.startswith(b"%d" % number)
    return is_whole and record is not None and (record.work is not None or (record.trace is not None and record.trace.due_s is not None))
