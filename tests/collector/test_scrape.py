"""`scrape.yaml`: scores are offered for scraping, with exemplars that lead to the judged spans."""

import re
import urllib.request
from pathlib import Path
from typing import Any

from tests.fakes.collector import Collector
from tests.fakes.judged import METRIC, ROOT, TRACE, judged
from tests.fakes.programs import free_port
from tests.fakes.serving import until

_EXEMPLAR = re.compile(r"^otel_eval_score_bucket\{(.*)\} \d+ # \{(.*?)\}", re.MULTILINE)


def exemplars(url: str) -> set[tuple[str, frozenset[str]]]:
    """(metric, labels of the exemplar) of each bucket of the histogram that has one, in OpenMetrics."""
    request = urllib.request.Request(url, headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    with urllib.request.urlopen(request, timeout=10) as response:
        text = response.read().decode()
    names = re.compile(r'gen_ai_evaluation_name="(\w+)"')
    return {(name[1], frozenset(told.split(","))) for labels, told in _EXEMPLAR.findall(text) if (name := names.search(labels))}


def test_scores_are_offered_with_exemplars(tmp_path: Path) -> None:
    """The histogram of scores stands at the endpoint; an exemplar has the ids of the judged span."""
    scraped = f"127.0.0.1:{free_port()}"
    collector = Collector("scrape.yaml", tmp_path, OTELCOL_SCRAPE_ENDPOINT=scraped)
    sends: dict[str, Any] = {"endpoint": collector.results, "protocol": "grpc", "interval": "300ms"}
    settings = {f"sinks__otlp_metrics__{key}": value for key, value in sends.items()}
    judged_span = frozenset({f'trace_id="{TRACE}"', f'span_id="{ROOT}"'})
    with collector, judged(tmp_path, **settings):
        until(lambda: {(METRIC, judged_span), ("turn_count", judged_span)} & exemplars(f"http://{scraped}/metrics"), 40)
        assert (METRIC, judged_span) in exemplars(f"http://{scraped}/metrics")
