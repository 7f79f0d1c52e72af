"""What was taken, as bytes for a store, and back.

A store in memory never leaves the process: there a body is what Python itself writes of plain values, several times cheaper than protobuf
and as compact. A store in a file outlives the process and its version: there it is OTLP, as `otel-eval serve` keeps it.
"""

import marshal
from collections.abc import Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import ReadWriteLogRecord
from opentelemetry.sdk.trace import ReadableSpan

from otel_eval.model import Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.model.freeze import constructor_of
from otel_eval.otlp.receive.intake import batch_from_kept
from otel_eval.store import Body

PLAIN = "plain"
"""The encoding of bodies that stay in memory."""

_span = constructor_of(Span)
_event = constructor_of(SpanEvent)
_link = constructor_of(SpanLink)
_log = constructor_of(LogRecord)


def plain_body(batch: Batch) -> bytes:
    """A batch as bytes for this process alone."""
    scopes: dict[int, tuple[int, tuple[Any, ...]]] = {}
    spans = [_span_values(span, _number(span.scope, scopes)) for span in batch.spans]
    logs = [_log_values(record, _number(record.scope, scopes)) for record in batch.logs]
    return marshal.dumps(([values for _, values in scopes.values()], spans, logs))


def batch_from_body(body: Body) -> Batch:
    """The batch of a body, of whichever encoding."""
    if body.encoding != PLAIN:
        return batch_from_kept(body.signal, body.encoding, body.data)
    written: tuple[list[Any], list[Any], list[Any]] = marshal.loads(body.data)  # our own bytes, from this process's memory
    scopes = [Scope(name=name, version=version, schema_url=url, resource=resource) for name, version, url, resource in written[0]]
    return Batch(
        spans=tuple([_span_from_values(values, scopes) for values in written[1]]),
        logs=tuple([_log(*values[:8], scopes[values[8]], values[9]) for values in written[2]]),
    )


def otlp_bodies(spans: Sequence[ReadableSpan], logs: Sequence[ReadWriteLogRecord]) -> tuple[bytes | None, bytes | None]:
    """The same as the requests that an exporter would send: of traces and of logs, None where there is nothing."""
    traces = encode_spans(spans).SerializeToString() if spans else None
    return traces, encode_logs(logs).SerializeToString() if logs else None  # type: ignore[arg-type]  # it reads what both records have


def _number(scope: Scope, scopes: dict[int, tuple[int, tuple[Any, ...]]]) -> int:
    """The place of a scope among those of the body."""
    known = scopes.get(id(scope))
    if known is None:
        known = scopes[id(scope)] = len(scopes), (scope.name, scope.version, scope.schema_url, dict(scope.resource))
    return known[0]


def _span_values(s: Span, scope: int) -> tuple[Any, ...]:
    return (
        s.trace_id,
        s.span_id,
        s.parent_span_id,
        s.name,
        s.kind,
        s.start_ns,
        s.end_ns,
        s.attributes,
        [(e.name, e.time_ns, e.attributes) for e in s.events],
        [(link.trace_id, link.span_id, link.attributes) for link in s.links],
        s.status_code,
        s.status_message,
        s.trace_state,
        s.flags,
        scope,
        s.dropped_attributes_count,
        s.dropped_events_count,
    )


def _log_values(r: LogRecord, scope: int) -> tuple[Any, ...]:
    times = (r.time_ns, r.observed_ns, r.severity_number)
    return (r.trace_id, r.span_id, r.event_name, *times, r.body, r.attributes, scope, r.order)


def _span_from_values(values: tuple[Any, ...], scopes: Sequence[Scope]) -> Span:
    events = tuple([_event(*event) for event in values[8]])
    links = tuple([_link(*link) for link in values[9]])
    span: Span = _span(*values[:8], events, links, *values[10:14], scopes[values[14]], *values[15:])
    return span
