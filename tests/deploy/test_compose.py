"""The composition, held against the Compose specification, and the configurations that it mounts."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyOptions

COMPOSE = Path(__file__).parents[2] / "deploy" / "compose"
FILE = COMPOSE / "compose.yaml"


@pytest.fixture
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return found


def test_the_composition_follows_the_specification() -> None:
    """Every key and value is one of the Compose specification."""
    composition = PyOptions(apply_merge=True).from_yaml(FILE.read_text())
    assert set(composition.service_names()) == {"collector", "otel-eval", "prometheus", "grafana", "jaeger"}


def test_what_is_mounted_is_there(services: dict[str, Any]) -> None:
    """What is mounted is a file of ours, for reading alone, or a volume that is declared."""
    mounts = [mount.split(":") for service in services.values() for mount in service.get("volumes", [])]
    files = [mount for mount in mounts if mount[0].startswith(".")]
    assert [source for source, *_ in files if not (COMPOSE / source).exists()] == []
    assert {mode for _, _, mode in files} == {"ro"}
    volumes = {source for source, *_ in mounts if not source.startswith(".")}
    assert volumes == set(yaml.safe_load(FILE.read_text())["volumes"])


def test_every_container_is_locked_and_open_to_this_machine_alone(services: dict[str, Any]) -> None:
    """Read-only root, no capabilities, no new privileges; ports are published on loopback."""
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name


def test_nobody_waits_for_otel_eval(services: dict[str, Any]) -> None:
    """No service depends on the evaluator."""
    assert [name for name, service in services.items() if "otel-eval" in service.get("depends_on", ())] == []


def test_prometheus_makes_the_names_that_are_used() -> None:
    """The strategy for names is written down, and the rules are read."""
    prometheus = yaml.safe_load((COMPOSE / "prometheus.yaml").read_text())
    assert prometheus["otlp"]["translation_strategy"] == "UnderscoreEscapingWithSuffixes"
    assert prometheus["rule_files"] == ["rules.yaml"]
