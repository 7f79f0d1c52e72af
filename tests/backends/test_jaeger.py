"""Results as span events in Jaeger, which they reach by `inline.yaml`, found with the saved queries of `docs/backends.md`."""

import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.backends import Jaeger, queries
from tests.fakes.collector import Collector
from tests.fakes.judged import METRIC, ROOT, TRACE, judged
from tests.fakes.programs import free_port
from tests.fakes.serving import until

RESULT = "gen_ai.evaluation.result"


@pytest.fixture(scope="module")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jaeger]:
    """With the traces of three judged conversations, which came through otel-eval."""
    folder: Path = tmp_path_factory.mktemp("jaeger")
    port = free_port()
    with Jaeger(folder) as running:
        collector = Collector("inline.yaml", folder, OTEL_EVAL_ENDPOINT=f"127.0.0.1:{port}", BACKEND_OTLP_ENDPOINT=running.otlp)
        hop: dict[str, Any] = {"inline__endpoint": collector.results, "receive__grpc__endpoint": f"127.0.0.1:{port}"}
        with collector, judged(folder, send=lambda body: collector.post("traces", body, json_body=True), **hop):
            until(lambda: len(running.traces("/api/traces?service=shop")) == 3, 60)
            yield running


def asked(jaeger: Jaeger, name: str) -> list[dict[str, Any]]:
    """What a saved query gives."""
    path, mark, parameters = queries()[name].partition("?")
    return jaeger.traces(path + mark + urllib.parse.quote(parameters, safe="=&"))


def results(span: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The fields of a span's result events, by metric."""
    found = [{field["key"]: field["value"] for field in log["fields"]} for log in span["logs"]]
    return {fields["gen_ai.evaluation.name"]: fields for fields in found if fields.get("event") == RESULT}


def test_results_are_on_the_judged_span(jaeger: Jaeger) -> None:
    """A trace comes back with its results on the root of the judged turn, and on no other span."""
    (trace,) = asked(jaeger, "The spans of a trace with their results")
    by_span = {span["spanID"]: results(span) for span in trace["spans"]}
    judged_span = by_span.pop(ROOT)
    assert trace["traceID"] == TRACE
    assert {name: fields["gen_ai.evaluation.score.value"] for name, fields in judged_span.items()} == {METRIC: 1, "turn_count": 1}
    assert list(by_span.values()) == [{}]


def test_traces_are_found_by_their_results(jaeger: Jaeger) -> None:
    """The search goes by the attributes of span events: only the trace whose goal was reached."""
    assert [trace["traceID"] for trace in asked(jaeger, "Traces with a result")] == [TRACE]
