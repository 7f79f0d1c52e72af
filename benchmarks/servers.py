"""The servers that are compared, each as a process of its own on a fresh folder.

`OtelEval` is this checkout. `AgentEvals` is agentevals-cli from PyPI, in an environment of its own that is made once, in the user's cache:
it has some 130 distributions.
"""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol, Self

from benchmarks.sending import Target
from tests.fakes.serving import Server, settled

ROOT = Path(__file__).parent.parent
AGENTEVALS = "agentevals-cli==0.11.0"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "otel-eval-benchmarks"
MAKE = f"scripts/venv.sh {CACHE}/agentevals {AGENTEVALS}"
_READY_S = 90.0


class Side(Protocol):
    """A server under load."""

    name: str

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def pid(self) -> int: ...

    @property
    def target(self) -> Target: ...

    def converted(self) -> int:
        """Spans of conversations that are through."""
        ...


class OtelEval:
    """This checkout. One deterministic metric that runs on every closed conversation unless told otherwise: all is converted, no judge."""

    name = "otel-eval"

    def __init__(self, folder: Path, **settings: Any) -> None:
        quick = {"completion__trace_quiet": "2s", "completion__conversation_idle": "2s"}
        results = {"metrics": ["unanswered_turn"], "sinks__jsonl__path": str(folder / "results.jsonl")}
        self.server = Server(folder, **{**quick, **results, **settings})
        self.store = folder / "store.db"

    def __enter__(self) -> Self:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.stop(within_s=120)

    @property
    def pid(self) -> int:
        return self.server.process.pid

    @property
    def target(self) -> Target:
        return Target(http_port=self.server.ports["http"], grpc_port=self.server.ports["grpc"])

    def converted(self) -> int:
        """All spans, once nothing is due and nothing waits; the store is asked from outside, so that asking costs the server nothing."""
        if not settled(self.server):
            return 0
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT ifnull(sum(spans), 0) FROM traces").fetchone()[0])


class AgentEvals:
    """`agentevals serve` without its user interface."""

    name = "agentevals"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._api, self._http, self._grpc = free_ports(3)

    def __enter__(self) -> Self:
        options = {"--port": self._api, "--otlp-http-port": self._http, "--otlp-grpc-port": self._grpc, "--api-grpc-port": 0}
        command = [str(CACHE / "agentevals/bin/agentevals"), "serve", "--headless", "--dev", "--host", "127.0.0.1"]
        command += [str(part) for option in options.items() for part in option]
        environment = {**os.environ, "HOME": str(self._folder), "AGENTEVALS_LOG_LEVEL": "WARNING"}
        with (self._folder / "log").open("w") as log:
            self._process = subprocess.Popen(command, env=environment, cwd=self._folder, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + _READY_S
        while self._get("/api/health") is None:
            if self._process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"{AGENTEVALS} did not start: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def target(self) -> Target:
        return Target(http_port=self._http, grpc_port=self._grpc)

    def converted(self) -> int:
        """Spans of its complete sessions: a session is complete 3 s after its last span, and then its conversation is extracted."""
        sessions = (self._get("/api/streaming/sessions") or {"data": []})["data"]
        return sum(session["spanCount"] for session in sessions if session["isComplete"])

    def _get(self, path: str) -> Any:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._api}{path}", timeout=30) as answer:
                return json.load(answer)
        except (OSError, urllib.error.URLError):
            return None


def agentevals_is_here() -> bool:
    """Whether agentevals is installed, after trying to install it."""
    if not (CACHE / "agentevals/bin/agentevals").exists():
        print(f"making an environment for {AGENTEVALS}, once: {MAKE}", flush=True)
        subprocess.run([ROOT / "scripts/venv.sh", CACHE / "agentevals", AGENTEVALS], check=False)
    return (CACHE / "agentevals/bin/agentevals").exists()


def free_ports(count: int) -> list[int]:
    """Ports of loopback that were free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports
