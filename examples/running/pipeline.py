"""A Collector of this repository's manifest, and a backend that remembers what it was sent."""

import gzip
import os
import socket
import subprocess
import tempfile
import threading
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from running.environments import MissingError
from running.processes import end, until

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Backend:
    """An OTLP/HTTP receiver in place of Jaeger, Tempo, Loki and the like."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.logs: list[Any] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, path: str, body: bytes) -> None:
        if path.endswith("/traces"):
            groups = ExportTraceServiceRequest.FromString(body).resource_spans
            self.spans += [span for group in groups for scope in group.scope_spans for span in scope.spans]
        elif path.endswith("/logs"):
            records = ExportLogsServiceRequest.FromString(body).resource_logs
            self.logs += [record for group in records for scope in group.scope_logs for record in scope.log_records]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        backend = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                backend.take(self.path, gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing."""

        return Handler


class Collector:
    """`collector/fanout.yaml` with its environment."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        told = subprocess.run([ROOT / "scripts" / "collector.sh", "--print"], capture_output=True, text=True, check=True)
        self._program = told.stdout.strip()
        if not Path(self._program).exists():
            raise MissingError("the Collector is not built: run `make collector` (Go, some 4 minutes, once)")
        self._home = tempfile.TemporaryDirectory(prefix="otel-eval-example-")
        self.url, self._health = f"http://127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self._environment = {
            "OTLP_GRPC_ENDPOINT": f"127.0.0.1:{free_port()}",
            "OTLP_HTTP_ENDPOINT": self.url.removeprefix("http://"),
            "OTELCOL_HEALTH_ENDPOINT": self._health,
            "OTELCOL_METRICS_PORT": str(free_port()),
            "OTELCOL_STORAGE": self._home.name,
            **environment,
        }

    def __enter__(self) -> Self:
        command = [self._program, "--config", str(ROOT / "collector" / "fanout.yaml")]
        self._log = (Path(self._home.name) / "log").open("w")
        self._process = subprocess.Popen(command, env={**os.environ, **self._environment}, stderr=self._log)
        until(self._is_up, "the Collector")
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._log.close()
        self._home.cleanup()

    def _is_up(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self._health}/", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:
            return False
