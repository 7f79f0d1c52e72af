"""Spans and log records of the SDK become what they would be after a journey over OTLP."""

import math
import string
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry._logs import LogRecord as ApiLogRecord
from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import ReadWriteLogRecord
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from otel_eval.inprocess.bodies import PLAIN, batch_from_body, otlp_bodies, plain_body
from otel_eval.inprocess.values import batch_from_sdk
from otel_eval.model import Batch
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.store import Body

TEXTS = st.text(max_size=30) | st.text(st.characters(categories=["Cs", "Lo", "So"]), max_size=5)
INTS = st.integers(-(2**70), 2**70)
FLOATS = st.floats(allow_nan=False)
KEYS = st.sampled_from(["gen_ai.operation.name", "gen_ai.input.messages", "a", "b.c", "ünï"]) | st.text(
    string.ascii_letters, min_size=1, max_size=8
)
PLAIN_VALUES = st.booleans() | INTS | FLOATS | TEXTS
LISTS = st.lists(st.booleans(), max_size=4) | st.lists(INTS, max_size=4) | st.lists(FLOATS, max_size=4) | st.lists(TEXTS, max_size=4)
ATTRIBUTES = st.dictionaries(KEYS, PLAIN_VALUES | LISTS | st.binary(max_size=5), max_size=6)
ANYTHING = st.recursive(
    st.none() | PLAIN_VALUES | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TIMES = st.integers(0, 2**63 - 1)
STATES = st.none() | st.builds(lambda v: TraceState([("ot", f"th:{v:x}"), ("x", "1")]), st.integers(0, 15))
CONTEXTS = st.builds(
    lambda trace, span, remote, state: SpanContext(trace, span, remote, TraceFlags(1), state),
    st.integers(1, 2**128 - 1),
    st.integers(1, 2**64 - 1),
    st.booleans(),
    STATES,
)


class Kept(SpanProcessor):
    """Keeps what ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


class Counted(IdGenerator):
    """Ids in their order: nothing by chance."""

    def __init__(self) -> None:
        self.last = 0

    def generate_span_id(self) -> int:
        self.last += 1
        return self.last

    def generate_trace_id(self) -> int:
        return self.generate_span_id()


@st.composite
def ended_spans(draw: st.DrawFn) -> list[ReadableSpan]:
    """Spans as the SDK's own tracers end them: limits, exceptions, events, links, remote parents and all."""
    kept = Kept()
    limits = SpanLimits(
        max_span_attributes=draw(st.integers(1, 6)),
        max_events=3,
        max_links=2,
        max_span_attribute_length=draw(st.none() | st.integers(0, 9)),
    )
    tracers = TracerProvider(
        resource=Resource(draw(ATTRIBUTES), draw(st.sampled_from(["", "https://r"]))),
        span_limits=limits,
        id_generator=Counted(),
        shutdown_on_exit=False,
    )
    tracers.add_span_processor(kept)
    for _ in range(draw(st.integers(1, 3))):
        tracer = tracers.get_tracer(
            draw(st.text(string.ascii_letters, max_size=5)) or "x", draw(st.none() | st.just("1.0")), draw(st.none() | st.just("https://s"))
        )
        parent = draw(st.none() | CONTEXTS)
        start = draw(TIMES)
        links = draw(st.lists(st.builds(Link, CONTEXTS, ATTRIBUTES), max_size=3))
        span = tracer.start_span(
            draw(st.text(string.printable, max_size=10)),
            context=set_span_in_context(NonRecordingSpan(parent), Context()) if parent else Context(),
            kind=draw(st.sampled_from(SpanKind)),
            attributes=draw(ATTRIBUTES),
            links=links,
            start_time=start,
        )
        for name, attributes, time in draw(st.lists(st.tuples(st.text(string.ascii_letters, max_size=6), ATTRIBUTES, TIMES), max_size=4)):
            span.add_event(name, attributes, time)
        if draw(st.booleans()):
            span.record_exception(ValueError("no table left"), timestamp=draw(TIMES))
        span.set_status(draw(st.sampled_from([Status(StatusCode.OK), Status(StatusCode.ERROR, "déjà vu"), Status(StatusCode.UNSET)])))
        span.end(draw(TIMES))
    return kept.spans


@st.composite
def log_records(draw: st.DrawFn) -> list[ReadWriteLogRecord]:
    """Log records with bodies and attributes of every kind."""
    resource, scope = Resource({"service.name": "shop"}), InstrumentationScope("x", "1", "https://s")
    records = []
    for _ in range(draw(st.integers(1, 3))):
        context = draw(st.none() | CONTEXTS)
        record = ApiLogRecord(
            timestamp=draw(st.none() | TIMES),
            observed_timestamp=draw(TIMES),
            context=set_span_in_context(NonRecordingSpan(context), Context()) if context else Context(),
            severity_number=draw(st.none() | st.sampled_from(SeverityNumber)),
            body=draw(
                st.none()
                | st.text(string.printable, max_size=9)
                | st.dictionaries(st.text(string.ascii_letters), st.integers(0, 9), max_size=2)
            ),
            attributes=draw(st.dictionaries(KEYS, ANYTHING, max_size=4) | st.just({"event.name": "gen_ai.user.message"})),
            event_name=draw(st.none() | st.sampled_from(["gen_ai.choice", ""])),
        )
        records.append(ReadWriteLogRecord(record, resource, scope))
    return records


def comparable(batch: Batch) -> tuple[Any, Any]:
    """In an order that both ways share: an exporter groups by resource and scope. The place among those decoded together is that order."""
    spans = sorted(batch.spans, key=lambda s: (s.trace_id, s.span_id))
    logs = sorted(
        repr((r.trace_id, r.span_id, r.event_name, r.time_ns, r.observed_ns, r.severity_number, r.body, r.attributes, r.scope))
        for r in batch.logs
    )
    return spans, logs


def stored(batch: Batch) -> Batch:
    return batch_from_body(Body(id=1, received_s=1.0, signal="traces", encoding=PLAIN, data=plain_body(batch)))


@given(ended_spans())
# too_slow: a busy machine draws the same examples later
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_a_span_is_what_it_would_be_over_otlp(spans: Sequence[ReadableSpan]) -> None:
    """Attributes of all types, events, links, limits and dropped counts, exceptions, states, times: read directly as through protobuf."""
    direct = batch_from_sdk(spans)
    assert comparable(direct) == comparable(batch_from_traces(encode_spans(spans).SerializeToString()))
    assert stored(direct) == direct


@given(log_records())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_log_record_is_what_it_would_be_over_otlp(records: Sequence[ReadWriteLogRecord]) -> None:
    """Bodies, attributes, names, ids and times: read directly as through protobuf."""
    direct = batch_from_sdk((), records)
    assert comparable(direct) == comparable(batch_from_logs(encode_logs(records).SerializeToString()))  # type: ignore[arg-type]  # it reads what both have
    assert stored(direct) == direct


def test_numbers_that_are_none_stay_what_they_are() -> None:
    """Infinite values and those that are no number come through memory as they came."""
    kept = Kept()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(kept)
    tracers.get_tracer("x").start_span("s", attributes={"inf": math.inf, "nan": math.nan}).end()
    (span,) = stored(batch_from_sdk(kept.spans)).spans
    assert span.attributes["inf"] == math.inf
    assert math.isnan(span.attributes["nan"])


def test_a_file_holds_what_an_exporter_sends() -> None:
    """The bodies of a store in a file are OTLP requests, none where there is nothing."""
    kept = Kept()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(kept)
    tracers.get_tracer("x").start_span("s").end()
    traces, logs = otlp_bodies(kept.spans, [])
    assert logs is None
    assert traces is not None
    assert batch_from_traces(traces).spans[0].name == "s"
