"""The manifests, held against the schemas of Kubernetes, and against each other: what one names, another has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "kubernetes"
FORMS = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())
OTHERS = {"ScaledObject"}
"""Kinds of operators, whose schemas Kubernetes does not know; test_keda.py has theirs."""
VERSIONS = ("1.29", kubernetes_validate.latest_version())
"""From the first in which sidecars start by themselves to the newest that is known."""
WORKLOADS = {"Deployment", "StatefulSet"}


def manifests(form: str) -> list[dict[str, Any]]:
    """Everything that `kubectl apply -f` takes from a folder."""
    return [document for file in sorted((FOLDER / form).glob("*.yaml")) for document in yaml.safe_load_all(file.read_text())]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """One form of deployment."""
    return manifests(request.param)


def of_kind(form: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [manifest for manifest in form if manifest["kind"] in kinds]


def pods(form: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pod templates."""
    return [workload["spec"]["template"] for workload in of_kind(form, *WORKLOADS)]


def containers(form: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for pod in pods(form):
        yield from [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_follow_the_schemas(form: list[dict[str, Any]], version: str) -> None:
    """Every manifest is valid, and has no key that Kubernetes does not know."""
    for manifest in form:
        if manifest["kind"] not in OTHERS:
            kubernetes_validate.validate(manifest, version, strict=True)


def test_no_name_is_given_twice(form: list[dict[str, Any]]) -> None:
    """Applying a folder makes each thing once, in the namespace of who applies it."""
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in form]
    assert len(names) == len(set(names))
    assert all("namespace" not in manifest["metadata"] for manifest in form)


def test_pods_follow_the_restricted_standard(form: list[dict[str, Any]]) -> None:
    """The pod security standard `restricted`, and beyond it a read-only root and no token of the cluster."""
    for pod in pods(form):
        security = pod["spec"]["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] > 0
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["spec"]["automountServiceAccountToken"] is False
    for container in containers(form):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_resources_are_asked_for(form: list[dict[str, Any]]) -> None:
    """Memory is limited to what is asked for, so that a node is never promised twice; the processor is not limited."""
    for container in containers(form):
        resources = container["resources"]
        assert resources["limits"] == {"memory": resources["requests"]["memory"]}
        assert "cpu" in resources["requests"]


def test_probes_ask_ports_that_are_there(form: list[dict[str, Any]]) -> None:
    """Every container is watched, on a port of its own by name; nobody is restarted for what readiness asks."""
    for container in containers(form):
        ports = {port["name"] for port in container.get("ports", [])}
        probes = {name: container[name] for name in ("startupProbe", "livenessProbe", "readinessProbe") if name in container}
        assert "livenessProbe" in probes, container["name"]
        assert {probe["httpGet"]["port"] for probe in probes.values()} <= ports
        if container["image"] == "otel-eval":
            assert probes["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_what_is_mounted_is_a_volume_of_the_pod(form: list[dict[str, Any]]) -> None:
    """Mounts, volumes and configurations fit together, and every volume is used."""
    configurations = {manifest["metadata"]["name"] for manifest in of_kind(form, "ConfigMap")}
    for workload in of_kind(form, *WORKLOADS):
        pod = workload["spec"]["template"]["spec"]
        claimed = {claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])}
        volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
        mounted = {m["name"] for c in [*pod.get("initContainers", []), *pod["containers"]] for m in c["volumeMounts"]}
        assert mounted == claimed | set(volumes)
        assert {volume["configMap"]["name"] for volume in volumes.values() if "configMap" in volume} <= configurations


def test_selectors_find_pods(form: list[dict[str, Any]]) -> None:
    """Each workload, service, budget and policy picks pods that are there, and a service names ports of theirs."""
    labels = [pod["metadata"]["labels"] for pod in pods(form)]
    ports = {port["name"] for container in containers(form) for port in container.get("ports", [])}
    for manifest in of_kind(form, *WORKLOADS, "PodDisruptionBudget"):
        assert picks(manifest["spec"]["selector"]["matchLabels"], labels), manifest["metadata"]
    for policy in of_kind(form, "NetworkPolicy"):
        assert picks(policy["spec"]["podSelector"]["matchLabels"], labels), policy["metadata"]
    for service in of_kind(form, "Service"):
        assert picks(service["spec"]["selector"], labels), service["metadata"]
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def picks(selector: dict[str, str], labels: list[dict[str, str]]) -> bool:
    return any(selector.items() <= found.items() for found in labels)


def test_every_workload_has_a_policy_for_who_may_come(form: list[dict[str, Any]]) -> None:
    """Each pod is picked by a network policy that limits what comes in to named ports."""
    for pod in pods(form):
        policies = [
            p for p in of_kind(form, "NetworkPolicy") if picks(p["spec"]["podSelector"]["matchLabels"], [pod["metadata"]["labels"]])
        ]
        assert policies, pod["metadata"]
        assert all("Ingress" in policy["spec"]["policyTypes"] for policy in policies)
        assert all(rule["ports"] for policy in policies for rule in policy["spec"].get("ingress", []))


def test_workloads_of_several_pods_have_a_disruption_budget(form: list[dict[str, Any]]) -> None:
    """A drained node takes one pod at a time of what keeps state or has replicas."""
    budgets = of_kind(form, "PodDisruptionBudget")
    for workload in of_kind(form, *WORKLOADS):
        if workload["kind"] == "StatefulSet" or workload["spec"].get("replicas", 2) > 1:
            assert any(picks(b["spec"]["selector"]["matchLabels"], [workload["spec"]["template"]["metadata"]["labels"]]) for b in budgets)
            assert all(budget["spec"]["maxUnavailable"] == 1 for budget in budgets)


def test_replicas_of_the_gateway_are_found_by_name() -> None:
    """The Collectors ask for the service that the StatefulSet is governed by: one without an address, so that each replica is found."""
    form = manifests("gateway")
    (config,) = (m["data"]["config.yaml"] for m in of_kind(form, "ConfigMap") if m["metadata"]["name"] == "otel-collector")
    resolver = yaml.safe_load(config)["exporters"]["load_balancing/eval"]["resolver"]["dns"]
    (replicas,) = of_kind(form, "StatefulSet")
    (service,) = (s for s in of_kind(form, "Service") if s["metadata"]["name"] == resolver["hostname"])
    assert service["spec"]["clusterIP"] == "None"
    assert replicas["spec"]["serviceName"] == resolver["hostname"]
    assert int(resolver["port"]) in {port["port"] for port in service["spec"]["ports"]}
