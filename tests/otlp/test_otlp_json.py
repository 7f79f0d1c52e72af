"""OTLP/JSON to spans and log records."""

import base64
import contextlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import InputError
from otel_eval.model import Batch, LogRecord, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.decode import batch_from_traces
from otel_eval.otlp.otlp_json import batch_from_json, batch_from_object
from tests.fakes.wire import SPAN, TRACE, json_logs, json_span, json_traces, shared, span, traces

DEEP: dict[str, Any] = {"stringValue": "x"}
for _ in range(60):
    DEEP = {"arrayValue": {"values": [DEEP]}}

VALUES: list[tuple[Any, Any]] = [
    ({"stringValue": "text"}, "text"),
    ({"stringValue": ""}, ""),
    ({"stringValue": None}, None),
    ({"string_value": "snake"}, "snake"),
    ({"boolValue": False}, False),
    ({"intValue": "0"}, 0),
    ({"intValue": 7}, 7),
    ({"intValue": "-9223372036854775808"}, -(2**63)),
    ({"intValue": 5.0}, 5),
    ({"int_value": "3"}, 3),
    ({"doubleValue": 1}, 1.0),
    ({"doubleValue": 0.5}, 0.5),
    ({"doubleValue": "Infinity"}, math.inf),
    ({"doubleValue": "-Infinity"}, -math.inf),
    ({"bytesValue": base64.b64encode(b"\xff\xfe\xfd").decode()}, b"\xff\xfe\xfd"),
    ({"bytesValue": "_-8"}, b"\xff\xef"),
    ({"arrayValue": {}}, []),
    ({"arrayValue": {"values": [{"stringValue": "a"}, {}, {"intValue": "1"}]}}, ["a", None, 1]),
    ({"kvlistValue": {}}, {}),
    ({"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}}, {"k": "v"}),
    ({}, None),
    (None, None),
    ({"valueOfTomorrow": 1}, None),
]


def attribute(value: Any) -> list[dict[str, Any]]:
    return [{"key": "k", "value": value}]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_an_attribute_keeps_its_value_and_type(value: Any, expected: Any) -> None:
    """Each kind of AnyValue in each of its spellings has its Python value; an empty one is None."""
    got = batch_from_object(json_traces(json_span(attributes=attribute(value)))).spans[0].attributes["k"]
    assert got == expected
    assert type(got) is type(expected)


def test_not_a_number_is_read() -> None:
    """`"NaN"` is the double."""
    got = batch_from_object(json_traces(json_span(attributes=attribute({"doubleValue": "NaN"})))).spans[0].attributes["k"]
    assert math.isnan(got)


def test_a_pair_without_value_has_none() -> None:
    """A KeyValue whose value is left out is legal and None."""
    assert batch_from_object(json_traces(json_span(attributes=[{"key": "k"}]))).spans[0].attributes == {"k": None}


def test_every_field_arrives() -> None:
    """Each field of a span, its events, links, scope and resource stands where the model has it; unknown fields are ignored."""
    item = json_span(
        parentSpanId=SPAN.hex().upper(),
        kind=3,
        startTimeUnixNano="1",
        endTimeUnixNano=2,
        traceState="ot=th:8",
        flags=769,
        status={"code": 2, "message": "failed"},
        attributes=attribute({"intValue": "1"}),
        events=[{"name": "e", "timeUnixNano": "3", "attributes": attribute({"boolValue": True}), "new": 1}],
        links=[{"traceId": TRACE.hex(), "spanId": SPAN.hex(), "attributes": attribute({"stringValue": "v"})}, {"traceId": "zz"}],
        droppedAttributesCount=4,
        droppedEventsCount="5",
        fieldOfTomorrow={"a": 1},
    )
    request = json_traces(item)
    request["resourceSpans"][0] |= {"schemaUrl": "url", "resource": {"attributes": attribute({"stringValue": "r"}), "x": 1}, "y": 2}
    assert batch_from_object(request).spans == (
        Span(
            trace_id=TRACE.hex(),
            span_id=f"{1:016x}",
            parent_span_id=SPAN.hex(),
            name="span 1",
            kind=3,
            start_ns=1,
            end_ns=2,
            attributes={"k": 1},
            events=(SpanEvent(name="e", time_ns=3, attributes={"k": True}),),
            links=(SpanLink(trace_id=TRACE.hex(), span_id=SPAN.hex(), attributes={"k": "v"}),),
            status_code=2,
            status_message="failed",
            trace_state="ot=th:8",
            flags=769,
            scope=Scope(name="scope", version="1", schema_url="url", resource={"k": "r"}),
            dropped_attributes_count=4,
            dropped_events_count=5,
        ),
    )


def test_it_equals_the_protobuf_of_the_same_spans() -> None:
    """The same spans in JSON and in protobuf give equal batches."""
    assert batch_from_object(json_traces(json_span(1), json_span(2))) == batch_from_traces(traces(span(1), span(2)))


SPELLINGS = [
    ({"traceId": TRACE.hex().upper()}, {}),
    ({"traceId": base64.b64encode(TRACE).decode()}, {"base64_id": 1}),
    ({"traceId": base64.urlsafe_b64encode(TRACE).decode().rstrip("=")}, {"base64_id": 1}),
    ({"spanId": base64.b64encode((1).to_bytes(8, "big")).decode()}, {"base64_id": 1}),
]


@pytest.mark.parametrize(("fields", "notes"), SPELLINGS)
def test_ids_are_hexadecimal_of_either_case_and_base64_by_length(fields: dict[str, str], notes: dict[str, int]) -> None:
    """Ids in upper case are the same ids; base64 is read where the length leaves no doubt, and noted."""
    batch = batch_from_object(json_traces(json_span(1, **fields)))
    assert (batch.spans, batch.notes) == (batch_from_traces(traces(span(1))).spans, notes)


KINDS = [(None, 0), (0, 0), (3, 3), ("SPAN_KIND_CLIENT", 3), ("client", 3), ("2", 2)]


@pytest.mark.parametrize(("kind", "expected"), KINDS)
def test_a_kind_may_be_absent_a_number_or_a_name(kind: Any, expected: int) -> None:
    """A span without kind is legal; names are read although the specification wants numbers."""
    assert batch_from_object(json_traces(json_span(kind=kind))).spans[0].kind == expected


def test_snake_case_keys_are_read() -> None:
    """A request with protobuf's own field names is read like one in lowerCamelCase."""
    item = {"trace_id": TRACE.hex(), "span_id": f"{1:016x}", "name": "span 1", "start_time_unix_nano": 1001}
    request = {"resource_spans": [{"scope_spans": [{"scope": {"name": "scope", "version": "1"}, "spans": [item]}]}]}
    assert batch_from_object(request) == batch_from_traces(traces(span(1)))
    record = {"time_unix_nano": 5, "trace_id": TRACE.hex(), "severity_number": "SEVERITY_NUMBER_INFO2", "event_name": "e"}
    got = batch_from_object({"resource_logs": [{"scope_logs": [{"log_records": [record]}]}]}).logs
    assert got == (LogRecord(trace_id=TRACE.hex(), event_name="e", time_ns=5, severity_number=10),)


BROKEN = [
    (json_span(2, traceId=None), "invalid_trace_id"),
    (json_span(2, traceId="00" * 16), "invalid_trace_id"),
    (json_span(2, traceId=TRACE.hex()[:-1]), "invalid_trace_id"),
    (json_span(2, traceId=5), "invalid_trace_id"),
    (json_span(2, spanId=""), "invalid_span_id"),
    (json_span(2, spanId=" 102030405060708"), "invalid_span_id"),
    (json_span(2, parentSpanId="xyz"), "invalid_parent_span_id"),
    (json_span(2, attributes={"k": 1}), "malformed_span"),
    (json_span(2, attributes=attribute("plain")), "malformed_span"),
    (json_span(2, attributes=attribute({"intValue": "seven"})), "malformed_span"),
    (json_span(2, attributes=attribute({"boolValue": "yes"})), "malformed_span"),
    (json_span(2, attributes=[{"value": {}}]), "malformed_span"),
    (json_span(2, startTimeUnixNano="soon"), "malformed_span"),
    (json_span(2, kind="SPAN_KIND_OTHER"), "malformed_span"),
    (json_span(2, name=3), "malformed_span"),
    (json_span(2, events=[1]), "malformed_span"),
    (json_span(2, status="ERROR"), "malformed_span"),
    ("no object", "malformed_span"),
    (None, "malformed_span"),
]


@pytest.mark.parametrize(("item", "reason"), BROKEN)
def test_a_broken_span_costs_only_itself(item: Any, reason: str) -> None:
    """A broken span is counted by its reason; its neighbours are as without it, in order."""
    batch = batch_from_object(json_traces(json_span(1), item, json_span(3)))
    assert batch == Batch(spans=batch_from_traces(traces(span(1), span(3))).spans, rejected={reason: 1})


@pytest.mark.parametrize("time", [0, "0", None, -5, "18446744073709551615", 2**70])
def test_a_time_that_is_none_is_unknown(time: Any) -> None:
    """A time of zero, before 1970 or beyond what 64 bits hold is None, and no reason to lose the span."""
    assert batch_from_object(json_traces(json_span(startTimeUnixNano=time))).spans[0].start_ns is None


GROUPS: list[Any] = [
    None,
    "x",
    1,
    [],
    {"scopeSpans": "x"},
    {"scopeSpans": [1]},
    {"resource": {"attributes": 1}},
    {"scopeSpans": [{"spans": 1}]},
]


@pytest.mark.parametrize("group", GROUPS)
def test_a_broken_group_costs_only_itself(group: Any) -> None:
    """What is no group of spans is counted; the groups beside it are read."""
    request = json_traces(json_span(1))
    request["resourceSpans"] = [group, *request["resourceSpans"]]
    batch = batch_from_object(request)
    assert batch.spans == batch_from_traces(traces(span(1))).spans
    assert sum(batch.rejected.values()) == 1


def test_logs_arrive() -> None:
    """A log record keeps ids, times, severity, body and attributes; a broken one costs only itself; records are numbered."""
    whole = {
        "timeUnixNano": "5",
        "observedTimeUnixNano": 6,
        "traceId": TRACE.hex(),
        "spanId": SPAN.hex(),
        "severityNumber": 9,
        "eventName": "e",
        "body": {"kvlistValue": {"values": attribute({"stringValue": "v"})}},
        "attributes": attribute({"intValue": "1"}),
    }
    batch = batch_from_object(json_logs(whole, {"timeUnixNano": "x"}, 7, {"traceId": "bad", "body": {"stringValue": ""}}))
    assert batch.rejected == {"malformed_log_record": 2}
    assert batch.logs == (
        LogRecord(
            trace_id=TRACE.hex(),
            span_id=SPAN.hex(),
            event_name="e",
            time_ns=5,
            observed_ns=6,
            severity_number=9,
            body={"k": "v"},
            attributes={"k": 1},
        ),
        LogRecord(body="", order=1),
    )


def test_one_object_may_hold_traces_and_logs() -> None:
    """Both signals of one object are read."""
    batch = batch_from_object(json_traces(json_span(1)) | json_logs({"body": {"stringValue": "b"}}))
    assert (len(batch.spans), len(batch.logs)) == (1, 1)


def test_the_older_name_of_scopes_is_read() -> None:
    """`instrumentationLibrarySpans` of OTLP before 0.15 are scope spans."""
    part = {"instrumentationLibrary": {"name": "scope", "version": "1"}, "spans": [json_span(1)]}
    assert batch_from_object({"resourceSpans": [{"instrumentationLibrarySpans": [part]}]}) == batch_from_traces(traces(span(1)))


@pytest.mark.parametrize(("body", "said"), [("null", "got null"), ("[]", "got an array"), ("5", "got a number"), ("true", "got a boolean")])
def test_what_is_no_object_is_named_as_json_names_it(body: str, said: str) -> None:
    """The sender learns what it sent in the words of its own format."""
    with pytest.raises(InputError, match=said):
        batch_from_json(body)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_no_json_object_is_an_input_error(body: bytes) -> None:
    """InputError says so in one sentence."""
    with pytest.raises(InputError):
        batch_from_json(body)


def test_an_empty_object_is_an_empty_request() -> None:
    """`{}` is a request with nothing in it."""
    assert batch_from_json(b"{}") == Batch()


def test_half_surrogates_and_deep_values_are_read() -> None:
    """An escaped half surrogate pair becomes U+FFFD, so that it can be written out again; a value 60 arrays deep stays whole."""
    body = json.dumps(json_traces(json_span(name="\ud800!"), json_span(2, attributes=attribute(DEEP)))).encode()
    batch = batch_from_json(body)
    assert batch.spans[0].name == "\ufffd!"
    assert len(json.dumps(batch.spans[1].attributes["k"])) == 123
    assert batch.rejected == {}


def test_a_cut_character_costs_only_itself() -> None:
    """Bytes that are no UTF-8 inside a text become U+FFFD; the request is read."""
    body = json.dumps(json_traces(json_span(name="caf?"))).encode().replace(b"?", b"\xc3")
    assert batch_from_json(body).spans[0].name == "caf\ufffd"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["key", "value", "values", "stringValue", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)
span_fields = st.sampled_from(
    [
        "traceId",
        "spanId",
        "parentSpanId",
        "name",
        "kind",
        "startTimeUnixNano",
        "attributes",
        "events",
        "links",
        "status",
        "flags",
        "traceState",
    ]
)


@given(st.dictionaries(span_fields, json_values, max_size=6))
def test_any_span_leaves_its_neighbours_alone(fields: dict[str, Any]) -> None:
    """Whatever stands in the fields of a span, the spans beside it are read, in order, and nothing is raised."""
    batch = batch_from_object(json_traces(json_span(1), json_span(2) | fields, json_span(3)))
    assert [s.name for s in (batch.spans[0], batch.spans[-1])] == ["span 1", "span 3"]
    assert len(batch.spans) + sum(batch.rejected.values()) == 3


@given(st.dictionaries(st.sampled_from(["resourceSpans", "resourceLogs", "resource", "scopeSpans", "spans"]), json_values, max_size=4))
def test_any_object_gives_a_batch(request: dict[str, Any]) -> None:
    """Whatever an object holds, reading it raises nothing."""
    assert isinstance(batch_from_object(request), Batch)


@given(st.binary(max_size=100) | st.text(max_size=100))
def test_any_text_gives_a_batch_or_an_input_error(body: bytes | str) -> None:
    """Nothing but InputError is ever raised."""
    with contextlib.suppress(InputError):
        assert isinstance(batch_from_json(body), Batch)


def test_the_capture_in_json_equals_the_capture_in_protobuf() -> None:
    """The hand-made capture and its re-encoding as OTLP/JSON hold equal spans."""
    corpus = shared("corpus")
    in_json = [batch_from_json(path.read_bytes()) for path in sorted((corpus / "hand-otlp-json" / "requests").iterdir())]
    in_protobuf = [batch_from_traces(path.read_bytes()) for path in sorted((corpus / "hand-semconv-structured" / "requests").iterdir())]
    assert in_json == in_protobuf
    assert in_json[0].spans


def test_the_json_captures_of_the_corpus_are_read() -> None:
    """Every OTLP/JSON capture, those of OpenTelemetry JS too, is read with nothing rejected."""
    for path in sorted(shared("corpus").glob("*/requests/*.json")):
        batch = batch_from_json(path.read_bytes())
        assert (batch.rejected, batch.notes) == ({}, {}), path
        assert batch.spans or batch.logs, path
