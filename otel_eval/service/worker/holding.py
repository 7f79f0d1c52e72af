"""Messages of the topic of conversations into the store, and out of the group once all that came of them is settled.

The store is in memory: the log of the broker is what lasts. A message is finished when its trace and the trace's conversations have their
outcomes and the sinks have their results; who takes a partition over reads all others again.
"""

from collections import OrderedDict, deque
from collections.abc import Collection, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from otel_eval.errors import InputError, Overloaded
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.records import Place, Record, Source
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.encoding import PROTOBUF, encoding_from_text
from otel_eval.otlp.receive.inflate import inflated, packed
from otel_eval.otlp.receive.intake import Received
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.keeping import Keeper
from otel_eval.service.worker.gathering import Held, Piece
from otel_eval.service.worker.routing import CONVERSATION, SIGNAL, WHOLE
from otel_eval.store import Arrival, NewRequest, Store, Unit

_CHECKS_AT_ONCE = 300
"""Traces that are looked at in one turn of the thread that polls; some milliseconds."""
_MOST_BYTES = 2**31
"""What we packed ourselves may be unpacked."""
_SIGNALS: dict[bytes, Signal] = {b"traces": "traces", b"logs": "logs"}


@dataclass(slots=True, eq=False)
class _Entry:
    """One message in the store, or on its way into it."""

    source: Source | None
    """None where the message is finished already."""
    request: NewRequest | None
    """Until the store has it."""
    has_failed: bool = False

    @property
    def is_stored(self) -> bool:
        return self.request is None

    def told(self, stored: "Future[None]") -> None:
        """What became of it; in the store's thread."""
        if stored.exception() is None:
            self.request = None
        else:
            self.has_failed = True

    def is_of(self, places: Collection[Place]) -> bool:
        return self.source is not None and self.source.place in places


