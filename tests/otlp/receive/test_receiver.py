"""Both ports together: real exporters, one funnel, TLS, start and end."""

import http.client
import socket
import ssl
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from otel_eval.errors import ConfigError, Overloaded
from otel_eval.model import Batch
from otel_eval.otlp.receive.http_server import listening_sockets
from otel_eval.otlp.receive.intake import Received, batch_from_kept
from otel_eval.otlp.receive.settings import Bind, Tls
from tests.captures import capture, names
from tests.fakes.receiving import JSON, METHODS, PROTOBUF, Receiving, refusal_of_call, reply_of
from tests.fakes.wire import span, traces

TLS = Path(__file__).parents[2] / "data" / "tls"


def export(*exporters: SpanExporter, count: int = 1) -> None:
    """Send spans as an application does."""
    provider = TracerProvider(resource=Resource({"service.name": "shop"}))
    for exporter in exporters:
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("app")
    for number in range(count):
        with tracer.start_as_current_span("chat", attributes={"gen_ai.conversation.id": f"c{number}", "text": "long " * 500}):
            pass
    provider.shutdown()


def batch_of(received: Received) -> Batch:
    return batch_from_kept(received.signal, str(received.encoding), received.body)


def test_the_sdks_exporters_are_served() -> None:
    """Spans of the OpenTelemetry SDK arrive the same over gRPC and HTTP, compressed or not."""
    with Receiving() as receiver:
        export(
            GrpcSpanExporter(endpoint=receiver.target, insecure=True),
            GrpcSpanExporter(endpoint=receiver.target, insecure=True, compression=grpc.Compression.Gzip),
            HttpSpanExporter(endpoint=f"{receiver.url}/v1/traces"),
            HttpSpanExporter(endpoint=f"{receiver.url}/v1/traces", compression=Compression.Gzip),
            HttpSpanExporter(endpoint=f"{receiver.url}/v1/traces", compression=Compression.Deflate),
        )
        assert [str(r.encoding) for r in receiver.kept] == ["protobuf", "protobuf+gzip", "protobuf", "protobuf+gzip", "protobuf+deflate"]
        assert len({repr(batch_of(r).spans) for r in receiver.kept}) == 1
        trace = receiver.kept[0].envelope.traces[0]
        assert (trace.spans, trace.root_ended, trace.is_genai, trace.conversations, trace.service) == (1, True, True, ("c0",), "shop")


def test_a_full_store_makes_the_sdk_send_again() -> None:
    """An exporter that is told to come later does, over both transports, and then its spans are there."""
    refusals = iter([Overloaded("full", retry_after_s=0.1)] * 2)
    lock = threading.Lock()

    def full_twice(received: Received) -> None:
        with lock:
            refusal = next(refusals, None)
        if refusal is not None:
            raise refusal

    with Receiving(on_keep=full_twice) as receiver:
        export(HttpSpanExporter(endpoint=f"{receiver.url}/v1/traces"), GrpcSpanExporter(endpoint=receiver.target, insecure=True))
        assert len(receiver.kept) == 2
        assert receiver.refused == {"Overloaded": 2}


def test_log_records_of_the_sdk_arrive() -> None:
    """Events of the SDK's logger arrive with their names, over both transports."""
    with Receiving() as receiver:
        provider = LoggerProvider()
        for exporter in (HttpLogExporter(endpoint=f"{receiver.url}/v1/logs"), GrpcLogExporter(endpoint=receiver.target, insecure=True)):
            provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
        provider.get_logger("app").emit(LogRecord(event_name="gen_ai.choice", timestamp=5, body="hello"))
        provider.shutdown()
        assert [[r.event_name for r in batch_of(received).logs] for received in receiver.kept] == [["gen_ai.choice"]] * 2


