"""Protobuf bodies to spans and log records."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from otel_eval.errors import InputError
from otel_eval.model import Batch, Scope, Span, SpanEvent, SpanLink
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from tests.fakes.wire import SPAN, TRACE, logs, shared, span, traces

TEXT = AnyValue(string_value="a")
VALUES = [
    (AnyValue(string_value="text"), "text"),
    (AnyValue(string_value=""), ""),
    (AnyValue(bool_value=True), True),
    (AnyValue(bool_value=False), False),
    (AnyValue(int_value=0), 0),
    (AnyValue(int_value=-(2**63)), -(2**63)),
    (AnyValue(double_value=0.0), 0.0),
    (AnyValue(double_value=1.0), 1.0),
    (AnyValue(bytes_value=b""), b""),
    (AnyValue(bytes_value=b"\x00\xff"), b"\x00\xff"),
    (AnyValue(array_value=ArrayValue()), []),
    (AnyValue(array_value=ArrayValue(values=[TEXT, AnyValue(), AnyValue(int_value=1)])), ["a", None, 1]),
    (AnyValue(kvlist_value=KeyValueList()), {}),
    (AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key="k", value=TEXT)])), {"k": "a"}),
    (AnyValue(array_value=ArrayValue(values=[AnyValue(array_value=ArrayValue(values=[TEXT]))])), [["a"]]),
    (AnyValue(), None),
    (AnyValue(string_value_strindex=4), None),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_an_attribute_keeps_its_value_and_type(value: AnyValue, expected: Any) -> None:
    """Each kind of AnyValue has its Python value, empty and false ones too; what has no value is None."""
    one = span()
    one.attributes.add(key="k").value.CopyFrom(value)
    got = batch_from_traces(traces(one)).spans[0].attributes["k"]
    assert got == expected
    assert type(got) is type(expected)


def test_every_field_arrives() -> None:
    """Each field of a span, its events, links, scope and resource stands where the model has it."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add(schema_url="of the resource")
    group.resource.attributes.add(key="service.name").value.string_value = "shop"
    part = group.scope_spans.add()
    part.scope.name, part.scope.version = "lib", "2.0"
    one = part.spans.add(
        trace_id=TRACE,
        span_id=SPAN,
        parent_span_id=SPAN[::-1],
        name="chat",
        kind=3,
        start_time_unix_nano=1,
        end_time_unix_nano=2,
        trace_state="ot=th:8",
        flags=0x301,
        dropped_attributes_count=4,
        dropped_events_count=5,
    )
    one.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message="failed"))
    one.attributes.add(key="a").value.int_value = 1
    one.events.add(name="e", time_unix_nano=3).attributes.add(key="b").value.bool_value = True
    one.links.add(trace_id=TRACE[::-1], span_id=SPAN).attributes.add(key="c").value.double_value = 0.5
    one.links.add(trace_id=b"short", span_id=SPAN)
    assert batch_from_traces(request.SerializeToString()).spans == (
        Span(
            trace_id=TRACE.hex(),
            span_id=SPAN.hex(),
            parent_span_id=SPAN[::-1].hex(),
            name="chat",
            kind=3,
            start_ns=1,
            end_ns=2,
            attributes={"a": 1},
            events=(SpanEvent(name="e", time_ns=3, attributes={"b": True}),),
            links=(SpanLink(trace_id=TRACE[::-1].hex(), span_id=SPAN.hex(), attributes={"c": 0.5}),),
            status_code=2,
            status_message="failed",
            trace_state="ot=th:8",
            flags=0x301,
            scope=Scope(name="lib", version="2.0", schema_url="of the resource", resource={"service.name": "shop"}),
            dropped_attributes_count=4,
            dropped_events_count=5,
        ),
    )


def test_what_is_unset_is_none() -> None:
    """A bare span has no parent, no times, no kind; nothing is made up for them."""
    bare = batch_from_traces(traces(span(name="", start_time_unix_nano=0))).spans[0]
    assert (bare.parent_span_id, bare.start_ns, bare.end_ns, bare.kind, bare.name) == (None, None, None, 0, "")
    assert batch_from_traces(traces(span(parent_span_id=bytes(8)))).spans[0].parent_span_id is None
    assert batch_from_traces(traces(span(end_time_unix_nano=2**64 - 1))).spans[0].end_ns is None


BAD_IDS = [
    ({"trace_id": b""}, "invalid_trace_id"),
    ({"trace_id": bytes(16)}, "invalid_trace_id"),
    ({"trace_id": TRACE[:15]}, "invalid_trace_id"),
    ({"trace_id": TRACE.hex().encode()}, "invalid_trace_id"),
    ({"span_id": b""}, "invalid_span_id"),
    ({"span_id": bytes(8)}, "invalid_span_id"),
    ({"span_id": SPAN + b"x"}, "invalid_span_id"),
    ({"parent_span_id": b"abc"}, "invalid_parent_span_id"),
]


