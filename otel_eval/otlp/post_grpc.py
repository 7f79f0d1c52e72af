"""One OTLP request over gRPC, by the rules for clients.

**Source**: the OTLP specification 1.11, "OTLP/gRPC": CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE and DATA_LOSS are
tried again, RESOURCE_EXHAUSTED only where the answer says when (RetryInfo); everything else never.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]  # it comes without types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # the same

from otel_eval.errors import SinkError
from otel_eval.otlp.endpoint import Endpoint, Signal

_METHODS: Mapping[Signal, str] = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
RETRYABLE = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)


def answer_of_grpc(endpoint: Endpoint, signal: Signal, body: bytes, headers: Mapping[str, str], timeout_s: float) -> bytes:
    """The response message to a body, as it came. SinkError where the body was not accepted."""
    compression = grpc.Compression.Gzip if endpoint.compress else grpc.Compression.NoCompression
    metadata = [(name.lower(), value) for name, value in {**endpoint.headers, **headers}.items()]
    with _channel(endpoint) as channel:
        call: Any = channel.unary_unary(_METHODS[signal])
        try:
            answer: bytes = call(body, timeout=timeout_s, metadata=metadata, compression=compression)
        except grpc.RpcError as error:
            raise _refusal(error) from None
    return answer


def _channel(endpoint: Endpoint) -> Any:
    parts = urlsplit(endpoint.url)
    target = f"{parts.hostname}:{parts.port or 4317}"
    if parts.scheme == "http":
        return grpc.insecure_channel(target)
    return grpc.secure_channel(target, grpc.ssl_channel_credentials(*endpoint.pem))


def _refusal(error: Any) -> SinkError:
    code, retry_after_s = error.code(), _retry_after_s(error)
    retryable = code in RETRYABLE or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and retry_after_s is not None)
    advice = "it may be sent again" if retryable else "it will not be sent again; check the endpoint and its headers"
    return SinkError(f"the OTLP receiver answered {code.name}: {advice}", retryable=retryable, retry_after_s=retry_after_s)


def _retry_after_s(error: Any) -> float | None:
    """Seconds from the RetryInfo of an answer, None without one."""
    details = next((value for name, value in error.trailing_metadata() or () if name == "grpc-status-details-bin"), None)
    if details is None:
        return None
    try:
        status = Status.FromString(details)
        infos = [RetryInfo.FromString(d.value) for d in status.details if d.type_url.endswith("/google.rpc.RetryInfo")]
    except DecodeError:
        return None
    return infos[0].retry_delay.seconds + infos[0].retry_delay.nanos / 1e9 if infos else None
