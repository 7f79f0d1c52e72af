"""Results as metrics: names, bounds, exemplars, attributes of few values, and nothing invented."""

import asyncio
from dataclasses import replace
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from otel_eval.model import Failed, FailReason, JudgeUse, Outcome, Report, Result, Score, Skipped, SkipReason
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.sinks.otlp_metrics import OtlpMetricsSink
from otel_eval.telemetry import MOST_SERIES, OVERFLOW, SCORES, Meter
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.talk import TRACE, booking, ref

JUDGE = JudgeUse(kind="model", model="m-1", calls=2, input_tokens=900, output_tokens=60, cost_usd=0.25)


def report(*outcomes: Outcome, agent: str = "box-office") -> Report:
    results = tuple(
        Result(id=f"id-{n}", metric="agent_goal_accuracy", metric_version="1", outcome=outcome, anchor=ref(1))
        for n, outcome in enumerate(outcomes)
    )
    return Report(conversation=replace(booking(), agent=agent), results=results, selected_by="estimate", time_ns=7)


def sent(*reports: Report) -> dict[str, Any]:
    """The metrics of the last request, by name."""
    with OtlpReceiver() as receiver:
        sink = OtlpMetricsSink(Endpoint(url=f"{receiver.url}/v1/metrics"), resource={"service.name": "otel-eval"})
        asyncio.run(sink.send([p for r in reports if (p := sink.payload(r)) is not None]))
    request = ExportMetricsServiceRequest.FromString(receiver.bodies[-1][1])
    return {m.name: m for m in request.resource_metrics[0].scope_metrics[0].metrics}


def attributes(point: Any) -> dict[str, str]:
    return {a.key: a.value.string_value for a in point.attributes}


def test_scores_are_a_histogram_with_exemplars() -> None:
    """Cumulative, with bounds from 0 to 1 in tenths, and the judged span of a measurement beside it."""
    metric = sent(report(Score(value=1.0, label="pass", judge=JUDGE)), report(Score(value=0.25, label="pass", judge=JUDGE)))[
        "otel_eval.score"
    ]
    (point,) = metric.histogram.data_points
    assert metric.histogram.aggregation_temporality == 2
    assert tuple(point.explicit_bounds) == SCORES
    assert (point.count, point.sum, point.min, point.max) == (2, 1.25, 0.25, 1.0)
    assert dict(zip(SCORES, point.bucket_counts, strict=False))[1.0] == 1
    assert dict(zip(SCORES, point.bucket_counts, strict=False))[0.3] == 1
    assert {(e.trace_id.hex(), e.span_id.hex(), e.as_double) for e in point.exemplars} == {
        (TRACE, ref(1).span_id, 1.0),
        (TRACE, ref(1).span_id, 0.25),
    }
    assert attributes(point) == {
        "gen_ai.evaluation.name": "agent_goal_accuracy",
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.agent.name": "box-office",
        "otel_eval.judge.kind": "model",
        "otel_eval.selected_by": "estimate",
    }


def test_what_has_no_value_is_counted_with_its_reason() -> None:
    """Skipped and failed results are no scores: they are counted by reason."""
    skipped = Skipped(reason=SkipReason.UNDEFINED)
    failed = Failed(error_type=FailReason.JUDGE_TIMEOUT, judge=replace(JUDGE, input_tokens=None, cost_usd=None))
    found = sent(report(skipped, failed, failed))
    assert "otel_eval.score" not in found
    counts = {
        (attributes(p)["otel_eval.outcome"], attributes(p)["otel_eval.reason"]): p.as_double
        for p in found["otel_eval.results"].sum.data_points
    }
    assert counts == {("skipped", "undefined"): 1.0, ("failed", "judge_timeout"): 2.0}
    assert "otel_eval.judge.cost" not in found
    tokens = [(attributes(p)["gen_ai.token.type"], p.as_double) for p in found["otel_eval.judge.tokens"].sum.data_points]
    assert tokens == [("output", 120.0)]


def test_costs_add_up() -> None:
    """Calls, tokens and dollars of the judge are sums."""
    found = sent(*[report(Score(value=1.0, judge=JUDGE))] * 3)
    totals = {name: sum(p.as_double for p in found[name].sum.data_points) for name in ("otel_eval.judge.calls", "otel_eval.judge.cost")}
    assert totals == {"otel_eval.judge.calls": 6.0, "otel_eval.judge.cost": 0.75}


def test_the_last_exemplar_of_a_bucket_is_told_again() -> None:
    """A second request with nothing new has the same sums, and one exemplar a bucket: a Collector that is scraped forgets all others."""
    with OtlpReceiver() as receiver:
        sink = OtlpMetricsSink(Endpoint(url=f"{receiver.url}/v1/metrics"), resource={})
        payloads = [sink.payload(report(Score(value=value))) for value in (1.0, 0.2, 1.0)]
        asyncio.run(sink.send([payload for payload in payloads if payload is not None]))
        asyncio.run(sink.send([]))
    told = []
    for _, body in receiver.bodies:
        metrics = ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0].metrics
        point = next(m for m in metrics if m.name == "otel_eval.score").histogram.data_points[0]
        told.append((point.count, [exemplar.as_double for exemplar in point.exemplars]))
    assert told == [(3, [1.0, 0.2, 1.0]), (3, [1.0, 0.2])]


def test_series_are_limited() -> None:
    """An agent name that is another for each conversation does not fill the memory: what is beyond the limit is counted together."""
    meter = Meter()
    for number in range(MOST_SERIES + 50):
        meter.add("otel_eval.results", 1, {"gen_ai.agent.name": f"agent {number}"})
    points = meter.points()["otel_eval.results"]
    assert len(points) == MOST_SERIES + 1
    assert next(p.value for p in points if p.attributes == OVERFLOW) == 50
