"""What is deleted, given up and forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.store import Look, Outgoing, Store, Work
from tests.fakes.stores import Time, arrival, bodies, finished, open_store, put, request, talk, tend, trace_id, unit

DAY_S = 86_400.0


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(tmp_path: Path, time: Time) -> Iterator[Store]:
    with open_store(tmp_path / "store.db", time, max_age_s=2 * DAY_S, keep_s=10 * DAY_S) as made:
        yield made


def outcome_of(store: Store, number: int = 1) -> tuple[str, str] | None:
    outcome = store.records.outcome(unit(number))
    return (outcome.outcome, outcome.reason) if outcome else None


def test_a_unit_that_nobody_looks_at_expires(store: Store, time: Time) -> None:
    """A trace that is due for longer than the limit ends as expired, with its conversation; its bodies go."""
    put(store, arrival(due_s=store.now_s(), conversations=("c",)))
    time.pass_s(1.9 * DAY_S)
    tend(store)
    assert (outcome_of(store), len(bodies(store, 1))) == (None, 1)
    time.pass_s(0.2 * DAY_S)
    tend(store)
    assert outcome_of(store) == ("expired", "age")
    conversation = store.records.outcome(talk("c"))
    assert conversation is not None
    assert (conversation.outcome, conversation.reason) == ("expired", "age")
    time.pass_s(2)
    tend(store)
    assert bodies(store, 1) == []
    assert store.progress.next_due_s() is None


def test_a_unit_that_waits_for_a_judge_too_long_expires(store: Store, time: Time) -> None:
    """Work that no judge took for so long leaves the queue with the outcome expired."""
    put(store, arrival(due_s=store.now_s()))
    store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=store.now_s())]).result()
    time.pass_s(2.1 * DAY_S)
    tend(store)
    assert outcome_of(store) == ("expired", "age")
    assert store.queues.claim("estimate").result() == []


def test_a_revision_that_expires_leaves_the_earlier_outcome(store: Store, time: Time) -> None:
    """A unit that was scored stays scored when late content of it expires."""
    put(store, arrival(due_s=store.now_s()))
    store.queues.finish(finished(unit(1), store)).result()
    time.pass_s(3)
    put(store, arrival(due_s=store.now_s()))
    time.pass_s(2.1 * DAY_S)
    tend(store)
    assert outcome_of(store) == ("scored", "")
    assert store.progress.due_traces(store.now_s()) == []


def test_bodies_that_nobody_released_go_by_age(store: Store, time: Time) -> None:
    """A body that was forgotten does not stay for ever; its unit keeps its outcome."""
    put(store, arrival())
    store.queues.finish(finished(unit(1), store)).result()
    time.pass_s(2.1 * DAY_S)
    tend(store)
    time.pass_s(2)
    tend(store)
    assert (bodies(store, 1), outcome_of(store)) == ([], ("scored", ""))


def test_a_scored_expired_unit_can_still_be_scored(store: Store, time: Time) -> None:
    """A judge that answers after the unit was given up is not thrown away: the score takes the place of expired."""
    put(store, arrival(due_s=store.now_s()))
    time.pass_s(2.1 * DAY_S)
    tend(store)
    assert store.queues.finish(finished(unit(1), store)).result() is True
    assert outcome_of(store) == ("scored", "")
    assert [(c.outcome, c.units) for c in store.records.outcome_counts()] == [("scored", 1)]


def test_letters_that_no_sink_takes_die(store: Store, time: Time) -> None:
    """A letter that is not taken for so long is dead, and in the end forgotten."""
    store.queues.finish(finished(unit(1), store, outgoing=(Outgoing(sink="a", payload=b"x"),))).result()
    time.pass_s(2.1 * DAY_S)
    tend(store)
    assert store.info().dead_letters == 1
    assert store.outbox.take("a") == []
    time.pass_s(8 * DAY_S)
    tend(store)
    assert store.info().dead_letters == 0


def test_what_is_old_is_forgotten(store: Store, time: Time) -> None:
    """Outcomes, results and rows of units go after their time; the counts stay."""
    put(store, arrival(conversations=("c",)))
    store.queues.finish(finished(unit(1), store, release=(trace_id(1),))).result()
    store.queues.finish(finished(talk("c"), store)).result()
    time.pass_s(2)
    tend(store)
    time.pass_s(11 * DAY_S)
    tend(store)
    assert store.records.find(trace_id(1)) == []
    assert store.records.find("c") == []
    assert (store.info().traces, store.info().conversations) == (0, 0)
    assert sum(c.units for c in store.records.outcome_counts()) == 2


def test_a_forgotten_conversation_leaves_nothing_to_the_next(store: Store, time: Time) -> None:
    """A conversation that comes after another was forgotten has its own traces alone, and the forgotten one's trace knows it no more."""
    put(store, arrival(1, conversations=("old",), due_s=store.now_s() + 20 * DAY_S))
    store.queues.finish(finished(talk("old"), store)).result()
    store.progress.look_again([Look(unit=talk("old"), seen_s=store.now_s(), due_s=None)]).result()
    time.pass_s(11 * DAY_S)
    tend(store)
    assert store.progress.conversation("old") is None
    put(store, arrival(2, conversations=("new",)))
    conversation, trace = store.progress.conversation("new"), store.progress.trace(trace_id(1))
    assert conversation is not None
    assert conversation.traces == (trace_id(2),)
    assert trace is None or trace.conversations == ()


def test_deleting_is_done_for_many_at_once(store: Store, time: Time) -> None:
    """Few released traces wait for the second to pass; fifty are deleted at once."""
    for number in range(1, 60):
        put(store, arrival(number))
    tend(store)
    for number in range(1, 41):
        store.queues.finish(finished(unit(number), store, release=(trace_id(number),))).result()
    tend(store)
    assert store.deleted_bodies < 40
    for number in range(41, 60):
        store.queues.finish(finished(unit(number), store, release=(trace_id(number),))).result()
    tend(store)
    assert store.deleted_bodies >= 50


def test_room_goes_back_to_the_disk(tmp_path: Path, time: Time) -> None:
    """A file that is mostly free pages shrinks by itself."""
    with open_store(tmp_path / "other.db", time) as store:
        for future in [store.put_request(request(arrival(n), body=bytes(4_000_000))) for n in range(1, 31)]:
            future.result()
        store.queues.finish(finished(unit(1), store, release=tuple(trace_id(n) for n in range(1, 31)))).result()
        time.pass_s(2)
        tend(store)
        full = store.info()
        assert full.bodies == 0
        for _ in range(5):
            time.pass_s(20)
            tend(store)
        assert store.info().free_bytes < full.free_bytes


def test_trouble_in_the_house_does_not_end_the_writer(store: Store, time: Time) -> None:
    """When deleting fails, requests are taken all the same, and the fault is counted."""
    put(store, arrival(1))
    store._access.write(lambda db: db.execute("CREATE TRIGGER deaf BEFORE DELETE ON bodies BEGIN SELECT raise(FAIL, 'x'); END")).result()
    store.queues.finish(finished(unit(1), store, release=(trace_id(1),))).result()
    time.pass_s(2)
    tend(store)
    put(store, arrival(2))
    assert bodies(store, 1, 2) == [b"body", b"body"]
    assert store.counts.faults["IntegrityError"] > 0
