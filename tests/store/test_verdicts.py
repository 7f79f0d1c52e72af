"""Verdicts kept in the store."""

from pathlib import Path

from otel_eval.judges.cache import Store as VerdictStore
from tests.fakes.stores import Time, open_store, tend


def test_verdicts_are_there_at_once_and_after_a_restart(tmp_path: Path) -> None:
    """A verdict can be read as soon as it is put, and by the next start; an unknown one is None."""
    path = tmp_path / "store.db"
    with open_store(path) as store:
        verdicts: VerdictStore = store.verdicts()
        verdicts.put("key", "verdict")
        assert verdicts.get("key") == "verdict"
        verdicts.put("key", "newer")
        assert (verdicts.get("key"), verdicts.get("other")) == ("newer", None)
    with open_store(path) as store:
        assert store.verdicts().get("key") == "newer"


def test_old_verdicts_are_forgotten(tmp_path: Path) -> None:
    """A verdict older than its time is not given any more, and later deleted."""
    time = Time()
    with open_store(tmp_path / "store.db", time) as store:
        verdicts = store.verdicts(ttl_s=60)
        verdicts.put("key", "verdict")
        store.settled().result()
        time.pass_s(61)
        assert verdicts.get("key") is None
        time.pass_s(31 * 86_400)
        tend(store)
        assert store._access.row("SELECT count(*) FROM verdicts") == (0,)


def test_a_verdict_is_on_disk_before_what_is_asked_later(tmp_path: Path) -> None:
    """Whatever is written after a verdict was put finds it written: results never stand there without the verdict they rest on."""
    with open_store(tmp_path / "store.db") as store:
        store.verdicts().put("key", "verdict")
        seen = store._access.write(lambda db: db.execute("SELECT value FROM verdicts").fetchall()).result()
        assert seen == [("verdict",)]
