"""What senders are told, by the class of the error."""

import json

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_eval.errors import ConfigError, InputError, Overloaded, StoreError
from otel_eval.otlp.refusals import Busy, Closing, NoSuchPath, TooSlow, Unauthorized, WrongMethod, WrongType
from otel_eval.otlp.status import (
    ACCEPTED,
    RETRY_TROUBLE_S,
    Answer,
    Receipt,
    answer_from_error,
    response_body,
    status_body,
)
from otel_eval.otlp.unpack import TooLarge
from tests.fakes.receiving import refusal_from_bytes

ANSWERS = [
    # error, HTTP status, code, delay, header
    (InputError("x"), 400, 3, None, []),
    (TooLarge("x"), 413, 8, None, []),
    (Unauthorized("x"), 401, 16, None, [(b"www-authenticate", b"Bearer")]),
    (NoSuchPath("x"), 404, 5, None, []),
    (WrongMethod("x"), 405, 12, None, [(b"allow", b"POST")]),
    (WrongType("x"), 415, 3, None, []),
    (Busy("x", retry_after_s=0.2), 429, 14, 0.2, [(b"retry-after", b"1")]),
    (Overloaded("x", retry_after_s=7.5), 503, 14, 7.5, [(b"retry-after", b"8")]),
    (TooSlow("x"), 503, 14, 1.0, [(b"retry-after", b"1")]),
    (Closing("x"), 503, 14, 1.0, [(b"retry-after", b"1")]),
    (StoreError("x"), 503, 14, RETRY_TROUBLE_S, [(b"retry-after", b"5")]),
    (ConfigError("x"), 503, 14, RETRY_TROUBLE_S, [(b"retry-after", b"5")]),
    (ValueError("secret"), 503, 14, RETRY_TROUBLE_S, [(b"retry-after", b"5")]),
]


@pytest.mark.parametrize(("error", "status", "code", "delay", "headers"), ANSWERS, ids=[type(a[0]).__name__ for a in ANSWERS])
def test_the_class_decides(error: Exception, status: int, code: int, delay: float | None, headers: list[tuple[bytes, bytes]]) -> None:
    """Each class has its status and code; what can pass has a delay, over both transports, and nothing else has one."""
    answer = answer_from_error(error)
    assert (answer.http_status, answer.code, answer.retry_after_s, answer.headers) == (status, code, delay, headers)
    refusal = refusal_from_bytes(status_body(answer, "protobuf"))
    assert (refusal.code, refusal.retry_delay_s) == (code, delay)
    assert refusal.violations == (("body",) if status == 400 else ())


def test_only_what_may_be_sent_again_is_retryable() -> None:
    """Nothing of ours is answered with 500: of the statuses that are tried again only 429 and 503 are used, and only for what passes."""
    for error, status, _, delay, _ in ANSWERS:
        assert (status in (429, 502, 503, 504)) == (delay is not None), error
        assert status != 500


def test_a_foreign_error_tells_its_class_and_no_more() -> None:
    """What an unknown error says may hold content: only its class is told."""
    answer = answer_from_error(ValueError("secret"))
    assert "ValueError" in answer.message
    assert "secret" not in answer.message


def test_a_status_in_json_says_the_same() -> None:
    """Code, message and details stand in JSON as the protobuf mapping has them."""
    overloaded = json.loads(status_body(answer_from_error(Overloaded("later", retry_after_s=1.5)), "json"))
    assert overloaded == {
        "code": 14,
        "message": "later",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}],
    }
    bad = json.loads(status_body(answer_from_error(InputError("no")), "json"))
    assert bad["details"] == [
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "body", "description": "no"}]}
    ]
    assert json.loads(status_body(Answer(http_status=405, code=12, message="m"), "json")) == {"code": 12, "message": "m"}


RESPONSES = [
    ("traces", ExportTraceServiceResponse, "rejected_spans", "rejectedSpans"),
    ("logs", ExportLogsServiceResponse, "rejected_log_records", "rejectedLogRecords"),
    ("metrics", ExportMetricsServiceResponse, "rejected_data_points", "rejectedDataPoints"),
]


@pytest.mark.parametrize(("signal", "message", "field", "key"), RESPONSES)
def test_an_acceptance_is_empty_unless_something_is_refused(signal: str, message: type, field: str, key: str) -> None:
    """A plain success leaves `partial_success` unset; refused items and a warning stand in it, the number as text in JSON."""
    assert response_body(signal, ACCEPTED, "protobuf") == b""  # type: ignore[arg-type]  # one of the signals
    assert json.loads(response_body(signal, ACCEPTED, "json")) == {}  # type: ignore[arg-type]  # the same
    receipt = Receipt(rejected=3, message="why")
    partial = message.FromString(response_body(signal, receipt, "protobuf")).partial_success  # type: ignore[attr-defined, arg-type]  # a message
    assert (getattr(partial, field), partial.error_message) == (3, "why")
    assert json.loads(response_body(signal, receipt, "json")) == {"partialSuccess": {key: "3", "errorMessage": "why"}}  # type: ignore[arg-type]  # the same
    warning = message.FromString(response_body(signal, Receipt(message="mind"), "protobuf")).partial_success  # type: ignore[attr-defined, arg-type]  # the same
    assert (getattr(warning, field), warning.error_message) == (0, "mind")
