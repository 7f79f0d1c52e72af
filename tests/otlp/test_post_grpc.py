"""One OTLP request over gRPC: what is accepted, what is tried again, and when."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo  # type: ignore[import-untyped]  # it comes without types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # the same
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from otel_eval.errors import ConfigError, SinkError
from otel_eval.otlp.endpoint import Endpoint, endpoint_from_env
from otel_eval.otlp.post import post_otlp
from tests.fakes.wire import logs


@contextmanager
def receiver(answer: Any) -> Iterator[tuple[Endpoint, list[tuple[bytes, dict[str, str]]]]]:
    """A gRPC server on loopback that answers as told, and what it got."""
    got: list[tuple[bytes, dict[str, str]]] = []

    def export(body: bytes, context: Any) -> bytes:
        got.append((body, dict(context.invocation_metadata())))
        reply: bytes = answer(context)
        return reply

    server = grpc.server(ThreadPoolExecutor(2))
    handler: Any = grpc.unary_unary_rpc_method_handler(export)
    name = "opentelemetry.proto.collector.logs.v1.LogsService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {"Export": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield Endpoint(url=f"http://127.0.0.1:{port}", protocol="grpc", headers={"x-key": "1"}, timeout_s=5.0), got
    finally:
        server.stop(None)


def test_a_body_is_sent_as_it_is() -> None:
    """The receiver gets the same bytes, with the headers as metadata; its partial success comes back."""
    response = ExportLogsServiceResponse()
    response.partial_success.rejected_log_records, response.partial_success.error_message = 1, "too old"
    with receiver(lambda context: response.SerializeToString()) as (endpoint, got):
        result = post_otlp(endpoint, "logs", logs("a"))
    assert (result.rejected, result.message) == (1, "too old")
    body, metadata = got[0]
    assert (body, metadata["x-key"]) == (logs("a"), "1")


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (grpc.StatusCode.UNAVAILABLE, True),
        (grpc.StatusCode.ABORTED, True),
        (grpc.StatusCode.DATA_LOSS, True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, False),
        (grpc.StatusCode.INVALID_ARGUMENT, False),
        (grpc.StatusCode.UNAUTHENTICATED, False),
        (grpc.StatusCode.UNKNOWN, False),
    ],
)
def test_which_refusals_may_be_tried_again(code: Any, retryable: bool) -> None:
    """As the specification lists them."""
    with receiver(lambda context: context.abort(code, "no")) as (endpoint, _), pytest.raises(SinkError) as error:
        post_otlp(endpoint, "logs", logs("a"), once=True)
    assert error.value.retryable is retryable


def test_exhausted_with_a_time_is_tried_again_then() -> None:
    """RESOURCE_EXHAUSTED with RetryInfo says when."""
    detail = AnyMessage()
    detail.Pack(RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000)))
    status = Status(code=8, message="full", details=[detail]).SerializeToString()

    def refuse(context: Any) -> bytes:
        context.set_trailing_metadata((("grpc-status-details-bin", status),))
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full")
        return b""

    with receiver(refuse) as (endpoint, _), pytest.raises(SinkError) as error:
        post_otlp(endpoint, "logs", logs("a"), once=True)
    assert (error.value.retryable, error.value.retry_after_s) == (True, 2.5)


def test_nobody_there_is_tried_again() -> None:
    """A port where nobody listens is trouble that may pass."""
    with pytest.raises(SinkError) as error:
        post_otlp(Endpoint(url="http://127.0.0.1:9", protocol="grpc", timeout_s=1.0), "logs", logs("a"), once=True)
    assert error.value.retryable


def test_the_standard_variable_chooses() -> None:
    """OTEL_EXPORTER_OTLP_PROTOCOL chooses gRPC, whose endpoint has no path; other protocols are refused."""
    found = endpoint_from_env({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}, "logs")
    assert (found.protocol, found.url) == ("grpc", "http://collector:4317/")
    with pytest.raises(ConfigError, match="expected http/protobuf or grpc"):
        endpoint_from_env({"OTEL_EXPORTER_OTLP_PROTOCOL": "udp"}, "logs")
