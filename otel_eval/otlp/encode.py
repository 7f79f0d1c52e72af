"""Events to the body of an OTLP logs request."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue as AnyValueMessage
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogRecordMessage

from otel_eval.model import AnyValue, Attributes
from otel_eval.model.characters import whole
from otel_eval.model.span import no_attributes

SEVERITY_INFO = 9
_SEVERITY_TEXTS = {1: "TRACE", 5: "DEBUG", 9: "INFO", 13: "WARN", 17: "ERROR", 21: "FATAL"}
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOut:
    """One event to write: a log record with a name, hung on a span by its ids."""

    name: str
    time_ns: int
    trace_id: str | None = None
    """Hexadecimal, as everywhere in `model`; None leaves the event unassociated."""
    span_id: str | None = None
    attributes: Attributes = field(default_factory=no_attributes)
    """A float is written as a double, whatever its value; None as an empty value."""
    body: str = ""
    severity_number: int = SEVERITY_INFO


def logs_request_from_events(
    events: Iterable[EventOut], *, resource: Attributes, scope_name: str, scope_version: str = "", schema_url: str = ""
) -> bytes:
    """The protobuf ExportLogsServiceRequest with these events, in order, under one resource and scope.

    TypeError for an attribute that OTLP has no value for, ValueError for an id that is no hexadecimal.
    """
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(pairs_from_attributes(resource))
    part = group.scope_logs.add(schema_url=schema_url)
    part.scope.name, part.scope.version = scope_name, scope_version
    part.log_records.extend(_record(event) for event in events)
    return request.SerializeToString()


def _record(event: EventOut) -> LogRecordMessage:
    record = LogRecordMessage(
        time_unix_nano=event.time_ns,
        observed_time_unix_nano=event.time_ns,
        severity_number=event.severity_number,  # type: ignore[arg-type]  # an enum of protobuf is an int
        severity_text=_SEVERITY_TEXTS.get(event.severity_number, ""),
        event_name=event.name,
        trace_id=bytes.fromhex(event.trace_id or ""),
        span_id=bytes.fromhex(event.span_id or ""),
    )
    if event.body:
        record.body.string_value = whole(event.body)
    record.attributes.extend(pairs_from_attributes(event.attributes))
    return record


def pairs_from_attributes(attributes: Mapping[str, AnyValue]) -> list[KeyValue]:
    """Attributes as OTLP writes them."""
    return [KeyValue(key=whole(key), value=_any_value(value)) for key, value in attributes.items()]


def _any_value(value: Any) -> AnyValueMessage:
    if isinstance(value, str):
        return AnyValueMessage(string_value=whole(value))
    if isinstance(value, bool):
        return AnyValueMessage(bool_value=value)
    if isinstance(value, int):
        return AnyValueMessage(int_value=value) if value in _INT64 else AnyValueMessage(string_value=str(value))
    if isinstance(value, float):
        return AnyValueMessage(double_value=value)
    if isinstance(value, bytes):
        return AnyValueMessage(bytes_value=value)
    return _compound(value)


def _compound(value: Any) -> AnyValueMessage:
    message = AnyValueMessage()
    if isinstance(value, Mapping):
        message.kvlist_value.values.extend(pairs_from_attributes(value))
        message.kvlist_value.SetInParent()
    elif isinstance(value, (list, tuple)):
        message.array_value.values.extend(_any_value(item) for item in value)
        message.array_value.SetInParent()
    elif value is not None:
        raise TypeError(f"OTLP has no value for {type(value).__name__!r}: expected text, bool, number, bytes, list or mapping")
    return message
