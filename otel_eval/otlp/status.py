"""What the sender of a request is told. The class of the error decides, here and nowhere else.

**Source**: the OTLP specification 1.11. Over HTTP only 429, 502, 503 and 504 are tried again, everything else is lost: what may pass is
a 503, never a 500.
Over gRPC UNAVAILABLE is tried again, and RESOURCE_EXHAUSTED only with RetryInfo: what is too large is RESOURCE_EXHAUSTED without it. The
body of an HTTP
refusal is a `google.rpc.Status` in the encoding of the request.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, RetryInfo  # type: ignore[import-untyped]  # it comes without types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # the same
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_eval.errors import InputError, OtelEvalError, Overloaded, StoreError
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.refusals import Busy, NoSuchPath, Unauthorized, WrongMethod, WrongType
from otel_eval.otlp.unpack import TooLarge

Format: TypeAlias = Literal["protobuf", "json"]

INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAVAILABLE, UNAUTHENTICATED = 3, 5, 8, 12, 14, 16
"""Numbers of `google.rpc.Code`, which are those of gRPC too."""

RETRY_TROUBLE_S = 5.0
"""What is broken is not mended at once."""

_TABLE: tuple[tuple[type[Exception], int, int], ...] = (
    # class of the error, HTTP status, code; the first that fits
    (TooLarge, 413, RESOURCE_EXHAUSTED),
    (Unauthorized, 401, UNAUTHENTICATED),
    (NoSuchPath, 404, NOT_FOUND),
    (WrongMethod, 405, UNIMPLEMENTED),
    (WrongType, 415, INVALID_ARGUMENT),
    (InputError, 400, INVALID_ARGUMENT),
    (Busy, 429, UNAVAILABLE),
    (Overloaded, 503, UNAVAILABLE),
    (StoreError, 503, UNAVAILABLE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A refusal, for either transport. `retry_after_s` None: never send it again."""

    http_status: int
    code: int
    message: str
    retry_after_s: float | None = None
    is_bad_request: bool = False
    """Whether the content is at fault, so that the answer says so in its details."""

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """HTTP headers that belong to it; whole seconds, never too early."""
        if self.http_status == 401:
            return [(b"www-authenticate", b"Bearer")]
        if self.http_status == 405:
            return [(b"allow", b"POST")]
        return [] if self.retry_after_s is None else [(b"retry-after", b"%d" % max(1, math.ceil(self.retry_after_s)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A request that was taken: how many of its items are refused for good, and why, in English."""

    rejected: int = 0
    message: str = ""


ACCEPTED = Receipt()


def answer_from_error(error: BaseException) -> Answer:
    """What the sender is told. An error that is not one of ours is trouble here, which may pass: the sender keeps its data."""
    http_status, code = next(((h, c) for kind, h, c in _TABLE if isinstance(error, kind)), (503, UNAVAILABLE))
    retry_after_s = error.retry_after_s if isinstance(error, Overloaded) else RETRY_TROUBLE_S if code == UNAVAILABLE else None
    ours = isinstance(error, OtelEvalError)
    return Answer(
        http_status=http_status,
        code=code,
        message=str(error) if ours else f"the receiver has a fault ({type(error).__name__}): it is counted; send again later",
        retry_after_s=retry_after_s,
        is_bad_request=http_status == 400,
    )


def status_message(answer: Answer) -> Any:
    """The `google.rpc.Status` with its details."""
    status = Status(code=answer.code, message=answer.message)
    if answer.retry_after_s is not None:
        delay = Duration(seconds=int(answer.retry_after_s), nanos=int(answer.retry_after_s % 1 * 1e9))
        status.details.append(_packed(RetryInfo(retry_delay=delay)))
    if answer.is_bad_request:
        violation = BadRequest.FieldViolation(field="body", description=answer.message)
        status.details.append(_packed(BadRequest(field_violations=[violation])))
    return status


def status_body(answer: Answer, encoding: Format) -> bytes:
    """The body of a refusal over HTTP."""
    if encoding == "protobuf":
        body: bytes = status_message(answer).SerializeToString()
        return body
    details: list[Mapping[str, Any]] = []
    if answer.retry_after_s is not None:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{answer.retry_after_s:.9g}s"})
    if answer.is_bad_request:
        violations = [{"field": "body", "description": answer.message}]
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations})
    status = {"code": answer.code, "message": answer.message} | ({"details": details} if details else {})
    return json.dumps(status).encode()


_RESPONSES: Mapping[Signal, tuple[Any, str, str]] = {
    # signal: message, and how it calls the number of refused items in protobuf and in JSON
    "traces": (ExportTraceServiceResponse, "rejected_spans", "rejectedSpans"),
    "logs": (ExportLogsServiceResponse, "rejected_log_records", "rejectedLogRecords"),
    "metrics": (ExportMetricsServiceResponse, "rejected_data_points", "rejectedDataPoints"),
}


def response_body(signal: Signal, receipt: Receipt, encoding: Format) -> bytes:
    """The body of an acceptance, over either transport: empty unless something is refused or to be said."""
    message, field, key = _RESPONSES[signal]
    if not receipt.rejected and not receipt.message:
        return b"{}" if encoding == "json" else b""
    if encoding == "json":
        return json.dumps({"partialSuccess": {key: str(receipt.rejected), "errorMessage": receipt.message}}).encode()
    response = message()
    setattr(response.partial_success, field, receipt.rejected)
    response.partial_success.error_message = receipt.message
    body: bytes = response.SerializeToString()
    return body


def _packed(detail: Any) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(detail)
    return packed
