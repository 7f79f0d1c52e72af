"""Messages of conversations into the store and out of the group: what is finished when, and what is left of partitions that go."""

import asyncio
from collections.abc import Iterator

import pytest

from otel_eval.dialects import BUILTIN
from otel_eval.errors import InputError, Overloaded
from otel_eval.kafka.offsets import Offsets
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.records import Place, Record
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects
from otel_eval.service.worker.holding import Holder
from otel_eval.service.worker.routing import CONVERSATION, SIGNAL, WHOLE
from otel_eval.store import Unit
from tests.fakes.bench import Bench
from tests.fakes.kafka import SPANS, name_of, trace_of, turn_messages

ZERO, ONE = Place("talks", 0), Place("talks", 1)


class Talks:
    """A scorer on a clock that is told, fed by a holder."""

    def __init__(self) -> None:
        self.bench = Bench(completion__trace_quiet="1s", completion__conversation_idle="100s")
        self.positions = Positions()
        for place in (ZERO, ONE):
            self.positions.begin(place, Offsets(0, 0))
        self.holder = Holder(
            store=self.bench.store,
            keeper=Keeper(self.bench.store, self.bench.plan.limits),
            reader=EnvelopeReader(keys_of_dialects(BUILTIN)),
            positions=self.positions,
            keep_s=10_000.0,
        )
        rater = self.bench.parts.worker.rater
        rater.is_ours, rater.ids_from_content = self.holder.is_held, True

    def take(self, number: int, turn: int, *, place: Place = ZERO) -> None:
        """A turn as a worker writes it: one message with all its spans."""
        value = b"".join(m.value for m in turn_messages(number, turn) if m.topic == SPANS)
        headers = {SIGNAL: b"traces", CONVERSATION: name_of(number).encode(), WHOLE: b"1"}
        offset = self.positions.held[place].next
        assert self.positions.read(place, offset)
        self.holder.take(Record(place=place, offset=offset, value=value, headers=headers))
        self.bench.store.settled().result()

    async def after(self, seconds: float) -> None:
        await self.bench.after(seconds)

    def send(self) -> None:
        """The sink takes what waits."""
        outbox = self.bench.store.outbox
        outbox.sent(outbox.take("memory")).result()

    def floors(self) -> list[int]:
        self.holder.tick()
        return [offsets.floor for offsets in self.positions.held.values()]

    def ids(self) -> list[str]:
        return [result.id for report in self.bench.sink.reports for result in report.results]


@pytest.fixture
def talks() -> Iterator[Talks]:
    async def made() -> Talks:
        return Talks()

    loop = asyncio.new_event_loop()
    found = loop.run_until_complete(made())
    yield found
    found.bench.close()
    loop.close()


def test_a_message_is_finished_when_its_conversation_is_settled_and_sent(talks: Talks) -> None:
    """Neither the trace's completion nor the score is enough: the sink must have the results."""

    async def told() -> None:
        talks.take(1, 1)
        talks.take(1, 2)
        assert talks.floors() == [0, 0]
        await talks.after(2)
        assert talks.floors() == [0, 0]
        await talks.after(101)
        assert talks.bench.outcome_name("conversation", name_of(1)) == "scored"
        assert talks.floors() == [0, 0]
        talks.send()
        assert talks.floors() == [2, 0]

    asyncio.run(told())


def test_a_turn_that_comes_later_waits_for_the_next_revision(talks: Talks) -> None:
    """What is settled stays finished; a later turn of the same conversation is not, until the conversation is scored anew with it."""

    async def told() -> None:
        talks.take(1, 1)
        await talks.after(2)
        await talks.after(101)
        talks.send()
        assert talks.floors() == [1, 0]
        talks.take(1, 2)
        assert talks.floors() == [1, 0]
        await talks.after(2)
        await talks.after(101)
        talks.send()
        assert talks.floors() == [2, 0]

    asyncio.run(told())
    assert len(set(talks.ids())) == 2


def test_the_same_read_again_gives_the_same_ids(talks: Talks) -> None:
    """Who scores a conversation from the beginning, not knowing that it was scored in two revisions, gives the second one's id."""

    async def told() -> None:
        talks.take(1, 1)
        await talks.after(2)
        await talks.after(101)
        talks.take(1, 2)
        await talks.after(2)
        await talks.after(101)
        talks.holder.drop([ZERO])
        talks.take(1, 1)
        talks.take(1, 2)
        await talks.after(2)
        await talks.after(101)

    asyncio.run(told())
    first, second, again = talks.ids()
    assert first != second == again


def test_partitions_that_go_leave_nothing_behind(talks: Talks) -> None:
    """Of a partition that is another's, neither units nor letters are left; those of the others stay."""

    async def told() -> None:
        talks.take(1, 1)
        talks.take(2, 1, place=ONE)
        await talks.after(2)
        await talks.after(101)
        assert talks.bench.store.info().outbox["memory"].waiting == 2
        talks.take(3, 1)
        talks.holder.drop([ZERO])
        talks.positions.drop([ZERO])
        store = talks.bench.store
        store.settled().result()
        assert [letter.unit.key for letter in store.outbox.take("memory")] == [name_of(2)]
        info = store.info()
        assert (info.traces, info.conversations, info.bodies) == (1, 1, 1)
        assert store.records.find(trace_of(1, 1).hex()) == store.records.find(name_of(3)) == []
        assert not talks.holder.is_held(Unit(kind="conversation", key=name_of(1)))
        assert talks.holder.is_held(Unit(kind="conversation", key=name_of(2)))

    asyncio.run(told())


def test_what_has_no_room_is_put_in_later(talks: Talks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is full loses nothing: the message waits, the topic is paused, and it is tried again."""
    put = talks.bench.store.put_request

    def full(request: object) -> None:
        raise Overloaded("no room")

    monkeypatch.setattr(talks.bench.store, "put_request", full)
    talks.take(1, 1)
    assert talks.holder.is_full
    talks.holder.tick()
    assert talks.bench.store.progress.trace(trace_of(1, 1).hex()) is None
    monkeypatch.setattr(talks.bench.store, "put_request", put)
    talks.holder.tick()
    talks.bench.store.settled().result()
    assert talks.bench.store.progress.trace(trace_of(1, 1).hex()) is not None
    assert not talks.holder.is_full


def test_a_message_of_another_program_is_refused(talks: Talks) -> None:
    """What lies in the topic of conversations without our headers is an InputError."""
    for headers in ({}, {SIGNAL: b"metrics"}):
        with pytest.raises(InputError, match="none that a worker wrote"):
            talks.holder.take(Record(place=ZERO, offset=0, value=b"x", headers=headers))
