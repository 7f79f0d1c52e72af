"""The store for its operator."""

from pathlib import Path

import pytest

from otel_eval.errors import ConfigError
from otel_eval.store import Outgoing, ResultRow, Work
from otel_eval.store.admin import export, export_bodies, info_of_file, vacuum
from tests.fakes.stores import arrival, finished, open_store, put, tend, trace_id, unit
from tests.store.test_opening import damage


def test_info_counts_what_is_there(tmp_path: Path) -> None:
    """Rows, bytes and queues are told, the same from the running worker and from the file beside it."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store, arrival(1, conversations=("c",)), arrival(2), body=b"12345")
        store.queues.add([Work(unit=unit(1), revision=1, queue="triage", seen_s=0.0)]).result()
        store.queues.finish(finished(unit(2), store, outgoing=(Outgoing(sink="a", payload=b"x"),))).result()
        inside, outside = store.info(), info_of_file(path)
        for info in (inside, outside):
            assert (info.bodies, info.body_bytes, info.traces, info.conversations, info.dead_letters) == (1, 5, 2, 1, 0)
            assert ({q: d.waiting for q, d in info.work.items()}, info.outbox["a"].waiting) == ({"estimate": 0, "triage": 1}, 1)
            assert info.used_bytes == store.used_bytes
            assert abs(info.clock_ahead_s) < 60


def test_export_gives_rows_but_no_content_beyond_results(tmp_path: Path) -> None:
    """Each row comes with its kind; results and facts are JSON again; bodies come apart, as they were received."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store, body=b"secret")
        result = ResultRow(id="r", metric="m", outcome="score", data='{"value": 1}')
        store.queues.finish(finished(unit(1), store, facts='{"spans": 2}', results=(result,))).result()
        rows = {row["record"]: row for row in export(path)}
        assert rows["outcome"]["facts"] == {"spans": 2}
        assert rows["result"]["data"] == {"value": 1}
        assert rows["trace"]["trace_id"] == trace_id(1)
        assert "secret" not in str(rows)
        assert [body.data for body in export_bodies(path)] == [b"secret"]


def test_export_goes_around_damage(tmp_path: Path) -> None:
    """What can be read of a damaged store is given, and what cannot is named."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        put(store)
        store.queues.finish(finished(unit(1), store)).result()
    damage(path, "outcomes")
    rows = list(export(path))
    assert {"record": "damaged", "table": "outcome", "fault": "SQLITE_CORRUPT"} in rows
    assert [row["trace_id"] for row in rows if row["record"] == "trace"] == [trace_id(1)]


def test_vacuum_makes_the_file_small(tmp_path: Path) -> None:
    """The file is written anew without what was deleted; not while a worker uses it."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        for number in range(1, 6):
            put(store, arrival(number), body=bytes(1_000_000))
        with pytest.raises(ConfigError, match="in use"):
            vacuum(path)
        store.queues.finish(finished(unit(1), store, release=tuple(trace_id(n) for n in range(1, 6)))).result()
        store._janitor._swept_s = float("-inf")
        tend(store)
        assert store.info().bodies == 0
    before, after = vacuum(path)
    assert before > 5_000_000 > 1_000_000 > after
    with open_store(path) as store:
        assert store.info().traces == 5


@pytest.mark.parametrize("ask", [info_of_file, lambda path: list(export(path)), vacuum])
def test_without_a_store_there_is_nothing_to_show(tmp_path: Path, ask: object) -> None:
    """A file that is missing or no store is told, and none is made."""
    assert callable(ask)
    with pytest.raises(ConfigError, match=r"store\.path"):
        ask(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_bytes(b"x" * 5000)
    with pytest.raises(ConfigError, match=r"store\.path"):
        ask(tmp_path / "text.db")
