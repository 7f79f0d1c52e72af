"""OTLP requests for tests, as protobuf and as JSON, from a few words."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACE = bytes(range(1, 17))
SPAN = bytes(range(1, 9))
SHARED = Path(os.environ.get("OTEL_EVAL_SHARED") or Path(__file__).parents[3] / "shared")


def shared(folder: str) -> Path:
    """A folder of the shared data beside the repository; the test is skipped without it."""
    path = SHARED / folder
    if not path.is_dir():
        pytest.skip(f"no folder {folder!r} in the shared data: set OTEL_EVAL_SHARED to where it is")
    return path


def span(number: int = 1, **fields: Any) -> Span:
    """A valid protobuf span; spans of different numbers differ in their id."""
    made = Span(trace_id=TRACE, span_id=number.to_bytes(8, "big"), name=f"span {number}", start_time_unix_nano=1000 + number)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def traces(*spans: Span) -> bytes:
    """A traces request of one resource and scope."""
    request = ExportTraceServiceRequest()
    part = request.resource_spans.add().scope_spans.add()
    part.scope.name, part.scope.version = "scope", "1"
    part.spans.extend(spans)
    return request.SerializeToString()


def logs(*texts: str) -> bytes:
    """A logs request with a record for each body."""
    request = ExportLogsServiceRequest()
    part = request.resource_logs.add().scope_logs.add()
    for text in texts:
        record = part.log_records.add(trace_id=TRACE, span_id=SPAN, time_unix_nano=5, event_name="event")
        record.body.string_value = text
    return request.SerializeToString()


def metrics() -> bytes:
    """A metrics request with one gauge."""
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="queue", unit="1")
    metric.gauge.data_points.add(as_int=3, time_unix_nano=7)
    return request.SerializeToString()


def json_span(number: int = 1, **fields: Any) -> dict[str, Any]:
    """The span of `span(number)` in OTLP/JSON; a field given as None is left out."""
    made = {"traceId": TRACE.hex(), "spanId": f"{number:016x}", "name": f"span {number}", "startTimeUnixNano": str(1000 + number)} | fields
    return {key: value for key, value in made.items() if value is not None}


def json_traces(*spans: Any) -> dict[str, Any]:
    """The request of `traces(*spans)` in OTLP/JSON, parsed."""
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "scope", "version": "1"}, "spans": list(spans)}]}]}


def json_logs(*records: Any) -> dict[str, Any]:
    """A logs request in OTLP/JSON, parsed."""
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def line(value: Any) -> bytes:
    """A value as one line of JSON."""
    return json.dumps(value).encode() + b"\n"
