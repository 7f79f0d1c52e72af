"""What OTLP carries, decoded: spans, their events and links, and log records.

**Source**: opentelemetry-proto v1.11.0, `trace.proto` and `logs.proto`. Names follow it; ids are lower-case hexadecimal text, times are
nanoseconds since the Unix epoch. An unset time, parent or id is None, never 0 or "" (a zero is not a moment).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

AnyValue: TypeAlias = bool | int | float | str | bytes | list[Any] | dict[str, Any] | None
"""An attribute's value: OTLP's AnyValue as Python, arrays as lists and key-value lists as dicts."""

Attributes: TypeAlias = Mapping[str, Any]

NO_ATTRIBUTES: Attributes = MappingProxyType({})

STATUS_UNSET, STATUS_OK, STATUS_ERROR = 0, 1, 2


def no_attributes() -> Attributes:
    """The shared empty mapping, as a default factory: Python 3.11 takes no mapping proxy as a default."""
    return NO_ATTRIBUTES


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRef:
    """Where something stands: the span it was read from."""

    trace_id: str
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """A span event."""

    name: str
    time_ns: int | None = None
    attributes: Attributes = field(default_factory=no_attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanLink:
    """A link to another span."""

    trace_id: str
    span_id: str
    attributes: Attributes = field(default_factory=no_attributes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Who emitted it: the instrumentation scope and the resource, shared by all items of one group."""

    name: str = ""
    version: str = ""
    schema_url: str = ""
    resource: Attributes = field(default_factory=no_attributes)


NO_SCOPE = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One finished span."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str = ""
    kind: int = 0
    start_ns: int | None = None
    end_ns: int | None = None
    attributes: Attributes = field(default_factory=no_attributes)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    status_code: int = STATUS_UNSET
    status_message: str = ""
    trace_state: str = ""
    flags: int = 0
    scope: Scope = NO_SCOPE
    dropped_attributes_count: int = 0
    dropped_events_count: int = 0

    @property
    def ref(self) -> SpanRef:
        return SpanRef(trace_id=self.trace_id, span_id=self.span_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """One log record.

    `event_name` is the record's field, else its attribute `event.name`, else "". `trace_id` and `span_id` are None where the record has
    no valid id. `order` is the record's place among those decoded with it: the last tie-break between records of one moment.
    """

    trace_id: str | None = None
    span_id: str | None = None
    event_name: str = ""
    time_ns: int | None = None
    observed_ns: int | None = None
    severity_number: int = 0
    body: AnyValue = None
    attributes: Attributes = field(default_factory=no_attributes)
    scope: Scope = NO_SCOPE
    order: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one request, line or file held."""

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Items that could not be read, counted by reason."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Oddities of items that were read all the same (`base64_id`, `duplicate_attribute_key`), counted by name."""
