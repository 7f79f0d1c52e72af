"""Both ports in one loop, into one funnel.

    receiver = Receiver(intake, settings)
    await receiver.start()        # bound, or a ConfigError
    …
    await receiver.stop(grace_s=5)   # no new requests; those under way end

gRPC is loaded only if its port is on.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib import import_module
from typing import Any

from otel_eval.otlp.receive.gate import Gate
from otel_eval.otlp.receive.http import App, OtlpHttp
from otel_eval.otlp.receive.http_server import HttpServer
from otel_eval.otlp.receive.intake import Receive
from otel_eval.otlp.receive.settings import ReceiveSettings


class Receiver:
    """`receive` is the funnel; `note` is told the class of every refusal; `around` puts more pages on the HTTP port, around the OTLP
    application."""

    def __init__(
        self,
        receive: Receive,
        settings: ReceiveSettings,
        *,
        note: Callable[[str], None] = lambda name: None,
        around: Callable[[App], App] | None = None,
    ) -> None:
        self._settings = settings
        self._gate = Gate(
            max_calls=settings.max_calls, max_bytes=max(settings.max_held_bytes, settings.max_body_bytes), patience_s=settings.patience_s
        )
        otlp = OtlpHttp(receive, settings, self._gate, note=note)
        self._http = HttpServer(around(otlp) if around is not None else otlp, otlp, settings)
        self._grpc: Any = None
        if settings.grpc is not None:
            self._grpc = import_module("otel_eval.otlp.receive.grpc").GrpcServer(receive, settings, self._gate, note=note)

    @property
    def warnings(self) -> list[str]:
        """What an operator should know of who can send."""
        return self._settings.warnings

    @property
    def http_port(self) -> int:
        """The HTTP port in use, 0 without one."""
        return self._http.port

    @property
    def grpc_port(self) -> int:
        """The gRPC port in use, 0 without one."""
        return int(self._grpc.port) if self._grpc is not None else 0

    @property
    def held_bytes(self) -> int:
        """Bytes of bodies that are being received or wait for their acknowledgement."""
        return self._gate.bytes.taken

    @property
    def calls(self) -> int:
        """Requests that are looked after."""
        return self._gate.calls.taken

    async def start(self) -> None:
        """Bind the ports and take requests. ConfigError where one cannot be bound; then neither is."""
        async with AsyncExitStack() as undo:
            undo.push_async_callback(self.stop, grace_s=0.0)
            if self._settings.http is not None:
                await self._http.start(self._settings.http)
            if self._grpc is not None:
                await self._grpc.start(self._settings.grpc)
            undo.pop_all()

    async def stop(self, *, grace_s: float = 5.0) -> None:
        """Take no new requests; those under way have so long to end, then their senders are told to send again."""
        ports = [self._http] if self._grpc is None else [self._http, self._grpc]
        await asyncio.gather(*(port.stop(grace_s=grace_s) for port in ports))