@pytest.mark.parametrize(("fields", "reason"), BAD_IDS)
def test_an_invalid_id_costs_only_its_span(fields: dict[str, bytes], reason: str) -> None:
    """A span with an invalid id is counted by its reason; the spans before and after it are as without it, in order."""
    batch = batch_from_traces(traces(span(1), span(2, **fields), span(3)))
    assert batch == Batch(spans=batch_from_traces(traces(span(1), span(3))).spans, rejected={reason: 1})


def test_the_last_of_a_repeated_key_counts() -> None:
    """A repeated attribute key keeps its last value, which is noted and no rejection."""
    one = span()
    for number in (1, 2):
        one.attributes.add(key="k").value.int_value = number
    batch = batch_from_traces(traces(one))
    assert (batch.spans[0].attributes, batch.rejected, batch.notes) == ({"k": 2}, {}, {"duplicate_attribute_key": 1})


def test_spans_of_one_group_share_their_scope() -> None:
    """One scope object stands for all spans of a scope group."""
    first, second = batch_from_traces(traces(span(1), span(2))).spans
    assert first.scope is second.scope


def test_empty_requests_are_legal() -> None:
    """No bytes, and envelopes without items, are empty batches."""
    empty = ExportTraceServiceRequest()
    empty.resource_spans.add().scope_spans.add()
    assert batch_from_traces(b"") == batch_from_traces(empty.SerializeToString()) == batch_from_logs(b"") == Batch()


@pytest.mark.parametrize("body", [b"hello", b"\x0a\xff", b"{}", traces(span())[:-3]])
def test_bytes_that_do_not_parse_are_an_input_error(body: bytes) -> None:
    """Damaged or foreign bytes raise InputError, which says what was expected."""
    with pytest.raises(InputError, match="ExportTraceServiceRequest"):
        batch_from_traces(body)


def test_logs_taken_for_traces_have_no_valid_span() -> None:
    """A logs body that is sent as traces gives no span with a cut id: it is refused or every item is."""
    with contextlib.suppress(InputError):
        assert batch_from_traces(logs("a", "b")).spans == ()


def log_request(**fields: Any) -> bytes:
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add()
    for name, value in fields.items():
        setattr(record, name, value)
    return request.SerializeToString()


def test_a_log_record_arrives() -> None:
    """Ids, times, severity, event name and body of a record stand where the model has them, and records are numbered."""
    fields = {
        "trace_id": TRACE,
        "span_id": SPAN,
        "time_unix_nano": 3,
        "observed_time_unix_nano": 4,
        "severity_number": 9,
        "event_name": "e",
    }
    record = batch_from_logs(log_request(**fields)).logs[0]
    assert (record.trace_id, record.span_id, record.time_ns, record.observed_ns) == (TRACE.hex(), SPAN.hex(), 3, 4)
    assert (record.severity_number, record.event_name, record.body, record.order) == (9, "e", None, 0)
    assert [(r.body, r.order) for r in batch_from_logs(logs("a", "", "c")).logs] == [("a", 0), ("", 1), ("c", 2)]


@pytest.mark.parametrize("fields", [{"trace_id": b"short"}, {"trace_id": bytes(16)}, {}])
def test_a_log_record_with_an_invalid_id_only_loses_it(fields: dict[str, bytes]) -> None:
    """A record without a valid id is kept, unassociated, and nothing is rejected."""
    batch = batch_from_logs(log_request(time_unix_nano=1, **fields))
    assert (batch.logs[0].trace_id, batch.logs[0].span_id, batch.rejected) == (None, None, {})


def test_the_event_name_of_older_producers_is_an_attribute() -> None:
    """Without the field, the attribute `event.name` names the event; the field goes first."""
    request = ExportLogsServiceRequest()
    part = request.resource_logs.add().scope_logs.add()
    for name in ("", "field"):
        part.log_records.add(event_name=name).attributes.add(key="event.name").value.string_value = "attribute"
    assert [r.event_name for r in batch_from_logs(request.SerializeToString()).logs] == ["attribute", "field"]


@given(st.binary(max_size=200))
def test_any_bytes_give_a_batch_or_an_input_error(body: bytes) -> None:
    """Nothing but InputError is ever raised."""
    for read in (batch_from_traces, batch_from_logs):
        with contextlib.suppress(InputError):
            assert isinstance(read(body), Batch)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_body_gives_a_batch_or_an_input_error(place: int, byte: int) -> None:
    """One wrong byte anywhere raises InputError or costs items, nothing else."""
    body = bytearray(traces(*(span(n) for n in range(1, 6))))
    body[place % len(body)] = byte
    with contextlib.suppress(InputError):
        assert isinstance(batch_from_traces(bytes(body)), Batch)


def test_the_whole_corpus_decodes() -> None:
    """Every protobuf capture of real instrumentations decodes with nothing rejected."""
    spans = records = 0
    for path in sorted(shared("corpus").glob("*/requests/*.pb")):
        batch = (batch_from_logs if "logs" in path.name else batch_from_traces)(path.read_bytes())
        assert (batch.rejected, batch.notes) == ({}, {}), path
        spans, records = spans + len(batch.spans), records + len(batch.logs)
    assert spans > 1000
    assert records > 300
