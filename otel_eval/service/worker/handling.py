"""What a worker does with messages: those of a Collector are gathered and brought together, those of conversations are held and scored.

    spans, logs ─▶ Gatherer ─▶ Router ─▶ topic of conversations ─▶ Holder ─▶ store ─▶ looked at, judged, sent (as in `serve`)

All of this runs in the thread that polls; looking, judging and sending run elsewhere and are only told to wait or to go on.
"""

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from otel_eval.completion import CompletionLimits
from otel_eval.kafka.courier import Courier
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.records import Place, Record, Source
from otel_eval.kafka.settings import KafkaSettings
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.lifecycle import Parts
from otel_eval.service.worker.gathering import Gatherer, Held
from otel_eval.service.worker.holding import Holder
from otel_eval.service.worker.routing import Router
from otel_eval.store import Arrival, Letter

_log = logging.getLogger(__name__)

_WAIT_S = 0.05
_RELIEVED = 0.8
"""Share of the limit below which a topic that was paused comes again."""


@dataclass(slots=True, kw_only=True)
class Handling:
    """The handler of the feed. `wake` is called when judging may go on, `hurry` when what waits for sinks should leave now."""

    settings: KafkaSettings
    parts: Parts
    positions: Positions
    courier: Courier
    holder: Holder
    reader: EnvelopeReader
    limits: CompletionLimits
    max_held_bytes: int
    handover_s: float
    wake: Callable[[], None]
    hurry: Callable[[], None]
    lost: "Counter[str]" = field(default_factory=Counter)
    """Traces that the topic of conversations refused for good, by the name of the error. What becomes of one is `fragment`."""
    gatherer: Gatherer = field(init=False)
    router: Router = field(init=False)
    mover: Router = field(init=False)
    """For traces whose conversation only reading found: they are written once more, under its key."""
    _found: "deque[tuple[str, Sequence[str]]]" = field(default_factory=deque)
    _signals: dict[str, Signal] = field(init=False)
    _is_full: bool = False

    def __post_init__(self) -> None:
        self._signals = {self.settings.traces_topic: "traces", self.settings.logs_topic: "logs"}
        self.gatherer = Gatherer(reader=self.reader, limits=self.limits, on_whole=self._whole, on_finished=self._finished)
        self.router = Router(topic=self.settings.conversations_topic, send=self.courier.send, on_routed=self._routed)
        self.mover = Router(topic=self.settings.conversations_topic, send=self.courier.send, on_routed=self._moved)
        self.parts.looker.belongs_elsewhere = self._belongs_elsewhere
        for sender in self.parts.senders:
            sender.on_sent = self._sent

    def take(self, record: Record) -> None:
        signal = self._signals.get(record.place.topic)
        if signal is None:
            self.holder.take(record)
        else:
            self.gatherer.take(record, signal, time.monotonic())

    def tick(self) -> None:
        self.gatherer.tick(time.monotonic())
        self.courier.tick()
        self._move()
        self.holder.tick()

    def is_full(self, topic: str) -> bool:
        """Of the sources: whether too much is held of traces; of the conversations: whether the store is full."""
        if topic not in self._signals:
            return self.holder.is_full
        held = self.gatherer.held_bytes
        self._is_full = held > self.max_held_bytes * (_RELIEVED if self._is_full else 1.0)
        return self._is_full

    def pause(self) -> None:
        """No unit is begun; those at the judge and what waits for sinks have some time to be done, so that nobody does it again."""
        self.parts.worker.held_until = math.inf
        end = time.monotonic() + self.handover_s
        time.sleep(_WAIT_S)
        while time.monotonic() < end and self._is_busy():
            self.hurry()
            time.sleep(_WAIT_S)
        self.courier.flush(max(0.0, end - time.monotonic()))
        self.tick()

    def _is_busy(self) -> bool:
        waiting = sum(depth.waiting for depth in self.parts.store.outbox.depths().values())
        return self.parts.worker.is_busy or waiting > 0

    def drop(self, places: Collection[Place]) -> None:
        self.gatherer.drop(places)
        self.holder.drop(places)

    def resume(self) -> None:
        self.parts.worker.held_until = 0.0
        self.wake()

    def _whole(self, held: Held) -> None:
        """A trace of an agent goes on; of another only what came of it is noted."""
        if held.is_needed:
            self.router.route(held)
            return
        self.gatherer.release(held)
        self.holder.settle([_arrival(held, self.parts.store.now_s())])

    def _routed(self, held: Held, fault: str | None) -> None:
        self.gatherer.release(held)
        self._tell_lost(held, fault)

    def _tell_lost(self, held: Held, fault: str | None) -> None:
        if fault is None:
            return
        if self.lost[fault] == 0:
            _log.error(
                "the topic %r refuses a trace (%s): set its max.message.bytes above the largest message of %s; later ones are only counted",
                *(self.router.topic, fault, ", ".join(self.settings.sources)),
            )
        self.lost[fault] += 1
        self.holder.settle([replace(_arrival(held, self.parts.store.now_s()), is_genai=True, root_ended=False)])

    def _belongs_elsewhere(self, trace_id: str, ids: Sequence[str]) -> bool:
        """Another partition's worker may hold the rest of the conversation; in the thread that looks."""
        self._found.append((trace_id, ids))
        return True

    def _move(self) -> None:
        while self._found:
            held = self.holder.held_of(*self._found.popleft())
            if held is not None:
                self.mover.route(held)

    def _moved(self, held: Held, fault: str | None) -> None:
        self.holder.let_go(held.trace_id)
        self._tell_lost(held, fault)

    def _finished(self, source: Source) -> None:
        self.positions.finish(source.place, source.offset)

    def _sent(self, letters: Sequence[Letter]) -> None:
        for letter in letters:
            self.holder.hint(letter.unit)


def _arrival(held: Held, now_s: float) -> Arrival:
    """What is told of a trace that is not given on."""
    return Arrival(
        trace_id=held.trace_id, spans=held.spans, logs=held.logs, own_spans=held.own_spans, root_ended=held.is_whole, due_s=now_s
    )
