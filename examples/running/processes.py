"""The processes around an agent: the model that it asks, and the scorer that its spans go to."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

SERVER = Path(__file__).parents[1] / "model" / "server.py"
_LISTENS = re.compile(r"OTLP/(http|grpc) on (\S+)")
_PATIENCE_S = 60.0


class Model:
    """The model that plays stories; nothing at all where a real endpoint is asked."""

    def __init__(self, *, real: bool) -> None:
        self._real = real
        self.environment: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        if not self._real:
            self._process = subprocess.Popen([sys.executable, str(SERVER)], stdout=subprocess.PIPE, text=True)
            assert self._process.stdout is not None
            url = self._process.stdout.readline().strip()
            openai = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
            self.environment = {**openai, "GOOGLE_GEMINI_BASE_URL": url, "GOOGLE_API_KEY": "none"}
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            end(self._process)
            assert self._process.stdout is not None
            self._process.stdout.close()


class Scorer:
    """`otel-eval serve` with a configuration, on free ports, with short waiting times.

    `settings` are keys of the configuration as `section__key`.
    """

    def __init__(self, config: Path, **settings: str) -> None:
        self._config, self._settings = config, settings
        self._home = tempfile.TemporaryDirectory(prefix="otel-eval-example-")
        self.addresses: dict[str, str] = {}
        """HOST:PORT of `http` and `grpc`."""
        self._log: list[str] = []

    def __enter__(self) -> Self:
        home = Path(self._home.name)
        settings = {
            "receive__http__endpoint": "127.0.0.1:0",
            "receive__grpc__endpoint": "127.0.0.1:0",
            "store__path": str(home / "store.db"),
            "store__min_disk": "0",
            "completion__trace_quiet": "500ms",
            "completion__conversation_idle": "1s",
            "sinks__jsonl__path": str(home / "results.jsonl"),
            **self._settings,
        }
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OPENAI_"))}
        env = {**clean, **{f"OTEL_EVAL__{name.upper()}": value for name, value in settings.items()}}
        command = [sys.executable, "-m", "otel_eval", "serve", "--config", str(self._config)]
        self._process = subprocess.Popen(
            command, cwd=self._config.parent, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        threading.Thread(target=self._read, daemon=True).start()
        until(lambda: len(self.addresses) == 2 or self._process.poll() is not None, "the start of otel-eval serve")
        if self._process.poll() is not None:
            sys.exit("otel-eval serve did not start:\n" + "\n".join(self._log))
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._home.cleanup()

    @property
    def url(self) -> str:
        return f"http://{self.addresses['http']}"

    @property
    def environment(self) -> dict[str, str]:
        """What tells OpenTelemetry where to send to."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.url,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_SERVICE_NAME": self._config.parent.name,
        }

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._log.append(line.rstrip("\n"))
            if found := _LISTENS.search(line):
                self.addresses[found[1]] = found[2]

    def results(self) -> list[dict[str, Any]]:
        """The results, once nothing waits any more."""
        until(self._is_settled, "the scores")
        file = Path(self._home.name) / "results.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def _is_settled(self) -> bool:
        with urllib.request.urlopen(f"{self.url}/status", timeout=10) as response:
            status = json.load(response)
        units = {row["outcome"]: row["units"] for row in status["outcomes"]}
        waiting = [depth["waiting"] for depth in (*status["queues"].values(), *status["outbox"].values())]
        return bool(units) and "pending" not in units and not any(waiting)


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds; the example ends when it does not in time."""
    end = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"waited {_PATIENCE_S:g} s in vain for {what}")
        time.sleep(0.1)


def end(process: "subprocess.Popen[Any]") -> None:
    process.terminate()
    process.wait(30)


def table_from_results(results: Iterable[dict[str, Any]]) -> str:
    """A line for each metric of each conversation, of its latest revision."""
    latest = {(result["conversation"], result["metric"]): result for result in sorted(results, key=lambda result: result["revision"])}
    lines = [f"{'conversation':<14} {'metric':<20} {'score':>6}  why"]
    for (conversation, metric), result in sorted(latest.items()):
        value = f"{result['value']:.2f}" if result["outcome"] == "score" else result["outcome"]
        why = result.get("explanation") or result.get("detail") or ""
        lines.append(f"{conversation:<14} {metric:<20} {value:>6}  {why}".rstrip())
    return "\n".join(lines)
