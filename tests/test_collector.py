"""The Collector configurations we hand out: whole, and with the promise that otel-eval cannot hurt the main branch."""

from pathlib import Path
from typing import Any

import pytest
import yaml

CONFIGURATIONS = sorted((Path(__file__).parent.parent / "collector").glob("*.yaml"))


@pytest.fixture(params=CONFIGURATIONS, ids=lambda file: file.name)
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    """One of our configurations."""
    loaded: dict[str, Any] = yaml.safe_load(request.param.read_text())
    return loaded


def pipelines(config: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = config["service"]["pipelines"]
    return found


def reachable(config: dict[str, Any], receiver: str) -> set[str]:
    """All exporters and connectors that what enters by a receiver can come to."""
    ahead = {exporter for pipeline in pipelines(config).values() if receiver in pipeline["receivers"] for exporter in pipeline["exporters"]}
    connectors = ahead & set(config["connectors"])
    return ahead.union(*(reachable(config, connector) for connector in connectors))


def eval_pipelines(config: dict[str, Any]) -> list[dict[str, list[str]]]:
    return [pipeline for pipeline in pipelines(config).values() if "otlp_grpc/eval" in pipeline["exporters"]]


def test_pipelines_use_what_is_there(config: dict[str, Any]) -> None:
    """Every component of a pipeline is defined, and every defined one is used."""
    connectors = set(config["connectors"])
    used: dict[str, set[str]] = {kind: set() for kind in ("receivers", "processors", "exporters")}
    for pipeline in pipelines(config).values():
        for kind, names in used.items():
            names.update(pipeline.get(kind, []))
    assert used["processors"] == set(config["processors"])
    assert used["receivers"] - connectors == set(config["receivers"])
    assert used["exporters"] - connectors == set(config["exporters"])
    assert connectors <= used["receivers"] & used["exporters"]


def test_eval_branch_starts_with_a_boundary_and_holds_no_limiter(config: dict[str, Any]) -> None:
    """The branch to otel-eval takes everything at once and never says no, so the main branch gets no doubles and does not wait."""
    for pipeline in eval_pipelines(config):
        assert pipeline["processors"][0] == "batch/eval"
        assert not any(name.startswith("memory_limiter") for name in pipeline["processors"])


def test_eval_branch_drops_rather_than_blocks(config: dict[str, Any]) -> None:
    """A full queue before otel-eval drops; it is in memory and bounded in bytes, and retries end."""
    exporter = config["exporters"]["otlp_grpc/eval"]
    assert exporter["sending_queue"]["block_on_overflow"] is False
    assert exporter["sending_queue"]["sizer"] == "bytes"
    assert "storage" not in exporter["sending_queue"]
    assert exporter["retry_on_failure"]["max_elapsed_time"] != 0


def test_both_traces_and_logs_reach_otel_eval(config: dict[str, Any]) -> None:
    """Message content often comes only in log events, so both signals are copied."""
    assert {name.split("/")[0] for name, pipeline in pipelines(config).items() if pipeline in eval_pipelines(config)} == {"traces", "logs"}


def test_results_never_come_back_to_otel_eval(config: dict[str, Any]) -> None:
    """What otel-eval writes reaches the backend and no evaluator: there is no loop."""
    ahead = reachable(config, "otlp/results")
    assert "otlp_http/backend" in ahead
    assert "otlp_grpc/eval" not in ahead
