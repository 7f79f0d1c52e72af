"""The HTTP port: uvicorn with h11 in a loop that is not its own, and with what it lacks: a time limit for heads, and no hand on signals."""

import asyncio
import errno
import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from otel_eval.errors import ConfigError
from otel_eval.otlp.receive.http import App, OtlpHttp
from otel_eval.otlp.receive.settings import Bind, ReceiveSettings

KEEP_ALIVE_S = 120
"""Longer than clients keep idle connections (90 s in Go): else a sender writes into one that we are just closing."""
_STARTED_CHECK_S = 0.005
_NOT_HERE = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
"""A name may have addresses of a family that is switched off here."""


class HttpServer:
    """The port, from `start` to `stop`."""

    def __init__(self, app: App, otlp: OtlpHttp, settings: ReceiveSettings) -> None:
        self._app, self._otlp, self._settings = app, otlp, settings
        self._sockets: list[socket.socket] = []
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port it listens on; 0 before the start."""
        return int(self._sockets[0].getsockname()[1]) if self._sockets else 0

    async def start(self, bind: Bind) -> None:
        """Listen. ConfigError where that cannot be."""
        tls = self._settings.tls.context() if self._settings.tls is not None else None
        self._sockets = listening_sockets(bind)
        config = uvicorn.Config(
            self._app,
            http=_protocol(self._settings.head_timeout_s),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=self._settings.max_connections,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        config.load()
        config.ssl = tls
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=self._sockets), name="otel-eval http")
        while not self._server.started and not self._task.done():
            await asyncio.sleep(_STARTED_CHECK_S)

    async def stop(self, *, grace_s: float) -> None:
        """Stop listening; requests under way have so long to end, then their senders are told to send again."""
        if self._server is None or self._task is None:
            return
        self._otlp.close()
        self._server.should_exit = True
        _, late = await asyncio.wait([self._task], timeout=grace_s)
        if late:
            self._otlp.abort()
            _, late = await asyncio.wait([self._task], timeout=1.0)
        if late:
            self._server.force_exit = True
            await asyncio.wait([self._task])
        self._server = self._task = None


def listening_sockets(bind: Bind) -> list[socket.socket]:
    """Sockets that listen there: on each address that the name has (`localhost` is 127.0.0.1 and ::1) and that this machine knows.

    ConfigError names the address and the reason.
    """
    try:
        found = socket.getaddrinfo(bind.host, bind.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise ConfigError(f"cannot listen on {bind}: {error.strerror or error}") from error
    addresses = list(dict.fromkeys((family, address) for family, _, _, _, address in found))
    with ExitStack() as undo:
        made: list[socket.socket] = []
        for family, address in addresses:
            port = made[0].getsockname()[1] if made else bind.port
            try:
                made.append(_listening(family, (address[0], port, *address[2:]), is_one_of_several=len(addresses) > 1))
            except OSError as error:
                if error.errno in _NOT_HERE and len(addresses) > 1 and (made or address != addresses[-1][1]):
                    continue
                raise ConfigError(f"cannot listen on {bind}: {error.strerror or error}; is another process there?") from error
            undo.callback(made[-1].close)
        undo.pop_all()
    return made


def _listening(family: int, address: Any, *, is_one_of_several: bool) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6 and is_one_of_several:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
        made.listen(1024)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


class _Server(uvicorn.Server):
    """Signals are the process's own affair."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def _protocol(head_timeout_s: float) -> type[H11Protocol]:
    """uvicorn's protocol, and a connection is closed when the head of its next request, once begun, does not come in time (slow loris)."""

    class Protocol(H11Protocol):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            self._head_timer = self.loop.call_later(head_timeout_s, self._head_is_late)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if not self._waits_for_head():
                self._stop_timer()
            elif self._head_timer is None:
                self._head_timer = self.loop.call_later(head_timeout_s, self._head_is_late)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _waits_for_head(self) -> bool:
            cycle: Any = self.cycle
            return cycle is None or cycle.response_complete

        def _head_is_late(self) -> None:
            self._head_timer = None
            if self._waits_for_head() and not self.transport.is_closing():
                self.transport.close()

        def _stop_timer(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

    return Protocol
