"""Scores as a histogram with exemplars in Prometheus, sent and scraped, found with the saved queries of `docs/backends.md`."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.backends import Prometheus, queries
from tests.fakes.collector import Collector
from tests.fakes.judged import METRIC, ROOT, TRACE, judged
from tests.fakes.programs import free_port
from tests.fakes.serving import until


@pytest.fixture(scope="module", params=["sent", "scraped"])
def prometheus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """With the scores of three conversations: by OTLP from otel-eval itself, or scraped from a Collector (`scrape.yaml`)."""
    folder: Path = tmp_path_factory.mktemp(request.param)
    metrics: dict[str, Any] = {"sinks__otlp_metrics__interval": "300ms"}
    if request.param == "sent":
        with Prometheus(folder) as running, judged(folder, sinks__otlp_metrics__endpoint=running.otlp, **metrics):
            yield filled(running)
        return
    scraped = f"127.0.0.1:{free_port()}"
    collector = Collector("scrape.yaml", folder, OTELCOL_SCRAPE_ENDPOINT=scraped)
    metrics |= {"sinks__otlp_metrics__endpoint": collector.results, "sinks__otlp_metrics__protocol": "grpc"}
    with collector, Prometheus(folder, scraped=scraped) as running, judged(folder, **metrics):
        yield filled(running)


def filled(prometheus: Prometheus) -> Prometheus:
    """Once it has all three scores of the metric that needs no judge."""
    until(lambda: any(value == 3 for _, value in prometheus.values('otel_eval_score_count{gen_ai_evaluation_name="turn_count"}')), 60)
    return prometheus


def test_mean_by_metric(prometheus: Prometheus) -> None:
    """The mean of each metric over its scores."""
    found = prometheus.values(queries()["Mean score by metric"])
    assert {labels["gen_ai_evaluation_name"]: value for labels, value in found} == {METRIC: 0.5, "turn_count": 1.0}


def test_share_that_fell_short(prometheus: Prometheus) -> None:
    """One of the two that have a score."""
    assert [value for _, value in prometheus.values(queries()["Share that fell short"])] == [0.5]


def test_exemplars_lead_to_the_judged_span(prometheus: Prometheus) -> None:
    """A score's exemplar has the ids of the root span of the judged turn."""
    query = queries()["Judged spans behind a score"]
    now = time.time()
    until(lambda: len(prometheus.exemplars(query, now - 600, now + 60)) >= 2, 30)
    found = prometheus.exemplars(query, now - 600, now + 60)
    assert (TRACE, ROOT) in {(labels["trace_id"], labels["span_id"]) for labels in found}
