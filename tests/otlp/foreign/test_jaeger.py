"""Jaeger's JSON."""

import json
from typing import Any

import pytest

from otel_eval.model import Batch, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.records import records_from_value
from otel_eval.otlp.tally import Tally
from tests.fakes.wire import shared

TRACE_ID, SPAN_ID, PARENT_ID = "3e289017fe03ffd7c4145316d2eb3d0d", "1f9762ca1e03e2d2", "e3daa973379bbe3b"
START_US = 1_771_237_534_577_907


def tag(key: str, value: Any, of_type: str = "string") -> dict[str, Any]:
    return {"key": key, "type": of_type, "value": value}


SPAN: dict[str, Any] = {
    "traceID": TRACE_ID,
    "spanID": SPAN_ID,
    "operationName": "call_llm",
    "references": [
        {"refType": "CHILD_OF", "traceID": TRACE_ID, "spanID": PARENT_ID},
        {"refType": "FOLLOWS_FROM", "traceID": PARENT_ID, "spanID": SPAN_ID},
    ],
    "startTime": START_US,
    "duration": 5510,
    "tags": [
        tag("span.kind", "client"),
        tag("otel.scope.name", "gcp.vertex.agent"),
        tag("otel.scope.version", "2"),
        tag("otel.status_code", "ERROR"),
        tag("otel.status_description", "bad"),
        tag("error", True, "bool"),
        tag("w3c.tracestate", "ot=th:8"),
        tag("internal.span.format", "otlp"),
        tag("gen_ai.usage.input_tokens", 12, "int64"),
        tag("big", "9007199254740993", "int64"),
        tag("raw", "_-8=", "binary"),
        tag("ok", False, "bool"),
        tag("ratio", 0.5, "float64"),
    ],
    "logs": [{"timestamp": START_US + 1, "fields": [tag("event", "exception"), tag("exception.type", "ValueError")]}],
    "processID": "p1",
    "warnings": None,
}
PROCESSES = {"p1": {"serviceName": "helm_agent", "tags": [tag("service.namespace", "kagent")]}}


def answer(*spans: Any) -> dict[str, Any]:
    return {"data": [{"traceID": TRACE_ID, "spans": list(spans), "processes": PROCESSES}], "total": 0, "errors": None}


def read(value: Any) -> Batch:
    (batch,) = records_from_value(value, Tally())
    assert isinstance(batch, Batch)
    return batch


EXPECTED = Span(
    trace_id=TRACE_ID,
    span_id=SPAN_ID,
    parent_span_id=PARENT_ID,
    name="call_llm",
    kind=3,
    start_ns=START_US * 1000,
    end_ns=(START_US + 5510) * 1000,
    attributes={"gen_ai.usage.input_tokens": 12, "big": 9007199254740993, "raw": b"\xff\xef", "ok": False, "ratio": 0.5},
    events=(SpanEvent(name="exception", time_ns=(START_US + 1) * 1000, attributes={"exception.type": "ValueError"}),),
    links=(SpanLink(trace_id="0000000000000000" + PARENT_ID, span_id=SPAN_ID),),
    status_code=2,
    status_message="bad",
    trace_state="ot=th:8",
    scope=Scope(name="gcp.vertex.agent", version="2", resource={"service.name": "helm_agent", "service.namespace": "kagent"}),
)


def test_every_field_arrives() -> None:
    """Tags that the translation to Jaeger made go back to kind, status, scope and trace state; the others keep their types."""
    assert read(answer(SPAN)) == Batch(spans=(EXPECTED,))


def test_a_trace_alone_and_a_stored_span_are_read() -> None:
    """One trace of the answer, and a span with its process in itself, hold the same span."""
    assert read(answer(SPAN)["data"][0]).spans == (EXPECTED,)
    assert read({**SPAN, "process": PROCESSES["p1"], "processID": None}).spans == (EXPECTED,)


@pytest.mark.parametrize(("tags", "code"), [([], 0), ([tag("error", True, "bool")], 2), ([tag("otel.status_code", "OK")], 1)])
def test_the_status_comes_from_its_tag_or_from_error(tags: list[Any], code: int) -> None:
    """Without a status tag, `error` makes an error."""
    span = read(answer({**SPAN, "tags": tags})).spans[0]
    assert (span.status_code, span.attributes) == (code, {})


def test_cut_zeros_of_ids_are_put_back() -> None:
    """Jaeger writes ids without leading zeros."""
    span = read(answer({**SPAN, "traceID": "abc", "spanID": "1", "references": []})).spans[0]
    assert (span.trace_id, span.span_id, span.parent_span_id) == ("abc".zfill(32), "1".zfill(16), None)


def test_a_parent_in_another_trace_is_a_link() -> None:
    """CHILD_OF into another trace is no parent of this one."""
    span = read(answer({**SPAN, "references": [{"refType": "CHILD_OF", "traceID": "b" * 32, "spanID": PARENT_ID}]})).spans[0]
    assert (span.parent_span_id, span.links) == (None, (SpanLink(trace_id="b" * 32, span_id=PARENT_ID),))


@pytest.mark.parametrize(
    ("item", "reason"),
    [({**SPAN, "spanID": ""}, "invalid_span_id"), ({**SPAN, "startTime": "x"}, "malformed_span"), (None, "malformed_span")],
)
def test_a_broken_span_costs_only_itself(item: Any, reason: str) -> None:
    """Spans around a broken one are read."""
    assert read(answer(SPAN, item, SPAN)) == Batch(spans=(EXPECTED, EXPECTED), rejected={reason: 1})


def test_real_exports_are_read() -> None:
    """Exports of a kagent agent: every span is there, under parents that exist, with their GenAI attributes."""
    for path in shared("data/otel_traces/agentevals_samples").glob("[hk]*.json"):
        batch = read(json.loads(path.read_text()))
        ids = {span.span_id for span in batch.spans}
        assert len(batch.spans) > 70
        assert (batch.rejected, batch.notes) == ({}, {})
        assert sum(span.parent_span_id in ids for span in batch.spans) > len(batch.spans) - 5
        assert any("gen_ai.usage.input_tokens" in span.attributes for span in batch.spans)
