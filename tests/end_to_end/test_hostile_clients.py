"""Clients that lie, drip, flood or hang, against the whole scorer while others use it.

Answers are clear, nobody else is harmed, memory stays bounded.
"""

import gzip
import http.client
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.captures import capture
from tests.fakes.clients import Crowd
from tests.fakes.serving import Server, copies, settled, until
from tests.fakes.wire import logs, span, traces

MEGABYTE = 2**20
LIMIT, HELD = 8 * MEGABYTE, 32 * MEGABYTE
MOST = 240 * MEGABYTE
"""110 MB are the process itself; what is held at once counts half as much again while it is copied, and one body is read at a time."""
HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
HALF_OPEN, DRIPPING = 200, 40


def peak_bytes(server: Server) -> int:
    """The most memory that the process had so far, as Linux tells it."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def posted(server: Server, body: bytes, **headers: str) -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=30)) as connection:
        connection.request("POST", "/v1/traces", body, {"Content-Type": "application/x-protobuf", **headers})
        response = connection.getresponse()
        return response.status, response.read()


def called(server: Server, body: bytes) -> Any:
    """The status code of a gRPC call, None where it went well."""
    with grpc.insecure_channel(server.grpc, options=[("grpc.max_send_message_length", -1)]) as channel:
        call: Any = channel.unary_unary(EXPORT)
        try:
            call(body, timeout=30)
        except grpc.RpcError as error:
            return error.code()
    return None


@dataclass
class Siege:
    """Connections that never get on with it, held while the tests run."""

    server: Server
    idle: list[socket.socket] = field(default_factory=list)
    dripping: list[socket.socket] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    began: float = field(default_factory=time.monotonic)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.ports["http"]), timeout=60)

    def start(self) -> threading.Thread:
        self.idle = [self.connect() for _ in range(HALF_OPEN)]
        for place, connection in enumerate(self.idle):
            connection.sendall((b"", HEAD[:30], HEAD + b"Content-Length: 100\r\n\r\n12345")[place % 3])
        self.dripping = [self.connect() for _ in range(DRIPPING)]
        thread = threading.Thread(target=self._drip, daemon=True)
        thread.start()
        return thread

    def _drip(self) -> None:
        while not self.stop.wait(0.2):
            for connection in self.dripping:
                try:
                    connection.sendall(b"X-Slow: 1\r\n" if connection.fileno() % 2 else b"X")
                except OSError:
                    continue

    def close(self) -> None:
        self.stop.set()
        for connection in (*self.idle, *self.dripping):
            connection.close()


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed a connection; what it said first is passed over."""
    connection.settimeout(0.01)
    try:
        while connection.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Siege]:
    limits = {"receive__max_body": str(LIMIT), "receive__max_held": str(HELD)}
    settings: dict[str, Any] = {"metrics": ["turn_count"], "completion__trace_max_age": "2s", **limits}
    with ExitStack() as undo:
        folder = tmp_path_factory.mktemp("siege")
        server = undo.enter_context(Server(folder, sinks__jsonl__path=str(folder / "r.jsonl"), **settings))
        siege = Siege(server)
        undo.callback(siege.close)
        thread = siege.start()
        yield siege
        siege.stop.set()
        thread.join(10)


@pytest.fixture(autouse=True)
def neighbours(siege: Siege) -> Iterator[None]:
    """Whatever a test does, others are served while and after it."""
    yield
    assert siege.server.get("/readyz")[0] == 200
    assert posted(siege.server, traces(span(77)))[0] == 200
    assert called(siege.server, traces(span(77))) is None


def test_logs_on_the_traces_path(siege: Siege) -> None:
    """Refused for good over both transports, with the path where they belong."""
    status, body = posted(siege.server, logs("a", "b"))
    assert (status, b"/v1/logs" in body) == (400, True)
    assert called(siege.server, logs("a", "b")) is grpc.StatusCode.INVALID_ARGUMENT


def test_bombs(siege: Siege) -> None:
    """Eight bodies at once that unpack to a hundred megabytes each are refused for good, and cost next to nothing."""
    bomb = gzip.compress(bytes(96 * MEGABYTE), 1)
    answers: list[Any] = []
    together(8, lambda number: answers.append(posted(siege.server, bomb, **{"Content-Encoding": "gzip"})[0]))
    assert set(answers) <= {413, 429, 503}
    assert 413 in answers
    assert called(siege.server, bomb) is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_hundred_thousand_attributes(siege: Siege) -> None:
    """A span with a hundred thousand attributes is taken, and its trace comes to an outcome."""
    wide = span(5, trace_id=bytes(range(2, 18)))
    for number in range(100_000):
        wide.attributes.add(key=f"gen_ai.k{number}").value.int_value = number
    assert posted(siege.server, gzip.compress(traces(wide)), **{"Content-Encoding": "gzip"})[0] == 200
    until(lambda: outcome_of(siege.server, wide.trace_id.hex()) in ("not_understood", "content_not_captured", "scored"), 40)


