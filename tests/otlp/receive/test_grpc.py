"""OTLP over gRPC, rule by rule, with a real channel."""

import gzip
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
import zstandard
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from otel_eval.errors import Overloaded, StoreError
from tests.fakes.receiving import METHODS, Receiving, Refusal, refusal_of_call
from tests.fakes.wire import logs, metrics, span, traces

LIMIT = 200_000


@pytest.fixture(scope="module")
def shared_receiver() -> Iterator[Receiving]:
    with Receiving(http=None, max_body_bytes=LIMIT) as made:
        yield made


@pytest.fixture
def receiver(shared_receiver: Receiving) -> Receiving:
    shared_receiver.kept.clear()
    shared_receiver.refused.clear()
    return shared_receiver


def refused(receiver: Receiving, signal: str, body: bytes, **how: Any) -> tuple[grpc.StatusCode, Refusal | None]:
    """The status of a call that must be refused."""
    with pytest.raises(grpc.RpcError) as error:
        receiver.call(signal, body, **how)
    return refusal_of_call(error.value)


@pytest.mark.parametrize(
    ("signal", "body", "items"),
    [("traces", traces(span(1), span(2)), 2), ("logs", logs("a"), 1), ("traces", b"", 0), ("logs", traces(), 0)],
)
def test_a_good_call_is_accepted(receiver: Receiving, signal: str, body: bytes, items: int) -> None:
    """The answer is an empty response; empty requests are good ones; what is kept is as it came."""
    assert receiver.call(signal, body) == b""
    assert [(r.signal, r.body, r.envelope.spans + r.envelope.logs) for r in receiver.kept] == [(signal, body, items)]


def test_metrics_are_accepted_and_dropped(receiver: Receiving) -> None:
    """Metrics succeed and are not kept."""
    assert receiver.call("metrics", metrics()) == b""
    assert receiver.kept == []


def test_the_generated_client_is_served(receiver: Receiving) -> None:
    """A unary client made from the protocol's own files gets its message."""
    with receiver.channel() as channel:
        stub: Any = TraceServiceStub(channel)  # type: ignore[no-untyped-call]  # generated without types
        response = stub.Export(ExportTraceServiceRequest.FromString(traces(span(1))), timeout=20)
    assert response == ExportTraceServiceResponse()
    assert receiver.kept[0].envelope.spans == 1


@pytest.mark.parametrize(("how", "packing"), [(grpc.Compression.Gzip, "gzip"), (grpc.Compression.Deflate, "deflate")])
def test_compressed_calls_are_kept_packed(receiver: Receiving, how: grpc.Compression, packing: str) -> None:
    """What gRPC compresses stays compressed on its way into the store, and is read all the same."""
    body = traces(*(span(n, name="same") for n in range(1, 100)))
    assert receiver.call("traces", body, compression=how) == b""
    kept = receiver.kept[0]
    assert (str(kept.encoding), kept.envelope.spans, kept.plain_bytes) == (f"protobuf+{packing}", 99, len(body))
    assert len(kept.body) < len(body) / 4


@pytest.mark.parametrize(("pack", "packing"), [(gzip.compress, "gzip"), (zlib.compress, "deflate"), (zstandard.compress, "zstd")])
def test_bodies_packed_by_the_sender_itself_are_read(receiver: Receiving, pack: Any, packing: str) -> None:
    """A packing that gRPC does not know of is known by its first bytes."""
    receiver.call("traces", pack(traces(span(1))))
    assert (str(receiver.kept[0].encoding), receiver.kept[0].envelope.spans) == (f"protobuf+{packing}", 1)


@pytest.mark.parametrize(
    ("signal", "body", "says"),
    [
        ("traces", b"\xff\xff", "ExportTraceServiceRequest"),
        ("traces", logs("a"), "/v1/logs"),
        ("logs", traces(span(1)), "/v1/traces"),
        ("traces", gzip.compress(b"x" * 99, mtime=0)[:-9], "gzip"),
    ],
)
def test_a_bad_call_is_refused_for_good(receiver: Receiving, signal: str, body: bytes, says: str) -> None:
    """What cannot be read is INVALID_ARGUMENT with BadRequest and without RetryInfo."""
    code, refusal = refused(receiver, signal, body)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal is not None
    assert (refusal.code, refusal.retry_delay_s, refusal.violations) == (3, None, ("body",))
    assert says in refusal.message
    assert receiver.kept == []


@pytest.mark.parametrize(
    ("body", "how"),
    [
        (bytes(LIMIT + 1), {}),
        (bytes(50 * LIMIT), {}),
        (bytes(LIMIT + 1), {"compression": grpc.Compression.Gzip}),
        (bytes(100 * LIMIT), {"compression": grpc.Compression.Gzip}),
        (bytes(100 * LIMIT), {"compression": grpc.Compression.Deflate}),
        (zstandard.compress(bytes(100 * LIMIT)), {}),
    ],
)
def test_too_large_is_resource_exhausted_without_a_delay(receiver: Receiving, body: bytes, how: dict[str, Any]) -> None:
    """Over the limit, before or after unpacking, a call is RESOURCE_EXHAUSTED without RetryInfo: never send it again."""
    code, refusal = refused(receiver, "traces", body, **how)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refusal is None or refusal.retry_delay_s is None
    assert receiver.kept == []


