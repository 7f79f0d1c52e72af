"""Real clients of others: the OpenTelemetry SDK for JavaScript, and the pipeline rotel, as `scripts/exporters.sh` installs them."""

import os
import socket
import subprocess
from pathlib import Path
from typing import Self

import pytest

from tests.fakes.programs import free_port
from tests.fakes.serving import ROOT, Server, until

_SCRIPT = ROOT / "scripts" / "exporters.sh"


def installed(name: str) -> Path:
    """The folder of a client. The test is skipped without it, with the command; in CI it fails."""
    told = subprocess.run([str(_SCRIPT), "--print", name], capture_output=True, text=True, check=True)
    folder = Path(told.stdout.strip())
    if not (folder / ".ready").exists():
        missing = f"{name} is not installed: run scripts/exporters.sh {name}"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return folder


def run_js(program: Path, endpoint: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A program under Node.js beside the JavaScript SDK; it ends when all is exported."""
    told = {"PATH": os.environ.get("PATH", ""), "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_SERVICE_NAME": "desk", **environment}
    command = ["node", "--input-type=module", "-"]
    return subprocess.run(
        command, input=program.read_text(), cwd=installed("js"), env=told, capture_output=True, text=True, timeout=120, check=False
    )


class Rotel:
    """The pipeline, between clients and a server. `protocol` is how it speaks to the server."""

    def __init__(self, folder: Path, server: Server, protocol: str) -> None:
        self._folder = folder
        self.http_port, self.grpc_port = free_port(), free_port()
        target = server.url if protocol == "http" else f"http://{server.grpc}"
        (program,) = installed("rotel").glob("lib/python3*/site-packages/rotel/rotel-agent")
        self._command = [str(program), "start", "--pid-file", str(folder / "rotel.pid")]
        self._command += ["--otlp-http-endpoint", f"127.0.0.1:{self.http_port}", "--otlp-grpc-endpoint", f"127.0.0.1:{self.grpc_port}"]
        self._command += ["--exporter", "otlp", "--otlp-exporter-endpoint", target, "--otlp-exporter-protocol", protocol]

    def __enter__(self) -> Self:
        with (self._folder / "rotel.log").open("w") as log:
            self.process = subprocess.Popen(self._command, cwd=self._folder, stdout=log, stderr=log)
        until(lambda: self.process.poll() is not None or self._listens(), 30)
        assert self.process.poll() is None, (self._folder / "rotel.log").read_text()
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def _listens(self) -> bool:
        for port in (self.http_port, self.grpc_port):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                return False
        return True
