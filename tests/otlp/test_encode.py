"""Events to the body of an OTLP logs request."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_eval.model import LogRecord, Scope
from otel_eval.otlp.decode import batch_from_logs
from otel_eval.otlp.encode import EventOut, logs_request_from_events
from tests.fakes.wire import SPAN, TRACE

EVENT = EventOut(name="gen_ai.evaluation.result", time_ns=5)


def encode(*events: EventOut) -> bytes:
    return logs_request_from_events(
        events, resource={"service.name": "otel-eval"}, scope_name="otel_eval", scope_version="1", schema_url="url"
    )


def encoded(value: Any) -> Any:
    return batch_from_logs(encode(EventOut(name="e", time_ns=1, attributes={"k": value}))).logs[0].attributes["k"]


def test_every_field_arrives() -> None:
    """An event comes back from its bytes as the log record it is, under its resource and scope, in order."""
    event = EventOut(
        name="gen_ai.evaluation.result",
        time_ns=5,
        trace_id=TRACE.hex(),
        span_id=SPAN.hex(),
        attributes={"gen_ai.evaluation.score.value": 1.0},
        body="m 1.0",
        severity_number=13,
    )
    scope = Scope(name="otel_eval", version="1", schema_url="url", resource={"service.name": "otel-eval"})
    first = LogRecord(
        trace_id=TRACE.hex(),
        span_id=SPAN.hex(),
        event_name="gen_ai.evaluation.result",
        time_ns=5,
        observed_ns=5,
        severity_number=13,
        body="m 1.0",
        attributes={"gen_ai.evaluation.score.value": 1.0},
        scope=scope,
    )
    second = LogRecord(event_name=EVENT.name, time_ns=5, observed_ns=5, severity_number=9, scope=scope, order=1, attributes={})
    assert batch_from_logs(encode(event, EVENT)).logs == (first, second)


VALUES = ["", "text", True, False, 0, -(2**63), 1.0, 0.0, math.inf, b"", b"\xff", [], ["a", 1, None, [2.0]], {}, {"a": {"b": [True]}}, None]


@pytest.mark.parametrize("value", VALUES)
def test_an_attribute_keeps_its_value_and_type(value: Any) -> None:
    """A whole float stays a double, a bool a bool; empty values stay what they are."""
    assert encoded(value) == value
    assert type(encoded(value)) is type(value)


def test_a_score_is_a_double_on_the_wire() -> None:
    """A score of 1.0 is `double_value`, which backends type by."""
    request = ExportLogsServiceRequest.FromString(encode(EventOut(name="e", time_ns=1, attributes={"score": 1.0})))
    assert request.resource_logs[0].scope_logs[0].log_records[0].attributes[0].value.WhichOneof("value") == "double_value"


def test_what_the_wire_cannot_hold_is_written_as_near_as_it_can() -> None:
    """An integer beyond 64 bits is its digits, a tuple an array, half a surrogate pair U+FFFD."""
    assert (encoded(2**63), encoded(("a",)), encoded("\ud800é")) == (str(2**63), ["a"], "\ufffdé")


def test_what_is_no_value_is_an_error() -> None:
    """Another type is refused by its name, without its content; so is an id that is no hexadecimal."""
    with pytest.raises(TypeError, match="'set'"):
        encoded({"secret"})
    with pytest.raises(ValueError, match="hex"):
        encode(EventOut(name="e", time_ns=1, trace_id="no hex"))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_any_value_comes_back(value: Any) -> None:
    """Encoding and decoding give the same value."""
    assert encoded(value) == value
