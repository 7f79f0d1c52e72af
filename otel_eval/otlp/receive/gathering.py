"""A request looked over, item by item, for its envelope.

Of a span its ids, times, and those values that its attribute names point at are looked at. What an evaluator made (we, or another) is
counted apart and
opens nothing again; an application's log records that have nothing to do with GenAI are counted and passed over.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pydantic_core import from_json

from otel_eval.errors import InputError
from otel_eval.model import STATUS_ERROR, Batch, LogRecord, Span
from otel_eval.otlp.decode import ZERO_SPAN_ID, ZERO_TRACE_ID, fault_of_ids, logs_request, traces_request, value_from_any
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.json_values import MAX_NANOS
from otel_eval.otlp.receive.envelope import Envelope, TraceEnvelope, session_trace_id
from otel_eval.otlp.receive.keys import Matcher, Shape
from otel_eval.otlp.records import holds_metrics, is_whole_logs, is_whole_traces
from otel_eval.otlp.tally import Tally
from otel_eval.otlp.unpack import TooLarge

MOST_TRACES = 50_000
"""Of one request; senders have batches of hundreds or thousands of spans. It bounds the memory that a hostile request takes."""
MOST_IDS = 1_000
"""Conversations of one trace."""
LONGEST_ID = 1_024
_NO_ID = frozenset({"", "null", "none", "undefined", "nil", "n/a", "unknown"})
"""What producers write for a missing id; the same as in `dialects`."""


class _Seen:
    """What is gathered for one trace."""

    __slots__ = (
        "end_marked",
        "end_ns",
        "has_error",
        "ids",
        "is_genai",
        "is_session",
        "logs",
        "own_spans",
        "rank",
        "root_ended",
        "service",
        "spans",
        "start_ns",
        "trace_state",
    )

    def __init__(self) -> None:
        self.spans = self.logs = self.own_spans = 0
        self.is_session = self.root_ended = self.end_marked = self.is_genai = self.has_error = False
        self.start_ns: int | None = None
        self.end_ns: int | None = None
        self.rank: int | None = None
        self.ids: set[str] = set()
        self.service: str | None = None
        self.trace_state: str | None = None

    def times(self, start: int | None, end: int | None) -> None:
        """Widen the span of time."""
        if start is not None and (self.start_ns is None or start < self.start_ns):
            self.start_ns = start
        if end is not None and (self.end_ns is None or end > self.end_ns):
            self.end_ns = end

    def add_id(self, rank: int, name: str, tally: Tally) -> None:
        """An id in the spelling of this rank; a better spelling puts the others aside."""
        if self.rank is None or rank < self.rank:
            self.rank, self.ids = rank, {name}
        elif rank == self.rank and len(self.ids) < MOST_IDS:
            self.ids.add(name)
        elif rank == self.rank and name not in self.ids:
            tally.note("conversation_ids_beyond_limit")

    def envelope(self, trace_id: str) -> TraceEnvelope:
        return TraceEnvelope(
            trace_id=trace_id,
            is_session=self.is_session,
            spans=self.spans,
            logs=self.logs,
            own_spans=self.own_spans,
            root_ended=self.root_ended,
            end_marked=self.end_marked,
            is_genai=self.is_genai,
            has_error=self.has_error,
            start_ns=self.start_ns,
            end_ns=self.end_ns,
            conversations=tuple(sorted(self.ids)),
            id_rank=self.rank or 0,
            service=self.service,
            trace_state=self.trace_state,
        )


def gathered_traces(body: bytes, matcher: Matcher) -> "Gathering":
    """A protobuf traces request, looked over: quickly where a glance at its bytes allows it and its result confirms it."""
    tally = Tally()
    try:
        groups = traces_request(body, tally).resource_spans
    except InputError as error:
        raise _misdirected("traces", body) or error from None
    glance = matcher.glance(body)
    if glance is not None and len(glance.ids) > 1:
        glance = None  # which trace has which of them only a look at every span tells
    found = Gathering(matcher, tally, best_rank=glance.rank if glance is not None else None)
    found.add_groups(groups)
    if glance is not None and found.best_ids != glance.ids:  # what was glanced at is no id, or not a span's: look at every span
        found = Gathering(matcher, tally)
        found.add_groups(groups)
    if found.is_all_rejected and (holds_metrics(body) or not is_whole_traces(body)):
        raise _misdirected("traces", body) or InputError("no span in the request has valid ids: expected an ExportTraceServiceRequest")
    return found


class Gathering:
    """One request while it is looked over; `read` is what was noted when it was parsed. With `best_rank`, spans of a trace whose id in that
    spelling is known are only counted.

    The loops over protobuf messages are plain: every span passes here before its sender hears of it.
    """

    def __init__(self, matcher: Matcher, read: Tally | None = None, *, best_rank: int | None = None) -> None:
        self._m, self._best_rank = matcher, best_rank
        self._tally = Tally()
        self._tally.notes.update(read.notes if read is not None else {})
        self._traces: dict[bytes, _Seen] = {}
        self._spans = self._logs = self._own_spans = self._own_logs = self._idle_logs = 0

    def envelope(self) -> Envelope:
        return Envelope(
            traces=tuple(seen.envelope(trace_id.hex()) for trace_id, seen in self._traces.items()),
            spans=self._spans,
            logs=self._logs,
            own_spans=self._own_spans,
            own_logs=self._own_logs,
            idle_logs=self._idle_logs,
            rejected=self._tally.rejected,
            notes=self._tally.notes,
        )

    @property
    def is_all_rejected(self) -> bool:
        return bool(self._tally.rejected) and not self._spans

    @property
    def best_ids(self) -> set[str]:
        """All ids in the best spelling there is."""
        return {name for seen in self._traces.values() if seen.rank == self._best_rank for name in seen.ids}

    def add_groups(self, groups: Iterable[Any]) -> None:
        """All spans of a protobuf traces request."""
        for group in groups:
            service = _service_of(group.resource.attributes)
            for part in group.scope_spans:
                is_own = service == self._m.own_service or part.scope.name == self._m.own_scope
                for span in part.spans:
                    self._add_span_message(span, service, is_own)

    def _add_span_message(self, s: Any, service: str | None, is_own: bool) -> None:
        trace_id, span_id, parent_id = s.trace_id, s.span_id, s.parent_span_id
        if len(trace_id) != 16 or len(span_id) != 8 or trace_id == ZERO_TRACE_ID or span_id == ZERO_SPAN_ID or len(parent_id) not in (0, 8):
            self._tally.reject(fault_of_ids(trace_id, span_id))
            return
        self._spans += 1
        seen = self._traces.get(trace_id) or self._seen(trace_id)
        pairs = s.attributes
        is_known = seen.is_genai and seen.rank is not None and seen.rank == self._best_rank
        shape = self._m.plain if is_known else self._m.shape(tuple([pair.key for pair in pairs]))
        if is_own or shape.is_own or (shape.operation is not None and pairs[shape.operation].value.string_value == self._m.own_operation):
            self._own_spans += 1
            seen.own_spans += 1
            return
        start, end = s.start_time_unix_nano, s.end_time_unix_nano
        seen.times(start if 0 < start <= MAX_NANOS else None, end if 0 < end <= MAX_NANOS else None)
        is_root = not parent_id or parent_id == ZERO_SPAN_ID
        self._add_span(seen, shape, is_root, s.trace_state, s.status.code == STATUS_ERROR, service)
        if not seen.is_genai:
            seen.is_genai = shape.is_genai or any(self._m.tells_genai_event(event.name) for event in s.events)
        if shape.ids or shape.end_marks:
            self._add_values(seen, shape, lambda place: value_from_any(pairs[place].value))

    def add_logs(self, body: bytes) -> None:
        """A protobuf logs request."""
        has_time = False
        try:
            request = logs_request(body, self._tally)
        except InputError as error:
            raise _misdirected("logs", body) or error from None
        for group in request.resource_logs:
            service = _service_of(group.resource.attributes)
            for part in group.scope_logs:
                is_own = service == self._m.own_service or part.scope.name == self._m.own_scope
                for record in part.log_records:
                    has_time = has_time or record.time_unix_nano != 0 or record.observed_time_unix_nano != 0
                    self._add_log_message(record, service, is_own, part.scope.name)
        if self._logs and not has_time and (holds_metrics(body) or not is_whole_logs(body)):
            raise _misdirected("logs", body) or InputError("no record in the request has a time: expected an ExportLogsServiceRequest")

    def _add_log_message(self, r: Any, service: str | None, is_own: bool, scope: str) -> None:
        pairs = r.attributes
        shape = self._m.shape(tuple([pair.key for pair in pairs]))
        name = r.event_name or (pairs[shape.event_name].value.string_value if shape.event_name is not None else "")
        trace_id = r.trace_id if len(r.trace_id) == 16 and r.trace_id != ZERO_TRACE_ID else None
        time = r.time_unix_nano or r.observed_time_unix_nano
        names = (name, r.body.string_value, scope)
        self._add_log(trace_id, shape, names, time, service, is_own, lambda place: value_from_any(pairs[place].value))

    def add_batch(self, batch: Batch) -> None:
        """A decoded request."""
        for span in batch.spans:
            self._add_span_value(span)
        for record in batch.logs:
            self._add_log_value(record)
        for reason, count in batch.rejected.items():
            self._tally.rejected[reason] = self._tally.rejected.get(reason, 0) + count
        for name, count in batch.notes.items():
            self._tally.notes[name] = self._tally.notes.get(name, 0) + count

    def _add_span_value(self, span: Span) -> None:
        names = tuple(span.attributes)
        shape, attributes = self._m.shape(names), span.attributes
        service, is_own = self._origin(span)
        self._spans += 1
        seen = self._seen(bytes.fromhex(span.trace_id))
        if is_own or shape.is_own or attributes.get(self._m.operation) == self._m.own_operation:
            self._own_spans += 1
            seen.own_spans += 1
            return
        seen.times(span.start_ns, span.end_ns)
        self._add_span(seen, shape, span.parent_span_id is None, span.trace_state, span.status_code == STATUS_ERROR, service)
        if not seen.is_genai:
            seen.is_genai = shape.is_genai or any(self._m.tells_genai_event(event.name) for event in span.events)
        self._add_values(seen, shape, lambda place: attributes[names[place]])

    def _add_log_value(self, record: LogRecord) -> None:
        names = tuple(record.attributes)
        body = record.body if isinstance(record.body, str) else ""
        trace_id = bytes.fromhex(record.trace_id) if record.trace_id else None
        time = record.time_ns or record.observed_ns or 0
        service, is_own = self._origin(record)
        self._add_log(
            trace_id,
            self._m.shape(names),
            (record.event_name, body, record.scope.name),
            time,
            service,
            is_own,
            lambda place: record.attributes[names[place]],
        )

    def _origin(self, item: Span | LogRecord) -> tuple[str | None, bool]:
        service = item.scope.resource.get("service.name")
        service = service if isinstance(service, str) else None
        return service, service == self._m.own_service or item.scope.name == self._m.own_scope

    def _seen(self, trace_id: bytes) -> _Seen:
        seen = self._traces.get(trace_id)
        if seen is None:
            if len(self._traces) >= MOST_TRACES:
                raise TooLarge(f"the request holds more than {MOST_TRACES} traces: send smaller ones")
            seen = self._traces[trace_id] = _Seen()
        return seen

    def _add_span(self, seen: _Seen, shape: Shape, is_root: bool, trace_state: str, is_error: bool, service: str | None) -> None:
        seen.spans += 1
        if is_root:
            seen.root_ended = True
        if trace_state and (is_root or seen.trace_state is None):
            seen.trace_state = trace_state
        if is_error:
            seen.has_error = True
        if service is not None and (seen.service is None or (shape.is_genai and not seen.is_genai)):
            seen.service = service

    def _add_log(
        self,
        trace_id: bytes | None,
        shape: Shape,
        names: tuple[str, str, str],
        time: int,
        service: str | None,
        is_own: bool,
        value: Callable[[int], Any],
    ) -> None:
        self._logs += 1
        if is_own or shape.is_own or names[0].startswith(self._m.own_event):
            self._own_logs += 1
            return
        session = id_from_value(value(shape.session)) if trace_id is None and shape.session is not None else None
        if (trace_id is None and session is None) or not (shape.is_genai or self._tells(names)):
            self._idle_logs += 1
            return
        seen = self._seen(trace_id if trace_id is not None else bytes.fromhex(session_trace_id(session or "")))
        seen.logs += 1
        seen.is_genai = True
        seen.service = seen.service or service
        moment = time if 0 < time <= MAX_NANOS else None
        seen.times(moment, moment)
        if session is not None:
            seen.is_session = True
            seen.add_id(0, session, self._tally)
        self._add_values(seen, shape, value, with_ids=session is None)

    def _tells(self, names: tuple[str, str, str]) -> bool:
        """Whether a record's event name, its body or its logger says that it is about GenAI."""
        return any(n and self._m.tells_genai_event(n) for n in names[:2]) or names[2] in self._m.log_scopes

    def _add_values(self, seen: _Seen, shape: Shape, value: Callable[[int], Any], *, with_ids: bool = True) -> None:
        """The values that the names point at: the id in the best spelling, and whether the end is marked."""
        if shape.end_marks and any(value(place) not in (False, None, "", 0, "false", "False") for place in shape.end_marks):
            seen.end_marked = True
        for rank, place in shape.ids if with_ids else ():
            found = id_from_value(value(place))
            if found is not None:
                if len(found) <= LONGEST_ID:
                    seen.add_id(rank, found, self._tally)
                    return
                self._tally.note("conversation_id_too_long")


def _misdirected(path: Signal, body: bytes) -> InputError | None:
    """The error for a request of another signal: protobuf tells them apart only by what it leaves over."""
    found = "metrics" if holds_metrics(body) else "traces" if is_whole_traces(body) else "logs" if is_whole_logs(body) else path
    return None if found == path else InputError(f"the body is a request of {found}: expected {path} here, send it to /v1/{found}")


def _service_of(pairs: Iterable[Any]) -> str | None:
    """`service.name` of a resource; the last one counts."""
    found = None
    for pair in pairs:
        if pair.key == "service.name":
            found = pair.value.string_value or None
    return found


def id_from_value(value: Any) -> str | None:
    """A conversation's id as the dialects read it: a text without blanks and quotes around it, or a number."""
    if isinstance(value, str):
        text = (_unquoted(value) if value[:1] == '"' else value).strip()
        return text if text.lower() not in _NO_ID else None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _unquoted(text: str) -> str:
    """The text inside a JSON string; any other text as it is."""
    try:
        inner = from_json(text)
    except ValueError:
        return text
    return inner if isinstance(inner, str) else text