def test_eight_clients_at_once() -> None:
    """Eight clients over both transports, small and large bodies mixed: every acknowledged request is kept, each once."""
    large = [traces(*(span(n, name=f"client {c} " + "x" * 500) for n in range(1, 200))) for c in range(8)]
    small = [traces(span(1, name=f"client {c}")) for c in range(8)]

    def client(number: int, receiver: Receiving) -> int:
        done = 0
        with receiver.channel() as channel:
            method: Any = channel.unary_unary(METHODS["traces"])
            connection = http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=20)
            for turn in range(20):
                body = large[number] if turn % 5 == 0 else small[number]
                if number % 2:
                    done += method(body, timeout=20) == b""
                else:
                    connection.request("POST", "/v1/traces", body, dict(PROTOBUF))
                    done += reply_of(connection).status == 200
            connection.close()
        return done

    with Receiving() as receiver, ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: client(number, receiver), range(8)))
        assert done == [20] * 8
        kept = [r.body for r in receiver.kept]
        assert sorted(kept) == sorted(large * 4 + small * 16)
        assert receiver.receiver.calls == receiver.receiver.held_bytes == 0


@pytest.mark.parametrize("name", names()[::6])
def test_captures_over_the_wire_are_what_they_are_in_files(name: str) -> None:
    """What real instrumentations sent decodes to the same batch after either transport as from a file."""
    one = capture(name)
    with Receiving(pack=True) as receiver:
        for file, batch in zip(sorted(one.requests), one.batches(), strict=True):
            body, signal = one.requests[file], "logs" if "logs" in file else "traces"
            if not batch.spans and not batch.logs:
                continue
            is_json = file.endswith(".json")
            receiver.kept.clear()
            assert receiver.post(f"/v1/{signal}", body, JSON if is_json else PROTOBUF).status == 200
            if not is_json:
                receiver.call(signal, body, compression=grpc.Compression.Gzip)
            for received in receiver.kept:
                found = batch_of(received)
                assert (found.spans, found.logs) == (batch.spans, batch.logs)


def ways_in(receiver: Receiving, **certificate: Any) -> tuple[bool, bool]:
    """Whether HTTP and gRPC let a client in that shows this certificate."""
    context = ssl.create_default_context(cafile=TLS / "ca.pem")
    if certificate:
        context.load_cert_chain(TLS / "client.pem", TLS / "client.key")
    connection = http.client.HTTPSConnection("127.0.0.1", receiver.receiver.http_port, timeout=20, context=context)
    try:
        connection.request("POST", "/v1/traces", traces(span(1)), dict(PROTOBUF))
        over_http = reply_of(connection).status == 200
    except (ssl.SSLError, OSError, http.client.HTTPException):
        over_http = False
    finally:
        connection.close()
    shown = (
        {"private_key": (TLS / "client.key").read_bytes(), "certificate_chain": (TLS / "client.pem").read_bytes()} if certificate else {}
    )
    credentials = grpc.ssl_channel_credentials((TLS / "ca.pem").read_bytes(), **shown)
    with grpc.secure_channel(f"localhost:{receiver.receiver.grpc_port}", credentials) as channel:
        method: Any = channel.unary_unary(METHODS["traces"])
        try:
            over_grpc = method(traces(span(1)), timeout=5) == b""
        except grpc.RpcError:
            over_grpc = False
    return over_http, over_grpc


def test_tls_on_both_ports() -> None:
    """With a certificate both ports speak TLS and only TLS."""
    with Receiving(tls=Tls(certificate=TLS / "server.pem", key=TLS / "server.key")) as receiver:
        assert ways_in(receiver) == (True, True)
        with pytest.raises((OSError, http.client.HTTPException)):
            receiver.post("/v1/traces", traces(span(1)))


def test_clients_must_show_a_certificate() -> None:
    """With an authority for clients, only those that show a certificate of it get in."""
    tls = Tls(certificate=TLS / "server.pem", key=TLS / "server.key", client_ca=TLS / "ca.pem")
    with Receiving(tls=tls) as receiver:
        assert ways_in(receiver) == (False, False)
        assert ways_in(receiver, shown=True) == (True, True)
        assert len(receiver.kept) == 2


