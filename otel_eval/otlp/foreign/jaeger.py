"""Jaeger's JSON: the answer of its query API or page (`data[].spans`, `processes`), one trace of it, or spans as its stores keep them.

**Source**: Jaeger's `model/json` and the OpenTelemetry specification "OpenTelemetry to Jaeger Transformation", undone here: what it made
tags of (kind, status, scope, trace state) goes back where it came from, times are microseconds, tags of an event hold its name.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from otel_eval.model import STATUS_ERROR, STATUS_UNSET, AnyValue, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.foreign.form import Found
from otel_eval.otlp.foreign.values import hex_id, kind, status_code, text
from otel_eval.otlp.json_values import bytes_from_base64, int_from_value
from otel_eval.otlp.otlp_json import Rejected
from otel_eval.otlp.tally import Tally

_NOT_ATTRIBUTES = frozenset(
    {
        "span.kind",
        "otel.status_code",
        "otel.status_description",
        "otel.scope.name",
        "otel.scope.version",
        "otel.library.name",
        "otel.library.version",
        "w3c.tracestate",
        "internal.span.format",
    }
)


def speaks(data: Mapping[str, Any]) -> bool:
    """A list of traces, a trace, or a span, known by Jaeger's spelling of `traceID`."""
    held = data.get("data")
    return "traceID" in data or (isinstance(held, list) and any(isinstance(item, dict) and "traceID" in item for item in held))


def read(data: Mapping[str, Any], found: Found) -> None:
    """Add the spans of all traces."""
    traces = data["data"] if isinstance(data.get("data"), list) else [data]
    for trace in traces:
        if not isinstance(trace, dict):
            found.tally.reject("malformed_trace")
            continue
        processes = trace.get("processes")
        scopes = _Scopes(processes if isinstance(processes, dict) else {})
        found.each(trace.get("spans", trace), partial(_read_span, scopes))


def _read_span(scopes: "_Scopes", data: Mapping[str, Any], found: Found) -> None:
    found.spans.append(_span(data, scopes, found.tally))


class _Scopes:
    """One scope for all spans of one process and instrumentation."""

    def __init__(self, processes: Mapping[str, Any]) -> None:
        self._processes = processes
        self._known: dict[tuple[str, str, str], Scope] = {}

    def of(self, span: Mapping[str, Any], tags: Mapping[str, AnyValue]) -> Scope:
        name = text(tags.get("otel.scope.name")) or text(tags.get("otel.library.name"))
        version = text(tags.get("otel.scope.version")) or text(tags.get("otel.library.version"))
        inline = span.get("process")
        if inline is not None:
            return Scope(name=name, version=version, resource=_resource(inline))
        key = (text(span.get("processID")), name, version)
        if key not in self._known:
            self._known[key] = Scope(name=name, version=version, resource=_resource(self._processes.get(key[0]) or {}))
        return self._known[key]


def _resource(process: Mapping[str, Any]) -> dict[str, AnyValue]:
    name = process.get("serviceName")
    return {**({"service.name": name} if name else {}), **_tags(process.get("tags"))}


def _span(data: Mapping[str, Any], scopes: _Scopes, tally: Tally) -> Span:
    trace_id, span_id = hex_id(data.get("traceID"), 16, tally), hex_id(data.get("spanID"), 8, tally)
    if trace_id is None or span_id is None:
        raise Rejected("invalid_span_id" if trace_id else "invalid_trace_id")
    tags = _tags(data.get("tags"))
    start_us, duration_us = int_from_value(data.get("startTime") or 0), int_from_value(data.get("duration") or 0)
    parent, links = _references(data, trace_id, tally)
    code = _status(tags)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        name=text(data.get("operationName")),
        kind=kind(tags.get("span.kind")),
        start_ns=start_us * 1000 or None,
        end_ns=(start_us + duration_us) * 1000 if start_us and "duration" in data else None,
        attributes={key: value for key, value in tags.items() if key not in _NOT_ATTRIBUTES and not (key == "error" and value is True)},
        events=tuple(_events(data)),
        links=links,
        status_code=code,
        status_message=text(tags.get("otel.status_description")),
        trace_state=text(tags.get("w3c.tracestate")),
        flags=int_from_value(data.get("flags") or 0),
        scope=scopes.of(data, tags),
    )


def _status(tags: Mapping[str, AnyValue]) -> int:
    """The status tag, else the older `error` tag."""
    code = status_code(tags.get("otel.status_code"))
    return STATUS_ERROR if code == STATUS_UNSET and tags.get("error") in (True, "true") else code


def _references(data: Mapping[str, Any], trace_id: str, tally: Tally) -> tuple[str | None, tuple[SpanLink, ...]]:
    """The parent, which is the first CHILD_OF in the same trace, and the other references as links."""
    parent = hex_id(data.get("parentSpanID"), 8, tally)
    links = []
    for reference in data.get("references") or ():
        to_trace, to_span = hex_id(reference.get("traceID"), 16, tally), hex_id(reference.get("spanID"), 8, tally)
        if to_trace is None or to_span is None:
            continue
        if parent is None and reference.get("refType") == "CHILD_OF" and to_trace == trace_id:
            parent = to_span
        elif to_span != parent or to_trace != trace_id:
            links.append(SpanLink(trace_id=to_trace, span_id=to_span))
    return parent, tuple(links)


def _events(data: Mapping[str, Any]) -> Iterator[SpanEvent]:
    for log in data.get("logs") or ():
        fields = _tags(log.get("fields"))
        name = fields.pop("event", None) or fields.pop("name", None)
        yield SpanEvent(name=text(name), time_ns=int_from_value(log.get("timestamp") or 0) * 1000 or None, attributes=fields)


def _tags(tags: Any) -> dict[str, AnyValue]:
    """Typed tags as attributes. Arrays were written as JSON text and stay so: a tag does not say which texts were arrays."""
    return {tag["key"]: _tag_value(tag) for tag in tags or ()}


def _tag_value(tag: Mapping[str, Any]) -> AnyValue:
    value, of_type = tag.get("value"), tag.get("type")
    if of_type == "binary" and isinstance(value, str):
        return bytes_from_base64(value)
    if of_type == "int64" and isinstance(value, str):
        return int(value)
    if of_type == "float64" and isinstance(value, str):
        return float(value)
    if of_type == "bool" and isinstance(value, str):
        return value == "true"
    held: AnyValue = value
    return held
