"""Spans and log records that stand alone, one object each, or a list of them under `spans`.

Read are: the Python SDK's console exporters (`context.trace_id`, `parent_id`, ISO times), dumps of OpenTelemetry JS's ReadableSpan
(`spanContext`, `startTime: [seconds, nanoseconds]`), flat lists (`trace_id`, `span_id`, `start_time`, `span_events`, whose `body` the AWS
distribution moves the messages into), single OTLP/JSON spans without their envelope, and `{spanName, scopeName, attributes}`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.model import LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.foreign.form import Found
from otel_eval.otlp.foreign.values import attributes, content_id, first, hex_id, kind, nanos, status_code, text
from otel_eval.otlp.otlp_json import Rejected
from otel_eval.otlp.tally import Tally

_TRACE_ID = ("trace_id", "traceId", "context.trace_id", "context.traceId", "spanContext.traceId", "_spanContext.traceId")
_SPAN_ID = ("span_id", "spanId", "context.span_id", "context.spanId", "spanContext.spanId", "_spanContext.spanId", "id")
_PARENT_ID = ("parent_span_id", "parentSpanId", "parent_id", "parentId", "parentSpanContext.spanId", "parent.span_id")
_START = ("start_time", "startTime", "start_time_unix_nano", "startTimeUnixNano", "timestamp")
_END = ("end_time", "endTime", "end_time_unix_nano", "endTimeUnixNano")
_TIME = ("timestamp", "time", "time_unix_nano", "timeUnixNano")
_NAME = ("name", "spanName", "span_name")
_EVENT_NAME = ("name", "event_name", "eventName")
_SCOPE = ("scope", "instrumentationScope", "instrumentationLibrary", "instrumentation_scope", "instrumentation_info")


def speaks(data: Mapping[str, Any]) -> bool:
    """A list of spans, a span (it has a name), or a log record (it has a body or an event name)."""
    if isinstance(data.get("spans"), list):
        return True
    if isinstance(data.get("spanName"), str) and isinstance(data.get("attributes"), dict):
        return True
    return first(data, *_TRACE_ID) is not None and (_is_log(data) or first(data, *_NAME) is not None)


def read(data: Mapping[str, Any], found: Found) -> None:
    """Add the spans or the log record."""
    if isinstance(data.get("spans"), list):
        session = data.get("session_id")
        inherited = {"session.id": session} if isinstance(session, str) else {}
        found.each(data["spans"], lambda item, into: _read_item(item, into, inherited))
    else:
        found.each(data, _read_item)


def _read_item(data: Mapping[str, Any], found: Found, inherited: Mapping[str, Any] | None = None) -> None:
    if _is_log(data):
        found.add_logs([_log(data, found.tally)])
        return
    span = _span(data, inherited or {}, found.tally)
    found.spans.append(span)
    found.add_logs(_logs_of_events(data, span))


def _is_log(data: Mapping[str, Any]) -> bool:
    """The Python SDK's console form of a log record: it has a severity and no name of a span."""
    return "severity_number" in data and "body" in data and first(data, *_NAME) is None


def _span(data: Mapping[str, Any], inherited: Mapping[str, Any], tally: Tally) -> Span:
    trace_id, span_id = _ids(data, tally)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=hex_id(first(data, *_PARENT_ID), 8, tally),
        name=text(first(data, *_NAME)),
        kind=_kind(data),
        start_ns=nanos(first(data, *_START)),
        end_ns=nanos(first(data, *_END)),
        attributes={**inherited, **attributes(data.get("attributes"))},
        events=tuple(_events(data)),
        links=tuple(_links(data, tally)),
        status_code=_status_code(data),
        status_message=text(first(data, "status.message", "status.description", "status_message")),
        trace_state=_trace_state(data),
        scope=_scope(data),
        dropped_attributes_count=_count(data, "dropped_attributes_count", "droppedAttributesCount", "dropped_attributes"),
        dropped_events_count=_count(data, "dropped_events_count", "droppedEventsCount"),
    )


