"""An application with opentelemetry-sdk, in this process: providers that remember, agents' spans through the API, captures as SDK spans.

with Application(metrics=["turn_count"]) as app:
    trace_id = app.turn("Book a table", "Done")
    assert app.scorer.force_flush()
    app.events()
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from opentelemetry._logs import LogRecord as ApiLogRecord
from opentelemetry._logs import SeverityNumber
from opentelemetry.sdk._logs import LoggerProvider, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON, Sampler
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from otel_eval.inprocess.scorer import OnlineScorer
from otel_eval.model import LogRecord, Scope
from otel_eval.model import Span as OurSpan


class Application:
    """The providers and a scorer. `settings` are the scorer's; configuration goes by `config`, a mapping."""

    def __init__(self, config: Mapping[str, Any] | None = None, *, sampler: Sampler = ALWAYS_ON, **settings: Any) -> None:
        self.spans, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # theirs
        resource = Resource({"service.name": "shop"})
        self.tracers = TracerProvider(sampler, resource=resource, shutdown_on_exit=False)
        self.loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        self.meters = MeterProvider([self.reader], resource=resource, shutdown_on_exit=False)
        providers = {"tracer_provider": self.tracers, "logger_provider": self.loggers, "meter_provider": self.meters}
        self.scorer = OnlineScorer(config if config is not None else {"metrics": ["turn_count"]}, **{**providers, **settings})
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans))
        self.tracers.add_span_processor(self.scorer)
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.loggers.add_log_record_processor(self.scorer)
        self.tracer = self.tracers.get_tracer("shop.agent")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.scorer.shutdown(5_000)
        self.meters.shutdown()

    def turn(self, question: str, answer: str, *, conversation: str | None = None, **attributes: Any) -> str:
        """An agent's turn with one model call; its trace's id."""
        named = {"gen_ai.conversation.id": conversation} if conversation else {}
        with self.span(
            "invoke_agent shop", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", **named, **attributes}
        ) as root:
            self.chat(question, answer)
        return f"{root.get_span_context().trace_id:032x}"

    def chat(self, question: str, answer: str) -> None:
        with self.span("chat m", chat_attributes(question, answer)):
            pass

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Any] | None = None) -> Iterator[Span]:
        with self.tracer.start_as_current_span(name, attributes=dict(attributes or {})) as span:
            yield span

    def outcome(self, any_id: str) -> tuple[str, str | None]:
        """Outcome and reason of the first unit that an id names."""
        unit = self.scorer.explain(any_id)[0]
        return unit["outcome"], unit["reason"] or None

    def events(self) -> list[Any]:
        """Our log events, as they were exported."""
        return [r for r in self.logs.get_finished_logs() if r.log_record.event_name == "gen_ai.evaluation.result"]

    def points(self, name: str) -> list[Any]:
        """The points of a metric."""
        data = self.reader.get_metrics_data()
        groups = data.resource_metrics if data is not None else ()
        return [p for group in groups for part in group.scope_metrics for m in part.metrics if m.name == name for p in m.data.data_points]


def chat_attributes(question: str, answer: str) -> dict[str, Any]:
    """A model call in the words of the conventions."""
    given = [{"role": "user", "parts": [{"type": "text", "content": question}]}]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": answer}], "finish_reason": "stop"}]
    content = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(said)}
    return {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **content}


def readable_spans(spans: Sequence[OurSpan]) -> list[ReadableSpan]:
    """Decoded spans as the SDK would have them."""
    known: dict[int, tuple[Resource, InstrumentationScope]] = {}
    return [_readable(span, _origin(span.scope, known)) for span in spans]


def log_records(records: Sequence[LogRecord]) -> list[ReadWriteLogRecord]:
    """Decoded log records as the SDK would have them."""
    known: dict[int, tuple[Resource, InstrumentationScope]] = {}
    return [_record(record, _origin(record.scope, known)) for record in records]


def _origin(scope: Scope, known: dict[int, tuple[Resource, InstrumentationScope]]) -> tuple[Resource, InstrumentationScope]:
    if id(scope) not in known:
        known[id(scope)] = _resource(scope), InstrumentationScope(scope.name, scope.version, scope.schema_url)
    return known[id(scope)]


def _resource(scope: Scope) -> Resource:
    resource = Resource({})
    resource._attributes = dict(scope.resource)  # type: ignore[assignment]  # as they came, without the SDK's cleaning
    return resource


def _readable(span: OurSpan, origin: tuple[Resource, InstrumentationScope]) -> ReadableSpan:
    state = TraceState([tuple(pair.split("=", 1)) for pair in span.trace_state.split(",")]) if span.trace_state else None  # type: ignore[misc]  # two each
    context = SpanContext(int(span.trace_id, 16), int(span.span_id, 16), False, TraceFlags(1), state)
    parent = SpanContext(context.trace_id, int(span.parent_span_id, 16), False, TraceFlags(1)) if span.parent_span_id else None
    return ReadableSpan(
        name=span.name,
        context=context,
        parent=parent,
        resource=origin[0],
        attributes=dict(span.attributes),
        events=[Event(e.name, dict(e.attributes), e.time_ns) for e in span.events],
        links=[Link(SpanContext(int(x.trace_id, 16), int(x.span_id, 16), False), dict(x.attributes)) for x in span.links],
        kind=SpanKind(max(0, span.kind - 1)),
        status=Status(StatusCode(span.status_code), span.status_message or None)
        if span.status_code == 2
        else Status(StatusCode(span.status_code)),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=origin[1],
    )


def _record(record: LogRecord, origin: tuple[Resource, InstrumentationScope]) -> ReadWriteLogRecord:
    log = ApiLogRecord(
        timestamp=record.time_ns,
        observed_timestamp=record.observed_ns or record.time_ns,
        severity_number=SeverityNumber(record.severity_number) if record.severity_number else None,
        body=record.body,
        attributes=dict(record.attributes),
        event_name=record.event_name,
    )
    log.trace_id, log.span_id = int(record.trace_id or "0", 16), int(record.span_id or "0", 16)
    return ReadWriteLogRecord(log, origin[0], origin[1])