@dataclass(slots=True, kw_only=True)
class Holder:
    """For the thread that polls; `hint` may be called from any."""

    store: Store
    keeper: Keeper
    reader: EnvelopeReader
    positions: Positions
    keep_s: float
    """How long traces are remembered by their partition after something came."""
    _pending: "OrderedDict[str, list[_Entry]]" = field(default_factory=OrderedDict)
    """Messages that are not finished, by their trace; those looked at longest ago first."""
    _failed: "deque[_Entry]" = field(default_factory=deque)
    """What the store had no room for."""
    _hints: "deque[Unit]" = field(default_factory=deque)
    _moving: "dict[str, list[_Entry]]" = field(default_factory=dict)
    """Messages of traces that are being written under the keys of their conversations."""
    _places: "dict[Place, OrderedDict[str, float]]" = field(default_factory=dict)

    @property
    def traces(self) -> int:
        """Traces that something waits for."""
        return len(self._pending)

    @property
    def is_full(self) -> bool:
        return bool(self._failed) or self.store.is_full

    def take(self, record: Record) -> None:
        """A message. InputError where it is none of ours."""
        request = self._request(record)
        if not request.arrivals:
            self.positions.finish(record.place, record.offset)
            return
        entry = _Entry(Source(record.place, record.offset), request)
        for arrival in request.arrivals:
            self._pending.setdefault(arrival.trace_id, []).append(entry)
            seen = self._places.setdefault(record.place, OrderedDict())
            seen[arrival.trace_id] = self.store.now_s()
            seen.move_to_end(arrival.trace_id)
        self._put(entry)

    def _request(self, record: Record) -> NewRequest:
        signal = _SIGNALS.get(record.headers.get(SIGNAL, b""))
        if signal is None or not record.value:
            raise InputError(f"the message is none that a worker wrote: expected a header {SIGNAL!r} and OTLP behind it")
        envelope = self.reader.read(signal, record.value, "protobuf")
        body, packing = packed(record.value)
        received = Received(signal=signal, encoding=replace(PROTOBUF, packing=packing), body=body, envelope=envelope)
        request = self.keeper.request(received)
        return replace(request, arrivals=tuple(_placed(arrival, record) for arrival in request.arrivals))

    def settle(self, arrivals: Iterable[Arrival]) -> None:
        """Traces that need not be read: only what came of them counts."""
        self._put(_Entry(None, NewRequest(signal="traces", encoding=str(PROTOBUF), body=None, arrivals=tuple(arrivals))))

    def _put(self, entry: _Entry) -> None:
        if entry.request is None:
            return
        entry.has_failed = False
        try:
            self.store.put_request(entry.request).add_done_callback(entry.told)
        except Overloaded:
            self._failed.append(entry)

    def hint(self, unit: Unit) -> None:
        """Something became of a unit: it may be settled."""
        self._hints.append(unit)

    def tick(self, *, checks: int = _CHECKS_AT_ONCE) -> None:
        """Try again what had no room, and finish what is settled."""
        for _ in range(len(self._failed)):
            self._put(self._failed.popleft())
            if self._failed:
                break
        for _ in range(len(self._hints)):
            for trace_id in self._traces_of(self._hints.popleft()):
                self._check(trace_id)
        for trace_id in [trace_id for trace_id, _ in zip(self._pending, range(checks), strict=False)]:
            self._pending.move_to_end(trace_id)
            self._check(trace_id)
        self._forget_old()

    def _traces_of(self, unit: Unit) -> Iterable[str]:
        if unit.kind == "trace":
            return (unit.key,)
        talk = self.store.progress.conversation(unit.key)
        return talk.traces if talk is not None else ()

    def _check(self, trace_id: str) -> None:
        entries = self._pending.get(trace_id)
        if not entries:
            return
        self._failed.extend(entry for entry in entries if entry.has_failed and entry not in self._failed)
        if all(entry.is_stored for entry in entries) and self.store.is_settled(trace_id):
            del self._pending[trace_id]
            for entry in entries:
                if entry.source is not None:
                    self.positions.finish(*entry.source)

    def held_of(self, trace_id: str, ids: Iterable[str]) -> Held | None:
        """A trace as it was written, to be written under the keys of these conversations; None where it is not held any more."""
        entries = self._moving[trace_id] = self._pending.get(trace_id, [])[:]
        source = next((entry.source for entry in entries if entry.source is not None), None)
        if source is None:
            return None
        now_s = self.store.now_s()
        held = Held(trace_id=trace_id, first_s=now_s, last_s=now_s, is_whole=True, is_needed=True, ids=frozenset(ids))
        for body in self.store.bodies_of_traces([trace_id]):
            plain = inflated(body.data, encoding_from_text(body.encoding).packing, max_bytes=_MOST_BYTES)
            signal: Signal = "logs" if body.signal == "logs" else "traces"
            held.pieces.append(Piece(signal=signal, body=plain, source=source))
        return held

    def let_go(self, trace_id: str) -> None:
        """A trace is where its conversation is: its messages here are finished. What came of it meanwhile, by either way, stays."""
        moved = self._moving.pop(trace_id, [])
        left = [entry for entry in self._pending.pop(trace_id, ()) if entry not in moved]
        for entry in moved:
            if entry.source is not None:
                self.positions.finish(*entry.source)
        if left:
            self._pending[trace_id] = left
        else:
            self.store.forget([trace_id])

    def drop(self, places: Collection[Place]) -> None:
        """Forget what came from partitions that are another's now."""
        gone = [trace_id for place in places for trace_id in self._places.pop(place, ())]
        self._failed = deque(entry for entry in self._failed if not entry.is_of(places))
        left = {trace_id: [e for e in self._pending.pop(trace_id, ()) if not e.is_of(places)] for trace_id in gone}
        self._pending.update({trace_id: entries for trace_id, entries in left.items() if entries})
        self.store.forget([trace_id for trace_id, entries in left.items() if not entries])  # others are in a conversation that stays

    def _forget_old(self) -> None:
        """The store forgets its traces in time; so is forgotten which partition they came from."""
        before_s = self.store.now_s() - self.keep_s
        for seen in self._places.values():
            while seen and (oldest := next(iter(seen.items())))[1] < before_s and oldest[0] not in self._pending:
                seen.popitem(last=False)

    def is_held(self, unit: Unit) -> bool:
        """Whether a unit is still known here."""
        progress: Any = self.store.progress
        return (progress.trace(unit.key) if unit.kind == "trace" else progress.conversation(unit.key)) is not None


def _placed(arrival: Arrival, record: Record) -> Arrival:
    """An arrival as the message's headers have it: the conversation that brought it here, and whether it is whole now."""
    name = record.headers.get(CONVERSATION)
    names = (name.decode("utf-8", "surrogatepass"),) if name is not None else ()
    return replace(arrival, conversations=names, id_rank=0, root_ended=WHOLE in record.headers)
