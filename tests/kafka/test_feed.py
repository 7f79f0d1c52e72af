"""The thread that polls, with a handler that fails as told: what it commits, what it passes by, what it survives."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

from otel_eval.errors import InputError
from otel_eval.kafka.feed import Feed
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.records import Place, Record
from otel_eval.kafka.settings import KafkaSettings
from tests.fakes.kafka import SPANS, Bus, Message, mock_broker
from tests.fakes.serving import until

PLACE = Place(SPANS, 1)


class Taker:
    """Takes messages by what is in them: `finish`, `keep`, `refuse`, `raise`."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self.taken: list[bytes | None] = []
        self.kept: list[Record] = []
        self.calls: list[str] = []
        self.tick_faults = 1

    def take(self, record: Record) -> None:
        self.taken.append(record.value)
        if record.value == b"refuse":
            raise InputError("it is refused")
        if record.value == b"raise":
            raise RuntimeError("nobody foresaw this")
        if record.value == b"finish":
            self._positions.finish(record.place, record.offset)
        else:
            self.kept.append(record)

    def tick(self) -> None:
        if self.tick_faults and self.taken:
            self.tick_faults -= 1
            raise RuntimeError("nor this")

    def is_full(self, topic: str) -> bool:
        return False

    def pause(self) -> None:
        self.calls.append("pause")

    def drop(self, places: Collection[Place]) -> None:
        self.calls.append("drop")

    def resume(self) -> None:
        self.calls.append("resume")


@contextmanager
def feeding(brokers: str) -> Iterator[tuple[Feed, Taker]]:
    """A feed that runs."""
    positions = Positions()
    taker = Taker(positions)
    feed = Feed(KafkaSettings(brokers=brokers, session_timeout_s=6.0, commit_every_s=0.1), positions, taker)
    feed.start()
    try:
        yield feed, taker
    finally:
        feed.stop()


def committed(brokers: str) -> TopicPartition:
    consumer = Consumer({"bootstrap.servers": brokers, "group.id": "otel-eval"})
    try:
        (found,) = consumer.committed([TopicPartition(*PLACE)], timeout=10)
        return found
    finally:
        consumer.close()


def test_floor_and_bitmap_survive_and_faults_hold_nothing_up() -> None:
    """What cannot be read, and faults that nobody foresaw, are counted and passed by; who comes next reads what was kept, and no more."""
    values = (b"finish", b"refuse", b"raise", b"keep", b"finish", b"keep", b"finish", b"finish")
    with mock_broker() as brokers:
        Bus(brokers).write(Message(topic=SPANS, key=None, value=v, partition=PLACE.partition) for v in values)
        with feeding(brokers) as (feed, taker):
            until(lambda: len(taker.taken) == len(values), 30)
            until(lambda: feed.counts.faults.total() == 2, 10)
            assert feed.counts.poison == {SPANS: 2}
            assert feed.counts.faults == {"RuntimeError": 2}
        assert taker.calls[:1] == ["resume"]
        assert taker.calls[-1] == "pause"
        found = committed(brokers)
        assert found.offset == 3
        assert found.metadata
        with feeding(brokers) as (feed, taker):
            until(lambda: len(taker.taken) == 2 and feed.counts.passed[SPANS] == 3, 30)
            assert taker.taken == [b"keep", b"keep"]
            assert feed.lag()[SPANS] == 5


def test_another_member_takes_over_without_a_crash() -> None:
    """Partitions go to a second member, with what was finished; the first forgets those and keeps the others without reading them anew."""
    with mock_broker() as brokers:
        Bus(brokers).write(Message(topic=SPANS, key=None, value=b"keep", partition=p) for p in (0, 1, 2, 3) for _ in range(3))
        with feeding(brokers) as (first, one):
            until(lambda: len(one.taken) == 12, 30)
            with feeding(brokers) as (second, two):
                until(lambda: len(second.assigned) == len(first.assigned) == 6, 30)
                until(lambda: len(two.taken) == 6, 30)
            assert not first.assigned & second.assigned
            assert one.calls.count("drop") == 1
            until(lambda: len(first.assigned) == 12, 30)
            until(lambda: len(one.taken) == 18, 30)
