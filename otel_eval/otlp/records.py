"""One body or one parsed JSON value to what it holds: a batch, a conversation, or nothing that is read here."""

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.errors import InputError
from otel_eval.model import Batch
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.otlp.foreign import form_of
from otel_eval.otlp.foreign.form import Found
from otel_eval.otlp.otlp_json import batch_from_object
from otel_eval.otlp.tally import Tally

Signal: TypeAlias = Literal["traces", "logs"]
Record: TypeAlias = Batch | dict[str, Any]
"""A batch of spans and log records, or a conversation in JSON as it stands in the file."""

METRICS = Batch(notes={"metrics_skipped": 1})
"""What a metrics request is read as."""

_REQUEST_KEYS = frozenset({"resourceSpans", "resourceLogs", "resource_spans", "resource_logs"})
_METRICS_KEYS = frozenset({"resourceMetrics", "resource_metrics"})
_CONVERSATION_KEYS = ("messages", "user_input", "conversation", "eval_cases", "evalCases")
"""Members whose list tells a conversation in JSON, or a set of them; they are read in the room `exchange`."""

_MESSAGE_KEYS = frozenset({"content", "tool_calls", "parts"})


def batch_from_protobuf(body: bytes, signal: Signal) -> Batch:
    """The batch of a protobuf request of any signal, `signal` being the likely one; InputError when it is no request."""
    order = (batch_from_traces, batch_from_logs) if signal == "traces" else (batch_from_logs, batch_from_traces)
    batches = []
    for read in order:
        try:
            batch = read(body)
        except InputError:
            continue
        if batch.spans or any(record.time_ns or record.observed_ns for record in batch.logs):
            return batch
        batches.append(batch)
    return _batch_without_sure_items(body, batches)


def _batch_without_sure_items(body: bytes, batches: list[Batch]) -> Batch:
    """Another signal's bytes parse too, into items without ids and times: what leaves no field unknown is what it is."""
    if holds_metrics(body):
        return METRICS
    if is_whole_traces(body):
        return batch_from_traces(body)
    if is_whole_logs(body):
        return batch_from_logs(body)
    for batch in batches:
        if batch.rejected:
            return batch
    raise InputError(f"{len(body)} bytes are no protobuf OTLP request: expected an ExportTraceServiceRequest or ExportLogsServiceRequest")


def holds_metrics(body: bytes) -> bool:
    """Whether `body` is a metrics request with a metric in it."""
    try:
        request = ExportMetricsServiceRequest.FromString(body)
    except DecodeError:
        return False
    return any(metric.WhichOneof("data") for group in request.resource_metrics for part in group.scope_metrics for metric in part.metrics)


def is_whole_traces(body: bytes) -> bool:
    """Whether `body` is a traces request without unknown fields."""
    return _is_whole(ExportTraceServiceRequest, body)


def is_whole_logs(body: bytes) -> bool:
    """Whether `body` is a logs request without unknown fields."""
    return _is_whole(ExportLogsServiceRequest, body)


def _is_whole(message: Any, body: bytes) -> bool:
    """Whether `body` is such a message without unknown fields."""
    try:
        request = message.FromString(body)
    except DecodeError:
        return False
    request.DiscardUnknownFields()
    return bool(request.ByteSize() == len(body))


def records_from_value(value: Any, tally: Tally) -> Iterator[Record]:
    """The records of one JSON value, in order. What is in none of the known forms is counted (`unknown_record`)."""
    if _are_messages(value):
        value = {"messages": value}
    found = Found(Tally())
    for item in value if isinstance(value, list) else [value]:
        data = item if isinstance(item, dict) else {}
        record, form = _record_from_object(data), form_of(data)
        if record is not None:
            yield from found.batches()
            found = Found(Tally())
            yield record
        elif form is not None:
            form.read(data, found)
            found.has_read = True
        else:
            tally.reject("unknown_record")
    yield from found.batches()


def _are_messages(value: Any) -> bool:
    """Whether a list is the messages of one conversation, as chat APIs take them."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(m, dict) and isinstance(m.get("role"), str) and not _MESSAGE_KEYS.isdisjoint(m) for m in value)


def _record_from_object(data: dict[str, Any]) -> Record | None:
    request = _request(data)
    if request is not None:
        return batch_from_object(request)
    if not _METRICS_KEYS.isdisjoint(data):
        return METRICS
    return data if _is_conversation(data) else None


def _is_conversation(data: dict[str, Any]) -> bool:
    """Whether an object is a conversation in JSON. Our own form has `spans` too, but names its schema."""
    is_ours = str(data.get("schema", "")).startswith("otel-eval.")
    return (is_ours or "spans" not in data) and any(isinstance(data.get(key), list) for key in _CONVERSATION_KEYS)


def _request(data: dict[str, Any]) -> dict[str, Any] | None:
    """The OTLP/JSON request that the object is or wraps: Tempo answers `batches` or `{"trace": …}`, Jaeger's newer API `{"result": …}`."""
    for inner in (data, data.get("trace"), data.get("result")):
        if isinstance(inner, dict):
            if not _REQUEST_KEYS.isdisjoint(inner):
                return inner
            if isinstance(inner.get("batches"), list):
                return {"resourceSpans": inner["batches"]}
    return None
