"""Results as spans, linked to the judged ones."""

import asyncio
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.model import Failed, FailReason, Outcome, Report, Result, Score, Skipped, SkipReason
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.sinks.otlp_spans import OtlpSpanSink
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.talk import TRACE, booking, ref

OUTCOMES: tuple[Outcome, ...] = (
    Score(value=1.0, label="pass"),
    Failed(error_type=FailReason.JUDGE_TIMEOUT),
    Skipped(reason=SkipReason.UNDEFINED),
)
REPORT = Report(
    conversation=booking(),
    results=tuple(Result(id=f"id-{n}", metric=f"m{n}", metric_version="1", outcome=o, anchor=ref(1)) for n, o in enumerate(OUTCOMES)),
    time_ns=1_790_000_000_000_000_000,
)


def spans(*, inside: bool = False) -> list[Any]:
    with OtlpReceiver() as receiver:
        sink = OtlpSpanSink(Endpoint(url=f"{receiver.url}/v1/traces"), resource={}, inside=inside)
        payload = sink.payload(REPORT)
        assert payload is not None
        assert payload == sink.payload(REPORT)
        asyncio.run(sink.send([payload]))
    part = ExportTraceServiceRequest.FromString(receiver.bodies[0][1]).resource_spans[0].scope_spans[0]
    assert part.scope.name == "otel_eval"
    return list(part.spans)


def test_a_span_for_each_score_and_failure() -> None:
    """Named by the metric, with the attributes of the event, in a trace of its own that links to the judged span; a failure is an error."""
    score, failed = spans()
    assert (score.name, failed.name) == ("evaluate m0", "evaluate m1")
    assert score.trace_id.hex() != TRACE
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in score.links] == [(TRACE, ref(1).span_id)]
    told = {a.key: a.value for a in score.attributes}
    assert told["gen_ai.evaluation.score.value"].double_value == 1.0
    assert told["otel_eval.result.id"].string_value == "id-0"
    assert (failed.status.code, failed.status.message) == (2, "judge_timeout")
    assert score.start_time_unix_nano == REPORT.time_ns


def test_by_choice_inside_the_judged_trace() -> None:
    """The span is a child of the judged one then."""
    score, _ = spans(inside=True)
    assert (score.trace_id.hex(), score.parent_span_id.hex()) == (TRACE, ref(1).span_id)
