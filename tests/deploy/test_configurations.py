"""The configurations inside the deployments are ones that otel-eval and the Collector accept, and that fit together."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from click.testing import CliRunner

from otel_eval.cli import main
from tests.fakes.collector import validated

DEPLOY = Path(__file__).parents[2] / "deploy"


class Configuration(NamedTuple):
    """A configuration and where it stands: a file, or a key of a ConfigMap."""

    where: str
    key: str
    text: str


def configurations() -> list[Configuration]:
    """All of them."""
    found = [Configuration(str(file.relative_to(DEPLOY)), file.name, file.read_text()) for file in sorted(DEPLOY.glob("compose/*.yaml"))]
    found.append(Configuration("otel-eval.yaml", "otel-eval.yaml", (DEPLOY / "otel-eval.yaml").read_text()))
    for file in sorted(DEPLOY.glob("kubernetes/*/*.yaml")):
        for manifest in yaml.safe_load_all(file.read_text()):
            if manifest["kind"] == "ConfigMap":
                found += [Configuration(f"{file.relative_to(DEPLOY)} {key}", key, text) for key, text in manifest["data"].items()]
    return found


ALL = configurations()
OURS = [c for c in ALL if c.key == "otel-eval.yaml"]
COLLECTORS = [c for c in ALL if c.key in ("collector.yaml", "config.yaml")]


@pytest.mark.parametrize("configuration", OURS, ids=lambda c: c.where)
def test_otel_eval_accepts_its_configuration(configuration: Configuration, tmp_path: Path) -> None:
    """`otel-eval config check` has nothing against it."""
    file = tmp_path / "otel-eval.yaml"
    file.write_text(configuration.text)
    checked = CliRunner().invoke(main, ["config", "check", "--config", str(file)])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("configuration", COLLECTORS, ids=lambda c: c.where)
def test_the_collector_accepts_its_configuration(configuration: Configuration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real Collector knows every component and every key of it."""
    monkeypatch.setenv("BACKEND_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    monkeypatch.setenv("KAFKA_BROKER", "127.0.0.1:9092")
    file = tmp_path / "config.yaml"
    file.write_text(configuration.text)
    assert validated(file) == ""


@pytest.fixture(params=COLLECTORS, ids=lambda c: c.where)
def collector(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A Collector's configuration."""
    loaded: dict[str, Any] = yaml.safe_load(request.param.text)
    return loaded


def test_pipelines_use_what_is_there(collector: dict[str, Any]) -> None:
    """Every component of a pipeline is defined, and every defined one is used."""
    connectors = set(collector.get("connectors", ()))
    used: dict[str, set[str]] = {kind: set() for kind in ("receivers", "processors", "exporters")}
    for pipeline in collector["service"]["pipelines"].values():
        for kind, names in used.items():
            names.update(pipeline.get(kind, []))
    assert used["processors"] == set(collector["processors"])
    assert used["receivers"] - connectors == set(collector["receivers"])
    assert used["exporters"] - connectors == set(collector["exporters"])
    assert connectors <= used["receivers"] & used["exporters"]
    assert set(collector["service"]["extensions"]) == set(collector["extensions"])


def test_the_branch_to_otel_eval_cannot_hold_the_main_one_up(collector: dict[str, Any]) -> None:
    """It starts with what takes everything at once, has no limiter, and ends in a queue in memory that drops and whose retries end."""
    leading = {name for name in collector["exporters"] if name.endswith("/eval")}
    branches = [pipeline for pipeline in collector["service"]["pipelines"].values() if leading & set(pipeline["exporters"])]
    assert branches
    assert all(branch["processors"][0] == "batch/eval" for branch in branches)
    assert not any(name.startswith("memory_limiter") for branch in branches for name in branch["processors"])
    for name in leading:
        exporter = collector["exporters"][name]
        sender = exporter["protocol"]["otlp"] if name.startswith("load_balancing") else exporter
        queue = {key: value for key, value in sender["sending_queue"].items() if key != "batch"}
        assert queue == {"block_on_overflow": False, "sizer": "bytes", "queue_size": 67108864}
        assert sender["retry_on_failure"]["max_elapsed_time"] == "60s"


def test_results_never_come_back_to_otel_eval(collector: dict[str, Any]) -> None:
    """What enters by the receiver for results leads to no evaluator."""
    pipelines = collector["service"]["pipelines"].values()
    ahead = {exporter for p in pipelines if "otlp/results" in p["receivers"] for exporter in p["exporters"]}
    assert ahead
    assert ahead.isdisjoint(collector.get("connectors", ()))
    assert not any(name.endswith("/eval") for name in ahead)
