"""The one thread that talks to Kafka: polls, hands messages to who works on them, commits, and takes part in rebalances.

It never waits for work: partitions are paused while there is too much of it, and polling goes on (`max.poll.interval.ms`). What is
committed is the floor with the finished offsets above it (`offsets`).

On a rebalance all partitions are revoked: what is begun is finished for a moment, then everything is committed. Those that come back in
the very next assignment were nobody else's meanwhile: they go on where they were. Those that do not are forgotten.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from otel_eval.errors import InputError
from otel_eval.kafka.client_log import client_logger
from otel_eval.kafka.offsets import Offsets, offsets_from_commit
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.records import Handler, Place, Record
from otel_eval.kafka.settings import KafkaSettings, consumer_properties

_AT_ONCE = 200
_POLL_S = 0.05
_ASK_S = 10.0
_AFTER_FAULT_S = 1.0
_MOST_NAMED = 1_000
"""So many unreadable messages are named in the log; more are only counted."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class FeedCounts:
    """What was read, for instruments."""

    taken: "Counter[str]" = field(default_factory=Counter)
    """Messages by topic."""
    passed: "Counter[str]" = field(default_factory=Counter)
    """Messages that were finished before and came again, by topic."""
    poison: "Counter[str]" = field(default_factory=Counter)
    """Messages that cannot be read, by topic."""
    commits: "Counter[str]" = field(default_factory=Counter)
    """Commits by what became of them: `done` or the name of the error."""
    rebalances: int = 0
    faults: "Counter[str]" = field(default_factory=Counter)
    """Errors of the client and of the handler, by name."""


