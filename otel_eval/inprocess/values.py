"""Spans and log records of the SDK as ours: the values that would arrive over OTLP, without the way there.

What an OTLP exporter leaves out is left out here too: an attribute that OTLP has no value for (an integer beyond 64 bits, half a surrogate
pair), a time that is none. **Source**: `opentelemetry.exporter.otlp.proto.common`, and `otel_eval.otlp.decode` behind it; a test holds both
ways equal.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opentelemetry.sdk._logs import ReadWriteLogRecord
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from otel_eval.model import AnyValue, Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.model.freeze import constructor_of
from otel_eval.otlp.json_values import MAX_NANOS, event_name_from_attributes

_HAS_IS_REMOTE, _IS_REMOTE = 0x100, 0x200
"""Bits of a span's flags that exporters set."""
_INT64 = range(-(2**63), 2**63)

_span = constructor_of(Span)
_event = constructor_of(SpanEvent)
_link = constructor_of(SpanLink)
_log = constructor_of(LogRecord)


def batch_from_sdk(spans: Iterable[ReadableSpan], logs: Iterable[ReadWriteLogRecord] = ()) -> Batch:
    """The batch of what ended and was logged."""
    scopes: dict[tuple[int, int], Scope] = {}
    return Batch(
        spans=tuple([_span_from_sdk(span, scopes) for span in spans]),
        logs=tuple([_log_from_sdk(record, place, scopes) for place, record in enumerate(logs)]),
    )


def _span_from_sdk(span: ReadableSpan, scopes: dict[tuple[int, int], Scope]) -> Span:
    """One span. The properties of the SDK copy events and links: each is asked for once."""
    context, parent, status = span.context, span.parent, span.status
    start, end, events, links = span.start_time, span.end_time, span.events, span.links
    made: Span = _span(
        f"{context.trace_id:032x}",
        f"{context.span_id:016x}",
        f"{parent.span_id:016x}" if parent and parent.span_id else None,
        span.name,
        span.kind.value + 1,
        start if start is not None and 0 < start <= MAX_NANOS else None,
        end if end is not None and 0 < end <= MAX_NANOS else None,
        attributes_from_sdk(span.attributes),
        tuple([_event(e.name, _nanos(e.timestamp), attributes_from_sdk(e.attributes)) for e in events]),
        tuple(
            [_link(f"{link.context.trace_id:032x}", f"{link.context.span_id:016x}", attributes_from_sdk(link.attributes)) for link in links]
        ),
        status.status_code.value,
        status.description or "",
        ",".join([f"{key}={value}" for key, value in context.trace_state.items()]) if context.trace_state else "",
        _HAS_IS_REMOTE | _IS_REMOTE if parent and parent.is_remote else _HAS_IS_REMOTE,
        _scope(span.instrumentation_scope, span.resource, scopes),
        span.dropped_attributes,
        span.dropped_events,
    )
    return made


def _log_from_sdk(record: ReadWriteLogRecord, place: int, scopes: dict[tuple[int, int], Scope]) -> LogRecord:
    log, severity = record.log_record, record.log_record.severity_number
    attributes = attributes_from_sdk(log.attributes)
    made: LogRecord = _log(
        f"{log.trace_id:032x}" if log.trace_id else None,
        f"{log.span_id:016x}" if log.span_id else None,
        log.event_name or event_name_from_attributes(attributes),
        _nanos(log.timestamp),
        _nanos(log.observed_timestamp),
        severity.value if severity is not None else 0,
        _value(log.body),
        attributes,
        _scope(record.instrumentation_scope, record.resource, scopes),
        place,
    )
    return made


def attributes_from_sdk(attributes: Mapping[str, Any] | None) -> dict[str, AnyValue]:
    """Attributes as they arrive; what OTLP has no value for does not."""
    if not attributes:
        return {}
    found: dict[str, AnyValue] = {}
    for key, value in attributes.items():
        if type(value) is str and value.isascii():
            found[key] = value
            continue
        try:
            found[_text(key)] = _value(value)
        except (TypeError, ValueError):  # ValueError: also text that UTF-8 cannot hold
            continue
    return found


def _value(value: Any) -> AnyValue:
    """One value; TypeError and ValueError where OTLP has none for it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        if value not in _INT64:
            raise ValueError("an integer beyond 64 bits")
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes):
        return bytes(value)
    return _compound(value)


def _compound(value: Any) -> AnyValue:
    if isinstance(value, Sequence):
        return [_value(item) for item in value]
    if isinstance(value, Mapping):
        return {_text(str(key)): _value(item) for key, item in value.items()}
    raise TypeError(f"OTLP has no value for a {type(value).__name__}")


def _text(value: str) -> str:
    """Plain text; UnicodeEncodeError where UTF-8 cannot hold it."""
    if not value.isascii():
        value.encode()
    return value if type(value) is str else str.__str__(value)


def _nanos(time: int | None) -> int | None:
    return time if time is not None and 0 < time <= MAX_NANOS else None


def _scope(scope: InstrumentationScope | None, resource: Any, scopes: dict[tuple[int, int], Scope]) -> Scope:
    """The scope, shared by all that came from it."""
    key = id(scope), id(resource)
    found = scopes.get(key)
    if found is None:
        found = scopes[key] = Scope(
            name=(scope.name if scope is not None else "") or "",
            version=(scope.version if scope is not None else "") or "",
            schema_url=(scope.schema_url if scope is not None else "") or resource.schema_url or "",
            resource=attributes_from_sdk(resource.attributes),
        )
    return found
