"""An OTLP/HTTP receiver on loopback that remembers, and refuses for now, for good or at random as told.

with OtlpReceiver() as receiver:
    ... send to receiver.url ...
    receiver.records  # the log records, decoded
"""

import gzip
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One received log record, as far as tests look at it."""

    event_name: str
    trace_id: str
    span_id: str
    time_ns: int
    severity_number: int
    body: str
    attributes: Mapping[str, Any]
    kinds: Mapping[str, str]
    """Which field of AnyValue each attribute came in: `double_value`, `string_value`, …"""
    scope: str
    resource: Mapping[str, Any]


@dataclass(slots=True)
class OtlpReceiver:
    """`answer` gets the number of the request and says the status; 200 by default. A status of 0 breaks the connection off."""

    answer: Callable[[int], int] = lambda number: 200
    headers: Mapping[str, str] = field(default_factory=dict)
    rejects: int = 0
    """How many records of each request are refused in a partial success."""
    records: list[Record] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    """Path and plain body of each request that was answered with 200."""
    requests: int = 0
    seen_headers: dict[str, str] = field(default_factory=dict)
    """Headers that came, by name in lower case; the last value of each."""
    _server: Any = None

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: bytes, path: str) -> int:
        """The status for a request; a good one is kept."""
        self.requests += 1
        self.paths.append(path)
        status = self.answer(self.requests)
        if status == 200:
            self.bodies.append((path, body))
        if status == 200 and path.endswith("/v1/logs"):
            self.records += records_from_body(body)
        return status


def records_from_body(body: bytes) -> list[Record]:
    """The records of an export request, in order."""
    request = ExportLogsServiceRequest.FromString(body)
    return [
        Record(
            event_name=r.event_name,
            trace_id=r.trace_id.hex(),
            span_id=r.span_id.hex(),
            time_ns=r.time_unix_nano,
            severity_number=r.severity_number,
            body=r.body.string_value,
            attributes={a.key: _value(a.value) for a in r.attributes},
            kinds={a.key: a.value.WhichOneof("value") or "" for a in r.attributes},
            scope=group.scope.name,
            resource={a.key: _value(a.value) for a in resource.resource.attributes},
        )
        for resource in request.resource_logs
        for group in resource.scope_logs
        for r in group.log_records
    ]


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(v) for v in value.array_value.values]
    return getattr(value, kind) if kind else None


def _handler(receiver: OtlpReceiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            receiver.seen_headers.update({name.lower(): value for name, value in self.headers.items()})
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            status = receiver.take(body, self.path)
            if status == 0:
                self.close_connection = True
                return
            answer = ExportLogsServiceResponse()
            if receiver.rejects and status == 200:
                answer.partial_success.rejected_log_records = receiver.rejects
                answer.partial_success.error_message = "too old"
            data = answer.SerializeToString()
            self.send_response(status)
            for name, value in {"Content-Type": "application/x-protobuf", "Content-Length": str(len(data)), **receiver.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is written to the terminal."""

    return Handler
