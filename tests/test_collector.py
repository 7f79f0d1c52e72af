"""The Collector configurations we hand out: whole, and with the promise that otel-eval cannot hurt the main branch.

What a real Collector makes of them is in tests/collector.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.collector import CONFIGURATIONS, FILES, files_of

EVALUATORS = frozenset({"otlp_grpc/eval", "otlp_grpc/hop", "load_balancing/eval", "kafka/eval"})
"""Exporters that lead to otel-eval."""
WITH_A_TAP = [file for file in FILES if "fanout.yaml" in [f.name for f in files_of(file)]]


@cache
def config_of(file: Path) -> dict[str, Any]:
    """A configuration as the Collector has it: laid on top of the one it needs."""
    merged: dict[str, Any] = {}
    for each in files_of(file):
        merged = laid_on(merged, yaml.safe_load(each.read_text()))
    return merged


def laid_on(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """As the Collector merges: mappings by key, everything else replaced."""
    both = {key: laid_on(below[key], above[key]) for key in below.keys() & above.keys() if isinstance(above[key], Mapping)}
    return {**below, **above, **both}


def pipelines(config: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = config["service"]["pipelines"]
    return found


def reachable(config: dict[str, Any], receiver: str) -> set[str]:
    """All exporters and connectors that what enters by a receiver can come to."""
    ahead = {exporter for pipeline in pipelines(config).values() if receiver in pipeline["receivers"] for exporter in pipeline["exporters"]}
    connectors = ahead & set(config.get("connectors", {}))
    return ahead.union(*(reachable(config, connector) for connector in connectors))


def eval_pipelines(config: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Where the branch to otel-eval begins."""
    return {name: pipeline for name, pipeline in pipelines(config).items() if pipeline["receivers"] == ["forward/eval"]}


def by_name(file: Path) -> str:
    return file.name


@pytest.mark.parametrize("file", FILES, ids=by_name)
def test_pipelines_use_what_is_there(file: Path) -> None:
    """Every component of a pipeline is defined, and every one that a file defines is used."""
    config, own = config_of(file), yaml.safe_load(file.read_text())
    connectors = set(config.get("connectors", {}))
    for kind in ("receivers", "processors", "exporters"):
        used = {name for pipeline in pipelines(config).values() for name in pipeline.get(kind, [])} - connectors
        assert used <= set(config[kind])
        assert set(own.get(kind, {})) <= used


@pytest.mark.parametrize("file", WITH_A_TAP, ids=by_name)
def test_eval_branch_starts_with_a_boundary_and_holds_no_limiter(file: Path) -> None:
    """The branch to otel-eval takes everything at once and never says no, so the main branch gets no doubles and does not wait."""
    found = eval_pipelines(config_of(file))
    assert {name.split("/")[0] for name in found} == {"traces", "logs"}
    assert EVALUATORS & reachable(config_of(file), "forward/eval")
    for pipeline in found.values():
        assert pipeline["processors"][0] == "batch/eval"
        assert not any(name.startswith("memory_limiter") for name in pipeline["processors"])


@pytest.mark.parametrize("file", WITH_A_TAP, ids=by_name)
def test_eval_branch_drops_rather_than_blocks(file: Path) -> None:
    """A full queue before otel-eval drops; it is in memory and bounded in bytes, and retries end."""
    config = config_of(file)
    for name in EVALUATORS & reachable(config, "forward/eval"):
        exporter = config["exporters"][name]
        exporter = exporter["protocol"]["otlp"] if name.startswith("load_balancing") else exporter
        assert exporter["sending_queue"]["block_on_overflow"] is False
        assert exporter["sending_queue"]["sizer"] == "bytes"
        assert "storage" not in exporter["sending_queue"]
        assert exporter["retry_on_failure"]["max_elapsed_time"] != 0


def test_in_line_nothing_says_yes_too_early() -> None:
    """Of the configuration in which spans pass through otel-eval, no processor batches, and each queue is on disk and gives up nothing."""
    config = config_of(CONFIGURATIONS / "inline.yaml")
    assert not any(p.startswith("batch") for pipeline in pipelines(config).values() for p in pipeline.get("processors", []))
    for name in ("otlp_grpc/hop", "otlp_http/backend"):
        exporter = config["exporters"][name]
        assert exporter["sending_queue"]["storage"] == "file_storage/queues"
        assert exporter["retry_on_failure"]["max_elapsed_time"] == 0


@pytest.mark.parametrize("file", [file for file in WITH_A_TAP if file.name != "fanout.yaml"], ids=by_name)
def test_what_goes_on_top_undoes_no_redaction(file: Path) -> None:
    """With another file laid over it, or under it, redaction stays in the way of both signals to otel-eval."""
    redaction, other = (yaml.safe_load(f.read_text()) for f in (CONFIGURATIONS / "redaction.yaml", file))
    base = config_of(CONFIGURATIONS / "fanout.yaml")
    for config in (laid_on(laid_on(base, redaction), other), laid_on(laid_on(base, other), redaction)):
        assert all("redaction/eval" in pipeline["processors"] for pipeline in eval_pipelines(config).values())


@pytest.mark.parametrize("file", FILES, ids=by_name)
def test_results_never_come_back_to_otel_eval(file: Path) -> None:
    """What otel-eval writes reaches the backend and no evaluator: there is no loop."""
    config = config_of(file)
    back = {"otlp/results", "otlp/scored"} & set(config["receivers"])
    assert back
    for receiver in back:
        ahead = reachable(config, receiver)
        assert {"otlp_http/backend", "debug/results"} & ahead
        assert not EVALUATORS & ahead
