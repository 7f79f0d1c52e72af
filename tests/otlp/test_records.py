"""Which signal bytes are, and which form a JSON value is in."""

from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.errors import InputError
from otel_eval.model import Batch
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.otlp.records import METRICS, Signal, batch_from_protobuf, records_from_value
from otel_eval.otlp.tally import Tally
from tests.fakes.wire import json_logs, json_span, json_traces, logs, metrics, shared, span, traces

SIGNALS: tuple[Signal, Signal] = ("traces", "logs")


@pytest.mark.parametrize("signal", SIGNALS)
def test_a_body_is_read_as_what_it_is(signal: Signal) -> None:
    """Traces, logs and metrics are told apart whatever signal is expected."""
    assert batch_from_protobuf(traces(span(1)), signal) == batch_from_traces(traces(span(1)))
    assert batch_from_protobuf(logs("a"), signal) == batch_from_logs(logs("a"))
    assert batch_from_protobuf(metrics(), signal) == METRICS
    assert batch_from_protobuf(b"", signal) == Batch()


@pytest.mark.parametrize("signal", SIGNALS)
def test_traces_without_a_valid_span_stay_traces(signal: Signal) -> None:
    """A body all of whose spans are invalid is counted as that, and envelopes without spans are an empty batch."""
    assert batch_from_protobuf(traces(span(1, trace_id=b"")), signal).rejected == {"invalid_trace_id": 1}
    empty = ExportTraceServiceRequest()
    empty.resource_spans.add().scope_spans.add().scope.name = "s"
    assert batch_from_protobuf(empty.SerializeToString(), signal) == Batch()


@pytest.mark.parametrize("body", [b"\x0a\x03abc", b"hello", b"\x0a"])
def test_bytes_of_no_signal_are_an_input_error(body: bytes) -> None:
    """InputError says what was expected."""
    with pytest.raises(InputError, match="ExportTraceServiceRequest"):
        batch_from_protobuf(body, "traces")


def test_the_corpus_is_told_apart_without_file_names() -> None:
    """Every protobuf capture is read as its own signal, though the other one is expected."""
    for path in sorted(shared("corpus").glob("*/requests/*.pb")):
        is_logs = "logs" in path.name
        expected = (batch_from_logs if is_logs else batch_from_traces)(path.read_bytes())
        assert batch_from_protobuf(path.read_bytes(), "traces" if is_logs else "logs") == expected, path


def records(value: Any) -> tuple[list[Any], dict[str, int]]:
    tally = Tally()
    return list(records_from_value(value, tally)), tally.rejected


TRACES = batch_from_traces(traces(span(1)))
CONVERSATION = {"id": "c", "messages": [{"role": "user", "content": "Hi"}]}
OWN = {"schema": "otel-eval.conversation/1", "id": "c", "messages": [], "spans": []}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (json_traces(json_span(1)), [TRACES]),
        ([json_traces(json_span(1)), json_traces(json_span(1))], [TRACES, TRACES]),
        ({"batches": json_traces(json_span(1))["resourceSpans"]}, [TRACES]),
        ({"trace": json_traces(json_span(1))}, [TRACES]),
        ({"trace": {"batches": json_traces(json_span(1))["resourceSpans"]}}, [TRACES]),
        ({"result": json_traces(json_span(1))}, [TRACES]),
        ({"resourceMetrics": [{}]}, [METRICS]),
        (CONVERSATION, [CONVERSATION]),
        (OWN, [OWN]),
        ({"user_input": []}, [{"user_input": []}]),
        ({"conversation": []}, [{"conversation": []}]),
        ({"eval_cases": []}, [{"eval_cases": []}]),
        ({"resourceSpans": []}, [Batch()]),
        ({"spans": []}, [Batch()]),
        ([], []),
    ],
)
def test_a_value_is_read_by_its_form(value: Any, expected: list[Any]) -> None:
    """Requests, what wraps them, metrics and conversations are known by their keys."""
    assert records(value) == (expected, {})


@pytest.mark.parametrize("value", [{}, {"a": 1}, 1, "x", None, True, [[]], {"messages": "none"}, {"data": []}, {"observations": []}])
def test_what_is_in_no_form_is_counted(value: Any) -> None:
    """An item that is nothing we know is one `unknown_record`."""
    assert records(value) == ([], {"unknown_record": 1})


def test_a_list_keeps_its_order() -> None:
    """Spans of a flat list are one batch; a request or conversation among them stands where it stood; the unknown is counted."""
    flat = {"trace_id": "a" * 32, "span_id": "b" * 16, "name": "flat"}
    got, rejected = records([flat, flat, CONVERSATION, 5, flat, json_logs({"body": {"stringValue": "x"}})])
    assert [len(r.spans) if isinstance(r, Batch) else r["id"] for r in got] == [2, "c", 1, 0]
    assert rejected == {"unknown_record": 1}


def test_a_list_of_chat_messages_is_one_conversation() -> None:
    """What the Python interface takes stands in a file too."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    assert list(records_from_value(messages, Tally())) == [{"messages": messages}]
