"""Dashboard and alerts ask for what otel-eval measures: every series, label and value of theirs is one that `otel_eval.telemetry` knows."""

import json
import re
import time
import urllib.request
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from otel_eval.model import FailReason, SkipReason, UnitOutcome
from otel_eval.otlp.encode_metrics import metrics_request_from_points
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.otlp.post import post_otlp
from otel_eval.telemetry import INSTRUMENTS, Instrument, Meter
from tests.fakes.collector import Collector
from tests.fakes.programs import free_port
from tests.fakes.prometheus import Query, label_of, query_from_text, series_of
from tests.fakes.serving import until

ROOT = Path(__file__).parents[2]
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "otel-eval.json").read_text())
RULES: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules.yaml").read_text())["groups"][0]["rules"]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

SERIES = {series: instrument for instrument in INSTRUMENTS.values() for series in series_of(instrument)}
EVERYWHERE = {"job", "instance"}
"""Made of service.name and service.instance.id."""
REASONS: set[str] = {*SkipReason, *FailReason}
VALUES: dict[str, dict[str, set[str]]] = {
    "otel_eval_results_total": {"otel_eval_outcome": {"score", "skipped", "failed"}, "otel_eval_reason": REASONS},
    "otel_eval_units": {"otel_eval_outcome": set(UnitOutcome), "otel_eval_unit": {"trace", "conversation"}},
}


def texts() -> Iterator[tuple[str, str]]:
    """(where, query) of each query that we ship."""
    for rule in RULES:
        yield f"rule {rule.get('alert') or rule['record']}", rule["expr"]
    for panel in PANELS:
        for target in panel["targets"]:
            yield f"panel {panel['title']} {target['refId']}", target["expr"]


QUERIES = dict(texts())


@pytest.fixture(params=QUERIES)
def query(request: pytest.FixtureRequest) -> Query:
    """One of our queries, parsed."""
    return query_from_text(QUERIES[request.param])


RECORDED = {rule["record"]: query_from_text(rule["expr"]).groups for rule in RULES if "record" in rule}


def labels_of(series: str) -> set[str]:
    """Those that a series has. KeyError for a series that nothing makes."""
    if series in RECORDED:
        return set(RECORDED[series])
    le = {"le"} if series.endswith("_bucket") else set()
    return {*map(label_of, SERIES[series].attributes), *EVERYWHERE, *le}


def test_series_and_labels_are_measured(query: Query) -> None:
    """Each series is made of an instrument, and each label that is asked for or grouped by is one of its attributes."""
    assert query.selectors
    for selector in query.selectors:
        assert selector.series in SERIES or selector.series in RECORDED
        assert set(selector.labels) <= labels_of(selector.series)
    assert query.groups <= set(chain.from_iterable(labels_of(s.series) for s in query.selectors))


def test_values_are_ones_that_occur(query: Query) -> None:
    """A value that a label is held against is in its closed set, or stands so in the package."""
    for selector in query.selectors:
        for label, value in selector.labels.items():
            if label != "le" and not value.startswith("$"):
                assert set(value.split("|")) <= known_values(selector.series, label), (label, value)


def known_values(series: str, label: str) -> set[str]:
    return {str(value) for value in VALUES.get(series, {}).get(label, WORDS)}


WORDS = {word for file in (ROOT / "otel_eval").rglob("*.py") for word in re.findall(r'"([a-z_]+)"', file.read_text())}
"""Every word in quotes in the package."""


def test_buckets_that_are_asked_for_are_made() -> None:
    """A bound in a query is a bound of the histogram; Prometheus knows no others."""
    asked = {(s.series, s.labels["le"]) for text in QUERIES.values() for s in query_from_text(text).selectors if "le" in s.labels}
    assert asked
    assert all(float(bound) in SERIES[series].bounds for series, bound in asked)


def test_every_instrument_is_shown() -> None:
    """The dashboard has a place for everything that otel-eval measures."""
    shown = {SERIES[s.series].name for panel in PANELS for t in panel["targets"] for s in query_from_text(t["expr"]).selectors}
    assert shown == set(INSTRUMENTS)


