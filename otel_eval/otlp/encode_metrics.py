"""Points of our instruments to the body of an OTLP metrics request: cumulative, with exemplars."""

from collections.abc import Mapping, Sequence

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Exemplar as ExemplarMessage

from otel_eval.model import Attributes
from otel_eval.otlp.encode import pairs_from_attributes
from otel_eval.telemetry import INSTRUMENTS, Exemplar, Instrument, Point


def metrics_request_from_points(
    points: Mapping[str, Sequence[Point]], *, resource: Attributes, scope_name: str, scope_version: str = "", start_ns: int, time_ns: int
) -> bytes:
    """The protobuf ExportMetricsServiceRequest with these points, by instrument; an instrument without points is left out."""
    request = ExportMetricsServiceRequest()
    group = request.resource_metrics.add()
    group.resource.attributes.extend(pairs_from_attributes(resource))
    part = group.scope_metrics.add()
    part.scope.name, part.scope.version = scope_name, scope_version
    part.metrics.extend(_metric(INSTRUMENTS[name], listed, start_ns, time_ns) for name, listed in points.items() if listed)
    return request.SerializeToString()


def _metric(instrument: Instrument, points: Sequence[Point], start_ns: int, time_ns: int) -> Metric:
    metric = Metric(name=instrument.name, unit=instrument.unit, description=instrument.sentence)
    if instrument.kind == "histogram":
        metric.histogram.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
        metric.histogram.data_points.extend(_histogram(instrument, point, start_ns, time_ns) for point in points)
    elif instrument.kind == "gauge":
        metric.gauge.data_points.extend(_number(point, 0, time_ns) for point in points)
    else:
        metric.sum.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
        metric.sum.is_monotonic = instrument.kind == "counter"
        metric.sum.data_points.extend(_number(point, start_ns, time_ns) for point in points)
    return metric


def _number(point: Point, start_ns: int, time_ns: int) -> NumberDataPoint:
    attributes = pairs_from_attributes(dict(point.attributes))
    return NumberDataPoint(attributes=attributes, start_time_unix_nano=start_ns, time_unix_nano=time_ns, as_double=point.value)


def _histogram(instrument: Instrument, point: Point, start_ns: int, time_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=pairs_from_attributes(dict(point.attributes)),
        start_time_unix_nano=start_ns,
        time_unix_nano=time_ns,
        count=point.count,
        sum=point.value,
        min=point.least,
        max=point.most,
        explicit_bounds=instrument.bounds,
        bucket_counts=point.buckets,
        exemplars=[_exemplar(exemplar) for exemplar in point.exemplars],
    )


def _exemplar(exemplar: Exemplar) -> ExemplarMessage:
    return ExemplarMessage(
        time_unix_nano=exemplar.time_ns,
        as_double=exemplar.value,
        trace_id=bytes.fromhex(exemplar.trace_id),
        span_id=bytes.fromhex(exemplar.span_id),
    )
