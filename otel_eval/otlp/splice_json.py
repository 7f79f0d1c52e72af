"""The same as `splice` for requests in OTLP/JSON: spans cut out and added to; members that nobody knows stay, in their order."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from otel_eval.errors import InputError
from otel_eval.model import SpanRef
from otel_eval.otlp.encode import EventOut

_GROUPS, _PARTS, _SPANS = "resourceSpans", "scopeSpans", "spans"


def trace_ids(body: bytes) -> frozenset[str]:
    """Ids of the traces that a request has spans of. InputError where it is no request."""
    return frozenset(_id(span, "traceId") for span in _spans(_parsed(body)))


def with_traces(body: bytes, keep: frozenset[str]) -> bytes:
    """The request with the spans of these traces alone."""
    return _rebuilt(body, lambda span: _id(span, "traceId") in keep)


def without_traces(body: bytes, drop: frozenset[str]) -> bytes:
    """The request without the spans of these traces."""
    return _rebuilt(body, lambda span: _id(span, "traceId") not in drop)


def with_events(body: bytes, events: Mapping[SpanRef, Sequence[EventOut]]) -> bytes:
    """The request with events added to the end of some spans."""
    if not events:
        return body
    request = _parsed(body)
    for span in _spans(request):
        added = events.get(SpanRef(trace_id=_id(span, "traceId"), span_id=_id(span, "spanId")))
        if added:
            span["events"] = [*(span.get("events") or []), *map(_event, added)]
    return _written(request)


def _event(event: EventOut) -> dict[str, Any]:
    return {
        "timeUnixNano": str(event.time_ns),
        "name": event.name,
        "attributes": [{"key": name, "value": _value(value)} for name, value in event.attributes.items()],
    }


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _rebuilt(body: bytes, keep: Callable[[Mapping[str, Any]], bool]) -> bytes:
    request = _parsed(body)
    request[_GROUPS] = [group for group in _objects(request, _GROUPS) if _has_left(group, keep)]
    return _written(request)


def _has_left(group: dict[str, Any], keep: Callable[[Mapping[str, Any]], bool]) -> bool:
    """Cut the spans of a group; whether any is left."""
    left = []
    for part in _objects(group, _PARTS):
        had = bool(part.get(_SPANS))
        part[_SPANS] = [span for span in _objects(part, _SPANS) if keep(span)]
        if part[_SPANS] or not had:
            left.append(part)
    group[_PARTS] = left
    return bool(left)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise InputError(f"{len(body)} bytes are no OTLP/JSON object: expected the body of a traces request")
    return request


def _written(request: Mapping[str, Any]) -> bytes:
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _spans(request: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for group in _objects(request, _GROUPS):
        for part in _objects(group, _PARTS):
            yield from _objects(part, _SPANS)


def _objects(where: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = where.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _id(span: Mapping[str, Any], name: str) -> str:
    value = span.get(name)
    return value.lower() if isinstance(value, str) else ""
