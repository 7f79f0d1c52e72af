"""Messages of a Collector to whole traces. Only the clock and what is done with a trace come from outside.

A trace is several messages of one partition, spans and log records apart. It is held until it is complete (`completion`), then given on
with all its pieces; what comes later of it is given on after a while of silence, under the same conversations.
"""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from otel_eval.completion import CompletionLimits, TraceSeen, TraceState, trace_due
from otel_eval.errors import InputError
from otel_eval.kafka.records import Place, Record, Source
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.by_trace import bodies_by_trace
from otel_eval.otlp.receive.envelope import TraceEnvelope
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.chains import CHAINED

_MOST_KNOWN = 200_000
"""Traces whose conversations are remembered for what comes late: some 50 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What one message brought for a trace."""

    signal: Signal
    body: bytes
    source: Source


@dataclass(slots=True, kw_only=True)
class Held:
    """A trace as far as it came."""

    trace_id: str
    first_s: float
    last_s: float = 0.0
    is_whole: bool = False
    """Whether its root has ended, or something else said that it is over."""
    is_late: bool = False
    """Whether it was given on before, and this is what came later."""
    is_session: bool = False
    is_needed: bool = False
    """Whether anything of an agent is in it."""
    spans: int = 0
    logs: int = 0
    own_spans: int = 0
    rank: int | None = None
    ids: frozenset[str] = frozenset()
    pieces: list[Piece] = field(default_factory=list)

    def add(self, trace: TraceEnvelope, piece: Piece, now_s: float) -> None:
        self.last_s = now_s
        self.is_whole = self.is_whole or trace.root_ended or trace.end_marked
        self.is_session = self.is_session or trace.is_session
        self.is_needed = self.is_needed or trace.is_genai or trace.is_session
        self.spans, self.logs, self.own_spans = self.spans + trace.spans, self.logs + trace.logs, self.own_spans + trace.own_spans
        self.pieces.append(piece)
        found = frozenset(name for name in trace.conversations if not name.startswith(CHAINED))
        if found and (self.rank is None or trace.id_rank < self.rank):
            self.rank, self.ids = trace.id_rank, found
        elif trace.id_rank == self.rank:
            self.ids |= found

    @property
    def may_end(self) -> bool:
        """Whether silence is enough to go on with it."""
        return self.is_whole or self.is_late or self.is_session


@dataclass(slots=True, kw_only=True)
class Gatherer:
    """`on_whole` is given each trace that is complete; whoever has it says `release` when it may be forgotten."""

    reader: EnvelopeReader
    limits: CompletionLimits
    on_whole: Callable[[Held], None]
    on_finished: Callable[[Source], None]
    """Told of each message of which nothing is held any more."""
    held_bytes: int = 0
    _held: dict[str, Held] = field(default_factory=dict)
    _due: list[tuple[float, str]] = field(default_factory=list)
    _open: dict[Source, int] = field(default_factory=dict)
    """How many traces of a message are held."""
    _known: "OrderedDict[str, frozenset[str]]" = field(default_factory=OrderedDict)
    """The conversations of traces that were given on."""

    @property
    def traces(self) -> int:
        return len(self._held)

    def take(self, record: Record, signal: Signal, now_s: float) -> None:
        """A message. InputError where it is no OTLP in protobuf."""
        if not record.value:
            raise InputError("the message is empty: expected OTLP in protobuf (encoding `otlp_proto` of the Collector's Kafka exporter)")
        source = Source(record.place, record.offset)
        traces = self.reader.read(signal, record.value, "protobuf").traces
        ids = [trace.trace_id for trace in traces]
        bodies = bodies_by_trace(signal, record.value, ids) if len(ids) > 1 else dict.fromkeys(ids, record.value)
        if not traces:
            self.on_finished(source)
            return
        self._open[source] = len(traces)
        for trace in traces:
            self._add(trace, Piece(signal=signal, body=bodies.get(trace.trace_id, b""), source=source), now_s)

    def _add(self, trace: TraceEnvelope, piece: Piece, now_s: float) -> None:
        held = self._held.get(trace.trace_id)
        if held is None:
            held = self._held[trace.trace_id] = self._begun(trace.trace_id, now_s)
        may_end = held.may_end
        held.add(trace, piece, now_s)
        self.held_bytes += len(piece.body)
        if len(held.pieces) == 1 or held.may_end is not may_end:
            heapq.heappush(self._due, (self._due_s(held, now_s), trace.trace_id))

    def _begun(self, trace_id: str, now_s: float) -> Held:
        ids = self._known.get(trace_id)
        is_known = ids is not None
        return Held(trace_id=trace_id, first_s=now_s, is_late=is_known, is_needed=is_known, ids=ids or frozenset())

    def _due_s(self, held: Held, now_s: float) -> float:
        due = trace_due(_seen(held), self.limits, now_s)
        return due.at_s if due.at_s is not None else now_s

    def tick(self, now_s: float) -> None:
        """Give on what is complete."""
        while self._due and self._due[0][0] <= now_s:
            _, trace_id = heapq.heappop(self._due)
            held = self._held.get(trace_id)
            if held is None:
                continue
            due = trace_due(_seen(held), self.limits, now_s)
            if due.state is TraceState.COMPLETE:
                self._give_on(held)
            else:
                heapq.heappush(self._due, (due.at_s or now_s, trace_id))

    def _give_on(self, held: Held) -> None:
        del self._held[held.trace_id]
        if held.is_needed:
            self._known[held.trace_id] = held.ids
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        self.on_whole(held)

    def release(self, held: Held) -> None:
        """Nothing of a trace that was given on is needed any more."""
        self._let_go(held.pieces)

    def drop(self, places: Collection[Place]) -> None:
        """Forget what came from partitions that are another's now."""
        for trace_id, held in list(self._held.items()):
            gone = [piece for piece in held.pieces if piece.source.place in places]
            if gone:
                held.pieces = [piece for piece in held.pieces if piece.source.place not in places]
                self.held_bytes -= sum(len(piece.body) for piece in gone)
                if not held.pieces:
                    del self._held[trace_id]
        for source in [source for source in self._open if source.place in places]:
            del self._open[source]

    def _let_go(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            self.held_bytes -= len(piece.body)
            left = self._open.pop(piece.source, 0) - 1
            if left > 0:
                self._open[piece.source] = left
            elif left == 0:
                self.on_finished(piece.source)


def _seen(held: Held) -> TraceSeen:
    return TraceSeen(first_s=held.first_s, last_s=held.last_s, root_ended=held.may_end)
