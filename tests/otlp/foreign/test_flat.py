"""Spans and log records that stand alone."""

import json
from typing import Any

import pytest

from otel_eval.model import Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.records import records_from_value
from otel_eval.otlp.tally import Tally
from tests.fakes.wire import SPAN, TRACE, json_span

TRACE_ID, SPAN_ID, PARENT_ID = TRACE.hex(), SPAN.hex(), SPAN[::-1].hex()
START, END = 1_700_000_000_000_000_000, 1_700_000_001_000_000_000
RESOURCE = {"attributes": {"service.name": "shop"}, "schema_url": ""}
IDS = {"trace_id": f"0x{TRACE_ID}", "span_id": f"0x{SPAN_ID}", "trace_state": "[]"}

PYTHON_CONSOLE = {
    "name": "chat",
    "context": IDS,
    "kind": "SpanKind.CLIENT",
    "parent_id": f"0x{PARENT_ID}",
    "start_time": "2023-11-14T22:13:20.000000Z",
    "end_time": "2023-11-14T22:13:21.000000Z",
    "status": {"status_code": "ERROR", "description": "bad"},
    "attributes": {"a": 1, "b": [1.5]},
    "events": [{"name": "e", "timestamp": "2023-11-14T22:13:20.500000Z", "attributes": {"z": True}}],
    "links": [{"context": IDS, "attributes": {"k": "v"}}],
    "resource": RESOURCE,
}
JS_READABLE = {
    "name": "chat",
    "spanContext": {"traceId": TRACE_ID, "spanId": SPAN_ID},
    "parentSpanContext": {"spanId": PARENT_ID},
    "kind": 2,
    "startTime": [1_700_000_000, 0],
    "endTime": [1_700_000_001, 0],
    "status": {"code": 2, "message": "bad"},
    "attributes": {"a": 1, "b": [1.5]},
    "events": [{"name": "e", "time": [1_700_000_000, 500_000_000], "attributes": {"z": True}}],
    "links": [{"context": {"traceId": TRACE_ID, "spanId": SPAN_ID}, "attributes": {"k": "v"}}],
    "resource": {"attributes": {"service.name": "shop"}},
    "instrumentationScope": {"name": "lib", "version": "1"},
}
FLAT: dict[str, Any] = {
    "trace_id": TRACE_ID,
    "span_id": SPAN_ID,
    "parent_span_id": PARENT_ID,
    "name": "chat",
    "kind": "CLIENT",
    "start_time": START,
    "end_time": END,
    "status": {"code": "ERROR", "message": "bad"},
    "attributes": {"a": 1, "b": [1.5]},
    "span_events": [{"event_name": "e", "timestamp": START + 500_000_000, "attributes": {"z": True}}],
    "links": [{"trace_id": TRACE_ID, "span_id": SPAN_ID, "attributes": {"k": "v"}}],
    "resource": {"service.name": "shop"},
    "scope": {"name": "lib", "version": "1"},
}
OTLP_WITHOUT_ENVELOPE = json_span(
    1,
    spanId=SPAN_ID,
    parentSpanId=PARENT_ID,
    name="chat",
    kind=3,
    startTimeUnixNano=str(START),
    endTimeUnixNano=str(END),
    status={"code": 2, "message": "bad"},
    attributes=[{"key": "a", "value": {"intValue": "1"}}, {"key": "b", "value": {"arrayValue": {"values": [{"doubleValue": 1.5}]}}}],
    events=[{"name": "e", "timeUnixNano": str(START + 500_000_000), "attributes": [{"key": "z", "value": {"boolValue": True}}]}],
    links=[{"traceId": TRACE_ID, "spanId": SPAN_ID, "attributes": [{"key": "k", "value": {"stringValue": "v"}}]}],
)
NONE, RESOURCE_ONLY = Scope(), Scope(resource={"service.name": "shop"})
WHOLE = Scope(name="lib", version="1", resource={"service.name": "shop"})


def read(value: Any) -> Batch:
    (batch,) = records_from_value(value, Tally())
    assert isinstance(batch, Batch)
    return batch


@pytest.mark.parametrize(
    ("data", "scope"), [(PYTHON_CONSOLE, RESOURCE_ONLY), (JS_READABLE, WHOLE), (FLAT, WHOLE), (OTLP_WITHOUT_ENVELOPE, NONE)]
)
def test_the_same_span_in_each_form(data: dict[str, Any], scope: Scope) -> None:
    """Every field of a span is found, however the tool names and writes it."""
    assert read(data).spans == (
        Span(
            trace_id=TRACE_ID,
            span_id=SPAN_ID,
            parent_span_id=PARENT_ID,
            name="chat",
            kind=3,
            start_ns=START,
            end_ns=END,
            attributes={"a": 1, "b": [1.5]},
            events=(SpanEvent(name="e", time_ns=START + 500_000_000, attributes={"z": True}),),
            links=(SpanLink(trace_id=TRACE_ID, span_id=SPAN_ID, attributes={"k": "v"}),),
            status_code=2,
            status_message="bad",
            scope=scope,
        ),
    )


