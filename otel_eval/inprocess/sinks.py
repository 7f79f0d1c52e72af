"""Results through the application's own providers: whatever they export to gets them, beside the application's own telemetry.

Each keeps its letters in the outbox as any sink does; an application that has no provider of a kind gets nothing of that kind.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry._logs import LoggerProvider, LogRecord, SeverityNumber, get_logger_provider
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, Status, StatusCode, TraceFlags

from otel_eval.model import Failed, Report, Skipped
from otel_eval.sinks.otlp_metrics import measurements
from otel_eval.sinks.result_events import EVENT_NAME, SCOPE_NAME, attributes_of_result, events_from_report
from otel_eval.telemetry import INSTRUMENTS

_SEVERITY_TEXTS: Mapping[int, str] = {9: "INFO", 13: "WARN"}


class EventSink:
    """Log events; and a span event on a root span of the judged trace that is still recording, as `recording` finds it."""

    def __init__(self, provider: LoggerProvider | None, *, version: str, recording: Callable[[str], Span | None]) -> None:
        self._provider, self._version, self._recording = provider, version, recording

    def payload(self, report: Report) -> bytes | None:
        events = [asdict(event) for event in events_from_report(report)]
        return json.dumps(events, ensure_ascii=False).encode("utf-8", "replace") if events else None

    async def send(self, payloads: Sequence[bytes]) -> str:
        provider = self._provider if self._provider is not None else get_logger_provider()
        logger = provider.get_logger(SCOPE_NAME, self._version or None)
        for payload in payloads:
            for event in json.loads(payload):
                logger.emit(_record(event))
                span = self._recording(event["trace_id"] or "")
                if span is not None:
                    span.add_event(EVENT_NAME, event["attributes"])
        return ""


def _record(event: Mapping[str, Any]) -> LogRecord:
    return LogRecord(
        timestamp=event["time_ns"],
        observed_timestamp=event["time_ns"],
        context=context_of(event["trace_id"], event["span_id"]),
        severity_number=SeverityNumber(event["severity_number"]),
        severity_text=_SEVERITY_TEXTS.get(event["severity_number"]),
        body=event["body"],
        attributes=event["attributes"],
        event_name=event["name"],
    )


def context_of(trace_id: str | None, span_id: str | None) -> Context:
    """A context in which a span of these ids is the current one; without ids one in which there is none."""
    if not trace_id or not span_id:
        return trace.set_span_in_context(trace.INVALID_SPAN, Context())
    return trace.set_span_in_context(NonRecordingSpan(_span_context(trace_id, span_id)), Context())


def _span_context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


class MetricSink:
    """Measurements on instruments of the application's meter provider; the judged span is their exemplar."""

    def __init__(self, provider: metrics.MeterProvider | None, *, version: str) -> None:
        self._provider, self._version = provider, version
        self._instruments: dict[str, Callable[..., None]] = {}

    def payload(self, report: Report) -> bytes | None:
        measured = [list(m) for result in report.results for m in measurements(report, result)]
        return json.dumps(measured).encode() if measured else None

    async def send(self, payloads: Sequence[bytes]) -> str:
        for payload in payloads:
            for name, attributes, value, trace_id, span_id in json.loads(payload):
                self._measure(name)(value, attributes, context_of(trace_id, span_id))
        return ""

    def _measure(self, name: str) -> Callable[..., None]:
        """How to measure on an instrument, made when first needed: by then the application has its provider."""
        if name not in self._instruments:
            provider = self._provider if self._provider is not None else metrics.get_meter_provider()
            meter, card = provider.get_meter(SCOPE_NAME, self._version), INSTRUMENTS[name]
            if card.kind == "histogram":
                histogram = meter.create_histogram(name, card.unit, card.sentence, explicit_bucket_boundaries_advisory=card.bounds)
                self._instruments[name] = histogram.record
            else:
                self._instruments[name] = meter.create_counter(name, card.unit, card.sentence).add
        return self._instruments[name]


class SpanSink:
    """A span `evaluate METRIC` for each result, linked to the judged one; with `inside`, below it."""

    def __init__(self, provider: trace.TracerProvider | None, *, version: str, inside: bool) -> None:
        self._provider, self._version, self._inside = provider, version, inside

    def payload(self, report: Report) -> bytes | None:
        told = [
            {
                "name": f"evaluate {result.metric}",
                "time_ns": report.time_ns,
                "anchor": [result.anchor.trace_id, result.anchor.span_id] if result.anchor else None,
                "attributes": attributes_of_result(report, result),
                "error": result.outcome.error_type.value if isinstance(result.outcome, Failed) else None,
            }
            for result in report.results
            if not isinstance(result.outcome, Skipped)
        ]
        return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") if told else None

    async def send(self, payloads: Sequence[bytes]) -> str:
        tracer = trace.get_tracer(SCOPE_NAME, self._version, self._provider)
        for payload in payloads:
            for told in json.loads(payload):
                self._span(tracer, told)
        return ""

    def _span(self, tracer: trace.Tracer, told: Mapping[str, Any]) -> None:
        anchor = told["anchor"]
        span = tracer.start_span(
            told["name"],
            context=context_of(*anchor) if anchor and self._inside else Context(),
            links=[Link(_span_context(*anchor))] if anchor else [],
            attributes=told["attributes"],
            start_time=told["time_ns"],
        )
        if told["error"] is not None:
            span.set_status(Status(StatusCode.ERROR, told["error"]))
        span.end(told["time_ns"])
