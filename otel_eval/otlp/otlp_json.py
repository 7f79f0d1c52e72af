"""OTLP/JSON to spans and log records, by a reader of our own: protobuf's would take hexadecimal ids for base64.

Unknown fields are ignored. A broken item costs only itself and is counted by reason in `Batch.rejected`; what was read although it is not
as the specification has it, in `Batch.notes`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.model import Attributes, Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.model.freeze import constructor_of
from otel_eval.otlp.json_text import kind_of, value_from_text
from otel_eval.otlp.json_values import (
    attributes_from_pairs,
    camel,
    enum_from_value,
    event_name_from_attributes,
    id_from_text,
    int_from_value,
    nanos_from_value,
    text_from_value,
    value_from_any,
)
from otel_eval.otlp.tally import Tally

BROKEN = (TypeError, ValueError, KeyError, AttributeError, RecursionError, OverflowError)
"""What reading a value of a wrong type or shape can raise."""

ZERO_SPAN_ID = "0" * 16
SPAN_KINDS = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
STATUS_CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}
_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
SEVERITIES = {"SEVERITY_NUMBER_UNSPECIFIED": 0} | {
    f"SEVERITY_NUMBER_{level}{n or ''}": 4 * i + (n or 1) for i, level in enumerate(_LEVELS) for n in (0, 2, 3, 4)
}

_span = constructor_of(Span)
_event = constructor_of(SpanEvent)
_link = constructor_of(SpanLink)
_log = constructor_of(LogRecord)


class Rejected(ValueError):
    """One item is no good; its argument is the reason to count."""


def batch_from_json(body: bytes | str) -> Batch:
    """The spans and log records of one OTLP/JSON request; InputError when the text is no JSON object."""
    request = value_from_text(body)
    if not isinstance(request, dict):
        raise InputError(f"expected an OTLP/JSON object with 'resourceSpans' or 'resourceLogs', got {kind_of(request)}")
    return batch_from_object(request)


def batch_from_object(request: Mapping[str, Any]) -> Batch:
    """The same of a request that is parsed already. Never raises."""
    tally = Tally()
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for scope, items in _groups(request, _TRACES, tally):
        for item in items:
            try:
                spans.append(_read_span(item, scope, tally))
            except Rejected as fault:
                tally.reject(str(fault))
            except BROKEN:
                tally.reject("malformed_span")
    for scope, items in _groups(request, _LOGS, tally):
        for item in items:
            try:
                logs.append(_read_log(item, scope, len(logs), tally))
            except BROKEN:
                tally.reject("malformed_log_record")
    return Batch(spans=tuple(spans), logs=tuple(logs), rejected=tally.rejected, notes=tally.notes)


_TRACES = (("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"), ("spans",))
_LOGS = (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs", "instrumentationLibraryLogs"), ("logRecords", "log_records"))


def _groups(request: Mapping[str, Any], names: tuple[tuple[str, ...], ...], tally: Tally) -> Iterator[tuple[Scope, list[Any]]]:
    """The items of each scope of each resource. What is no group is counted as `malformed_group`."""
    outer, inner, items = names
    for group in _objects(request, outer, tally):
        try:
            resource = attributes_from_pairs((group.get("resource") or {}).get("attributes"))
        except BROKEN:
            tally.reject("malformed_resource")
            continue
        for part in _objects(group, inner, tally):
            try:
                yield _read_scope(part, group, resource), _list(part, items)
            except BROKEN:
                tally.reject("malformed_group")


def _objects(data: Mapping[str, Any], names: tuple[str, ...], tally: Tally) -> Iterator[dict[str, Any]]:
    try:
        items = _list(data, names)
    except TypeError:
        items = [None]
    for item in items:
        if isinstance(item, dict):
            yield item
        else:
            tally.reject("malformed_group")


def _list(data: Mapping[str, Any], names: tuple[str, ...]) -> list[Any]:
    """The list under the first of `names` that is there; empty without any."""
    found: Any = next((data[name] for name in names if data.get(name) is not None), [])
    if not isinstance(found, list):
        raise TypeError("expected a list")
    return found


def _read_scope(part: Mapping[str, Any], group: Mapping[str, Any], resource: Attributes) -> Scope:
    scope = part.get("scope") or part.get("instrumentationLibrary") or {}
    url = part.get("schemaUrl") or part.get("schema_url") or group.get("schemaUrl") or group.get("schema_url")
    return Scope(
        name=text_from_value(scope.get("name")),
        version=text_from_value(scope.get("version")),
        schema_url=text_from_value(url),
        resource=resource,
    )


def _read_span(s: Mapping[str, Any], scope: Scope, tally: Tally) -> Span:
    if "traceId" not in s:
        s = camel(s)
    get = s.get
    trace_id = id_from_text(get("traceId"), 16, tally)
    span_id = id_from_text(get("spanId"), 8, tally)
    if trace_id is None or span_id is None:
        raise Rejected("invalid_span_id" if trace_id else "invalid_trace_id")
    events, links, status = get("events"), get("links"), get("status") or {}
    return _span(
        trace_id,
        span_id,
        _parent_id(get("parentSpanId"), tally),
        text_from_value(get("name")),
        enum_from_value(get("kind"), SPAN_KINDS),
        nanos_from_value(get("startTimeUnixNano")),
        nanos_from_value(get("endTimeUnixNano")),
        attributes_from_pairs(get("attributes")),
        tuple([_read_event(event) for event in events]) if events else (),
        _read_links(links, tally) if links else (),
        enum_from_value(status.get("code"), STATUS_CODES),
        text_from_value(status.get("message")),
        text_from_value(get("traceState")),
        int_from_value(get("flags") or 0),
        scope,
        int_from_value(get("droppedAttributesCount") or 0),
        int_from_value(get("droppedEventsCount") or 0),
    )


def _parent_id(text: Any, tally: Tally) -> str | None:
    if not text:
        return None
    parent_id = id_from_text(text, 8, tally)
    if parent_id is None and text != ZERO_SPAN_ID:
        raise Rejected("invalid_parent_span_id")
    return parent_id


def _read_event(event: Mapping[str, Any]) -> SpanEvent:
    if "timeUnixNano" not in event:
        event = camel(event)
    get = event.get
    return _event(text_from_value(get("name")), nanos_from_value(get("timeUnixNano")), attributes_from_pairs(get("attributes")))


def _read_links(links: list[Any], tally: Tally) -> tuple[SpanLink, ...]:
    """The links with valid ids: one without points nowhere."""
    found = []
    for link in links:
        data = link if "traceId" in link else camel(link)
        trace_id, span_id = id_from_text(data.get("traceId"), 16, tally), id_from_text(data.get("spanId"), 8, tally)
        if trace_id and span_id:
            found.append(_link(trace_id, span_id, attributes_from_pairs(data.get("attributes"))))
    return tuple(found)


def _read_log(r: Mapping[str, Any], scope: Scope, order: int, tally: Tally) -> LogRecord:
    if "timeUnixNano" not in r and "traceId" not in r:
        r = camel(r)
    get = r.get
    attributes = attributes_from_pairs(get("attributes"))
    return _log(
        id_from_text(get("traceId"), 16, tally),
        id_from_text(get("spanId"), 8, tally),
        text_from_value(get("eventName")) or event_name_from_attributes(attributes),
        nanos_from_value(get("timeUnixNano")),
        nanos_from_value(get("observedTimeUnixNano")),
        enum_from_value(get("severityNumber"), SEVERITIES),
        value_from_any(get("body")),
        attributes,
        scope,
        order,
    )
