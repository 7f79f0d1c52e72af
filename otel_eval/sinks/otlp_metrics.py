"""Results as metrics to any OTLP receiver, and what this process measures of itself beside them.

What an outbox keeps of a report are its measurements; they are added up here and sent as cumulative sums. Sums with new measurements are
only kept once the far side took them: what it refused is measured again when it is sent again, and a restart begins new sums. So nothing is
lost or counted twice on either side of a crash.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from otel_eval.model import Attributes, Failed, JudgeUse, Report, Result, Score, Skipped
from otel_eval.otlp.encode_metrics import metrics_request_from_points
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.otlp.post import post_otlp
from otel_eval.sinks.result_events import SCOPE_NAME
from otel_eval.telemetry import Exemplar, Meter, Point

Points: TypeAlias = Mapping[str, Sequence[Point]]


def _nothing() -> Points:
    return {}


class OtlpMetricsSink:
    """Sends sums. `own` gives the points of this process at the moment of sending."""

    def __init__(self, endpoint: Endpoint, *, resource: Attributes, version: str = "", own: Callable[[], Points] = _nothing) -> None:
        self._endpoint, self._resource, self._version = endpoint, resource, version
        self.own = own
        self._meter = Meter()

    def payload(self, report: Report) -> bytes | None:
        """The measurements of a report, in JSON: a name, attributes and a value each, with the judged span."""
        measured = [list(m) for result in report.results for m in measurements(report, result)]
        return json.dumps({"time_ns": report.time_ns, "measured": measured}).encode() if measured else None

    async def send(self, payloads: Sequence[bytes]) -> str:
        meter = self._meter.copy()
        for payload in payloads:
            _measure(meter, json.loads(payload))
        body = metrics_request_from_points(
            {**self.own(), **meter.points()},
            resource=self._resource,
            scope_name=SCOPE_NAME,
            scope_version=self._version,
            start_ns=meter.start_ns,
            time_ns=time.time_ns(),
        )
        result = await asyncio.to_thread(post_otlp, self._endpoint, "metrics", body, once=True)
        meter.thin_exemplars()
        self._meter = meter
        return f"{result.rejected} refused for good: {result.message}" if result.rejected else result.message


def measurements(report: Report, result: Result) -> Iterator[tuple[str, dict[str, str], float, str, str]]:
    """(instrument, attributes, value, trace id, span id) for everything that a result adds to."""
    outcome = result.outcome
    shared = {
        "gen_ai.evaluation.name": result.metric,
        "gen_ai.agent.name": report.conversation.agent,
        "otel_eval.selected_by": report.selected_by,
    }
    anchor = (result.anchor.trace_id, result.anchor.span_id) if result.anchor else ("", "")
    judge = outcome.judge if isinstance(outcome, Score | Failed) else None
    if isinstance(outcome, Score):
        labels = {"gen_ai.evaluation.score.label": outcome.label, "otel_eval.judge.kind": judge.kind if judge else "none"}
        yield "otel_eval.score", _known({**shared, **labels}), float(outcome.value), *anchor
    kind, reason = _kind(outcome)
    yield "otel_eval.results", _known({**shared, "otel_eval.outcome": kind, "otel_eval.reason": reason}), 1.0, "", ""
    if judge is not None:
        yield from _costs(result.metric, judge)


def _kind(outcome: Any) -> tuple[str, str | None]:
    if isinstance(outcome, Skipped):
        return "skipped", outcome.reason.value
    if isinstance(outcome, Failed):
        return "failed", outcome.error_type.value
    return "score", None


def _costs(metric: str, judge: JudgeUse) -> Iterator[tuple[str, dict[str, str], float, str, str]]:
    """What is known of the cost; the unknown is no 0."""
    shared = {"gen_ai.evaluation.name": metric, "otel_eval.judge.kind": judge.kind, "otel_eval.judge.model": judge.model}
    if judge.calls:
        yield "otel_eval.judge.calls", _known(shared), float(judge.calls), "", ""
    for word, tokens in (("input", judge.input_tokens), ("output", judge.output_tokens)):
        if tokens:
            yield "otel_eval.judge.tokens", _known({**shared, "gen_ai.token.type": word}), float(tokens), "", ""
    if judge.cost_usd:
        yield "otel_eval.judge.cost", _known(shared), judge.cost_usd, "", ""


def _known(attributes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value is not None}


def _measure(meter: Meter, told: Mapping[str, Any]) -> None:
    for name, attributes, value, trace_id, span_id in told["measured"]:
        if name == "otel_eval.score":
            exemplar = Exemplar(value=value, time_ns=told["time_ns"], trace_id=trace_id, span_id=span_id) if trace_id else None
            meter.record(name, value, attributes, exemplar)
        else:
            meter.add(name, value, attributes)
