"""Requests cut apart and added to on the wire: what is not touched stays as it was."""

import json
import random
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.errors import InputError
from otel_eval.model import SpanRef
from otel_eval.otlp import splice, splice_json
from otel_eval.otlp.encode import EventOut
from tests.captures import capture, names

BODIES = [
    (name, body)
    for capture_name in names()
    for name, body in sorted(capture(capture_name).requests.items())
    if not name.endswith(".json") and "logs" not in name
][:60]
EVENT = EventOut(
    name="gen_ai.evaluation.result", time_ns=5, attributes={"gen_ai.evaluation.score.value": 1.0, "ok": True, "n": 3, "l": ["a"]}
)


def spans_of(body: bytes) -> dict[tuple[str, str], Any]:
    return {
        (span.trace_id.hex(), span.span_id.hex()): span
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for part in group.scope_spans
        for span in part.spans
    }


@pytest.mark.parametrize(("name", "body"), BODIES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_request_in_two_parts_is_the_request(name: str, body: bytes) -> None:
    """Real requests: what is cut out and what is left have each span once, as it was, with its resource and scope."""
    found = sorted(splice.trace_ids(body))
    held = frozenset(found[::2])
    one, other = splice.with_traces(body, held), splice.without_traces(body, held)
    assert splice.trace_ids(one) == held
    assert splice.trace_ids(other) == frozenset(found) - held
    assert spans_of(one) | spans_of(other) == spans_of(body)
    assert splice.with_traces(body, frozenset(found)) == body
    assert splice.without_traces(body, frozenset()) == body


@pytest.mark.parametrize(("name", "body"), BODIES[:20], ids=lambda value: value if isinstance(value, str) else "")
def test_an_event_is_all_that_changes(name: str, body: bytes) -> None:
    """With an event added to one span, taking it away again gives the bytes of before."""
    chosen = random.Random(name).choice(sorted(spans_of(body)))
    ref = SpanRef(trace_id=chosen[0], span_id=chosen[1])
    request = ExportTraceServiceRequest.FromString(splice.with_events(body, {ref: [EVENT]}))
    for group in request.resource_spans:
        for part in group.scope_spans:
            for span in part.spans:
                if (span.trace_id.hex(), span.span_id.hex()) == chosen:
                    assert span.events[-1].name == EVENT.name
                    assert span.events[-1].attributes[0].value.double_value == 1.0
                    del span.events[-1]
    assert request == ExportTraceServiceRequest.FromString(body)


def test_fields_that_nobody_knows_stay() -> None:
    """Unknown fields of request, group, part and span are copied."""
    trace, span_id = bytes(range(1, 17)), bytes(range(1, 9))
    unknown = b"\xfa\x3f\x03new"  # field 1023, three bytes
    span = b"\x0a\x10" + trace + b"\x12\x08" + span_id + unknown
    part = b"\x12" + bytes([len(span)]) + span + unknown
    group = b"\x12" + bytes([len(part)]) + part + unknown
    body = b"\x0a" + bytes([len(group)]) + group + unknown
    assert splice.with_traces(body, frozenset({trace.hex()})) == body
    added = splice.with_events(body, {SpanRef(trace_id=trace.hex(), span_id=span_id.hex()): [EVENT]})
    assert added.count(unknown) == 4
    assert splice.without_traces(body, frozenset({trace.hex()})) == unknown


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=64))
def test_damaged_bytes_are_refused_or_passed(body: bytes) -> None:
    """Bytes that are no request never do more than raise InputError."""
    try:
        splice.trace_ids(body)
        splice.without_traces(body, frozenset({"00" * 16}))
    except InputError:
        pass


def test_json_is_cut_the_same_way() -> None:
    """In OTLP/JSON the same spans go and stay, events are added, members that nobody knows stay."""
    spans = [{"traceId": t * 32, "spanId": f"{n:016x}", "new": n} for n, t in enumerate("aab", 1)]
    request = {"resourceSpans": [{"resource": {"x": 1}, "scopeSpans": [{"scope": {}, "spans": spans}], "schemaUrl": "u"}], "more": 2}
    body = json.dumps(request).encode()
    assert splice_json.trace_ids(body) == {"a" * 32, "b" * 32}
    kept = json.loads(splice_json.with_traces(body, frozenset({"a" * 32})))
    assert kept["resourceSpans"][0]["scopeSpans"][0]["spans"] == spans[:2]
    assert (kept["more"], kept["resourceSpans"][0]["schemaUrl"]) == (2, "u")
    assert json.loads(splice_json.without_traces(body, frozenset({"a" * 32, "b" * 32})))["resourceSpans"] == []
    added = json.loads(splice_json.with_events(body, {SpanRef(trace_id="b" * 32, span_id=f"{3:016x}"): [EVENT]}))
    event = added["resourceSpans"][0]["scopeSpans"][0]["spans"][2]["events"][0]
    assert event["attributes"][0] == {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 1.0}}


@pytest.mark.parametrize("module", [splice, splice_json])
def test_what_is_no_request_is_refused(module: ModuleType) -> None:
    """Neither form takes bytes that are none of it."""
    with pytest.raises(InputError):
        module.trace_ids(b"\x0a\xff")
