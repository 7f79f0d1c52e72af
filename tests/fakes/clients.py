"""Clients as exporters are: batches over HTTP or gRPC, sent again until they are taken, sometimes twice."""

import gzip
import http.client
import queue
import random
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.fakes.serving import Copy, Sent

_SERVICES = {"traces": "trace.v1.TraceService", "logs": "logs.v1.LogsService"}
_AGAIN = frozenset({grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED, grpc.StatusCode.ABORTED})
_HTTP_AGAIN = frozenset({429, 502, 503, 504})


@dataclass
class Crowd:
    """Clients that share a queue of requests. `refused` are answers that a client must not send again after."""

    http_port: int
    grpc_port: int
    clients: int = 4
    seed: int = 1
    repeat: float = 0.1
    """Share of the requests that is sent twice."""
    refused: list[str] = field(default_factory=list)
    sent: int = 0
    tries: int = 0
    _left: "queue.Queue[Sent]" = field(default_factory=queue.Queue)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self, requests: Iterable[Sent]) -> None:
        for sent in requests:
            self._left.put(sent)
        for number in range(self.clients):
            send = self._over_grpc if number % 2 else self._over_http
            thread = threading.Thread(target=self._work, args=(send, random.Random(self.seed * 100 + number)), daemon=True)
            thread.start()
            self._threads.append(thread)

    @property
    def is_done(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self, send: Any, luck: random.Random) -> None:
        while True:
            try:
                sent = self._left.get_nowait()
            except queue.Empty:
                return
            for _ in range(2 if luck.random() < self.repeat else 1):
                self._until_taken(send, sent, luck)
            self.sent += 1

    def _until_taken(self, send: Any, sent: Sent, luck: random.Random) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            self.tries += 1
            answer = send(sent)
            if answer is True:
                return
            if answer is not False:
                self.refused.append(answer)
                return
            time.sleep(0.05 + luck.random() * 0.3)
        self.refused.append("given up")

    def _over_http(self, sent: Sent) -> bool | str:
        """True when taken, False when to be sent again, else why not."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        try:
            headers = {"Content-Type": "application/json" if sent.is_json else "application/x-protobuf", "Content-Encoding": "gzip"}
            connection.request("POST", f"/v1/{sent.signal}", body=gzip.compress(sent.body, 1), headers=headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        return True if status == 200 else False if status in _HTTP_AGAIN else f"HTTP {status}"

    def _over_grpc(self, sent: Sent) -> bool | str:
        if sent.is_json:
            return self._over_http(sent)
        with grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}", compression=grpc.Compression.Gzip) as channel:
            call: Any = channel.unary_unary(f"/opentelemetry.proto.collector.{_SERVICES[sent.signal]}/Export")
            try:
                call(sent.body, timeout=10)
            except grpc.RpcError as error:
                code = error.code()
                return False if code in _AGAIN else f"gRPC {code}"
        return True


def shuffled(copies: list[Copy], luck: random.Random, *, together: int = 12, batch: int = 8) -> Iterator[Sent]:
    """The requests of some copies at a time, cut into single spans, shuffled, and put together anew: batches hold several conversations."""
    for start in range(0, len(copies), together):
        pieces: list[Sent] = []
        for copy in copies[start : start + together]:
            for sent in copy.requests:
                pieces += [sent] if sent.is_json or sent.signal == "logs" else _single_spans(sent.body)
        luck.shuffle(pieces)
        yield from _batches(pieces, batch)


def _batches(pieces: list[Sent], size: int) -> Iterator[Sent]:
    """Protobuf requests of one signal joined are one request: their repeated fields add up."""
    yield from (piece for piece in pieces if piece.is_json)
    for signal in ("logs", "traces"):
        own = [piece.body for piece in pieces if piece.signal == signal and not piece.is_json]
        yield from (Sent(signal=signal, body=b"".join(own[i : i + size])) for i in range(0, len(own), size))


def _single_spans(body: bytes) -> list[Sent]:
    found = []
    for group in ExportTraceServiceRequest.FromString(body).resource_spans:
        for part in group.scope_spans:
            for span in part.spans:
                request = ExportTraceServiceRequest()
                own = request.resource_spans.add(schema_url=group.schema_url)
                own.resource.CopyFrom(group.resource)
                scope = own.scope_spans.add(schema_url=part.schema_url)
                scope.scope.CopyFrom(part.scope)
                scope.spans.append(span)
                found.append(Sent(signal="traces", body=request.SerializeToString()))
    return found