def test_large_bodies_within_the_limit_are_taken() -> None:
    """The limit is ours and not gRPC's four megabytes."""
    body = traces(*(span(n, name="x" * 1000) for n in range(1, 9000)))
    assert len(body) > 9_000_000
    with Receiving(http=None) as receiver:
        assert receiver.call("traces", body) == b""


def test_invalid_items_are_a_partial_success(receiver: Receiving) -> None:
    """Items with bad ids are refused one by one."""
    response = ExportTraceServiceResponse.FromString(receiver.call("traces", traces(span(1), span(2, trace_id=b"x"))))
    assert response.partial_success.rejected_spans == 1
    assert "invalid_trace_id" in response.partial_success.error_message
    assert ExportLogsServiceResponse.FromString(receiver.call("logs", logs("a"))) == ExportLogsServiceResponse()


@pytest.mark.parametrize(
    ("fault", "delay"), [(Overloaded("full", retry_after_s=2.5), 2.5), (StoreError("broken"), 5.0), (RuntimeError("content"), 5.0)]
)
def test_what_may_pass_is_unavailable_with_a_delay(fault: Exception, delay: float) -> None:
    """A full or broken store, and a fault of our own, are UNAVAILABLE with RetryInfo, never UNKNOWN; content is not told."""

    def refuse(_: object) -> None:
        raise fault

    with Receiving(http=None, on_keep=refuse) as receiver:
        code, refusal = refused(receiver, "traces", traces(span(1)))
        assert code is grpc.StatusCode.UNAVAILABLE
        assert refusal is not None
        assert (refusal.code, refusal.retry_delay_s) == (14, delay)
        assert "content" not in refusal.message


def test_a_token_is_asked_for() -> None:
    """With tokens set, a call without one of them is UNAUTHENTICATED, before its message is read."""
    with Receiving(http=None, tokens=("one", "two")) as receiver:
        for metadata in ((), (("authorization", "Bearer three"),), (("authorization", "Basic one"),)):
            code, refusal = refused(receiver, "traces", traces(span(1)), metadata=metadata)
            assert code is grpc.StatusCode.UNAUTHENTICATED
            assert refusal is not None
            assert refusal.retry_delay_s is None
        for token in ("one", "two"):
            assert receiver.call("traces", traces(span(1)), metadata=(("authorization", f"Bearer {token}"),)) == b""
        assert len(receiver.kept) == 2


def test_other_services_are_unimplemented(receiver: Receiving) -> None:
    """A method that is not there says so."""
    with receiver.channel() as channel:
        method: Any = channel.unary_unary("/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export")
        with pytest.raises(grpc.RpcError) as error:
            method(b"", timeout=20)
    failed: Any = error.value
    assert failed.code() is grpc.StatusCode.UNIMPLEMENTED


def test_too_many_at_once_are_told_to_come_later() -> None:
    """Beyond the number of calls that are looked after, one waits a little and is then UNAVAILABLE with a delay; those inside end well."""
    with Receiving(http=None, hold=True, max_calls=2, patience_s=0.05) as receiver, receiver.channel() as channel:
        method: Any = channel.unary_unary(METHODS["traces"])
        inside = [method.future(traces(span(1)), timeout=20) for _ in range(2)]
        for _ in inside:
            assert receiver.entered.acquire(timeout=20)
        code, refusal = refused(receiver, "traces", traces(span(2)))
        assert code is grpc.StatusCode.UNAVAILABLE
        assert refusal is not None
        assert refusal.retry_delay_s == 1.0
        receiver.release.set()
        assert [call.result() for call in inside] == [b"", b""]
        assert receiver.receiver.calls == receiver.receiver.held_bytes == 0


def test_a_call_that_sends_nothing_is_ended() -> None:
    """A call without a message, and one that never sends it, take no place for ever."""
    with Receiving(http=None, head_timeout_s=0.2, max_calls=1) as receiver, receiver.channel() as channel:
        stream: Any = channel.stream_unary(METHODS["traces"])
        nothing: Iterator[bytes] = iter([])
        with pytest.raises(grpc.RpcError) as error:
            stream(nothing, timeout=20)
        empty: Any = error.value
        assert empty.code() is grpc.StatusCode.INVALID_ARGUMENT
        never = threading.Event()
        endless = iter(lambda: never.wait(20) and b"", None)
        with pytest.raises(grpc.RpcError) as error:
            stream(endless, timeout=20)
        never.set()
        late: Any = error.value
        assert late.code() is grpc.StatusCode.UNAVAILABLE
        assert receiver.call("traces", traces(span(1))) == b""