def test_ids_of_wrong_length(siege: Siege) -> None:
    """Spans with ids of other lengths are refused one by one, with their number; the good one beside them is taken."""
    bad = [span(1, trace_id=b"short"), span(2, span_id=bytes(9)), span(3, parent_span_id=b"123"), span(4, trace_id=bytes(16))]
    good = span(6, trace_id=bytes(range(3, 19)))
    status, body = posted(siege.server, traces(good, *bad))
    assert (status, b"rejected for good" in body) == (200, True)
    until(lambda: outcome_of(siege.server, good.trace_id.hex()) == "no_genai_content", 20)


def test_a_body_without_end(siege: Siege) -> None:
    """It is answered with 413 once it is too large, whether its length was declared or comes in chunks for ever."""
    with closing(siege.connect()) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        assert sends_until_refused(connection, b"10000\r\n" + bytes(65_536) + b"\r\n", at_most=100_000)
    assert posted(siege.server, b"", **{"Content-Length": str(2**50)})[0] == 413


def sends_until_refused(connection: socket.socket, piece: bytes, *, at_most: int) -> bool:
    """Send the same again and again; whether the other side broke it off."""
    try:
        for _ in range(at_most):
            connection.sendall(piece)
    except OSError:
        return True
    return False


def test_calls_that_hang(siege: Siege) -> None:
    """A hundred gRPC calls that never send their message keep nobody out: they give way to those who wait."""
    over = threading.Event()

    def never() -> Iterator[bytes]:
        over.wait(60)
        yield from ()

    with ExitStack() as undo:
        channels: list[Any] = [undo.enter_context(grpc.insecure_channel(siege.server.grpc)) for _ in range(2)]
        calls = [channels[number % 2].stream_unary(EXPORT).future(never()) for number in range(100)]
        undo.callback(over.set)
        until(lambda: posted(siege.server, traces(span(77)))[0] == 200, 20)
        until(lambda: called(siege.server, traces(span(77))) is None, 20)
        assert not all(call.done() for call in calls)


def test_many_large_bodies(siege: Siege) -> None:
    """Thirty clients with a body of the largest size that is taken, at once: all are answered, some perhaps to come later."""
    body = traces(span(8, trace_id=bytes(range(4, 20)), name="x" * (LIMIT - 1000)))
    answers: list[int] = []
    together(30, lambda number: answers.append(posted(siege.server, body)[0]))
    assert len(answers) == 30
    assert set(answers) <= {200, 429, 503}


def test_others_are_scored_meanwhile(siege: Siege) -> None:
    """Conversations of real captures, over both transports, are all scored while the connections of the siege hang."""
    made = list(copies([capture("hand-semconv-structured"), capture("adk-events")], 20))
    before = siege.server.outcomes("conversation").get("scored", 0)
    crowd = Crowd(siege.server.ports["http"], siege.server.ports["grpc"])
    crowd.start(sent for copy in made for sent in copy.requests)
    until(lambda: crowd.is_done, 60)
    assert crowd.refused == []
    until(lambda: settled(siege.server), 60)
    assert siege.server.outcomes("conversation")["scored"] - before == sum(len(copy.source.conversations) for copy in made)


def test_who_drips_is_closed(siege: Siege) -> None:
    """Connections that send nothing, half a head, half a body, or a header line now and then are closed by the server."""
    until(lambda: all(map(is_closed, siege.dripping)), 60, every_s=0.5)
    until(lambda: all(map(is_closed, siege.idle)), 60, every_s=0.5)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the most memory that another process had")
def test_memory_stays_bounded(siege: Siege) -> None:
    """Through all of it the process took little more than itself and the bodies that may be held at once."""
    assert peak_bytes(siege.server) < MOST
    assert siege.server.get("/status")[1]["faults"] == {}


def together(count: int, work: Callable[[int], Any]) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def outcome_of(server: Server, trace: str) -> str | None:
    code, told = server.get(f"/explain/{trace}")
    return str(told["units"][0]["outcome"]) if code == 200 else None
