"""Clients that send the same requests to whichever server, over OTLP/HTTP or OTLP/gRPC, at full speed or paced."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import quantiles
from typing import TypeAlias

import grpc

from benchmarks.generate import request_of

Post: TypeAlias = Callable[[bytes], str]
"""Sends one body over an open connection; `200`, `OK` or what was answered instead."""

GRPC_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_MOST_BYTES = 64 * 1024**2


def bodies(*, requests: int, spans: int = 200, turns: int = 1, seed: int = 0, conversation: str | None = None) -> list[bytes]:
    """Requests of traces of ten spans; every `turns` of a request's traces are one conversation."""
    return [
        request_of(seed=seed + i, traces=spans // 10, spans=10, turns=turns, conversation=conversation).SerializeToString()
        for i in range(requests)
    ]


@dataclass(kw_only=True)
class Sent:
    """What became of requests."""

    answers: Counter[str] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def accepted(self) -> int:
        return self.answers["200"] + self.answers["OK"]

    def percentile_ms(self, percent: int) -> float:
        """So many percent of the acknowledgements came within this time."""
        return quantiles(self.latencies_s, n=100)[percent - 1] * 1000


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where to send."""

    http_port: int
    grpc_port: int = 0

    def posts(self, via: str) -> Iterator[Post]:
        """One open connection: a generator, so that its end closes it."""
        return self._grpc() if via == "grpc" else self._http(via)

    def _http(self, via: str) -> Iterator[Post]:
        headers = {"Content-Type": "application/x-protobuf", **({"Content-Encoding": "gzip"} if via == "gzip" else {})}
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=120)

        def post(body: bytes) -> str:
            connection.request("POST", "/v1/traces", body, headers)
            with connection.getresponse() as answer:
                return f"{answer.status}{' partial' if answer.read() and answer.status == 200 else ''}"

        yield post
        connection.close()

    def _grpc(self) -> Iterator[Post]:
        options = [("grpc.max_send_message_length", _MOST_BYTES)]
        with grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}", options=options) as channel:
            call = channel.unary_unary(GRPC_METHOD)

            def post(body: bytes) -> str:
                try:
                    return "OK partial" if call(body, timeout=120) else "OK"
                except grpc.RpcError as error:
                    return str(error.code().name)

            yield post


def send(target: Target, requests: Sequence[bytes], *, clients: int = 4, gap_s: float = 0.0, via: str = "http") -> Sent:
    """Send requests from so many clients, each on one connection and `gap_s` apart; returns once all are answered."""
    sent, lock, waiting = Sent(), threading.Lock(), iter(requests)

    def client() -> None:
        connection = target.posts(via)
        post = next(connection)
        while True:
            with lock:
                body = next(waiting, None)
            if body is None:
                break
            time.sleep(gap_s)
            began = time.perf_counter()
            answer = post(body)
            with lock:
                sent.latencies_s.append(time.perf_counter() - began)
                sent.answers[answer] += 1
        next(connection, None)

    threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent.seconds = time.perf_counter() - began
    return sent
