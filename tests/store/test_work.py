"""Units from due to finished."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from otel_eval.store import Look, Outgoing, ResultRow, Store, Work
from tests.fakes.stores import START_S, Time, arrival, bodies, finished, open_store, put, talk, tend, trace_id, unit


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, time: Time) -> Iterator[Store]:
    with open_store(tmp_path / "store.db" if request.param == "file" else None, time) as made:
        yield made


def due(store: Store) -> list[str]:
    return [row.trace_id for row in store.progress.due_traces(store.now_s())]


def last_s(store: Store, number: int = 1) -> float:
    row = store.progress.trace(trace_id(number))
    assert row is not None
    return row.last_s


def test_what_is_due_comes_in_order(store: Store, time: Time) -> None:
    """Traces whose moment has come are given, those that wait longest first, at most as many as asked for; so are conversations."""
    put(store, arrival(1, due_s=START_S + 20, conversations=("b",), conversation_due_s=START_S + 40))
    put(store, arrival(2, due_s=START_S + 10, conversations=("a",), conversation_due_s=START_S + 30))
    put(store, arrival(3, due_s=START_S + 99))
    assert due(store) == []
    assert store.progress.next_due_s() == START_S + 10
    time.pass_s(50)
    assert due(store) == [trace_id(2), trace_id(1)]
    assert [r.id for r in store.progress.due_conversations(store.now_s())] == ["a", "b"]
    assert len(store.progress.due_traces(store.now_s(), limit=1)) == 1


def test_a_look_holds_only_if_nothing_came(store: Store) -> None:
    """Who looked sets the next moment; where something came meanwhile the trace stays due."""
    put(store, arrival(due_s=START_S))
    seen_s = last_s(store)
    store.progress.look_again([Look(unit=unit(1), seen_s=seen_s, due_s=START_S + 60)]).result()
    assert due(store) == []
    put(store, arrival(due_s=START_S))
    store.progress.look_again([Look(unit=unit(1), seen_s=seen_s, due_s=None)]).result()
    assert due(store) == [trace_id(1)]


def test_settling_makes_late_content_known_without_a_revision(store: Store, time: Time) -> None:
    """A unit with revisions enough is settled: nothing of it waits any more, and its bodies may go."""
    put(store, arrival(conversations=("c",), due_s=START_S))
    store.progress.look_again([Look(unit=unit(1), seen_s=last_s(store), due_s=None, is_settled=True, release_at_s=START_S)]).result()
    row = store.progress.conversation("c")
    assert row is not None
    assert row.waiting_traces == 0
    time.pass_s(2)
    tend(store)
    assert bodies(store, 1) == []


def test_work_is_claimed_by_age_and_once(store: Store, time: Time) -> None:
    """Each queue gives its oldest units, each to one claimant; a claim given back keeps its place."""
    for number, queue in ((1, "estimate"), (2, "triage"), (3, "estimate")):
        put(store, arrival(number, due_s=START_S))
        store.queues.add([Work(unit=unit(number), revision=1, queue=queue, seen_s=last_s(store, number))]).result()  # type: ignore[arg-type]  # both are queues
        time.pass_s(1)
    assert due(store) == []
    assert {q: (d.waiting, round(d.oldest_s or 0)) for q, d in store.queues.depths().items()} == {
        "estimate": (2, START_S),
        "triage": (1, START_S + 1),
    }
    first = store.queues.claim("estimate").result()
    second = store.queues.claim("estimate", limit=9).result()
    assert [w.unit for w in (*first, *second)] == [unit(1), unit(3)]
    assert store.queues.claim("estimate").result() == []
    store.queues.give_back([unit(1)]).result()
    assert [w.unit for w in store.queues.claim("estimate").result()] == [unit(1)]


def test_a_claim_says_what_has_arrived_by_now(store: Store) -> None:
    """What came between selection and claim is part of what the revision knows, so that it makes no second one."""
    put(store, arrival(due_s=START_S))
    store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=last_s(store))]).result()
    put(store, arrival(due_s=START_S))
    assert due(store) == []
    work = store.queues.claim("estimate").result()[0]
    assert work.seen_s == last_s(store)
    store.queues.finish(finished(unit(1), store, seen_s=work.seen_s)).result()
    assert due(store) == []


def test_what_comes_while_a_judge_works_makes_the_unit_due_again(store: Store) -> None:
    """A span that comes after the claim re-opens its trace once the revision is finished."""
    put(store, arrival(due_s=START_S))
    store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=last_s(store))]).result()
    work = store.queues.claim("estimate").result()[0]
    put(store, arrival(due_s=START_S))
    assert due(store) == []
    store.queues.finish(finished(unit(1), store, seen_s=work.seen_s)).result()
    assert due(store) == [trace_id(1)]
    row = store.progress.trace(trace_id(1))
    assert row is not None
    assert (row.revision, row.scored_s) == (1, work.seen_s)


def test_a_unit_that_waits_takes_a_new_revision(store: Store) -> None:
    """Selected anew while it waits, a unit is there once, with the newer revision; while it is claimed nothing changes."""
    put(store, arrival(due_s=START_S))
    for revision in (1, 2):
        store.queues.add([Work(unit=unit(1), revision=revision, queue="triage", seen_s=last_s(store), selected_by="rule")]).result()
    work = store.queues.claim("triage", limit=9).result()
    assert [w.revision for w in work] == [2]
    store.queues.add([Work(unit=unit(1), revision=3, queue="estimate", seen_s=last_s(store))]).result()
    assert store.queues.claim("estimate").result() == []


def test_finishing_is_one_piece(store: Store) -> None:
    """Outcome, results, letters, the unit's state and its place in the queue change together, and only for a revision not yet written."""
    put(store, arrival(due_s=START_S, conversations=("c",)))
    store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=last_s(store))]).result()
    done = finished(
        unit(1),
        store,
        reason="sampled",
        detail="because",
        probability=0.5,
        selected_by="estimate",
        facts='{"spans": 3}',
        results=(ResultRow(id="r1", metric="m", outcome="score", data='{"value": 1}'),),
        outgoing=(Outgoing(sink="a", payload=b"1"), Outgoing(sink="b", payload=b"2")),
    )
    assert store.queues.finish(done).result() is True
    assert store.queues.finish(done).result() is False
    outcome = store.records.outcome(unit(1))
    assert outcome is not None
    assert (outcome.outcome, outcome.reason, outcome.detail, outcome.probability, outcome.facts) == (
        "scored",
        "sampled",
        "because",
        0.5,
        '{"spans": 3}',
    )
    result = store.records.result("r1")
    assert result is not None
    assert (result.unit, result.revision, result.data) == (unit(1), 1, '{"value": 1}')
    assert {s: d.waiting for s, d in store.outbox.depths().items()} == {"a": 1, "b": 1}
    assert store.queues.claim("estimate").result() == []
    conversation = store.progress.conversation("c")
    assert conversation is not None
    assert conversation.waiting_traces == 0


