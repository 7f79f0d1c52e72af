"""What applications send, and what of it arrived somewhere: spans and log records counted one by one."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from functools import lru_cache

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.captures import batch_of, capture, names
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import Copy, Sent, Server, copy_of


def of_corpus(number: int = 1) -> list[Copy]:
    """A run of each instrumentation of the corpus, under ids of their own; another number gives others."""
    return [copy_of(capture(name), number * 1000 + i) for i, name in enumerate(n for n in names() if n.startswith("corpus/"))]


def requests_of(copies: Iterable[Copy]) -> list[Sent]:
    return [sent for copy in copies for sent in copy.requests]


def spans_sent(requests: Iterable[Sent]) -> "Counter[str]":
    """How often each span was sent, by its ids."""
    return Counter(name for r in requests if r.signal == "traces" for name in _spans(r.body, is_json=r.is_json))


def logs_sent(requests: Iterable[Sent]) -> int:
    """How many log records were sent."""
    return sum(len(batch_of("logs.json" if r.is_json else "logs.pb", r.body).logs) for r in requests if r.signal == "logs")


def spans_at(receiver: OtlpReceiver) -> "Counter[str]":
    """How often each span arrived."""
    return Counter(name for path, body in list(receiver.bodies) if path == "/v1/traces" for name in _spans(body))


def logs_at(receiver: OtlpReceiver) -> int:
    """How many log records arrived that are no results."""
    return sum(record.event_name != "gen_ai.evaluation.result" for record in list(receiver.records))


def metric_names_at(receiver: OtlpReceiver) -> set[str]:
    """Names of all metrics that arrived."""
    requests = [ExportMetricsServiceRequest.FromString(body) for path, body in list(receiver.bodies) if path == "/v1/metrics"]
    return {m.name for r in requests for group in r.resource_metrics for part in group.scope_metrics for m in part.metrics}


def arrived(*servers: Server) -> dict[str, tuple[int, int]]:
    """Spans and log records by trace, as scorers counted them."""
    found: dict[str, tuple[int, int]] = {}
    for server in servers:
        with closing(sqlite3.connect(f"file:{server.settings['store__path']}?mode=ro", uri=True)) as db:
            for trace, spans, logs in db.execute("SELECT lower(hex(trace_id)), spans, logs FROM traces").fetchall():
                here = found.get(trace, (0, 0))
                found[trace] = (here[0] + spans, here[1] + logs)
    return found


@lru_cache(4096)
def _spans(body: bytes, *, is_json: bool = False) -> tuple[str, ...]:
    """The ids of a request's spans: trace and span. Asked again and again while a test waits."""
    return tuple(f"{s.trace_id} {s.span_id}" for s in batch_of("traces.json" if is_json else "traces.pb", body).spans)
