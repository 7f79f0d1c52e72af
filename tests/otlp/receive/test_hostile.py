"""Clients that lie, hang or flood: clear answers, neighbours unharmed, memory bounded."""

import gzip
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.fakes.receiving import JSON, METHODS, PROTOBUF, Receiving, refusal_from_bytes, refusal_of_call
from tests.fakes.wire import TRACE, logs, span, traces

MEGABYTE = 1_000_000
GOOD = traces(span(1))


@pytest.fixture
def receiver() -> Iterator[Receiving]:
    with Receiving(max_body_bytes=2 * MEGABYTE, head_timeout_s=0.4, body_timeout_s=0.4, min_bytes_per_s=10**9) as made:
        yield made


def is_alive(receiver: Receiving) -> bool:
    """Whether others are served as ever."""
    before = len(receiver.kept)
    return receiver.post("/v1/traces", GOOD).status == 200 and receiver.call("traces", GOOD) == b"" and len(receiver.kept) == before + 2


def read_all(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n"


def test_logs_on_the_traces_path(receiver: Receiving) -> None:
    """Logs that are sent as traces are 400 over both transports, and nothing is kept."""
    assert receiver.post("/v1/traces", logs("a", "b")).status == 400
    with pytest.raises(grpc.RpcError) as error:
        receiver.call("traces", logs("a", "b"))
    assert refusal_of_call(error.value)[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert receiver.kept == []
    assert is_alive(receiver)


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_bomb(receiver: Receiving, name: str, pack: Any) -> None:
    """A body that unpacks to far more than the limit is 413 at once, and RESOURCE_EXHAUSTED without a delay over gRPC."""
    bomb = pack(bytes(90 * MEGABYTE))
    began = time.monotonic()
    assert receiver.post("/v1/traces", bomb, {**PROTOBUF, "Content-Encoding": name}).status == 413
    with pytest.raises(grpc.RpcError) as error:
        receiver.call("traces", bomb)
    code, refusal = refusal_of_call(error.value)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refusal is not None
    assert refusal.retry_delay_s is None
    assert time.monotonic() - began < 10
    assert is_alive(receiver)


def test_a_hundred_thousand_attributes(receiver: Receiving) -> None:
    """A span with a hundred thousand attributes is a span."""
    wide = span(2)
    for number in range(100_000):
        wide.attributes.add(key=f"k{number}").value.int_value = number
    body = traces(span(1), wide)
    assert receiver.post("/v1/traces", gzip.compress(body), {**PROTOBUF, "Content-Encoding": "gzip"}).status in (200, 413)
    with Receiving() as large:
        assert large.post("/v1/traces", body).status == 200
        assert large.kept[0].envelope.spans == 2
        assert large.receiver.held_bytes == 0
    assert is_alive(receiver)


def test_ids_of_wrong_length(receiver: Receiving) -> None:
    """Bad ids cost only their spans."""
    reply = receiver.post(
        "/v1/traces", traces(span(1), *(span(n, trace_id=TRACE * 2) for n in range(2, 50)), span(50, span_id=b"long" * 9))
    )
    assert reply.status == 200
    assert receiver.kept[0].envelope.spans == 1
    assert is_alive(receiver)


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_without_end(receiver: Receiving, chunked: bool) -> None:
    """A body that never ends is answered with 413 as soon as it is too large, though the sender goes on; then the connection is closed."""
    with receiver.socket() as connection:
        connection.sendall(HEAD + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"Content-Length: 9999999999999\r\n\r\n"))
        answer: list[bytes] = []
        reader = threading.Thread(target=lambda: answer.append(read_all(connection)))
        reader.start()
        sent = 0
        piece = bytes(65_536)
        try:
            while reader.is_alive() and sent < 200 * MEGABYTE:
                connection.sendall(b"10000\r\n" + piece + b"\r\n" if chunked else piece)
                sent += len(piece)
        except OSError:
            pass
        reader.join(20)
    assert status_of(answer[0]) == 413
    assert b"connection: close" in answer[0].lower()
    assert sent < 100 * MEGABYTE
    assert is_alive(receiver)


def test_a_sender_that_reads_last_has_its_answer(receiver: Receiving) -> None:
    """A client that writes its whole body before it reads finds 413, not a broken connection."""
    connection = http.client.HTTPConnection("127.0.0.1", receiver.receiver.http_port, timeout=20)
    connection.request("POST", "/v1/traces", bytes(4 * MEGABYTE), dict(PROTOBUF))
    reply = connection.getresponse()
    assert reply.status == 413
    assert refusal_from_bytes(reply.read()).code == 8
    connection.close()


def test_a_client_that_waits_for_permission_gets_the_refusal_instead(receiver: Receiving) -> None:
    """`Expect: 100-continue` with too large a body is answered with 413 before the body is sent."""
    with receiver.socket() as connection:
        connection.sendall(HEAD + b"Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
        assert status_of(connection.recv(1000)) == 413
    with receiver.socket() as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n" % len(GOOD))
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(GOOD)
        assert status_of(read_all(connection)) == 200


@pytest.mark.parametrize("head", [b"", b"POST /v1/tr", HEAD, HEAD + b"X-Slow: "])
def test_a_head_that_does_not_come(receiver: Receiving, head: bytes) -> None:
    """A connection whose request head is late is closed, however busily it drips (slow loris)."""
    began = time.monotonic()
    with receiver.socket() as connection:
        connection.sendall(head)
        connection.settimeout(0.05)
        answer = b"open"
        while answer and time.monotonic() - began < 10:
            try:
                if head:
                    connection.sendall(b"x")
                answer = connection.recv(100)
            except TimeoutError:
                continue
            except ConnectionError:
                answer = b""
    assert time.monotonic() - began < 5
    assert is_alive(receiver)


def test_a_body_that_drips(receiver: Receiving) -> None:
    """A body that comes too slowly is answered with 503 and a delay, and the connection is closed."""
    with receiver.socket() as connection:
        connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\n")
        connection.settimeout(0.05)
        answer = b""
        began = time.monotonic()
        while b"\r\n\r\n" not in answer and time.monotonic() - began < 10:
            try:
                connection.sendall(b"\x00")
                answer += connection.recv(10_000)
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert status_of(answer) == 503
    assert b"retry-after: 1" in answer.lower()
    assert receiver.receiver.held_bytes == 0
    assert is_alive(receiver)


def test_a_request_that_follows_slowly_is_late_too(receiver: Receiving) -> None:
    """On a connection that was used before, the head of the next request has as long as that of the first."""
    with receiver.socket() as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(GOOD) + GOOD)
        assert status_of(connection.recv(10_000)) == 200
        connection.sendall(b"POST /v1/tr")
        began = time.monotonic()
        assert read_all(connection) == b""
        assert time.monotonic() - began < 5


def test_clients_that_go_away(receiver: Receiving) -> None:
    """Connections that break in the middle of a body take nothing with them."""
    for _ in range(20):
        with receiver.socket() as connection:
            connection.sendall(HEAD + b"Content-Length: 100000\r\n\r\n" + bytes(5000))
    assert is_alive(receiver)
    assert receiver.receiver.held_bytes == 0
    assert receiver.receiver.calls == 0


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
        b"\x00" * 500,
        b"X" * 200_000,
    ],
)
def test_what_is_no_http(receiver: Receiving, garbage: bytes) -> None:
    """TLS, HTTP/2 and noise on the HTTP port are refused or closed."""
    with receiver.socket() as connection:
        try:
            connection.sendall(garbage)
            answer = read_all(connection)
        except OSError:
            answer = b""
    assert status_of(answer) in (0, 400, 404)
    assert is_alive(receiver)