def test_each_unit_counts_once_with_its_latest_outcome(store: Store) -> None:
    """Counts by outcome and reason follow revisions: the sum is the number of units."""
    for number in (1, 2):
        put(store, arrival(number))
        store.queues.finish(finished(unit(number), store, outcome="sampled_out", reason="rate")).result()
    store.queues.finish(finished(unit(1), store, revision=2)).result()
    store.queues.finish(finished(talk("c"), store)).result()
    assert [(c.kind, c.outcome, c.reason, c.units) for c in store.records.outcome_counts()] == [
        ("conversation", "scored", "", 1),
        ("trace", "sampled_out", "rate", 1),
        ("trace", "scored", "", 1),
    ]


def test_bodies_go_when_nobody_needs_them(store: Store, time: Time) -> None:
    """A released trace lets its bodies go at its moment; a body that another trace needs stays."""
    put(store, arrival(1), body=b"one")
    put(store, arrival(1), arrival(2), body=b"shared")
    time.pass_s(1)
    store.queues.finish(finished(unit(1), store, release=(trace_id(1),), release_at_s=store.now_s() + 60)).result()
    tend(store)
    assert bodies(store, 1) == [b"one", b"shared"]
    time.pass_s(61)
    tend(store)
    assert bodies(store, 1, 2) == [b"shared"]
    row = store.progress.trace(trace_id(1))
    assert row is not None
    assert row.released
    store.queues.finish(finished(unit(2), store, release=(trace_id(2),))).result()
    time.pass_s(2)
    tend(store)
    assert bodies(store, 1, 2) == []
    assert store.deleted_bodies == 2