def _ids(data: Mapping[str, Any], tally: Tally) -> tuple[str, str]:
    """The ids; those of a span dumped without any are made of its content. With only one of them the span is no good."""
    trace_id, span_id = hex_id(first(data, *_TRACE_ID), 16, tally), hex_id(first(data, *_SPAN_ID), 8, tally)
    if trace_id and span_id:
        return trace_id, span_id
    if first(data, *_TRACE_ID, *_SPAN_ID) is not None:
        raise Rejected("invalid_span_id" if trace_id else "invalid_trace_id")
    made = content_id(data, 16, tally)
    return made, made[:16]


def _status_code(data: Mapping[str, Any]) -> int:
    return status_code(first(data, "status.code", "status.status_code", "status_code", "status"))


def _kind(data: Mapping[str, Any]) -> int:
    """In JS the kinds begin with INTERNAL = 0."""
    value = data.get("kind")
    if type(value) is int and first(data, "spanContext", "_spanContext") is not None:
        return kind(value + 1)
    return kind(value)


def _trace_state(data: Mapping[str, Any]) -> str:
    """The W3C text; the Python SDK's list of pairs is given only as the repr of a list, which is not read."""
    state = text(first(data, "trace_state", "traceState", "context.trace_state", "spanContext.traceState"))
    return "" if state.startswith("[") else state


def _scope(data: Mapping[str, Any]) -> Scope:
    scope, resource = first(data, *_SCOPE), data.get("resource")
    held = first(resource, "attributes", "_attributes") if isinstance(resource, dict) else None
    url = first(scope, "schema_url", "schemaUrl") if isinstance(scope, dict) else first(data, "resource.schema_url")
    name = first(scope, "name") if isinstance(scope, dict) else scope or data.get("scopeName")
    version = first(scope, "version") if isinstance(scope, dict) else None
    return Scope(name=text(name), version=text(version), schema_url=text(url), resource=attributes(held if held is not None else resource))


def _events(data: Mapping[str, Any]) -> Iterator[SpanEvent]:
    for event in first(data, "events", "span_events") or ():
        if event.get("body") is None:
            yield SpanEvent(
                name=text(first(event, *_EVENT_NAME)), time_ns=nanos(first(event, *_TIME)), attributes=attributes(event.get("attributes"))
            )


def _logs_of_events(data: Mapping[str, Any], span: Span) -> Iterator[LogRecord]:
    """A span event has no body: one that has was a log record, which the AWS distribution makes of it."""
    for event in first(data, "events", "span_events") or ():
        if event.get("body") is not None:
            yield LogRecord(
                trace_id=span.trace_id,
                span_id=span.span_id,
                event_name=text(first(event, *_EVENT_NAME)),
                time_ns=nanos(first(event, *_TIME)),
                body=event["body"],
                attributes=attributes(event.get("attributes")),
                scope=span.scope,
            )


def _links(data: Mapping[str, Any], tally: Tally) -> Iterator[SpanLink]:
    for link in data.get("links") or ():
        trace_id, span_id = hex_id(first(link, *_TRACE_ID), 16, tally), hex_id(first(link, *_SPAN_ID), 8, tally)
        if trace_id and span_id:
            yield SpanLink(trace_id=trace_id, span_id=span_id, attributes=attributes(link.get("attributes")))


def _log(data: Mapping[str, Any], tally: Tally) -> LogRecord:
    severity = data.get("severity_number")
    held = attributes(data.get("attributes"))
    return LogRecord(
        trace_id=hex_id(first(data, *_TRACE_ID), 16, tally),
        span_id=hex_id(first(data, *_SPAN_ID), 8, tally),
        event_name=text(first(data, "event_name", "eventName")) or text(held.get("event.name")),
        time_ns=nanos(first(data, *_TIME)),
        observed_ns=nanos(first(data, "observed_timestamp")),
        severity_number=severity if type(severity) is int else 0,
        body=data.get("body"),
        attributes=held,
        scope=_scope(data),
    )


def _count(data: Mapping[str, Any], *names: str) -> int:
    value = first(data, *names)
    return value if type(value) is int else 0
