"""The parts of a scorer from its configuration; whatever cannot work is a ConfigError before the first byte."""

import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from otel_eval.completion import CompletionLimits
from otel_eval.errors import ConfigError, PluginError
from otel_eval.judges.chain import Books
from otel_eval.judges.ledger import Amount
from otel_eval.metrics.base import MetricCard
from otel_eval.otlp.endpoint import Endpoint, Signal, endpoint_from_env, headers_from_text, url_of_signal, whole_url
from otel_eval.registry import SINKS, load_plugin
from otel_eval.sampling import Rules
from otel_eval.scoring import MetricRun
from otel_eval.service.config import Config, MetricConfig
from otel_eval.service.config.sections import OtlpSinkConfig
from otel_eval.service.judge_config import secret_text
from otel_eval.service.metric_choice import labels_of, run_of
from otel_eval.service.references import NO_REFERENCES, references_from_file
from otel_eval.service.serve.plan import Plan, PlannedRun
from otel_eval.service.topics import Topics
from otel_eval.sinks.base import OutboxSink
from otel_eval.sinks.otlp_events import OtlpEventSink
from otel_eval.sinks.otlp_metrics import OtlpMetricsSink
from otel_eval.sinks.otlp_spans import OtlpSpanSink
from otel_eval.sinks.streams import ConsoleSink, FileSink
from otel_eval.store import Store, StoreLimits

RUN_NAME = "serve"
"""Under which the judge's books of a store are kept."""
MEMORY = ":memory:"
_WORKERS = UUID("a6b3b0de-7c63-5a41-8f0e-6b1f0f6f2b8e")
"""Namespace of the ids of workers: one host and store is one worker, however often it is started."""


def store_from_config(config: Config) -> Store:
    """The opened store."""
    path = config.store.path
    return Store(None if path == MEMORY else Path(path), limits=store_limits(config))


def store_limits(config: Config) -> StoreLimits:
    c = config.store
    return StoreLimits(
        max_bytes=c.max_bytes, min_disk_bytes=c.min_disk, max_age_s=c.max_age, keep_s=c.keep, expire_when_full=c.expire_when_full
    )


def limits_from_config(config: Config) -> CompletionLimits:
    c = config.completion
    return CompletionLimits(
        trace_quiet_s=c.trace_quiet,
        trace_max_age_s=c.trace_max_age,
        conversation_idle_s=c.conversation_idle,
        conversation_max_age_s=c.conversation_max_age,
        max_revisions=c.max_revisions,
    )


def plan_from_config(config: Config) -> Plan:
    """What runs on what. ConfigError for a metric that cannot be loaded, or that is asked for twice."""
    s = config.selection
    rules = Rules(
        rate=s.rate,
        salt=s.salt,
        agents=s.agents,
        services=s.services,
        attributes=s.attributes,
        min_turns=s.min_turns,
        only_errors=s.only_errors,
        always_keep=s.always_keep,
        triage_share=s.triage_share,
    )
    runs = tuple(planned(run_of(m.name, m.parameters, compat=m.compat), m, s.rate) for m in config.metrics)
    labels_of([each.run for each in runs])
    references = config.scoring.references
    return Plan(
        runs=runs,
        rules=rules,
        limits=limits_from_config(config),
        references=references_from_file(Path(references)) if references else NO_REFERENCES,
        topics=Topics(all=config.scoring.topics, by_agent=config.scoring.agent_topics),
        late_window_s=config.completion.late_window,
        score_fragments=config.completion.fragments == "score",
        trusts_tracestate=config.selection.upstream == "tracestate",
    )


def planned(run: MetricRun, metric: MetricConfig, rate: float) -> PlannedRun:
    """A metric with when and on what share it runs, as its entry says."""
    return PlannedRun(
        run=run,
        rate=rate if metric.rate is None else metric.rate,
        at_trace=metric.at == "trace" or (metric.at == "auto" and _level(run.metric.card) == "turn"),
        triage=metric.triage,
    )


def _level(card: MetricCard) -> str:
    return card.level


def books_of(store: Store) -> Books:
    """Verdicts and spending in the store: both outlive the process."""
    return Books(store=store.verdicts(), ledger=store.ledger(Amount, run=RUN_NAME))


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """Who we are, for resources and to know ourselves."""

    resource: Mapping[str, str]
    version: str


def here(environ: Mapping[str, str], config: Config) -> Here:
    try:
        ours = version("otel-eval")
    except PackageNotFoundError:  # run from the source tree without being installed
        ours = ""
    worker = str(uuid5(_WORKERS, f"{socket.gethostname()}\n{Path(config.store.path).absolute()}"))
    resource = {
        "service.name": environ.get("OTEL_SERVICE_NAME") or "otel-eval",
        "service.version": ours,
        "service.instance.id": worker,
    }
    return Here(resource=resource, version=ours)


