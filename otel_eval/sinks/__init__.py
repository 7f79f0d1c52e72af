"""Sinks: where results go. One file and one line each; nothing but this table is loaded until a sink is asked for."""

from collections.abc import Mapping

BUILTIN: Mapping[str, str] = {
    "table": "otel_eval.sinks.table:TableSink",
    "jsonl": "otel_eval.sinks.jsonl:JsonlSink",
    "otlp_events": "otel_eval.sinks.otlp_events:OtlpEventSink",
    "otlp_metrics": "otel_eval.sinks.otlp_metrics:OtlpMetricsSink",
    "otlp_spans": "otel_eval.sinks.otlp_spans:OtlpSpanSink",
    "file": "otel_eval.sinks.streams:FileSink",
    "console": "otel_eval.sinks.streams:ConsoleSink",
}
"""Name → where its class stands."""
