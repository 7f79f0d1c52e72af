"""Scaling on lag, held against the schema of KEDA's own resource, which the Go module proxy has, and against the workers that it scales."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml

from otel_eval.cli import main
from tests.deploy.test_kubernetes import manifests, of_kind

MODULE = "github.com/kedacore/keda/v2@v2.18.1"
FORM = manifests("kafka")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The OpenAPI schema of a ScaledObject."""
    if shutil.which("go") is None:
        reason = "the schema of KEDA is fetched with Go: install Go 1.24 or newer"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    told = subprocess.run(["go", "mod", "download", "-json", MODULE], capture_output=True, text=True, check=True, cwd="/")
    resource = yaml.safe_load((Path(json.loads(told.stdout)["Dir"]) / "config/crd/bases/keda.sh_scaledobjects.yaml").read_text())
    found: dict[str, Any] = resource["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def closed(schema: Any) -> Any:
    """The same, refusing keys that it does not name: a cluster would drop them without a word."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    is_open = "properties" not in schema or "additionalProperties" in schema or schema.get("type") != "object"
    return inner if is_open else {**inner, "additionalProperties": False}


def test_the_scaled_object_follows_keda(schema: dict[str, Any]) -> None:
    """Every key is one that KEDA knows, with a value of its type."""
    schema["properties"]["metadata"] = {"type": "object", "additionalProperties": True}
    (scaled,) = of_kind(FORM, "ScaledObject")
    jsonschema.validate(scaled, closed(schema))
    with pytest.raises(jsonschema.ValidationError, match="maxReplicas"):
        jsonschema.validate({**scaled, "spec": {**scaled["spec"], "maxReplicas": 3}}, closed(schema))


def test_what_is_scaled_is_the_group_that_reads_the_topic() -> None:
    """Target, topic and brokers are those of the workers and the Collector; the Deployment leaves its number to the scaler."""
    (scaled,) = of_kind(FORM, "ScaledObject")
    (worker,) = (d for d in of_kind(FORM, "Deployment") if d["metadata"]["name"] == scaled["spec"]["scaleTargetRef"]["name"])
    (trigger,) = scaled["spec"]["triggers"]
    (config,) = (m["data"]["config.yaml"] for m in of_kind(FORM, "ConfigMap") if "config.yaml" in m["data"])
    exporter = yaml.safe_load(config)["exporters"]["kafka/eval"]
    assert "replicas" not in worker["spec"]
    assert trigger["metadata"]["bootstrapServers"] in worker["spec"]["template"]["spec"]["containers"][0]["args"]
    assert trigger["metadata"]["topic"] == exporter["traces"]["topic"]


def test_workers_are_started_as_the_command_line_allows() -> None:
    """The arguments of the container are a command and options that otel-eval has."""
    (container,) = (c for d in of_kind(FORM, "Deployment") for c in d["spec"]["template"]["spec"]["containers"] if c["name"] == "worker")
    command, *options = container["args"]
    above = click.Context(main, info_name="otel-eval", **main.context_settings)
    parsed = main.commands[command].make_context(command, list(options), parent=above)
    assert parsed.params["brokers"] == "kafka:9092"
    assert parsed.params["status"].endswith(f":{container['ports'][0]['containerPort']}")