def sinks_from_config(config: Config, environ: Mapping[str, str] = os.environ) -> dict[str, OutboxSink]:
    """The sinks that are on, by name. ConfigError for one that cannot work or that leads back here."""
    sinks: dict[str, OutboxSink] = dict(_otlp_sinks(config, environ, here(environ, config)))
    if config.sinks.jsonl.path is not None:
        sinks["jsonl"] = FileSink(Path(config.sinks.jsonl.path))
    sinks |= {name: _plugin_sink(name, settings, sinks) for name, settings in config.sinks.others.items()}
    console = config.sinks.console.enabled
    if console or (console is None and not sinks):
        sinks["console"] = ConsoleSink(sys.stdout, width=shutil.get_terminal_size().columns if sys.stdout.isatty() else None)
    return sinks


def _plugin_sink(name: str, settings: Mapping[str, Any], taken: Mapping[str, OutboxSink]) -> OutboxSink:
    """A sink of another package: whatever it registered, called with its settings."""
    if name in {*taken, "jsonl", "console", "inline"}:
        raise ConfigError(f"sinks.others.{name}: that name is a built-in sink's: rename the plug-in")
    made = load_plugin(SINKS, name)
    sink = made(**settings) if callable(made) else made
    if not isinstance(sink, OutboxSink):
        raise PluginError(f"sink {name!r} has no `payload` and `send`: see otel_eval.sinks.base.OutboxSink")
    return sink


def _otlp_sinks(config: Config, environ: Mapping[str, str], us: Here) -> Iterator[tuple[str, OutboxSink]]:
    c = config.sinks
    shared: dict[str, Any] = {"resource": us.resource, "version": us.version}
    if is_on(c.otlp_events, "logs", environ):
        yield "otlp_events", OtlpEventSink(endpoint_of(c.otlp_events, "logs", config, environ), **shared)
    if is_on(c.otlp_metrics, "metrics", environ):
        yield "otlp_metrics", OtlpMetricsSink(endpoint_of(c.otlp_metrics, "metrics", config, environ), **shared)
    if is_on(c.otlp_spans, "traces", environ):
        yield "otlp_spans", OtlpSpanSink(endpoint_of(c.otlp_spans, "traces", config, environ), inside=c.otlp_spans.inside, **shared)


def is_on(sink: OtlpSinkConfig, signal: Signal, environ: Mapping[str, str]) -> bool:
    """Whether an OTLP sink is on: told so, or an endpoint is known."""
    if sink.enabled is not None:
        return sink.enabled
    variables = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    return sink.endpoint is not None or any(environ.get(name) for name in variables)


def is_named(sink: OtlpSinkConfig) -> bool:
    """Whether the configuration itself asks for an OTLP sink, whatever the environment knows."""
    return bool(sink.enabled) or (sink.enabled is None and sink.endpoint is not None)


def endpoint_of(sink: OtlpSinkConfig, signal: Signal, config: Config, environ: Mapping[str, str]) -> Endpoint:
    """Where an OTLP sink sends: the configuration over the standard variables."""
    if sink.protocol is not None:
        environ = {**environ, f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL": sink.protocol}
    endpoint = endpoint_from_env(environ, signal)
    if sink.endpoint is not None:
        is_whole = endpoint.protocol == "grpc" or sink.endpoint.rstrip("/").endswith(f"/v1/{signal}")
        endpoint = replace(endpoint, url=whole_url(sink.endpoint) if is_whole else url_of_signal(sink.endpoint, signal))
    headers = secret_text(sink.headers, sink.headers_file, f"sinks.*.headers_file of {signal}")
    if headers:
        endpoint = replace(endpoint, headers=headers_from_text(headers))
    if sink.timeout is not None:
        endpoint = replace(endpoint, timeout_s=sink.timeout)
    refuse_circle(endpoint, config)
    return endpoint


LOCAL = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


def is_wide(endpoint: str) -> bool:
    """Whether HOST:PORT can be reached from other machines."""
    return endpoint.rpartition(":")[0] not in LOCAL


def refuse_circle(endpoint: Endpoint, config: Config, who: str = "a sink") -> None:
    """What is sent to ourselves never arrives anywhere."""
    target = urlsplit(endpoint.url)
    own = config.receive.grpc if endpoint.protocol == "grpc" else config.receive.http
    host, _, port = own.endpoint.rpartition(":")
    same_host = target.hostname in LOCAL and (host in LOCAL or host in ("0.0.0.0", "[::]", ""))
    if own.enabled and same_host and str(target.port or 80) == port:
        raise ConfigError(f"{who} sends to {target.hostname}:{port}, which is this process's own receiver: name the backend's endpoint")
