"""Sending one request, against real receivers on loopback."""

import email.utils
import gzip
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from otel_eval.errors import ConfigError, SinkError
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.otlp.post import Clock, PostResult, post_otlp

PROTOBUF = "application/x-protobuf"
NOW = 1_700_000_000.0


@dataclass
class Answer:
    """What the receiver answers to one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": PROTOBUF})


@dataclass
class Receiver:
    """What a receiver on loopback got, and where it is."""

    url: str
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@contextmanager
def receiver(*answers: Answer) -> Iterator[Receiver]:
    """An HTTP server that gives these answers, the last one for ever."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.requests.append((self.path, {key.lower(): value for key, value in self.headers.items()}, body))
            answer = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(answer.status)
            for key, value in (answer.headers | {"Content-Length": str(len(answer.body))}).items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    got = Receiver(url=f"http://127.0.0.1:{server.server_port}/v1/logs")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Pauses:
    """A clock whose sleeping only moves it on."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, sleep=self.sleep, wall=lambda: NOW, jitter=lambda: 1.0)


def test_a_body_is_sent_packed_with_its_headers() -> None:
    """The request is a POST of protobuf, packed, with the endpoint's headers and the call's on top."""
    with receiver(Answer()) as got:
        endpoint = Endpoint(url=got.url, headers={"authorization": "key", "x-a": "1"})
        assert post_otlp(endpoint, "logs", b"body", {"x-a": "2"}) == PostResult()
    path, headers, body = got.requests[0]
    assert (path, headers["content-type"], headers["content-encoding"]) == ("/v1/logs", PROTOBUF, "gzip")
    assert (headers["authorization"], headers["x-a"], headers["user-agent"]) == ("key", "2", "otel-eval")
    assert gzip.decompress(body) == b"body"


def test_packing_may_be_off_and_an_address_is_enough() -> None:
    """Without compression the body is sent as it is; a whole address stands for an endpoint."""
    with receiver(Answer()) as got:
        post_otlp(Endpoint(url=got.url, compress=False), "logs", b"body")
        post_otlp(got.url, "logs", b"body", timeout_s=5)
    assert got.requests[0][2] == b"body"
    assert "content-encoding" not in got.requests[0][1]
    assert gzip.decompress(got.requests[1][2]) == b"body"


def test_a_partial_success_is_reported_and_never_sent_again() -> None:
    """What was refused for good is counted, with the receiver's words; there is one request."""
    partial = ExportLogsServiceResponse()
    partial.partial_success.rejected_log_records, partial.partial_success.error_message = 2, "too old"
    with receiver(Answer(body=partial.SerializeToString())) as got:
        assert post_otlp(got.url, "logs", b"") == PostResult(rejected=2, message="too old")
    assert len(got.requests) == 1


@pytest.mark.parametrize(
    "answer", [Answer(body=b"\xff\xff"), Answer(body=b"{}", headers={"Content-Type": "application/json"}), Answer(headers={})]
)
def test_an_answer_that_cannot_be_read_is_a_success_all_the_same(answer: Answer) -> None:
    """The status decides."""
    with receiver(answer) as got:
        assert post_otlp(got.url, "logs", b"") == PostResult()


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_receiver_that_is_busy_is_asked_again(status: int) -> None:
    """The four retryable answers are tried again after growing pauses, until one is good."""
    pauses = Pauses()
    with receiver(Answer(status), Answer(status), Answer(status), Answer()) as got:
        assert post_otlp(got.url, "logs", b"body", timeout_s=60, clock=pauses.clock()) == PostResult()
    assert len(got.requests) == 4
    assert pauses.slept == [1.0, 2.0, 4.0]
    assert len({body for _, _, body in got.requests}) == 1


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404, 408, 413, 500, 501])
def test_any_other_answer_is_final(status: int) -> None:
    """No other status is tried again, a redirect is not followed, and the error says so."""
    with receiver(Answer(status, headers={"Location": "/elsewhere"})) as got, pytest.raises(SinkError, match=str(status)) as caught:
        post_otlp(got.url, "logs", b"")
    assert (caught.value.retryable, len(got.requests)) == (False, 1)


DATE = email.utils.formatdate(NOW + 7, usegmt=True)


@pytest.mark.parametrize(("text", "pause"), [("3", 3.0), (DATE, 7.0), ("soon", 1.0), ("0", 0.0)])
def test_the_receiver_says_when(text: str, pause: float) -> None:
    """`Retry-After` in seconds or as a date is waited for; what is neither does not count."""
    pauses = Pauses()
    with receiver(Answer(503, headers={"Retry-After": text}), Answer()) as got:
        post_otlp(got.url, "logs", b"", timeout_s=60, clock=pauses.clock())
    assert pauses.slept == [pause]


def test_nothing_is_waited_for_beyond_the_deadline() -> None:
    """A pause that would end after the deadline is not begun: the error says that sending later can help, and when."""
    pauses = Pauses()
    with receiver(Answer(429, headers={"Retry-After": "120"})) as got, pytest.raises(SinkError, match="429") as caught:
        post_otlp(got.url, "logs", b"", timeout_s=10, clock=pauses.clock())
    assert (caught.value.retryable, caught.value.retry_after_s, pauses.slept) == (True, 120.0, [])


def test_the_pauses_end_with_the_deadline() -> None:
    """A receiver that stays busy is given up when the time is over."""
    pauses = Pauses()
    with receiver(Answer(503)) as got, pytest.raises(SinkError) as caught:
        post_otlp(got.url, "logs", b"", timeout_s=10, clock=pauses.clock())
    assert (caught.value.retryable, pauses.slept, len(got.requests)) == (True, [1.0, 2.0, 4.0], 4)


def test_a_receiver_that_is_not_there_may_be_later() -> None:
    """A refused connection is retryable and named by its host only."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(SinkError, match=f"127.0.0.1:{port}") as caught:
        post_otlp(f"http://127.0.0.1:{port}/secret", "logs", b"", timeout_s=5, clock=Pauses().clock())
    assert caught.value.retryable
    assert "secret" not in str(caught.value)


def test_a_receiver_that_does_not_answer_is_given_up() -> None:
    """Silence ends with the timeout and is retryable."""
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(SinkError) as caught:
        post_otlp(f"http://127.0.0.1:{silent.getsockname()[1]}/", "logs", b"", timeout_s=0.2)
    assert caught.value.retryable


def test_a_header_that_cannot_be_sent_is_final() -> None:
    """A header with a line break is refused before anything is sent, without showing it."""
    with receiver(Answer()) as got, pytest.raises(SinkError, match="headers") as caught:
        post_otlp(got.url, "logs", b"", {"authorization": "secret\nkey"})
    assert (caught.value.retryable, got.requests) == (False, [])
    assert "secret" not in str(caught.value)


def test_only_http_is_spoken() -> None:
    """No file is opened for an address of another scheme."""
    with pytest.raises(ConfigError, match="OTLP/HTTP"):
        post_otlp("file:///etc/hosts", "logs", b"")