def test_a_port_that_is_taken_is_told_and_nothing_is_left_open() -> None:
    """A second receiver on the same ports is refused at the start, whichever port it is; a port it had opened is free again."""
    with Receiving() as first:
        http_port, grpc_port = first.receiver.http_port, first.receiver.grpc_port
        with pytest.raises(ConfigError, match=rf"cannot listen on 127.0.0.1:{http_port}"):
            Receiving(http=Bind(port=http_port)).__enter__()
        second = Receiving(grpc=Bind(port=grpc_port))
        with pytest.raises(ConfigError, match=rf"cannot listen on 127.0.0.1:{grpc_port} for gRPC"):
            second.__enter__()
        with socket.socket() as free, pytest.raises(OSError, match=r"."):
            free.connect(("127.0.0.1", second.receiver.http_port or 1))


@pytest.mark.parametrize("host", ["256.1.1.1", "no.such.host.invalid"])
def test_a_host_that_is_none_is_told(host: str) -> None:
    """An address that this machine does not have is refused at the start."""
    with pytest.raises(ConfigError, match="cannot listen"):
        Receiving(http=Bind(host=host, port=0), grpc=None).__enter__()


def test_the_end_waits_for_what_is_under_way() -> None:
    """When the receiver stops, requests under way end well; new ones find nobody; nothing acknowledged is missing."""
    with Receiving(hold=True) as receiver:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=20)
        connection.request("POST", "/v1/traces", traces(span(1)), dict(PROTOBUF))
        with receiver.channel() as channel:
            method: Any = channel.unary_unary(METHODS["traces"])
            call = method.future(traces(span(2)), timeout=20)
            for _ in range(2):
                assert receiver.entered.acquire(timeout=20)
            stopping = receiver.begin(lambda: receiver.receiver.stop(grace_s=20))
            refused_late(receiver)
            receiver.release.set()
            assert call.result() == b""
            assert reply_of(connection).status == 200
        connection.close()
        stopping.result(20)
        assert len(receiver.kept) == 2


def refused_late(receiver: Receiving) -> None:
    """A call after the end has begun is refused with a status that lets the sender try again."""
    with pytest.raises(grpc.RpcError) as error:
        receiver.call("traces", traces(span(3)))
    failed: Any = error.value
    assert failed.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


def test_the_end_does_not_wait_for_ever() -> None:
    """What is under way when the time is over is told to send again: 503 with a delay, and a retryable status over gRPC."""
    with Receiving(hold=True) as receiver:
        connection = http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=20)
        connection.request("POST", "/v1/traces", traces(span(1)), dict(PROTOBUF))
        with receiver.channel() as channel:
            method: Any = channel.unary_unary(METHODS["traces"])
            call = method.future(traces(span(2)), timeout=20)
            for _ in range(2):
                assert receiver.entered.acquire(timeout=20)
            receiver.stop(grace_s=0.2)
            reply = reply_of(connection)
            assert (reply.status, reply.headers["retry-after"]) == (503, "1")
            with pytest.raises(grpc.RpcError) as error:
                call.result()
        connection.close()
        assert refusal_of_call(error.value)[0] in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


LAZY = """
import sys
from otel_eval.otlp.receive.receiver import Receiver
from otel_eval.otlp.receive.settings import Bind, ReceiveSettings
async def take(signal, body, encoding): ...
Receiver(take, ReceiveSettings(grpc=None))
print("grpc" in sys.modules)
Receiver(take, ReceiveSettings())
print("grpc" in sys.modules)
"""


def test_grpc_is_loaded_only_for_its_port() -> None:
    """A receiver without the gRPC port does without gRPC."""
    run = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert run.stdout.split() == ["False", "True"]


def test_a_name_with_two_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """`localhost` is 127.0.0.1 and ::1 on many machines: it listens on both, on one port, and does without one that is not there."""
    four = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))
    six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 0, 0, 0))
    elsewhere = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0))
    for addresses in ([six, four], [four, elsewhere], [elsewhere, four]):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=addresses, **__: found)
        made = listening_sockets(Bind(host="localhost", port=0))
        ports = {each.getsockname()[1] for each in made}
        reached = [each.getsockname()[0] for each in made]
        for each in made:
            each.close()
        assert len(ports) == 1
        assert reached == [address[4][0] for address in addresses if address is not elsewhere]
