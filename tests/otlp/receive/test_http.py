"""OTLP over HTTP, rule by rule, with real sockets (`semconv`, duties of a receiver; the OTLP specification 1.11)."""

import gzip
import http.client
import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import zstandard
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_eval.errors import Overloaded, StoreError
from tests.fakes.receiving import JSON, PROTOBUF, Receiving, refusal_from_bytes, reply_of
from tests.fakes.wire import json_logs, json_span, json_traces, logs, metrics, span, traces

LIMIT = 200_000


@pytest.fixture(scope="module")
def shared_receiver() -> Iterator[Receiving]:
    with Receiving(grpc=None, max_body_bytes=LIMIT) as made:
        yield made


@pytest.fixture
def receiver(shared_receiver: Receiving) -> Receiving:
    shared_receiver.kept.clear()
    shared_receiver.refused.clear()
    return shared_receiver


GOOD = [
    ("/v1/traces", traces(span(1), span(2)), PROTOBUF, 2),
    ("/v1/traces", json.dumps(json_traces(json_span(1))).encode(), JSON, 1),
    ("/v1/logs", logs("a", "b", "c"), PROTOBUF, 3),
    ("/v1/logs", json.dumps(json_logs({"timeUnixNano": "5"})).encode(), JSON, 1),
    ("/v1/traces", b"", PROTOBUF, 0),
    ("/v1/traces", traces(), PROTOBUF, 0),
    ("/v1/logs", b"{}", JSON, 0),
]


@pytest.mark.parametrize(("path", "body", "headers", "items"), GOOD)
def test_a_good_request_is_accepted(receiver: Receiving, path: str, body: bytes, headers: Mapping[str, str], items: int) -> None:
    """Protobuf and JSON on one port: 200 in the request's type, the partial success unset; empty requests are good ones."""
    reply = receiver.post(path, body, headers)
    assert (reply.status, reply.headers["content-type"]) == (200, headers["Content-Type"])
    assert reply.body == (b"{}" if headers is JSON else b"")
    assert [(r.signal, r.body, r.envelope.spans + r.envelope.logs) for r in receiver.kept] == [(path.removeprefix("/v1/"), body, items)]


@pytest.mark.parametrize(("body", "headers"), [(metrics(), PROTOBUF), (b'{"resourceMetrics": []}', JSON)])
def test_metrics_are_accepted_and_dropped(receiver: Receiving, body: bytes, headers: Mapping[str, str]) -> None:
    """Metrics succeed, so that a sender of all signals is content, and nothing is kept of them."""
    reply = receiver.post("/v1/metrics", body, headers)
    assert (reply.status, receiver.kept) == (200, [])
    if headers is PROTOBUF:
        assert not ExportMetricsServiceResponse.FromString(reply.body).HasField("partial_success")


@pytest.mark.parametrize("suffix", ["; charset=utf-8", ";charset=UTF-8;x=y", " "])
@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_parameters_of_the_content_type_are_accepted(receiver: Receiving, headers: Mapping[str, str], suffix: str) -> None:
    """What stands behind the type changes nothing."""
    body = traces(span(1)) if headers is PROTOBUF else b"{}"
    assert receiver.post("/v1/traces", body, {"content-type": headers["Content-Type"] + suffix}).status == 200


PACKED = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("zlib", zlib.compress),
    ("zstd", zstandard.compress),
    ("identity", bytes),
]


@pytest.mark.parametrize(("name", "pack"), PACKED)
@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_packed_bodies_are_accepted(receiver: Receiving, name: str, pack: Any, headers: Mapping[str, str]) -> None:
    """None and gzip must be taken, zstd and deflate are; what is kept is as it came."""
    body = pack(traces(span(1)) if headers is PROTOBUF else json.dumps(json_traces(json_span(1))).encode())
    assert receiver.post("/v1/traces", body, {**headers, "Content-Encoding": name}).status == 200
    assert (receiver.kept[0].body, receiver.kept[0].envelope.spans) == (body, 1)


@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_a_chunked_body_is_accepted(receiver: Receiving, headers: Mapping[str, str]) -> None:
    """A body without a declared length is taken."""
    body = traces(span(1), span(2)) if headers is PROTOBUF else json.dumps(json_traces(json_span(1), json_span(2))).encode()
    assert receiver.post("/v1/traces", body, headers, chunked=True).status == 200
    assert (receiver.kept[0].body, receiver.kept[0].envelope.spans) == (body, 2)


def test_a_connection_serves_many_requests(receiver: Receiving) -> None:
    """Requests follow each other on one connection, refused ones among them whose bodies were read."""
    connection = http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=10)
    statuses = []
    for body in (traces(span(1)), b"\xff\xff", traces(span(2))):
        connection.request("POST", "/v1/traces", body, dict(PROTOBUF))
        statuses.append(reply_of(connection).status)
    connection.close()
    assert statuses == [200, 400, 200]


