"""Requests kept, and what is known of their traces and conversations."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.store import Arrival, ConversationRow, Store, TraceRow
from tests.fakes.stores import START_S, Time, arrival, bodies, open_store, put, request, trace_id


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, time: Time) -> Iterator[Store]:
    with open_store(tmp_path / "store.db" if request.param == "file" else None, time) as made:
        yield made


def row_of(store: Store, number: int = 1) -> TraceRow:
    row = store.progress.trace(trace_id(number))
    assert row is not None
    return row


def conversation_of(store: Store, name: str) -> ConversationRow:
    row = store.progress.conversation(name)
    assert row is not None
    return row


def test_bodies_come_back_as_they_were(store: Store) -> None:
    """Each request that touches one of the traces comes once, byte for byte, in order of arrival."""
    put(store, arrival(1), body=b"first")
    put(store, arrival(2), body=b"other")
    put(store, arrival(1), arrival(3), body=bytes(range(256)))
    assert bodies(store, 1) == [b"first", bytes(range(256))]
    assert bodies(store, 3, 1, 3) == [b"first", bytes(range(256))]
    assert bodies(store, 9) == []
    kept = next(store.bodies_of_traces([trace_id(2)]))
    assert (kept.signal, kept.encoding, round(kept.received_s)) == ("traces", "protobuf", START_S)


def test_what_arrives_adds_up(store: Store, time: Time) -> None:
    """Counts add, marks stay, the span of time widens; what an arrival does not say leaves what is known."""
    put(store, arrival(start_ns=50, end_ns=60, service="shop", is_genai=True))
    time.pass_s(5)
    put(store, Arrival(trace_id=trace_id(1), logs=2, start_ns=40, end_ns=55, root_ended=True, has_error=True, service="other"))
    put(store, arrival())
    row = row_of(store)
    assert (row.spans, row.logs, row.own_spans) == (2, 2, 0)
    assert (row.start_ns, row.end_ns, row.service) == (40, 60, "shop")
    assert (row.root_ended, row.is_genai, row.has_error, row.end_marked) == (True, True, True, False)
    assert (round(row.first_s), round(row.last_s)) == (START_S, START_S + 5)


def test_no_two_requests_arrive_at_one_moment(store: Store) -> None:
    """While the clock stands still every request is later than the one before, so that "after what was seen" is sure."""
    moments = []
    for _ in range(3):
        put(store)
        moments.append(row_of(store).last_s)
    assert moments == sorted(set(moments))


def test_the_earliest_wish_to_look_counts(store: Store) -> None:
    """A trace is due at the earliest moment that an arrival asked for; one without a wish changes nothing."""
    put(store, arrival(due_s=START_S + 20))
    put(store, arrival(due_s=START_S + 10))
    put(store, arrival(due_s=START_S + 30))
    put(store, arrival())
    assert row_of(store).due_s == START_S + 10


def test_an_evaluators_spans_open_nothing_again(store: Store, time: Time) -> None:
    """Spans of an evaluator are counted; they move neither the last arrival nor the moment to look, and keep no body."""
    put(store, arrival(due_s=START_S + 20))
    before = row_of(store)
    time.pass_s(5)
    put(store, Arrival(trace_id=trace_id(1), own_spans=3, due_s=START_S), body=None)
    after = row_of(store)
    assert (after.own_spans, after.last_s, after.due_s) == (3, before.last_s, before.due_s)
    assert bodies(store, 1) == [b"body"]
    put(store, Arrival(trace_id=trace_id(2), own_spans=1, due_s=START_S + 1), body=None)
    assert (row_of(store, 2).spans, row_of(store, 2).own_spans, bodies(store, 2)) == (0, 1, [])


def test_traces_of_one_id_make_a_conversation(store: Store, time: Time) -> None:
    """A conversation knows its traces in order, how many of them wait, and when it was last heard of, also by a span without an id."""
    put(store, arrival(1, conversations=("c",), due_s=START_S + 9, conversation_due_s=START_S + 90))
    put(store, arrival(2, conversations=("c",), conversation_due_s=START_S + 95, end_marked=True))
    row = conversation_of(store, "c")
    assert (row.traces, row.waiting_traces, row.due_s, row.end_marked) == ((trace_id(1), trace_id(2)), 2, START_S + 90, True)
    assert row_of(store, 1).conversations == ("c",)
    time.pass_s(5)
    put(store, arrival(1))
    assert conversation_of(store, "c").last_s == row_of(store, 1).last_s


def test_a_better_spelling_takes_the_place_of_a_worse_one(store: Store) -> None:
    """An id in a better spelling replaces those known; one in a worse spelling is passed over; equals stand side by side."""
    put(store, arrival(conversations=("session",), id_rank=5))
    put(store, arrival(conversations=("conversation",), id_rank=1))
    put(store, arrival(conversations=("session",), id_rank=5))
    assert row_of(store).conversations == ("conversation",)
    assert store.progress.conversation("session") is None
    put(store, arrival(conversations=("another",), id_rank=1))
    assert row_of(store).conversations == ("another", "conversation")


def test_a_conversation_that_others_share_stays(store: Store) -> None:
    """A trace that leaves a conversation for a better id takes nothing from the other traces there."""
    put(store, arrival(1, conversations=("session",), id_rank=5), arrival(2, conversations=("session",), id_rank=5))
    put(store, arrival(1, conversations=("conversation",), id_rank=0))
    assert conversation_of(store, "session").traces == (trace_id(2),)


def test_any_text_is_an_id(store: Store) -> None:
    """Ids with quotes, zero characters and letters of any script are kept as they are."""
    name = "a'b\"c\x00d%_日本語 😀"
    put(store, arrival(conversations=(name,)))
    assert conversation_of(store, name).traces == (trace_id(1),)


def test_what_conversion_finds_is_the_last_word(store: Store) -> None:
    """Ids found by reading the content replace those of the envelope, and no spelling replaces them."""
    put(store, arrival(conversations=("guess",), id_rank=0))
    store.progress.set_conversations(trace_id(1), ["read", "also"], due_s=START_S + 9).result()
    assert row_of(store).conversations == ("also", "read")
    assert store.progress.conversation("guess") is None
    assert conversation_of(store, "read").due_s == START_S + 9
    put(store, arrival(conversations=("guess",), id_rank=0))
    assert row_of(store).conversations == ("also", "read")
    store.progress.set_conversations(trace_id(7), ["x"], due_s=None).result()
    assert store.progress.conversation("x") is None


def test_many_requests_at_once_are_all_kept(store: Store) -> None:
    """What is handed in without waiting is committed in few groups, in order, and nothing is missing."""
    futures = [store.put_request(request(arrival(n % 7), body=b"%d" % n)) for n in range(300)]
    for future in futures:
        future.result()
    assert store.counts.commits < 300
    assert bodies(store, *range(7)) == [b"%d" % n for n in range(300)]
