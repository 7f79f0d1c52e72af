"""Protobuf bodies of OTLP to spans and log records.

**Source**: opentelemetry-proto v1.11.0. What is invalid there is rejected alone and counted (`invalid_trace_id`, `invalid_span_id`,
`invalid_parent_span_id`); a log record with invalid ids only loses them. Of a repeated attribute key the last value counts, which is noted
(`duplicate_attribute_key`). A time beyond 2262 is unknown. A text that
is no UTF-8 is mended and noted (`invalid_utf8`).

Every span of a worker passes here: the loops are plain and the constructors take all fields in order.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.errors import InputError
from otel_eval.model import AnyValue, Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.model.freeze import constructor_of
from otel_eval.otlp.json_values import MAX_NANOS, event_name_from_attributes
from otel_eval.otlp.repair import mended_logs, mended_traces
from otel_eval.otlp.tally import Tally

ZERO_TRACE_ID = bytes(16)
ZERO_SPAN_ID = bytes(8)

_span = constructor_of(Span)
_event = constructor_of(SpanEvent)
_link = constructor_of(SpanLink)
_log = constructor_of(LogRecord)


def batch_from_traces(body: bytes) -> Batch:
    """The spans of an ExportTraceServiceRequest, in wire order; InputError when it is none."""
    tally = Tally()
    request = traces_request(body, tally)
    spans: list[Span] = []
    for group in request.resource_spans:
        resource = attributes_from_pairs(group.resource.attributes)
        for part in group.scope_spans:
            _add_spans(part.spans, _scope(part, group, resource), spans, tally)
    return Batch(spans=tuple(spans), rejected=tally.rejected, notes=tally.notes)


def batch_from_logs(body: bytes) -> Batch:
    """The records of an ExportLogsServiceRequest, in wire order; InputError when it is none."""
    tally = Tally()
    request = logs_request(body, tally)
    logs: list[LogRecord] = []
    for group in request.resource_logs:
        resource = attributes_from_pairs(group.resource.attributes)
        for part in group.scope_logs:
            _add_logs(part.log_records, _scope(part, group, resource), logs)
    return Batch(logs=tuple(logs), notes=tally.notes)


def traces_request(body: bytes, tally: Tally) -> Any:
    """The parsed ExportTraceServiceRequest; InputError when it is none."""
    return _request(ExportTraceServiceRequest, body, mended_traces, tally)


def logs_request(body: bytes, tally: Tally) -> Any:
    """The parsed ExportLogsServiceRequest; InputError when it is none."""
    return _request(ExportLogsServiceRequest, body, mended_logs, tally)


def _request(message: Any, body: bytes, mended: Callable[[bytes], bytes], tally: Tally) -> Any:
    with suppress(DecodeError):
        return message.FromString(body)
    with suppress(DecodeError):
        request = message.FromString(mended(body))
        tally.note("invalid_utf8")
        return request
    raise InputError(f"{len(body)} bytes are no protobuf {message.DESCRIPTOR.name}: expected the body of an OTLP request")


def attributes_from_pairs(pairs: Iterable[Any]) -> dict[str, AnyValue]:
    """The attributes of repeated KeyValue. Most values are non-empty strings, which cost one look."""
    attributes: dict[str, AnyValue] = {}
    for pair in pairs:
        value = pair.value
        attributes[pair.key] = value.string_value or value_from_any(value)
    return attributes


def value_from_any(value: Any) -> AnyValue:
    """A protobuf AnyValue as Python; None for an empty one and for the indices of the profiles signal."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [item.string_value or value_from_any(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return attributes_from_pairs(value.kvlist_value.values)
    if kind is None or kind == "string_value_strindex":
        return None
    plain: AnyValue = getattr(value, kind)
    return plain


def _add_spans(messages: Iterable[Any], scope: Scope, spans: list[Span], tally: Tally) -> None:
    for s in messages:
        trace_id, span_id, parent_id = s.trace_id, s.span_id, s.parent_span_id
        if len(trace_id) != 16 or len(span_id) != 8 or trace_id == ZERO_TRACE_ID or span_id == ZERO_SPAN_ID or len(parent_id) not in (0, 8):
            tally.reject(fault_of_ids(trace_id, span_id))
            continue
        start, end = s.start_time_unix_nano, s.end_time_unix_nano
        pairs, events, links, status = s.attributes, s.events, s.links, s.status
        attributes = attributes_from_pairs(pairs)
        if len(attributes) != len(pairs):
            tally.note("duplicate_attribute_key")
        spans.append(
            _span(
                trace_id.hex(),
                span_id.hex(),
                parent_id.hex() if parent_id and parent_id != ZERO_SPAN_ID else None,
                s.name,
                s.kind,
                start if 0 < start <= MAX_NANOS else None,
                end if 0 < end <= MAX_NANOS else None,
                attributes,
                tuple([_event(e.name, _nanos(e.time_unix_nano), attributes_from_pairs(e.attributes)) for e in events]) if events else (),
                _links(links) if links else (),
                status.code,
                status.message,
                s.trace_state,
                s.flags,
                scope,
                s.dropped_attributes_count,
                s.dropped_events_count,
            )
        )


def _add_logs(messages: Iterable[Any], scope: Scope, logs: list[LogRecord]) -> None:
    for r in messages:
        trace_id, span_id = r.trace_id, r.span_id
        attributes = attributes_from_pairs(r.attributes)
        logs.append(
            _log(
                trace_id.hex() if len(trace_id) == 16 and trace_id != ZERO_TRACE_ID else None,
                span_id.hex() if len(span_id) == 8 and span_id != ZERO_SPAN_ID else None,
                r.event_name or event_name_from_attributes(attributes),
                _nanos(r.time_unix_nano),
                _nanos(r.observed_time_unix_nano),
                r.severity_number,
                r.body.string_value or value_from_any(r.body),
                attributes,
                scope,
                len(logs),
            )
        )


def _nanos(time: int) -> int | None:
    return time if 0 < time <= MAX_NANOS else None


def _links(links: Iterable[Any]) -> tuple[SpanLink, ...]:
    """The links with valid ids: one without points nowhere."""
    return tuple(
        _link(link.trace_id.hex(), link.span_id.hex(), attributes_from_pairs(link.attributes))
        for link in links
        if len(link.trace_id) == 16 and len(link.span_id) == 8
    )


def _scope(part: Any, group: Any, resource: dict[str, AnyValue]) -> Scope:
    scope = part.scope
    return Scope(name=scope.name, version=scope.version, schema_url=part.schema_url or group.schema_url, resource=resource)


def fault_of_ids(trace_id: bytes, span_id: bytes) -> str:
    """Why a span with these ids, or else its parent's, is rejected."""
    if len(trace_id) != 16 or trace_id == ZERO_TRACE_ID:
        return "invalid_trace_id"
    if len(span_id) != 8 or span_id == ZERO_SPAN_ID:
        return "invalid_span_id"
    return "invalid_parent_span_id"