REFUSED = [
    # path, method, body, headers, status, code, what the message says
    ("/v1/traces", "GET", None, {}, 405, 12, "POST"),
    ("/v1/logs", "PUT", b"", PROTOBUF, 405, 12, "POST"),
    ("/v1/metrics", "HEAD", None, PROTOBUF, 405, 12, "POST"),
    ("/v1/trace", "POST", b"", PROTOBUF, 404, 5, "/v1/traces"),
    ("/", "POST", b"", JSON, 404, 5, "/v1/traces"),
    ("/v1/traces", "POST", b"x", {}, 415, 3, "application/json"),
    ("/v1/traces", "POST", b"x", {"Content-Type": "text/plain"}, 415, 3, "text/plain"),
    ("/v1/metrics", "POST", b"x", {"Content-Type": "application/x-www-form-urlencoded"}, 415, 3, "application/json"),
    ("/v1/traces", "POST", b"x", {**PROTOBUF, "Content-Encoding": "snappy"}, 400, 3, "snappy"),
    ("/v1/traces", "POST", b"x", {**JSON, "Content-Encoding": "gzip, gzip"}, 400, 3, "gzip, deflate or zstd"),
    ("/v1/traces", "POST", b"\xff\xff\xff", PROTOBUF, 400, 3, "ExportTraceServiceRequest"),
    ("/v1/traces", "POST", b"{", JSON, 400, 3, "no JSON"),
    ("/v1/traces", "POST", b"[]", JSON, 400, 3, "object"),
    ("/v1/traces", "POST", b"plain", {**PROTOBUF, "Content-Encoding": "gzip"}, 400, 3, "gzip"),
    ("/v1/traces", "POST", logs("a"), PROTOBUF, 400, 3, "/v1/logs"),
    ("/v1/logs", "POST", traces(span(1)), PROTOBUF, 400, 3, "/v1/traces"),
    ("/v1/traces", "POST", json.dumps(json_logs({})).encode(), JSON, 400, 3, "resourceLogs"),
    ("/v1/traces", "POST", bytes(LIMIT + 1), PROTOBUF, 413, 8, str(LIMIT)),
    ("/v1/metrics", "POST", bytes(LIMIT + 1), JSON, 413, 8, str(LIMIT)),
    ("/v1/traces", "POST", gzip.compress(bytes(LIMIT + 1)), {**PROTOBUF, "Content-Encoding": "gzip"}, 413, 8, "unpacked"),
    ("/v1/traces", "POST", zlib.compress(bytes(LIMIT + 1)), {**JSON, "Content-Encoding": "deflate"}, 413, 8, "unpacked"),
    ("/v1/traces", "POST", zstandard.compress(bytes(LIMIT + 1)), {**JSON, "Content-Encoding": "zstd"}, 413, 8, "unpacked"),
]


@pytest.mark.parametrize(("path", "method", "body", "headers", "status", "code", "says"), REFUSED)
def test_a_bad_request_is_refused_for_good(
    receiver: Receiving, path: str, method: str, body: bytes | None, headers: Mapping[str, str], status: int, code: int, says: str
) -> None:
    """Each fault has its status, a `google.rpc.Status` in the request's encoding that says what was expected, and nothing that asks to
    send it again."""
    reply = receiver.post(path, body, headers, method=method)
    assert reply.status == status
    assert "retry-after" not in reply.headers
    assert receiver.kept == []
    assert sum(receiver.refused.values()) == 1
    is_protobuf = headers.get("Content-Type") == PROTOBUF["Content-Type"]
    assert reply.headers["content-type"] == (PROTOBUF if is_protobuf else JSON)["Content-Type"]
    if method == "HEAD":
        return
    if is_protobuf:
        refusal = refusal_from_bytes(reply.body)
        found = (refusal.code, refusal.retry_delay_s, refusal.violations)
        message = refusal.message
    else:
        told = json.loads(reply.body)
        kinds = [detail["@type"].rpartition(".")[2] for detail in told.get("details", [])]
        found, message = (told["code"], None, ("body",) * kinds.count("BadRequest")), told["message"]
    assert found == (code, None, ("body",) if status == 400 else ())
    assert says in message


def test_405_names_the_method(receiver: Receiving) -> None:
    """A refused method is told which one is taken."""
    assert receiver.post("/v1/traces", None, {}, method="GET").headers["allow"] == "POST"


def test_the_limit_is_exact(receiver: Receiving) -> None:
    """A body of exactly the limit is read, before and after unpacking."""
    filler = traces(span(1, name="x"))
    body = traces(span(1, name="x" * (LIMIT - len(filler) - 20)))
    while len(body) < LIMIT:
        body = traces(span(1, name="x" * (LIMIT - len(filler) - 20 + LIMIT - len(body))))
    assert len(body) == LIMIT
    assert receiver.post("/v1/traces", body).status == 200
    assert receiver.post("/v1/traces", gzip.compress(body), {**PROTOBUF, "Content-Encoding": "gzip"}).status == 200


PARTIAL = [
    ("/v1/traces", traces(span(1), span(2, trace_id=b"short"), span(3)), PROTOBUF, "rejectedSpans"),
    ("/v1/traces", json.dumps(json_traces(json_span(1), json_span(2, spanId="zz"))).encode(), JSON, "rejectedSpans"),
    ("/v1/logs", json.dumps(json_logs({"timeUnixNano": "5"}, {"attributes": 7})).encode(), JSON, "rejectedLogRecords"),
]


