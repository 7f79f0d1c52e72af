"""A receiver on loopback in a thread of its own, whose funnel remembers, waits or fails as told; and clients that send raw bytes.

with Receiving() as r:
    r.post("/v1/traces", body)   # → Reply
    r.kept                       # what the funnel was given to keep
"""

import asyncio
import http.client
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import grpc
from google.rpc.error_details_pb2 import BadRequest, RetryInfo  # type: ignore[import-untyped]  # it comes without types
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]  # the same

from otel_eval.otlp.receive.http import App
from otel_eval.otlp.receive.intake import Intake, Received
from otel_eval.otlp.receive.keys import EnvelopeKeys
from otel_eval.otlp.receive.receiver import Receiver
from otel_eval.otlp.receive.settings import Bind, ReceiveSettings

T = TypeVar("T")

PROTOBUF = {"Content-Type": "application/x-protobuf"}
JSON = {"Content-Type": "application/json"}
METHODS = {
    "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}
WAIT_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def details(self) -> "Refusal":
        return refusal_from_bytes(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A `google.rpc.Status`, taken apart."""

    code: int
    message: str
    retry_delay_s: float | None
    violations: tuple[str, ...]


class Receiving:
    """The receiver. `on_keep` is called for each request before it counts as kept; what it raises is the funnel's."""

    def __init__(
        self,
        *,
        on_keep: Callable[[Received], None] | None = None,
        hold: bool = False,
        keys: EnvelopeKeys | None = None,
        around: Callable[[App], App] | None = None,
        pack: bool = False,
        **settings: Any,
    ) -> None:
        self.kept: list[Received] = []
        self.refused: Counter[str] = Counter()
        self.release = threading.Event()
        self.entered = threading.Semaphore(0)
        self._on_keep, self._hold, self._keys, self._around, self._pack = on_keep, hold, keys, around, pack
        self.settings = ReceiveSettings(**{"http": Bind(port=0), "grpc": Bind(port=0), **settings})
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self.run(self._start)
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self.stop()
        self.run(self._loop.shutdown_default_executor)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something in the receiver's loop."""
        return self.begin(work).result(WAIT_S)

    def begin(self, work: Callable[[], Awaitable[T]]) -> "Future[T]":
        """The same without waiting for it."""

        async def run() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(run(), self._loop)

    def stop(self, grace_s: float = 5.0) -> None:
        self.run(lambda: self.receiver.stop(grace_s=grace_s))

    async def _start(self) -> None:
        self.intake = Intake(self._keep, keys=self._keys, max_body_bytes=self.settings.max_body_bytes, pack=self._pack)
        self.receiver = Receiver(self.intake, self.settings, note=self._note, around=self._around)
        await self.receiver.start()

    def _note(self, name: str) -> None:
        self.refused[name] += 1

    async def _keep(self, received: Received) -> None:
        self.entered.release()
        if self._hold:
            await asyncio.to_thread(self.release.wait, WAIT_S)
        if self._on_keep is not None:
            self._on_keep(received)
        self.kept.append(received)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.receiver.http_port}"

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.receiver.grpc_port}"

    def post(
        self, path: str, body: bytes | None = b"", headers: Mapping[str, str] = PROTOBUF, *, method: str = "POST", chunked: bool = False
    ) -> Reply:
        """One request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.receiver.http_port, timeout=WAIT_S)
        try:
            pieces: Any = iter([body[:7], body[7:]]) if chunked and body is not None else body
            connection.request(method, path, pieces, dict(headers), encode_chunked=chunked)
            return reply_of(connection)
        finally:
            connection.close()

    def socket(self) -> socket.socket:
        """A raw connection to the HTTP port."""
        return socket.create_connection(("127.0.0.1", self.receiver.http_port), timeout=WAIT_S)

    def channel(self, **options: Any) -> grpc.Channel:
        return grpc.insecure_channel(self.target, options=list(options.items()))

    def call(self, signal: str, body: bytes, *, metadata: Sequence[tuple[str, str]] = (), **how: Any) -> bytes:
        """One call; grpc.RpcError where it is refused."""
        with self.channel() as channel:
            method: Any = channel.unary_unary(METHODS[signal])
            response: bytes = method(body, timeout=WAIT_S, metadata=metadata, **how)
            return response


def reply_of(connection: http.client.HTTPConnection) -> Reply:
    """The answer that a connection gives."""
    response = connection.getresponse()
    return Reply(status=response.status, body=response.read(), headers={k.lower(): v for k, v in response.getheaders()})


def refusal_from_bytes(data: bytes) -> Refusal:
    status = Status.FromString(data)
    delay, violations = None, []
    for detail in status.details:
        if detail.Is(RetryInfo.DESCRIPTOR):
            info = RetryInfo()
            detail.Unpack(info)
            delay = info.retry_delay.seconds + info.retry_delay.nanos / 1e9
        elif detail.Is(BadRequest.DESCRIPTOR):
            bad = BadRequest()
            detail.Unpack(bad)
            violations += [violation.field for violation in bad.field_violations]
    return Refusal(code=status.code, message=status.message, retry_delay_s=delay, violations=tuple(violations))


def refusal_of_call(error: grpc.RpcError) -> tuple[grpc.StatusCode, Refusal | None]:
    """The status of a refused call, and its details where it has some."""
    failed: Any = error
    data = dict(failed.trailing_metadata() or ()).get("grpc-status-details-bin")
    return failed.code(), refusal_from_bytes(data) if data is not None else None
