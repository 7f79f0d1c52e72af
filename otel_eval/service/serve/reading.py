"""Kept requests back to conversations: only the traces asked for, whatever else the requests hold. Takes time: belongs in a thread.

A request of a collector holds spans of hundreds of traces, which are read one after the other: such a request is decoded once, and what it
holds of each trace is kept for a while, within a limit of bytes.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import Batch, Conversation, LogRecord, Span, Step
from otel_eval.otlp.receive.envelope import session_trace_id
from otel_eval.otlp.receive.intake import batch_from_kept, plain_from_kept
from otel_eval.otlp.receive.keys import SESSION_IDS
from otel_eval.service.convert import ConversionReport, conversations_from_batches
from otel_eval.service.serve.chains import CHAINED
from otel_eval.store import Body, Store

KEPT_BYTES = 4 * 1024 * 1024
"""Of requests, unpacked; decoded they take about twice as much."""
LARGEST_KEPT_BYTES = 32 * 1024 * 1024
"""The latest one is kept up to here, alone: a large request that is decoded anew for each of its traces is never done with."""
LEAST_TRACES = 4
"""A request of fewer is not kept decoded: it is hardly read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What stands in some traces."""

    conversations: tuple[Conversation, ...]
    """Those that a user had; a sub-agent's only where there is no other."""
    report: ConversionReport = field(default_factory=ConversionReport)
    goes_on_from: tuple[str, ...] = ()
    """Ids of answers that its model calls go on from and that are not in these traces."""
    missing_parents: int = 0
    """How many spans are named as the parent of others and are not in their trace."""

    @property
    def spans(self) -> int:
        return self.report.spans

    def of_id(self, conversation_id: str) -> Conversation | None:
        """The conversation of an id, or the one without id that began in the trace of that id."""
        named = next((c for c in self.conversations if c.id == conversation_id), None)
        return named or next((c for c in self.conversations if c.id is None and c.key == conversation_id), None)

    def ids_of_trace(self, trace_id: str) -> tuple[str, ...]:
        """Ids of the conversations that a trace belongs to."""
        return tuple(dict.fromkeys(c.id for c in self.conversations if c.id is not None and trace_id in c.trace_ids))


class TraceReader:
    """Reads traces from a store. For one thread at a time. `batch_of` decodes a body.

    `looks_for_parents` is off where a span whose parent is not here has one elsewhere, or one that goes on: inside an application.
    """

    def __init__(self, store: Store, *, batch_of: Callable[[Body], Batch] | None = None, looks_for_parents: bool = True) -> None:
        self._store, self._batch_of, self._looks_for_parents = store, batch_of or batch_from_stored, looks_for_parents
        self._reader = Reader(BUILTIN)
        self._kept: OrderedDict[int, tuple[int, Mapping[str, Batch]]] = OrderedDict()
        self._kept_bytes = 0

    def keep(self, names: Iterable[str]) -> None:
        """Keep these span and resource attributes on conversations from now on: filters ask for them."""
        self._reader = Reader(BUILTIN, keep=names)

    def read(self, trace_ids: Sequence[str]) -> Read:
        """The conversations of these traces."""
        self._reader.forget()
        report, links, family = ConversionReport(), _Links(), Family()
        batches = family.of(self._batches(self._store.body_ids_of_traces(trace_ids), frozenset(trace_ids)))
        found = conversations_from_batches(batches, report=report, on_step=links.see, reader=self._reader).conversations
        main = [c for c in found if c.sub_agent_of is None]
        missing = len(family.named - family.known) if self._looks_for_parents else 0
        return Read(conversations=tuple(main or found), report=report, goes_on_from=links.open(), missing_parents=missing)

    def _batches(self, bodies: Iterable[int], wanted: frozenset[str]) -> Iterator[Batch]:
        for body_id in bodies:
            parts = self._parts(body_id)
            yield from (parts[trace] for trace in wanted if trace in parts)

    def _parts(self, body_id: int) -> Mapping[str, Batch]:
        """What a request holds of each trace; nothing where it is gone."""
        known = self._kept.get(body_id)
        if known is not None:
            self._kept.move_to_end(body_id)
            return known[1]
        found = self._store.body(body_id)
        if found is None:
            return {}
        body = unpacked(found)
        parts, size = _by_trace(self._batch_of(body)), len(body.data)
        if len(parts) >= LEAST_TRACES and size <= LARGEST_KEPT_BYTES:
            self._kept[body_id] = size, parts
            self._kept_bytes += size
            while self._kept_bytes > KEPT_BYTES and len(self._kept) > 1:
                _, (gone, _) = self._kept.popitem(last=False)
                self._kept_bytes -= gone
        return parts


def unpacked(body: Body) -> Body:
    """The same request without its packing."""
    encoding, plain = plain_from_kept(body.encoding, body.data)
    return replace(body, encoding=encoding, data=plain) if encoding != body.encoding else body


def batch_from_stored(body: Body) -> Batch:
    """A request as it was received."""
    return batch_from_kept(body.signal, body.encoding, body.data)


def _by_trace(batch: Batch) -> dict[str, Batch]:
    """A batch cut by trace, in its order; what belongs to none is left out."""
    spans: dict[str, list[Span]] = defaultdict(list)
    logs: dict[str, list[LogRecord]] = defaultdict(list)
    for span in batch.spans:
        spans[span.trace_id].append(span)
    for record in batch.logs:
        trace = _trace_of(record)
        if trace is not None:
            logs[trace].append(record)
    return {t: Batch(spans=tuple(spans.get(t, ())), logs=tuple(logs.get(t, ()))) for t in dict.fromkeys([*spans, *logs])}


def _trace_of(record: LogRecord) -> str | None:
    """The trace that a log record was counted under: its own, else the one that stands for its session."""
    if record.trace_id is not None:
        return record.trace_id
    session = next((s for key in SESSION_IDS if (s := text_or_none(record.attributes.get(key)))), None)
    return session_trace_id(session) if session is not None else None


@dataclass(slots=True)
class Family:
    """Spans that came, and spans that others name as their parent; each with its trace."""

    known: set[tuple[str, str]] = field(default_factory=set)
    named: set[tuple[str, str]] = field(default_factory=set)

    def of(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, looked at on the way."""
        for batch in batches:
            for span in batch.spans:
                self.known.add((span.trace_id, span.span_id))
                if span.parent_span_id is not None:
                    self.named.add((span.trace_id, span.parent_span_id))
            yield batch


@dataclass(slots=True)
class _Links:
    """Answers, and the answers that calls go on from."""

    answers: set[str] = field(default_factory=set)
    earlier: dict[str, None] = field(default_factory=dict)

    def see(self, span: Span, step: Step) -> None:
        if step.response_id:
            self.answers.add(step.response_id)
        if step.previous_response_id:
            self.earlier[step.previous_response_id] = None
        for _, name in step.conversation_ids:
            if name.startswith(CHAINED):
                self.earlier[name] = None

    def open(self) -> tuple[str, ...]:
        return tuple(name for name in self.earlier if name not in self.answers)
