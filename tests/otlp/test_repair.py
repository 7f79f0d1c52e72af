"""Requests with texts that are no UTF-8."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.errors import InputError
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.otlp.repair import mended_logs, mended_traces
from tests.fakes.wire import SPAN, TRACE, logs, span, traces

GOOD, BAD, MENDED = "caf\u00e9", "caf\u00e9".encode()[:-1], "caf\ufffd"


def broken(body: bytes) -> bytes:
    """Put a cut character where `GOOD` stands, keeping every length: the text ends with half of a character and a blank."""
    assert GOOD.encode() in body
    return body.replace(GOOD.encode(), BAD + b" ")


def test_a_cut_character_costs_only_itself() -> None:
    """A request in which one attribute is cut inside a character is read whole, with U+FFFD there, and noted."""
    one = span(1)
    one.attributes.add(key="k").value.string_value = GOOD
    one.attributes.add(key="raw").value.bytes_value = b"\xff"
    batch = batch_from_traces(broken(traces(one, span(2))))
    assert batch.spans[0].attributes == {"k": MENDED + " ", "raw": b"\xff"}
    assert (len(batch.spans), batch.rejected, batch.notes) == (2, {}, {"invalid_utf8": 1})
    assert batch_from_logs(broken(logs(GOOD, "b"))).logs[0].body == MENDED + " "


def test_every_text_of_a_request_is_mended() -> None:
    """Names, keys, messages, events, links, scopes and nested values are all texts."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add(schema_url=GOOD)
    group.resource.attributes.add(key=GOOD).value.string_value = GOOD
    part = group.scope_spans.add(schema_url=GOOD)
    part.scope.name, part.scope.version = GOOD, GOOD
    one = part.spans.add(trace_id=TRACE, span_id=SPAN, name=GOOD, trace_state=GOOD)
    one.status.message = GOOD
    one.events.add(name=GOOD).attributes.add(key="k").value.array_value.values.add().string_value = GOOD
    one.links.add(trace_id=TRACE, span_id=SPAN, trace_state=GOOD)
    body = request.SerializeToString()
    mended = mended_traces(broken(body))
    assert ExportTraceServiceRequest.FromString(mended).SerializeToString().count(MENDED.encode()) == body.count(GOOD.encode())


def test_what_is_whole_stays_and_what_is_damaged_is_refused() -> None:
    """A good body is as it was, and mending does not make a request of other bytes."""
    assert (mended_traces(traces(span(1))), mended_logs(logs("a"))) == (traces(span(1)), logs("a"))
    with pytest.raises(DecodeError):
        mended_traces(traces(span(1))[:-3])
    with pytest.raises(InputError):
        batch_from_traces(broken(traces(span(1, name=GOOD)))[:-3])


@given(st.binary(max_size=20))
def test_any_bytes_as_a_text_are_read(noise: bytes) -> None:
    """Whatever bytes stand as the name of a span, the span and its neighbour are read, and valid text stays as it is."""
    placeholder = "x" * len(noise)
    body = traces(span(1, name=placeholder + "|"), span(2)).replace(placeholder.encode() + b"|", noise + b"|")
    batch = batch_from_traces(body)
    assert [s.name for s in batch.spans] == [(noise + b"|").decode(errors="replace"), "span 2"]