def test_rates_of_verdicts_are_of_the_estimate_queue() -> None:
    """Means and verdicts leave triage out, and the number that they rest on stands beside them."""
    for where, text in QUERIES.items():
        for selector in query_from_text(text).selectors:
            if selector.series in ("otel_eval_score_sum", "otel_eval_score_count"):
                assert selector.labels.get("otel_eval_selected_by") == "estimate", where
    first = [panel["title"] for panel in PANELS[:2]]
    assert first == ["Mean of each metric", "Scores it rests on"]


def test_alerts_say_what_is_wrong_and_what_to_do() -> None:
    """Each alert has a severity, a summary and a description, and its summary names labels that its query leaves."""
    for rule in RULES:
        if "alert" in rule:
            assert rule["labels"]["severity"] in {"info", "warning", "critical"}
            assert rule["annotations"]["description"]
            named = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
            assert named <= {*query_from_text(rule["expr"]).groups, *chain.from_iterable(RECORDED.values())}


def test_variables_of_the_dashboard_are_used_and_defined() -> None:
    """No panel asks for a variable that is not there, and none stands there for nothing."""
    defined = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(DASHBOARD["panels"])))
    assert used == defined


def test_the_dashboard_is_one_of_grafana_s_own_model() -> None:
    """Read into the classes that Grafana makes from its schema and written again, it has lost nothing: each key is known there."""
    register_default_plugins()
    again = json.loads(JSONEncoder().encode(Dashboard.from_json(DASHBOARD)))
    assert kept_of(DASHBOARD, again) == DASHBOARD


def kept_of(before: Any, after: Any) -> Any:
    """What of a value is there afterwards, too; defaults that came on top are left out."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {key: kept_of(value, after[key]) for key, value in before.items() if key in after}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [kept_of(*pair) for pair in zip(before, after, strict=True)]
    return after


def test_panels_do_not_overlap() -> None:
    """The grid of 24 columns holds each panel in a place of its own."""
    places = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(places) == len(set(places))
    assert all(x < 24 for x, _ in places)


@pytest.mark.parametrize(
    ("instrument", "series"),
    [
        (Instrument(name="a.b", kind="counter", sentence="", unit="{x}"), ("a_b_total",)),
        (Instrument(name="a.b", kind="counter", sentence="", unit="USD"), ("a_b_USD_total",)),
        (Instrument(name="a.b", kind="gauge", sentence="", unit="By"), ("a_b_bytes",)),
        (Instrument(name="a.b", kind="gauge", sentence=""), ("a_b_ratio",)),
        (Instrument(name="a.b", kind="updown", sentence="", unit="{x}"), ("a_b",)),
        (Instrument(name="a.b", kind="histogram", sentence="", unit="s"), ("a_b_seconds_bucket", "a_b_seconds_sum", "a_b_seconds_count")),
    ],
)
def test_names_are_translated_as_prometheus_does(instrument: Instrument, series: tuple[str, ...]) -> None:
    """Dots become underscores, the unit is written out, counters end in `_total`, annotations in braces are left out."""
    assert series_of(instrument) == series


def test_a_real_translation_gives_these_names(tmp_path: Path) -> None:
    """A Collector that is sent one point of every instrument offers the series that our queries ask for, and no others."""
    meter = Meter(start_ns=time.time_ns())
    for instrument in INSTRUMENTS.values():
        (meter.record if instrument.kind == "histogram" else meter.add)(instrument.name, 1.0, dict.fromkeys(instrument.attributes, "x"))
    resource = {"service.name": "otel-eval", "service.instance.id": "w1"}
    body = metrics_request_from_points(
        meter.points(), resource=resource, scope_name="otel_eval", start_ns=meter.start_ns, time_ns=time.time_ns()
    )
    scraped = f"127.0.0.1:{free_port()}"
    with Collector("scrape.yaml", tmp_path, OTELCOL_SCRAPE_ENDPOINT=scraped) as collector:
        post_otlp(Endpoint(url=collector.results, protocol="grpc"), "metrics", body)
        until(lambda: "otel_eval_score" in page(f"http://{scraped}/metrics"), 20)
        samples = dict(re.findall(r"^(otel_eval_\w+)\{([^}]*)\}", page(f"http://{scraped}/metrics"), re.MULTILINE))
    assert set(samples) == set(SERIES)
    for series, labels in samples.items():
        assert set(re.findall(r'(\w+)="', labels)) - {"otel_scope_name", "otel_scope_version", "otel_scope_schema_url"} == labels_of(series)


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as response:
        return str(response.read().decode())