@pytest.mark.parametrize(("path", "body", "headers", "key"), PARTIAL)
def test_invalid_items_are_a_partial_success(receiver: Receiving, path: str, body: bytes, headers: Mapping[str, str], key: str) -> None:
    """Items with bad ids are refused one by one: 200, their number and the reason; the request is kept."""
    reply = receiver.post(path, body, headers)
    assert (reply.status, len(receiver.kept)) == (200, 1)
    if headers is JSON:
        partial = json.loads(reply.body)["partialSuccess"]
        assert (partial[key], "rejected" in partial["errorMessage"]) == ("1", True)
    else:
        message = ExportTraceServiceResponse.FromString(reply.body)
        assert (message.partial_success.rejected_spans, "invalid_trace_id" in message.partial_success.error_message) == (1, True)


def test_log_records_with_bad_ids_are_only_unassociated(receiver: Receiving) -> None:
    """An invalid id on a log record is no reason to reject it."""
    body = json.dumps(json_logs({"timeUnixNano": "5", "traceId": "zz"})).encode()
    assert receiver.post("/v1/logs", body, JSON).body == b"{}"
    assert ExportLogsServiceResponse.FromString(receiver.post("/v1/logs", logs("a")).body) == ExportLogsServiceResponse()


LATER = [
    (Overloaded("the store is full", retry_after_s=2.5), 503, "3", 2.5),
    (StoreError("broken"), 503, "5", 5.0),
    (RuntimeError("content"), 503, "5", 5.0),
]


@pytest.mark.parametrize(("fault", "status", "header", "delay"), LATER)
@pytest.mark.parametrize("headers", [PROTOBUF, JSON])
def test_what_may_pass_is_answered_with_a_delay(
    fault: Exception, status: int, header: str, delay: float, headers: Mapping[str, str]
) -> None:
    """A full or broken store, and a fault of our own, are 503 with Retry-After and RetryInfo, never 500: the sender keeps its data."""

    def refuse(_: object) -> None:
        raise fault

    with Receiving(grpc=None, on_keep=refuse) as receiver:
        body = traces(span(1)) if headers is PROTOBUF else b"{}"
        reply = receiver.post("/v1/traces", body, headers)
        assert (reply.status, reply.headers["retry-after"]) == (status, header)
        if headers is PROTOBUF:
            assert reply.details.retry_delay_s == delay
        else:
            detail = json.loads(reply.body)["details"][0]
            assert (detail["@type"].rpartition(".")[2], detail["retryDelay"]) == ("RetryInfo", f"{delay:g}s")
        assert b"content" not in reply.body
        assert receiver.refused == {type(fault).__name__: 1}


def test_a_token_is_asked_for() -> None:
    """With tokens set, a request without one of them is 401 with what is expected, also for paths and bodies that are fine."""
    with Receiving(grpc=None, tokens=("one", "two")) as receiver:
        for authorization, status in (("", 401), ("Bearer three", 401), ("Bearer one", 200), ("bearer two", 200)):
            headers = {**PROTOBUF, **({"Authorization": authorization} if authorization else {})}
            reply = receiver.post("/v1/traces", traces(span(1)), headers)
            assert reply.status == status
            if status == 401:
                assert reply.headers["www-authenticate"] == "Bearer"
                assert (reply.details.code, reply.details.retry_delay_s) == (16, None)
        assert len(receiver.kept) == 2


def test_too_many_at_once_are_told_to_come_later() -> None:
    """Beyond the number of requests that are looked after, one waits a little and is then 429 with a delay; those inside end well."""
    with Receiving(grpc=None, hold=True, max_calls=2, patience_s=0.05) as receiver:
        connections = [http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=20) for _ in range(2)]
        for connection in connections:
            connection.request("POST", "/v1/traces", traces(span(1)), dict(PROTOBUF))
        for _ in connections:
            assert receiver.entered.acquire(timeout=20)
        reply = receiver.post("/v1/traces", traces(span(2)))
        assert (reply.status, reply.headers["retry-after"], reply.details.retry_delay_s) == (429, "1", 1.0)
        receiver.release.set()
        assert [reply_of(connection).status for connection in connections] == [200, 200]
        for connection in connections:
            connection.close()
        assert receiver.receiver.calls == receiver.receiver.held_bytes == 0


def test_other_pages_may_stand_around() -> None:
    """The application around the receiver's sees every request first, and hands on what is OTLP's."""

    def around(inner: Any) -> Any:
        async def app(scope: Any, take: Any, send: Any) -> None:
            if scope["type"] == "http" and scope["path"] == "/hello":
                await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
                await send({"type": "http.response.body", "body": b"hi"})
            else:
                await inner(scope, take, send)

        return app

    with Receiving(grpc=None, around=around) as receiver:
        assert receiver.post("/hello", None, {}, method="GET").body == b"hi"
        assert receiver.post("/v1/traces", traces(span(1))).status == 200
