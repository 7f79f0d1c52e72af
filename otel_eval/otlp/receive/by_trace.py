"""A request of several traces cut into one for each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_eval.otlp.decode import ZERO_TRACE_ID, logs_request, value_from_any
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.envelope import session_trace_id
from otel_eval.otlp.receive.gathering import id_from_value
from otel_eval.otlp.receive.keys import SESSION_IDS
from otel_eval.otlp.splice import with_traces
from otel_eval.otlp.tally import Tally


def bodies_by_trace(signal: Signal, body: bytes, trace_ids: Iterable[str]) -> Mapping[str, bytes]:
    """What a protobuf request holds of each of these traces; log records without a trace id stand under their session's."""
    if signal == "traces":
        return {trace: with_traces(body, frozenset({trace})) for trace in trace_ids}
    parts = _logs_by_trace(body)
    return {trace: parts[trace].SerializeToString() for trace in trace_ids if trace in parts}


def _logs_by_trace(body: bytes) -> Mapping[str, Any]:
    requests: defaultdict[str, Any] = defaultdict(ExportLogsServiceRequest)
    for group in logs_request(body, Tally()).resource_logs:
        groups: dict[str, Any] = {}
        for part in group.scope_logs:
            parts: dict[str, Any] = {}
            for record in part.log_records:
                trace = _trace_of(record)
                if trace is None:
                    continue
                if trace not in groups:
                    groups[trace] = requests[trace].resource_logs.add(resource=group.resource, schema_url=group.schema_url)
                if trace not in parts:
                    parts[trace] = groups[trace].scope_logs.add(scope=part.scope, schema_url=part.schema_url)
                parts[trace].log_records.append(record)
    return requests


def _trace_of(record: Any) -> str | None:
    """The trace that a record is counted under, as `gathering` does."""
    if len(record.trace_id) == 16 and record.trace_id != ZERO_TRACE_ID:
        return str(record.trace_id.hex())
    last = {pair.key: pair.value for pair in record.attributes}
    value = next((last[name] for name in SESSION_IDS if name in last), None)
    session = id_from_value(value_from_any(value)) if value is not None else None
    return session_trace_id(session) if session is not None else None