def test_a_late_span_keeps_the_bodies(store: Store, time: Time) -> None:
    """Something that came after what was seen stops the release: it is for the next revision to say."""
    put(store, arrival(1, due_s=START_S), body=b"one")
    seen_s = last_s(store)
    put(store, arrival(1, due_s=START_S), body=b"late")
    store.queues.finish(finished(unit(1), store, seen_s=seen_s, release=(trace_id(1),))).result()
    time.pass_s(2)
    tend(store)
    assert bodies(store, 1) == [b"one", b"late"]
    store.queues.finish(finished(unit(1), store, revision=2, release=(trace_id(1),), release_at_s=store.now_s() + 60)).result()
    put(store, arrival(1, due_s=START_S), body=b"later")
    time.pass_s(120)
    tend(store)
    assert bodies(store, 1) == [b"one", b"late", b"later"]


def test_a_part_never_takes_the_place_of_an_outcome(store: Store) -> None:
    """What a conversation came to is written of a trace only where that has no outcome; what waits for a judge goes on waiting."""
    put(store, arrival(1))
    put(store, arrival(2))
    store.queues.finish(finished(unit(1), store, reason="its own")).result()
    store.queues.add([Work(unit=unit(1), revision=2, queue="estimate", seen_s=last_s(store))]).result()
    parts = [replace(finished(unit(n), store, revision=2, reason="the conversation's"), is_first=True) for n in (1, 2)]
    assert store.queues.finish_all(parts).result() == [False, True]
    outcomes = [store.records.outcome(unit(n)) for n in (1, 2)]
    assert [o.reason for o in outcomes if o is not None] == ["its own", "the conversation's"]
    assert store.queues.waiting() == {"estimate"}


def test_traces_come_in_the_order_in_which_they_are_asked_for(store: Store) -> None:
    """Many are asked for at once: those that are known come with their conversations, in this order."""
    for number in (1, 2, 3):
        put(store, arrival(number, conversations=("a", f"c{number}")))
    found = store.progress.traces([trace_id(n) for n in (3, 9, 1)])
    assert [(t.trace_id, t.conversations) for t in found] == [(trace_id(3), ("a", "c3")), (trace_id(1), ("a", "c1"))]
    assert store.records.with_outcome([unit(1), talk("a")]) == set()
    store.queues.finish(finished(talk("a"), store)).result()
    assert store.records.with_outcome([unit(1), talk("a")]) == {talk("a")}


def test_half_characters_are_stored_as_replacements(store: Store) -> None:
    """What was cut inside a character keeps neither a unit out of a queue nor its outcome out of the store."""
    put(store, arrival(1, due_s=START_S))
    store.queues.add([Work(unit=unit(1), revision=1, queue="estimate", seen_s=last_s(store), facts="cut \ud83d")]).result()
    (work,) = store.queues.claim("estimate", limit=1).result()
    assert work.facts == "cut \ufffd"
    result = ResultRow(id="i", metric="m", outcome="score", reason="cut \ud83d", data="cut \ud83d")
    store.queues.finish(finished(unit(1), store, detail="cut \ud83d", facts="cut \ud83d", results=(result,))).result()
    record = store.records.record(unit(1))
    assert record is not None
    assert record.outcome is not None
    assert {record.outcome.detail, record.outcome.facts, record.results[0].reason, record.results[0].data} == {"cut \ufffd"}