class Feed:
    """`start` begins, `stop` ends it in order. `positions` are shared with the handler, which says there what is finished."""

    def __init__(self, settings: KafkaSettings, positions: Positions, handler: Handler) -> None:
        self._settings, self._positions, self._handler = settings, positions, handler
        self._assigned: frozenset[Place] = frozenset()
        self.paused: frozenset[Place] = frozenset()
        self.counts = FeedCounts()
        self.ready = threading.Event()
        """Set once the group has given us partitions, or has none for us."""
        self.high: dict[Place, int] = {}
        """The end of each partition, as far as the broker told."""
        self._next_commit_s = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="otel-eval kafka", daemon=True)

    @property
    def assigned(self) -> frozenset[Place]:
        """The partitions that are ours."""
        return self._assigned

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Take nothing more, finish what is begun for a moment, commit, leave the group."""
        self._stopping.set()
        self._thread.join()

    def lag(self) -> dict[str, int]:
        """Messages of each topic behind our floors: unread ones and unfinished ones."""
        lag: dict[str, int] = dict.fromkeys(self._settings.topics, 0)
        for place, offsets in tuple(self._positions.held.items()):
            lag[place.topic] += max(0, self.high.get(place, offsets.next) - offsets.floor)
        return lag

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._session()
            except Exception as error:  # the client is done for: begin with a new one, from what was committed
                self._fault(error.args[0].name() if isinstance(error, KafkaException) else type(error).__name__)
                self._lost()
                self._stopping.wait(_AFTER_FAULT_S)

    def _session(self) -> None:
        """One life of a consumer."""
        properties = {**consumer_properties(self._settings), "on_commit": self._on_commit}
        consumer = Consumer(properties, logger=client_logger())
        try:
            consumer.subscribe(list(self._settings.topics), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)
            while not self._stopping.is_set():
                self._turn(consumer)
        finally:
            consumer.close()  # revokes: pauses the handler, and commits

    def _turn(self, consumer: Consumer) -> None:
        for message in consumer.consume(_AT_ONCE, _POLL_S):
            self._message(message)
        self._guarded_tick()
        self._steer(consumer)
        now_s = time.monotonic()
        if now_s >= self._next_commit_s:
            self._next_commit_s = now_s + self._settings.commit_every_s
            self._look_at_ends(consumer)
            self._commit(consumer, asynchronous=True)

    def _message(self, message: Message) -> None:
        error = message.error()
        if error is not None:
            self._fault(error.name())
            return
        record = record_from_message(message)
        if not self._positions.read(record.place, record.offset):
            self.counts.passed[record.place.topic] += 1
            return
        self.counts.taken[record.place.topic] += 1
        try:
            self._handler.take(record)
        except InputError as fault:
            self._poison(record, str(fault))
        except Exception as fault:  # a reader's: one message must not hold its partition up
            self.counts.faults[type(fault).__name__] += 1
            self._poison(record, f"reading it raised {type(fault).__name__}")

    def _poison(self, record: Record, why: str) -> None:
        """A message that cannot be read is counted, named and passed by."""
        self.counts.poison[record.place.topic] += 1
        if self.counts.poison.total() <= _MOST_NAMED:
            _log.error("message %s at offset %d is passed by: %s", record.place, record.offset, why)
        self._positions.finish(record.place, record.offset)

    def _guarded_tick(self) -> None:
        try:
            self._handler.tick()
        except Exception as fault:  # after the start nothing ends the process
            self._fault(type(fault).__name__)
            self._stopping.wait(_AFTER_FAULT_S)

    def _fault(self, name: str) -> None:
        if self.counts.faults[name] == 0:
            _log.warning("Kafka: %s; later ones of this kind are only counted", name)
        self.counts.faults[name] += 1

    def _steer(self, consumer: Consumer) -> None:
        """Pause what should not come for now, resume the rest."""
        full = {topic for topic in self._settings.topics if self._handler.is_full(topic)}
        held = self._positions.held
        wanted = frozenset(p for p in self._assigned if p.topic in full or (p in held and held[p].is_wide))
        if wanted - self.paused:
            consumer.pause([TopicPartition(*place) for place in wanted - self.paused])
        if self.paused - wanted:
            consumer.resume([TopicPartition(*place) for place in self.paused - wanted])
        self.paused = wanted

    def _look_at_ends(self, consumer: Consumer) -> None:
        """How far each partition reaches, from what the last fetches told; asks nobody."""
        for place in self._assigned:
            _, high = consumer.get_watermark_offsets(TopicPartition(*place), cached=True)
            if high >= 0:
                self.high[place] = high

    def _commit(self, consumer: Consumer, *, asynchronous: bool) -> None:
        commits = [commit for commit in self._positions.changes() if commit.place in self._assigned]
        if not commits:
            return
        offsets = [TopicPartition(c.place.topic, c.place.partition, c.offset, c.metadata) for c in commits]
        try:
            if asynchronous:
                consumer.commit(offsets=offsets, asynchronous=True)
            else:
                consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:  # a rebalance is under way, the broker is away: said again at the next time
            self.counts.commits[error.args[0].name()] += 1
            return
        self._positions.committed(commits)
        self.counts.commits["done"] += not asynchronous

    def _on_commit(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        faults = {e.name() for e in [error, *(p.error for p in partitions)] if e is not None}
        for name in faults or {"done"}:
            self.counts.commits[name] += 1
        if faults:
            self._positions.forget_committed()

    def _on_assign(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.counts.rebalances += 1
        ours = frozenset(Place(p.topic, p.partition) for p in partitions)
        gone = frozenset(self._positions.held) - ours
        self._drop(gone)
        for place, offsets in self._asked(consumer, ours - frozenset(self._positions.held)).items():
            self._positions.begin(place, offsets)
        held = self._positions.held
        consumer.assign([TopicPartition(place.topic, place.partition, _start(held[place])) for place in sorted(ours)])
        self._assigned, self.paused = ours, frozenset()
        self._handler.resume()
        self.ready.set()
        _log.info("partitions: %s", ", ".join(map(str, sorted(ours))) or "none, there are more workers than partitions")

    def _asked(self, consumer: Consumer, places: Collection[Place]) -> dict[Place, Offsets]:
        """Where the group stands in partitions. KafkaException where nobody can say."""
        if not places:
            return {}
        found = consumer.committed([TopicPartition(*place) for place in places], timeout=_ASK_S)
        for partition in found:
            if partition.error is not None:
                raise KafkaException(partition.error)
        return {Place(p.topic, p.partition): offsets_from_commit(max(p.offset, 0), p.metadata) for p in found}

    def _on_revoke(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self._handler.pause()
        self._commit(consumer, asynchronous=False)
        self._assigned, self.paused = frozenset(), frozenset()

    def _on_lost(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """The group went on without us: others may have everything by now."""
        self._lost()

    def _lost(self) -> None:
        self._assigned, self.paused = frozenset(), frozenset()
        self._drop(frozenset(self._positions.held))

    def _drop(self, places: Collection[Place]) -> None:
        self._positions.drop(places)
        if places:
            self._handler.drop(places)
        for place in places:
            self.high.pop(place, None)


def record_from_message(message: Message) -> Record:
    """A message of the client as ours."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None  # a message without an error has all three
    assert partition is not None
    assert offset is not None
    headers: Any = message.headers() or []
    return Record(
        place=Place(topic, partition),
        offset=offset,
        key=message.key(),
        value=message.value(),
        headers={name: value for name, value in headers if value is not None},
    )


def _start(offsets: Offsets) -> int:
    return offsets.next or OFFSET_BEGINNING
