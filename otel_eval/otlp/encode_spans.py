"""Spans of ours to the body of an OTLP traces request."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from otel_eval.model import Attributes, SpanRef
from otel_eval.model.span import no_attributes
from otel_eval.otlp.encode import pairs_from_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanOut:
    """One span to write. Ids are hexadecimal."""

    trace_id: str
    span_id: str
    name: str
    start_ns: int
    end_ns: int
    parent_span_id: str = ""
    links: tuple[SpanRef, ...] = ()
    attributes: Attributes = field(default_factory=no_attributes)
    error: str | None = None
    """Makes its status an error, with this message."""


def traces_request_from_spans(spans: Iterable[SpanOut], *, resource: Attributes, scope_name: str, scope_version: str = "") -> bytes:
    """The protobuf ExportTraceServiceRequest with these spans, in order, under one resource and scope."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(pairs_from_attributes(resource))
    part = group.scope_spans.add()
    part.scope.name, part.scope.version = scope_name, scope_version
    part.spans.extend(_span(span) for span in spans)
    return request.SerializeToString()


def _span(span: SpanOut) -> SpanMessage:
    message = SpanMessage(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_span_id),
        name=span.name,
        kind=SpanMessage.SPAN_KIND_INTERNAL,
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        attributes=pairs_from_attributes(span.attributes),
    )
    for link in span.links:
        message.links.add(trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id))
    if span.error is not None:
        message.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=span.error))
    return message
