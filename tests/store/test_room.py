"""Limits of size."""

from pathlib import Path

import pytest

from otel_eval.errors import Overloaded
from otel_eval.store import Store
from tests.fakes.stores import Time, arrival, bodies, finished, open_store, put, request, tend, trace_id, unit

MEGABYTE = 1_000_000


def fill(store: Store) -> int:
    """Put bodies in until one is refused; how many were taken."""
    for number in range(1, 1000):
        try:
            put(store, arrival(number, due_s=store.now_s()), body=bytes(MEGABYTE))
        except Overloaded:
            return number - 1
    raise AssertionError("the store takes everything")


def test_a_full_store_refuses_with_a_delay_and_takes_again(tmp_path: Path) -> None:
    """Above the high mark requests are refused for now; what is there can still be finished; room made is room given."""
    time = Time()
    with open_store(tmp_path / "store.db", time, max_bytes=20 * MEGABYTE) as store:
        taken = fill(store)
        assert 10 <= taken <= 18
        assert store.used_bytes <= 18 * MEGABYTE
        with pytest.raises(Overloaded, match="send later") as refusal:
            store.put_request(request(body=bytes(MEGABYTE)))
        assert refusal.value.retry_after_s > 0
        for number in range(1, taken + 1):
            store.queues.finish(finished(unit(number), store, release=(trace_id(number),))).result()
        time.pass_s(2)
        tend(store)
        assert store.used_bytes < 2 * MEGABYTE
        assert fill(store) == taken


def test_bodies_kept_for_late_spans_go_first(tmp_path: Path) -> None:
    """Under pressure bodies that only wait for late spans are let go before their moment; those that wait for a judge stay."""
    time = Time()
    with open_store(tmp_path / "store.db", time, max_bytes=20 * MEGABYTE) as store:
        taken = fill(store)
        assert store.is_full
        for number in (1, 2, 3):
            store.queues.finish(finished(unit(number), store, release=(trace_id(number),), release_at_s=store.now_s() + 3600)).result()
        time.pass_s(2)
        tend(store)
        assert not store.is_full
        assert [len(bodies(store, n)) for n in range(1, taken + 1)] == [0, 0, 0] + [1] * (taken - 3)
        assert store.expired_units == 0


def test_without_expiry_what_waits_is_never_given_up_for_room(tmp_path: Path) -> None:
    """A full store keeps what it took: nothing acknowledged is lost to newer requests."""
    time = Time()
    with open_store(tmp_path / "store.db", time, max_bytes=20 * MEGABYTE) as store:
        taken = fill(store)
        time.pass_s(3600)
        tend(store)
        assert store.is_full
        assert [len(bodies(store, n)) for n in range(1, taken + 1)] == [1] * taken


def test_the_oldest_are_given_up_where_that_is_wanted(tmp_path: Path) -> None:
    """With `expire_when_full` the oldest waiting units end as expired, with the reason, and new requests are taken."""
    time = Time()
    with open_store(tmp_path / "store.db", time, max_bytes=20 * MEGABYTE, expire_when_full=True) as store:
        fill(store)
        time.pass_s(2)
        tend(store)
        assert not store.is_full
        outcome = store.records.outcome(unit(1))
        assert outcome is not None
        assert (outcome.outcome, outcome.reason) == ("expired", "full")
        assert "store.max_bytes" in outcome.detail
        assert store.expired_units > 0
        put(store, arrival(500), body=bytes(MEGABYTE))


def test_what_waits_for_the_disk_is_bounded(tmp_path: Path) -> None:
    """Bodies handed in faster than the disk takes them are refused, not heaped up in memory."""
    with open_store(tmp_path / "store.db", max_queued_bytes=3 * MEGABYTE) as store:
        with store._access._lock:  # the writer waits for this
            futures = [store.put_request(request(arrival(n), body=bytes(MEGABYTE))) for n in (1, 2, 3)]
            with pytest.raises(Overloaded, match="wait for the disk"):
                store.put_request(request(arrival(4), body=bytes(MEGABYTE)))
        for future in futures:
            future.result()
        put(store, arrival(9), body=bytes(MEGABYTE))


def test_a_body_larger_than_the_queue_is_taken_when_it_comes_alone(tmp_path: Path) -> None:
    """The bound on what waits does not refuse a single large body for ever."""
    with open_store(tmp_path / "store.db", max_queued_bytes=MEGABYTE) as store:
        put(store, arrival(1), body=bytes(3 * MEGABYTE))


def test_some_of_the_disk_stays_free(tmp_path: Path) -> None:
    """Where the disk has less left than is to stay free, requests are refused before it is full."""
    with open_store(tmp_path / "store.db", min_disk_bytes=2**60) as store, pytest.raises(Overloaded, match="stay free"):
        store.put_request(request(body=bytes(MEGABYTE)))
