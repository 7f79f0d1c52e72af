"""Letters for sinks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_eval.errors import StoreError
from otel_eval.store import Letter, Outgoing, Store
from tests.fakes.stores import START_S, Time, finished, open_store, talk, unit


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(tmp_path: Path, time: Time) -> Iterator[Store]:
    with open_store(tmp_path / "store.db", time) as made:
        yield made


def post(store: Store, number: int, payload: bytes, *, revision: int = 1, sink: str = "events") -> None:
    outgoing = (Outgoing(sink=sink, payload=payload),)
    store.queues.finish(finished(unit(number), store, revision=revision, outgoing=outgoing)).result()


def payloads(letters: list[Letter]) -> list[bytes]:
    return [letter.payload for letter in letters]


def test_letters_come_in_order_and_once(store: Store, time: Time) -> None:
    """A sink gets its own letters, those that wait longest first; what is out is not given again until something is said of it."""
    for number in (1, 2, 3):
        post(store, number, b"%d" % number)
        time.pass_s(1)
    post(store, 4, b"other", sink="metrics")
    first = store.outbox.take("events", limit=2)
    assert payloads(first) == [b"1", b"2"]
    assert payloads(store.outbox.take("events")) == [b"3"]
    assert store.outbox.take("events") == []
    store.outbox.give_back(first)
    assert payloads(store.outbox.take("events")) == [b"1", b"2"]


def test_a_units_letters_keep_their_order(store: Store, time: Time) -> None:
    """The second revision of a unit waits for the first, also while the first is to be tried again later; other units pass."""
    post(store, 1, b"first")
    post(store, 1, b"second", revision=2)
    post(store, 2, b"other")
    letters = store.outbox.take("events")
    assert payloads(letters) == [b"first", b"other"]
    store.outbox.try_again(letters[:1], at_s=store.now_s() + 30, note="503").result()
    store.outbox.sent(letters[1:]).result()
    assert store.outbox.take("events") == []
    assert store.outbox.next_s("events") == pytest.approx(START_S, abs=0.1)
    time.pass_s(31)
    again = store.outbox.take("events")
    assert [(a.payload, a.tries, a.note) for a in again] == [(b"first", 1, "503")]
    store.outbox.sent(again).result()
    assert payloads(store.outbox.take("events")) == [b"second"]


def test_a_dead_letter_stands_in_nobodys_way(store: Store) -> None:
    """What is refused for good is kept apart, counted no more, and can be sent once more by hand."""
    post(store, 1, b"first")
    post(store, 1, b"second", revision=2)
    store.outbox.bury(store.outbox.take("events"), note="400").result()
    assert payloads(store.outbox.take("events")) == [b"second"]
    assert store.outbox.depths()["events"].waiting == 1
    assert store.outbox.revive("events").result() == 1
    assert payloads(store.outbox.take("events")) == [b"first"]


def test_the_record_says_what_was_sent_where(store: Store) -> None:
    """Sent, waiting and dead letters stand in the unit's record, with tries and notes."""
    outgoing = tuple(Outgoing(sink=s, payload=b"x") for s in ("a", "b", "c"))
    store.queues.finish(finished(talk("c"), store, outgoing=outgoing)).result()
    store.outbox.sent(store.outbox.take("a"), note="1 rejected").result()
    store.outbox.bury(store.outbox.take("b"), note="400").result()
    record = store.records.record(talk("c"))
    assert record is not None
    assert [(d.sink, d.state, d.tries, d.note) for d in record.deliveries] == [
        ("a", "sent", 1, "1 rejected"),
        ("b", "dead", 1, "400"),
        ("c", "waiting", 0, ""),
    ]


def test_letters_that_were_out_are_taken_again_after_a_restart(tmp_path: Path) -> None:
    """A sender that dies leaves its letters: the next start gives them again, with the same payload."""
    path = tmp_path / "other.db"
    with open_store(path) as store:
        post(store, 1, b"first")
        letter = store.outbox.take("events")[0]
    with open_store(path) as store:
        assert store.outbox.take("events") == [letter]


def test_letters_can_be_taken_again_when_the_store_could_not_say_so(store: Store) -> None:
    """Where the word about a letter cannot be written, the letter is not lost: it is given again."""
    post(store, 1, b"first")
    letters = store.outbox.take("events")
    store._access.write(lambda db: db.execute("CREATE TRIGGER deaf BEFORE DELETE ON outbox BEGIN SELECT raise(FAIL, 'x'); END")).result()
    with pytest.raises(StoreError):
        store.outbox.sent(letters).result()
    assert store.outbox.take("events") == letters