def test_deep_json(receiver: Receiving) -> None:
    """JSON nested without end is read or refused, and nothing falls over."""
    for body in (b"[" * 500_000, b'{"a":' * 200_000, json.dumps({"resourceSpans": [{"resource": {"attributes": []}}]}).encode()):
        assert receiver.post("/v1/traces", body, JSON).status in (200, 400)
    value = '{"stringValue":"x"}'
    for _ in range(5_000):
        value = f'{{"arrayValue":{{"values":[{value}]}}}}'
    one = f'{{"traceId":"{TRACE.hex()}","spanId":"0000000000000001","attributes":[{{"key":"k","value":{value}}}]}}'
    deep = f'{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{one}]}}]}}]}}'
    assert receiver.post("/v1/traces", deep.encode(), JSON).status in (200, 400)
    assert is_alive(receiver)


def test_a_flood_of_connections() -> None:
    """Beyond the number of connections new ones are told to come later; when they go, others are served."""
    with Receiving(grpc=None, max_connections=20, head_timeout_s=30) as receiver:
        idle = [receiver.socket() for _ in range(30)]
        reply = receiver.post("/v1/traces", GOOD)
        assert reply.status == 503
        for connection in idle:
            connection.close()
        until = time.monotonic() + 10
        while receiver.post("/v1/traces", GOOD).status != 200:
            assert time.monotonic() < until
    assert len(receiver.kept) == 1


MEMORY = """
import resource, sys, gzip, http.client, threading, zlib
from tests.fakes.receiving import Receiving, PROTOBUF, METHODS
from tests.fakes.wire import span, traces
import grpc
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1_000_000
with Receiving(on_keep=None) as receiver:
    good = traces(span(1))
    receiver.post("/v1/traces", good); receiver.call("traces", good)
    bomb = gzip.compress(bytes(100_000_000), 1)
    before = rss()
    def attack(n):
        for _ in range(2):
            try:
                if n % 2: receiver.post("/v1/traces", bomb, {**PROTOBUF, "Content-Encoding": "gzip"})
                else: receiver.call("traces", bomb)
            except grpc.RpcError: pass
    threads = [threading.Thread(target=attack, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    peak = before
    while any(t.is_alive() for t in threads):
        peak = max(peak, rss())
        for t in threads: t.join(0.005)
    receiver.post("/v1/traces", good)
    print(before, peak, len(receiver.kept))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc, which Linux has")
def test_bombs_at_once_take_no_more_than_one() -> None:
    """Eight clients that send a hundred megabytes each, packed, cost one limit of memory, not eight."""
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    before, peak, kept = map(int, run.stdout.split())
    assert kept == 3
    assert peak - before < 250


def test_a_silent_call_blocks_nobody(receiver: Receiving) -> None:
    """Calls that hang, over gRPC, are ended; others are served meanwhile."""
    never = threading.Event()
    with receiver.channel() as channel:
        stream: Any = channel.stream_unary(METHODS["traces"])
        hanging = [stream.future(iter(lambda: never.wait(20) and b"", None), timeout=20) for _ in range(10)]
        assert is_alive(receiver)
        for call in hanging:
            assert call.code() is grpc.StatusCode.UNAVAILABLE
        never.set()
    assert receiver.receiver.calls == 0
