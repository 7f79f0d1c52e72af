"""A real Collector with one of our configurations, and what it says of itself.

with Collector("fanout.yaml", tmp_path, BACKEND_OTLP_ENDPOINT=backend.url) as collector:
    collector.post("traces", body)
"""

import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.fakes.programs import Program, built, free_port
from tests.fakes.serving import ROOT, status_of_post

CONFIGURATIONS = ROOT / "collector"
FILES = sorted(file for file in CONFIGURATIONS.glob("*.yaml") if file.name != "builder-config.yaml")
_SAMPLE = re.compile(r"^(otelcol_\w+?)(?:_total)?(?:\{(.*)\})? (\S+)$", re.MULTILINE)


def program() -> Path:
    """The Collector of our manifest; the test is skipped without it."""
    return built("collector.sh")


def files_of(file: Path) -> list[Path]:
    """The files to start a Collector with: what has no receiver of its own goes on top of `fanout.yaml`."""
    is_whole = "\nreceivers:" in file.read_text()
    return [file] if is_whole else [CONFIGURATIONS / "fanout.yaml", file]


def validated(*files: Path) -> str:
    """What the Collector has against a configuration; nothing where it accepts it."""
    configs = [f"--config={file}" for file in files]
    ended = subprocess.run([str(program()), "validate", *configs], capture_output=True, text=True, timeout=60, check=False)
    return "" if ended.returncode == 0 else ended.stderr or f"exit code {ended.returncode}"


class Collector(Program):
    """`environment` goes to the configuration; ports that it does not name are free ones. `prefix`: words before the command."""

    def __init__(self, config: str | Path, folder: Path, *, prefix: Sequence[str] = (), **environment: str) -> None:
        self.grpc_port, self.http_port, self.results_port, self._health, self._metrics = (free_port() for _ in range(5))
        ports = {
            "OTLP_GRPC_ENDPOINT": f"127.0.0.1:{self.grpc_port}",
            "OTLP_HTTP_ENDPOINT": f"127.0.0.1:{self.http_port}",
            "OTEL_EVAL_RESULTS_ENDPOINT": f"127.0.0.1:{self.results_port}",
            "OTEL_EVAL_SCORED_ENDPOINT": f"127.0.0.1:{self.results_port}",
            "OTELCOL_HEALTH_ENDPOINT": f"127.0.0.1:{self._health}",
            "OTELCOL_METRICS_PORT": str(self._metrics),
            "OTELCOL_STORAGE": str(folder / "storage"),
        }
        super().__init__(
            "collector",
            [*prefix, str(program()), *(f"--config={file}" for file in files_of(CONFIGURATIONS / config))],
            folder,
            ready=f"http://127.0.0.1:{self._health}/",
            environment={**ports, **environment},
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def grpc(self) -> str:
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def results(self) -> str:
        """Where otel-eval is to send its results to: OTLP over gRPC, in line over HTTP."""
        return f"http://127.0.0.1:{self.results_port}"

    def post(self, signal_name: str, body: bytes, *, json_body: bool = False) -> int:
        """Send a request over HTTP; the status."""
        return status_of_post(self.url, signal_name, body, json_body=json_body)

    def counts(self, name: str, *labels: str) -> float:
        """The sum of one of its own counters over all series that have these labels, each as `name="value"`."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._metrics}/metrics", timeout=10) as response:
            text = response.read().decode()
        found = [(key, series or "", float(value)) for key, series, value in _SAMPLE.findall(text)]
        return sum(value for key, series, value in found if key == name and all(label in series for label in labels))
