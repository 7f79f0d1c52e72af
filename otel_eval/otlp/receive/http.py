"""OTLP over HTTP: a raw ASGI application.

**Source**: the OTLP specification 1.11, "OTLP/HTTP"; what it leaves open is as the Collector does it (405, 415, and 400 for an unknown
content encoding).
Every refusal is a `google.rpc.Status` in the request's encoding, JSON where that is not known. A body is read under limits of size and
time. Who is
refused before the end of the body has the answer at once, and what is still sent is read away for a while: a sender that writes all
before it
reads would otherwise find a broken connection instead of the answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from otel_eval.errors import InputError
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.bearer import Bearer
from otel_eval.otlp.receive.encoding import Encoding, format_from_type, packing_from_header
from otel_eval.otlp.receive.gate import Gate, Room
from otel_eval.otlp.receive.intake import Receive
from otel_eval.otlp.receive.settings import ReceiveSettings
from otel_eval.otlp.refusals import Closing, NoSuchPath, TooSlow, WrongMethod, WrongType
from otel_eval.otlp.status import Answer, Format, answer_from_error, response_body, status_body
from otel_eval.otlp.unpack import TooLarge

Scope: TypeAlias = MutableMapping[str, Any]
Take: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Take, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

SIGNALS: Mapping[str, Signal] = {"/v1/traces": "traces", "/v1/logs": "logs", "/v1/metrics": "metrics"}
TYPES: Mapping[Format, bytes] = {"protobuf": b"application/x-protobuf", "json": b"application/json"}

_READ_AWAY_S = 5.0
_CLOSE = (b"connection", b"close")


class Disconnected(Exception):
    """The sender went away before its request was whole."""


class OtlpHttp:
    """The application. `note` is told the class of every refusal."""

    def __init__(self, receive: Receive, settings: ReceiveSettings, gate: Gate, *, note: Callable[[str], None]) -> None:
        self._receive, self._settings, self._gate, self._note = receive, settings, gate, note
        self._bearer = Bearer(settings.tokens)
        self._under_way: set[asyncio.Timeout] = set()
        self._is_closing = False

    async def __call__(self, scope: Scope, take: Take, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = _Request(scope, take)
        try:
            async with asyncio.timeout(None) as life:
                self._under_way.add(life)
                body = await self._taken(request)
        except Disconnected:
            return
        except Exception as error:  # whatever goes wrong here, the sender must not lose its data
            refusal = Closing("the receiver is closing: send again") if life.expired() else error
            self._note(type(refusal).__name__)
            answer, is_slow = answer_from_error(refusal), isinstance(refusal, TooSlow)
            del refusal  # its traceback holds the body, and the refusal may take seconds
        else:
            await _answer(send, 200, request.format, body)
            return
        finally:
            self._under_way.discard(life)
        await self._refuse(answer, request, send, read_away=not is_slow)

    def close(self) -> None:
        """Refuse new requests; those under way go on."""
        self._is_closing = True

    def abort(self) -> None:
        """End what is still under way: its senders are told to send again."""
        now = asyncio.get_running_loop().time()
        for life in self._under_way:
            life.reschedule(now)

    async def _taken(self, request: "_Request") -> bytes:
        """Take the request in; the body of the answer."""
        signal = self._signal(request)
        encoding = Encoding(
            format=format_from_type(request.header(b"content-type")), packing=packing_from_header(request.header(b"content-encoding"))
        )
        size = request.declared_bytes
        if size is not None and size > self._settings.max_body_bytes:
            raise self._too_large(size)
        async with self._gate.room(size or 0) as room:
            body = await self._body(request, room)
            async with self._gate.call():  # not before the body is whole: a body that never comes takes nobody's place
                return response_body(signal, await self._receive(signal, body, encoding), encoding.format)

    def _signal(self, request: "_Request") -> Signal:
        if self._is_closing:
            raise Closing("the receiver is closing: send again")
        signal = SIGNALS.get(request.scope["path"])
        if signal is None:
            raise NoSuchPath(f"nothing is received there: expected {', '.join(SIGNALS)}")
        if request.scope["method"] != "POST":
            raise WrongMethod("only POST is taken here")
        self._bearer.check(request.raw_header(b"authorization"))
        return signal

    async def _body(self, request: "_Request", room: Room) -> bytes:
        """The whole body, under limits of size and time: a large body may take longer than a small one, not as long as it likes."""
        s, loop = self._settings, asyncio.get_running_loop()
        began, body = loop.time(), bytearray()  # one that grows: a list of pieces would be held twice while it is joined
        try:
            async with asyncio.timeout(s.body_timeout_s) as limit, self._gate.coming():
                while not request.is_whole:
                    piece = await request.piece()
                    size = len(body) + len(piece)
                    if size > s.max_body_bytes:
                        raise self._too_large(size)
                    room.grow(size)
                    limit.reschedule(began + s.body_timeout_s + size / s.min_bytes_per_s)
                    body += piece
        except TimeoutError:
            raise TooSlow(f"the body did not come in time ({len(body)} bytes of it did): send again") from None
        return bytes(body)

    def _too_large(self, size: int) -> TooLarge:
        return TooLarge(f"a body of {size} bytes or more is too large: at most {self._settings.max_body_bytes} bytes are taken")

    async def _refuse(self, answer: Answer, request: "_Request", send: Send, *, read_away: bool) -> None:
        """Tell the sender; then, if its body is not at an end, read away what still comes and close the connection."""
        encoding = request.format
        body = status_body(answer, encoding)
        if request.is_whole:
            await _answer(send, answer.http_status, encoding, body, answer.headers)
            return
        await _answer(send, answer.http_status, encoding, body, [*answer.headers, _CLOSE], is_over=False)
        if read_away:
            await request.read_away(seconds=_READ_AWAY_S, most_bytes=2 * self._settings.max_body_bytes)
        await send({"type": "http.response.body", "body": b""})


class _Request:
    """One request as it comes in."""

    def __init__(self, scope: Scope, take: Take) -> None:
        self.scope = scope
        self.is_whole = False
        self._take = take
        self._headers: dict[bytes, bytes] = dict(scope["headers"])

    def raw_header(self, name: bytes) -> bytes | None:
        return self._headers.get(name)

    def header(self, name: bytes) -> str | None:
        value = self._headers.get(name)
        return value.decode("latin-1") if value is not None else None

    @property
    def format(self) -> Format:
        """The encoding to answer in."""
        try:
            return format_from_type(self.header(b"content-type"))
        except WrongType:
            return "json"

    @property
    def declared_bytes(self) -> int | None:
        """What Content-Length says; None without one."""
        value = self._headers.get(b"content-length")
        if value is None:
            return None
        if not value.isdigit():
            raise InputError("the header Content-Length is no number")
        return int(value)

    async def piece(self) -> bytes:
        """The next piece of the body. Disconnected where the sender has gone."""
        message = await self._take()
        if message["type"] != "http.request":
            raise Disconnected
        self.is_whole = not message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        return piece

    async def read_away(self, *, seconds: float, most_bytes: int) -> None:
        """Read what nobody wants, for so long and no more."""
        size = 0
        try:
            async with asyncio.timeout(seconds):
                while not self.is_whole and size < most_bytes:
                    size += len(await self.piece())
        except (TimeoutError, Disconnected):
            return


async def _answer(send: Send, status: int, encoding: Format, body: bytes, headers: Headers | None = None, *, is_over: bool = True) -> None:
    pairs = [(b"content-type", TYPES[encoding]), (b"content-length", b"%d" % len(body)), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body, "more_body": not is_over})