def test_a_root_has_no_parent() -> None:
    """A null parent is None."""
    assert read(PYTHON_CONSOLE | {"parent_id": None}).spans[0].parent_span_id is None


def test_a_list_of_spans_in_an_object_shares_its_session() -> None:
    """`{session_id, spans}` gives each span the session, unless it names one itself."""
    own = FLAT | {"attributes": {"session.id": "own"}}
    batch = read({"session_id": "s", "span_count": 2, "spans": [FLAT, own]})
    assert [span.attributes["session.id"] for span in batch.spans] == ["s", "own"]


def test_a_message_body_on_an_event_is_a_log_record() -> None:
    """What the AWS distribution puts into `span_events[].body` comes as a log record of that span; events without body stay events."""
    event = {
        "event_name": "lib",
        "span_id": SPAN_ID,
        "timestamp": START,
        "attributes": {"event.name": "lib"},
        "body": {"input": {"messages": []}},
    }
    batch = read([FLAT | {"span_events": [event, FLAT["span_events"][0]]}, FLAT | {"span_events": [event]}])
    record = LogRecord(
        trace_id=TRACE_ID,
        span_id=SPAN_ID,
        event_name="lib",
        time_ns=START,
        body={"input": {"messages": []}},
        attributes={"event.name": "lib"},
        scope=WHOLE,
    )
    assert batch.logs[0] == record
    assert [r.order for r in batch.logs] == [0, 1]
    assert [len(span.events) for span in batch.spans] == [1, 0]


def test_a_log_record_of_the_python_console_exporter() -> None:
    """Ids, times, body and event name of a printed log record are read."""
    data = {
        "body": {"role": "user"},
        "severity_number": 9,
        "severity_text": None,
        "attributes": {"q": 1},
        "dropped_attributes": 0,
        "timestamp": "2023-11-14T22:13:20.000000Z",
        "observed_timestamp": "2023-11-14T22:13:21.000000Z",
        "trace_id": f"0x{TRACE_ID}",
        "span_id": f"0x{SPAN_ID}",
        "trace_flags": 1,
        "resource": RESOURCE,
        "event_name": "gen_ai.user.message",
    }
    expected = LogRecord(
        trace_id=TRACE_ID,
        span_id=SPAN_ID,
        event_name="gen_ai.user.message",
        time_ns=START,
        observed_ns=END,
        severity_number=9,
        body={"role": "user"},
        attributes={"q": 1},
        scope=RESOURCE_ONLY,
    )
    assert read(data).logs == (expected,)
    unhung = data | {"trace_id": "0x" + "0" * 32, "span_id": "0x" + "0" * 16, "timestamp": None}
    assert (read(unhung).logs[0].trace_id, read(unhung).logs[0].time_ns) == (None, None)


def test_a_span_without_ids_gets_one_of_its_content() -> None:
    """`{spanName, scopeName, attributes}` is a span whose ids are made and noted; its times are unknown."""
    data = {"scopeName": "opencode", "spanName": "ai.streamText", "attributes": {"ai.model.id": "m"}}
    batch = read(data)
    span = batch.spans[0]
    assert (span.name, span.scope.name, span.start_ns, span.attributes) == ("ai.streamText", "opencode", None, {"ai.model.id": "m"})
    assert (len(span.trace_id), len(span.span_id), batch.notes) == (32, 16, {"missing_id": 1})


BROKEN = [
    (FLAT | {"trace_id": ""}, "invalid_trace_id"),
    (FLAT | {"span_id": "0" * 16}, "invalid_span_id"),
    (FLAT | {"start_time": "soon"}, "malformed_span"),
    (FLAT | {"attributes": "none"}, "malformed_span"),
    (FLAT | {"span_events": [1]}, "malformed_span"),
    (5, "malformed_span"),
]


@pytest.mark.parametrize(("item", "reason"), BROKEN)
def test_a_broken_span_costs_only_itself(item: Any, reason: str) -> None:
    """Spans around a broken one are read, in order; it is counted by its reason."""
    batch = read({"spans": [FLAT, item, FLAT | {"name": "last"}]})
    assert [span.name for span in batch.spans] == ["chat", "last"]
    assert batch.rejected == {reason: 1}


def test_it_survives_a_round_trip_through_text() -> None:
    """The forms are JSON: nothing in them depends on Python's types."""
    assert read(json.loads(json.dumps(FLAT))) == read(FLAT)
