"""Real backends on loopback, asked over their own interfaces: VictoriaLogs, Jaeger and Prometheus, as `scripts/backends.sh` builds them.

VictoriaLogs builds in seconds and belongs to every run. The other two belong to `make backends-test`, which sets OTEL_EVAL_BACKENDS=all:
elsewhere they are skipped where they are not built.
"""

import json
import os
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.programs import Program, built, free_port
from tests.fakes.serving import ROOT

_IS_LONG_RUN = os.environ.get("OTEL_EVAL_BACKENDS") == "all"


def program(name: str) -> Path:
    """A backend's program; the test is skipped without it."""
    is_here = Path(built("backends.sh", name, must_be=False)).exists()
    if not is_here and name != "victoria-logs" and not _IS_LONG_RUN:
        pytest.skip(f"{name} is not built, which takes minutes: make backends-test")
    return built("backends.sh", name)


def queries() -> dict[str, str]:
    """The saved queries of `docs/backends.md`, word for word: the code under each heading."""
    found: dict[str, str] = {}
    for part in (ROOT / "docs" / "backends.md").read_text().split("\n### ")[1:]:
        name, _, text = part.partition("\n")
        if "```" in text:
            found[name] = text.split("```")[1].partition("\n")[2].strip()
    return found


class Backend(Program):
    """A backend with one port for its interface."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **parameters: str) -> bytes:
        """What a page answers."""
        with urllib.request.urlopen(f"{self.url}{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as response:
            return bytes(response.read())


class VictoriaLogs(Backend):
    """Takes OTLP logs over HTTP at `otlp`."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        command = [str(program("victoria-logs")), f"-httpListenAddr=127.0.0.1:{self.port}", f"-storageDataPath={folder / 'logs'}"]
        super().__init__("victoria-logs", command, folder, ready=f"{self.url}/health")

    @property
    def otlp(self) -> str:
        return f"{self.url}/insert/opentelemetry/v1/logs"

    def rows(self, query: str) -> list[dict[str, str]]:
        """What a query in LogsQL gives."""
        return [json.loads(line) for line in self.get("/select/logsql/query", query=query).splitlines()]


class Jaeger(Backend):
    """Takes OTLP traces over HTTP at `otlp`, and keeps them in memory."""

    def __init__(self, folder: Path) -> None:
        self.port, self._otlp_port, grpc_port = (free_port() for _ in range(3))
        config = {
            "extensions": {
                "jaeger_storage": {"backends": {"memory": {"memory": {"max_traces": 10_000}}}},
                "jaeger_query": {
                    "storage": {"traces": "memory"},
                    "http": {"endpoint": f"127.0.0.1:{self.port}"},
                    "grpc": {"endpoint": f"127.0.0.1:{grpc_port}"},
                },
            },
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{self._otlp_port}"}}}},
            "exporters": {"jaeger_storage_exporter": {"trace_storage": "memory"}},
            "service": {
                "extensions": ["jaeger_storage", "jaeger_query"],
                "telemetry": {"metrics": {"level": "none"}},
                "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["jaeger_storage_exporter"]}},
            },
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "jaeger.json").write_text(json.dumps(config))  # JSON is YAML
        command = [str(program("jaeger")), f"--config={folder / 'jaeger.json'}"]
        super().__init__("jaeger", command, folder, ready=f"{self.url}/api/services")

    @property
    def otlp(self) -> str:
        return f"http://127.0.0.1:{self._otlp_port}"

    def traces(self, path: str) -> list[dict[str, Any]]:
        """Traces that a path of its interface answers with."""
        with urllib.request.urlopen(self.url + path, timeout=20) as response:
            return list(json.load(response)["data"] or [])


class Prometheus(Backend):
    """Takes OTLP metrics at `otlp`; scrapes `scraped` (HOST:PORT) where there is one."""

    def __init__(self, folder: Path, *, scraped: str | None = None) -> None:
        self.port = free_port()
        config: dict[str, Any] = {"otlp": {"promote_resource_attributes": ["service.name"]}}
        if scraped is not None:
            config["scrape_configs"] = [{"job_name": "collector", "scrape_interval": "1s", "static_configs": [{"targets": [scraped]}]}]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prometheus.json").write_text(json.dumps(config))
        command = [str(program("prometheus")), f"--config.file={folder / 'prometheus.json'}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        command += [f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-otlp-receiver", "--enable-feature=exemplar-storage"]
        super().__init__("prometheus", command, folder, ready=f"{self.url}/-/ready")

    @property
    def otlp(self) -> str:
        return f"{self.url}/api/v1/otlp/v1/metrics"

    def values(self, query: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series that a query gives now."""
        found = json.loads(self.get("/api/v1/query", query=query))["data"]["result"]
        return [(row["metric"], float(row["value"][1])) for row in found]

    def exemplars(self, query: str, start_s: float, end_s: float) -> list[dict[str, str]]:
        """Labels of the exemplars of a query's series."""
        answer = self.get("/api/v1/query_exemplars", query=query, start=str(start_s), end=str(end_s))
        return [exemplar["labels"] for series in json.loads(answer)["data"] for exemplar in series["exemplars"]]
