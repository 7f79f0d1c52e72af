"""OTLP over gRPC: one generic handler for the three services, bytes in and bytes out.

**Source**: the OTLP specification 1.11, "OTLP/gRPC". Bodies stay as they came: gRPC is told not to unpack them, so that they are
unpacked under our limit and
kept packed. A unary call is handled as a stream of requests, so that a call can be refused, or wait for its turn, before its message is
read.
No call ever ends as UNKNOWN, which senders take for the loss of their data.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import grpc
import grpc.aio

from otel_eval.errors import ConfigError, InputError
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.receive.bearer import Bearer
from otel_eval.otlp.receive.encoding import Encoding, packing_from_head
from otel_eval.otlp.receive.gate import Gate
from otel_eval.otlp.receive.intake import Receive
from otel_eval.otlp.receive.settings import Bind, ReceiveSettings
from otel_eval.otlp.refusals import Closing, TooSlow
from otel_eval.otlp.status import answer_from_error, response_body, status_message

SERVICES: Mapping[str, Signal] = {
    "opentelemetry.proto.collector.trace.v1.TraceService": "traces",
    "opentelemetry.proto.collector.logs.v1.LogsService": "logs",
    "opentelemetry.proto.collector.metrics.v1.MetricsService": "metrics",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_DETAILS = "grpc-status-details-bin"
_METADATA_BYTES = 64 * 1024

Handler = Callable[[AsyncIterator[bytes], Any], Awaitable[bytes]]


class GrpcServer:
    """The port, from `start` to `stop`. `note` is told the class of every refusal."""

    def __init__(self, receive: Receive, settings: ReceiveSettings, gate: Gate, *, note: Callable[[str], None]) -> None:
        self._receive, self._settings, self._gate, self._note = receive, settings, gate, note
        self._bearer = Bearer(settings.tokens)
        self._server: Any = None
        self._is_closing = False
        self.port = 0

    async def start(self, bind: Bind) -> None:
        """Listen. ConfigError where that cannot be."""
        self._server = grpc.aio.server(options=_options(self._settings))
        self._server.add_generic_rpc_handlers(
            tuple(
                grpc.method_handlers_generic_handler(name, {"Export": grpc.stream_unary_rpc_method_handler(self._export(signal))})
                for name, signal in SERVICES.items()
            )
        )
        self.port = self._bound(bind)
        await self._server.start()

    async def stop(self, *, grace_s: float) -> None:
        """Take no new calls; those under way have so long to end, then their senders are told to send again."""
        if self._server is not None:
            self._is_closing = True
            await self._server.stop(grace_s)
            self._server = None

    def _bound(self, bind: Bind) -> int:
        tls = self._settings.tls
        try:
            if tls is None:
                port = self._server.add_insecure_port(str(bind))
            else:
                certificate, key, client_ca = tls.pem()
                credentials = grpc.ssl_server_credentials([(key, certificate)], client_ca, client_ca is not None)
                port = self._server.add_secure_port(str(bind), credentials)
        except RuntimeError as error:
            raise ConfigError(f"cannot listen on {bind} for gRPC: is another process there?") from error
        if not port:
            raise ConfigError(f"cannot listen on {bind} for gRPC: is another process there?")
        return int(port)

    def _export(self, signal: Signal) -> Handler:
        async def export(messages: AsyncIterator[bytes], context: Any) -> bytes:
            try:
                return await self._taken(signal, messages, context)
            except Exception as error:  # whatever goes wrong here, the sender must not lose its data
                self._note(type(error).__name__)
                answer = answer_from_error(error)
                details = ((_DETAILS, status_message(answer).SerializeToString()),)
            await context.abort(_CODES[answer.code], answer.message, details)
            return b""

        return export

    async def _taken(self, signal: Signal, messages: AsyncIterator[bytes], context: Any) -> bytes:
        if self._is_closing:
            raise Closing("the receiver is closing: send again")
        self._bearer.check(_authorization(context))
        async with self._gate.call(), self._gate.room(1) as room:  # room for one byte: wait while there is none at all
            body = await self._message(messages)
            room.grow(len(body))
            encoding = Encoding(format="protobuf", packing=packing_from_head(body))
            return response_body(signal, await self._receive(signal, body, encoding), "protobuf")

    async def _message(self, messages: AsyncIterator[bytes]) -> bytes:
        """The one message of a call."""
        try:
            async with asyncio.timeout(self._settings.head_timeout_s), self._gate.coming():
                async for message in messages:
                    return message
        except TimeoutError:
            raise TooSlow("the message did not come in time: send again") from None
        raise InputError("the call holds no message: expected one export request")


def _options(settings: ReceiveSettings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.max_body_bytes),
        ("grpc.per_message_decompression", 0),
        ("grpc.so_reuseport", 0),  # else a second process would share the port in silence
        ("grpc.max_metadata_size", _METADATA_BYTES),
        ("grpc.max_concurrent_streams", 2 * settings.max_calls),
    ]


def _authorization(context: Any) -> bytes | None:
    metadata = context.invocation_metadata() or ()
    value = next((value for key, value in metadata if key == "authorization"), None)
    return value.encode() if isinstance(value, str) else value
