"""The process's providers of telemetry: those that are there, else new ones with exporters from the standard environment.

**Source**: OpenTelemetry specification, SDK environment variables: OTEL_{TRACES,LOGS,METRICS}_EXPORTER, OTEL_EXPORTER_OTLP_*,
OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES (read by the SDK's resource). Other than there, nothing is exported where no endpoint and no
exporter is named: an application that only looks on needs no collector.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from opentelemetry import metrics, trace
from opentelemetry._logs import get_logger_provider, set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

_EXPORTERS: Mapping[str, tuple[str, str]] = {
    "traces": ("trace_exporter", "OTLPSpanExporter"),
    "logs": ("_log_exporter", "OTLPLogExporter"),
    "metrics": ("metric_exporter", "OTLPMetricExporter"),
}
_CONSOLE: Mapping[str, Callable[[], Any]] = {
    "traces": ConsoleSpanExporter,
    "logs": ConsoleLogRecordExporter,
    "metrics": ConsoleMetricExporter,
}
Tell: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """The three, whoever made them."""

    tracers: Any
    loggers: Any
    meters: Any

    def flush(self, timeout_millis: int) -> bool:
        """Flush those that can be, and whether all of it was done."""
        flushes = [getattr(p, "force_flush", None) for p in (self.tracers, self.loggers, self.meters)]
        done = [flush(timeout_millis) is not False for flush in flushes if flush is not None]  # all of them, also after one that failed
        return all(done)

    def named(self) -> dict[str, Any]:
        """As instrumentors take them."""
        return {"tracer_provider": self.tracers, "logger_provider": self.loggers, "meter_provider": self.meters}


def providers_from_env(environ: Mapping[str, str], tell: Tell, undo: ExitStack) -> Providers:
    """Those that are set, else new ones. What is made last is ended first: spans still make log events when they end."""
    loggers = _loggers(environ, tell, undo)
    meters = _meters(environ, tell, undo)
    return Providers(tracers=_tracers(environ, tell, undo), loggers=loggers, meters=meters)


def _tracers(environ: Mapping[str, str], tell: Tell, undo: ExitStack) -> Any:
    found = trace.get_tracer_provider()
    if hasattr(found, "add_span_processor"):
        tell("tracer provider: was there and stays")
        return found
    made = TracerProvider()
    exporter = _exporter("traces", environ, tell, "tracer provider")
    if exporter is not None:
        made.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(made)
    undo.callback(made.shutdown)
    return made


def _loggers(environ: Mapping[str, str], tell: Tell, undo: ExitStack) -> Any:
    found = get_logger_provider()
    if hasattr(found, "add_log_record_processor"):
        tell("logger provider: was there and stays")
        return found
    made = LoggerProvider()
    exporter = _exporter("logs", environ, tell, "logger provider")
    if exporter is not None:
        made.add_log_record_processor(BatchLogRecordProcessor(exporter))
    set_logger_provider(made)
    undo.callback(made.shutdown)
    return made


def _meters(environ: Mapping[str, str], tell: Tell, undo: ExitStack) -> Any:
    found = metrics.get_meter_provider()
    if isinstance(found, MeterProvider):
        tell("meter provider: was there and stays")
        return found
    exporter = _exporter("metrics", environ, tell, "meter provider")
    made = MeterProvider([PeriodicExportingMetricReader(exporter)] if exporter is not None else [])
    metrics.set_meter_provider(made)
    undo.callback(made.shutdown)
    return made


def _exporter(signal: str, environ: Mapping[str, str], tell: Tell, whose: str) -> Any:
    """The exporter that the environment asks for; None where it asks for none."""
    prefix = f"OTEL_EXPORTER_OTLP_{signal.upper()}"
    endpoint = environ.get(f"{prefix}_ENDPOINT") or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    kind = environ.get(f"OTEL_{signal.upper()}_EXPORTER") or ("otlp" if endpoint else "none")
    if kind == "console":
        tell(f"{whose}: made, exports to the console")
        return _CONSOLE[signal]()
    if kind != "otlp":
        why = f"OTEL_{signal.upper()}_EXPORTER is {kind!r}" if kind != "none" else "set OTEL_EXPORTER_OTLP_ENDPOINT to export"
        tell(f"{whose}: made, exports nothing: {why}")
        return None
    protocol = environ.get(f"{prefix}_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") or "http/protobuf"
    module, name = _EXPORTERS[signal]
    kind_of_protocol = "grpc" if protocol == "grpc" else "http"
    tell(f"{whose}: made, exports to {endpoint or 'the default endpoint'} by {protocol}")
    return getattr(import_module(f"opentelemetry.exporter.otlp.proto.{kind_of_protocol}.{module}"), name)()
