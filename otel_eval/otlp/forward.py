"""Requests passed on as they came: the same bytes, type and packing, over connections that stay open.

What the next receiver says decides: accepted, or not. A refusal of any kind is for the sender to try again, since a hop must not lose what
the receiver behind it may take once it is mended.
"""

import http.client
import queue
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from otel_eval.errors import SinkError
from otel_eval.otlp.endpoint import Endpoint, whole_url
from otel_eval.otlp.post import RETRYABLE

_MOST_RESPONSE_BYTES = 4 * 1024 * 1024
_RETRY_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """What the next receiver said to an accepted request: a body in the request's own format."""

    body: bytes = b""
    content_type: str = ""


class Forwarder:
    """Connections to one endpoint, as many as there are requests at a time. From any thread."""

    def __init__(self, endpoint: Endpoint, *, most_idle: int = 16) -> None:
        parts = urlsplit(whole_url(endpoint.url))
        self._endpoint, self._host, self._port = endpoint, parts.hostname or "", parts.port
        self._path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._tls = (endpoint.tls or ssl.create_default_context()) if parts.scheme == "https" else None
        self._idle: queue.LifoQueue[http.client.HTTPConnection] = queue.LifoQueue(most_idle)

    def forward(self, body: bytes, *, content_type: str, packing: str = "") -> Forwarded:
        """Send a body and wait for the answer. SinkError where it was not accepted; whether trying again can help is as OTLP has it."""
        headers = {"User-Agent": "otel-eval", **self._endpoint.headers, "Content-Type": content_type}
        if packing:
            headers["Content-Encoding"] = packing
        with self._connection() as connection:
            return self._ask(connection, body, headers)

    def close(self) -> None:
        """Close what is idle."""
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _ask(self, connection: http.client.HTTPConnection, body: bytes, headers: Mapping[str, str]) -> Forwarded:
        """Once more on a new connection where an idle one turned out to be closed."""
        was_open = connection.sock is not None
        try:
            return self._once(connection, body, headers)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            connection.close()
            if not was_open:
                raise
            return self._once(connection, body, headers)

    def _once(self, connection: http.client.HTTPConnection, body: bytes, headers: Mapping[str, str]) -> Forwarded:
        connection.request("POST", self._path, body=body, headers=dict(headers))
        response = connection.getresponse()
        answer = response.read(_MOST_RESPONSE_BYTES)
        if response.status == 200:
            return Forwarded(body=answer, content_type=response.headers.get_content_type())
        retry_after = response.headers.get("Retry-After", "")
        raise SinkError(
            f"the receiver behind answered {response.status}",
            retryable=response.status in RETRYABLE,
            retry_after_s=float(retry_after) if retry_after.strip().isdecimal() else _RETRY_S,
        )

    @contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            connection = self._new()
        is_good = False
        try:
            yield connection
            is_good = True
        except (OSError, http.client.HTTPException) as error:
            cause = type(error).__name__
            raise SinkError(f"the receiver behind cannot be reached ({cause})", retryable=True, retry_after_s=_RETRY_S) from None
        finally:
            self._put_back(connection, is_good)

    def _put_back(self, connection: http.client.HTTPConnection, is_good: bool) -> None:
        try:
            if is_good:
                self._idle.put_nowait(connection)
                return
        except queue.Full:
            pass
        connection.close()

    def _new(self) -> http.client.HTTPConnection:
        timeout_s = self._endpoint.timeout_s
        if self._tls is not None:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
