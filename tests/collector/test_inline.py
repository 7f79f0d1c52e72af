"""`inline.yaml`: spans pass through otel-eval and come out as they went in, judged ones with their results; nothing is lost on the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.fakes.collector import Collector
from tests.fakes.judge_server import judge_server
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Sent, Server, until
from tests.fakes.traffic import logs_at, logs_sent, of_corpus, requests_of, spans_at, spans_sent

RESULT = "gen_ai.evaluation.result"


@contextmanager
def in_line(folder: Path, backend: OtlpReceiver, **settings: Any) -> Iterator[tuple[Collector, Server]]:
    """applications → Collector → otel-eval → the same Collector → backend."""
    port = free_port()
    collector = Collector("inline.yaml", folder, OTEL_EVAL_ENDPOINT=f"127.0.0.1:{port}", BACKEND_OTLP_ENDPOINT=backend.url)
    server = Server(folder, arguments=("--inline", collector.results), receive__grpc__endpoint=f"127.0.0.1:{port}", **settings)
    with collector, server:
        yield collector, server


def send(collector: Collector, requests: list[Sent]) -> None:
    for sent in requests:
        assert collector.post(sent.signal, sent.body, json_body=sent.is_json) == 200


def groups(bodies: list[bytes]) -> dict[str, tuple[bytes, bytes, Any]]:
    """Each span by its ids: the bytes of its resource and of its scope, and the span."""
    return {
        f"{span.trace_id.hex()} {span.span_id.hex()}": (group.resource.SerializeToString(), part.scope.SerializeToString(), span)
        for body in bodies
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for part in group.scope_spans
        for span in part.spans
    }


def test_what_comes_out_is_what_went_in_and_the_results(tmp_path: Path) -> None:
    """Resource, scope and span are the same bytes, the order of attributes included; judged spans have result events behind their own."""
    requests = [sent for sent in requests_of(of_corpus()) if not sent.is_json]
    # Spans and logs come in batches of their own, seconds apart; and nothing leaves unscored because a machine is slow.
    quiet = {"completion__trace_quiet": "12s", "inline__hold": "5m", "metrics": ["turn_count", "tool_error_rate"]}
    with OtlpReceiver() as backend, in_line(tmp_path, backend, **quiet) as (collector, server):
        send(collector, requests)
        until(lambda: (len(spans_at(backend)), logs_at(backend)) == (len(spans_sent(requests)), logs_sent(requests)), 120)
        scored = server.outcomes("trace")["scored"]
    went_in = groups([sent.body for sent in requests if sent.signal == "traces"])
    came_out = groups([body for path, body in backend.bodies if path == "/v1/traces"])
    judged = 0
    for name, (resource, scope, span) in went_in.items():
        got_resource, got_scope, got = came_out[name]
        judged += any(event.name == RESULT for event in got.events)
        assert {event.name for event in got.events[len(span.events) :]} <= {RESULT}
        del got.events[len(span.events) :]
        assert (got_resource, got_scope, got.SerializeToString()) == (resource, scope, span.SerializeToString())
    assert spans_at(backend) == spans_sent(requests)
    assert judged == scored > 0


def test_nothing_is_lost_when_otel_eval_is_killed(tmp_path: Path) -> None:
    """Killed while it holds spans, and while others wait in the queue before it: after its restart all of them reach the backend."""
    first, second = ([sent for sent in requests_of(of_corpus(number)) if not sent.is_json] for number in (1, 2))
    times = {"inline__hold": "3s", "completion__trace_quiet": "60s", "completion__trace_max_age": "120s"}
    with OtlpReceiver() as backend, in_line(tmp_path, backend, **times) as (collector, server):
        send(collector, first)
        until(lambda: server.get("/status")[1]["inline"]["held_bytes"] > 0, 30)
        server.kill()
        assert len(spans_at(backend)) < len(spans_sent(first))
        send(collector, second)
        server.start()
        until(lambda: spans_at(backend).keys() == spans_sent(first + second).keys(), 60)
        until(lambda: logs_at(backend) >= logs_sent(first + second), 20)


def test_nothing_is_lost_when_the_judge_hangs(tmp_path: Path) -> None:
    """A judge that never answers keeps no span longer than `inline.hold`: all arrive once, unscored."""
    requests = [sent for sent in requests_of(of_corpus()[:12]) if not sent.is_json]
    with judge_server([{"hang": True}]) as judge, OtlpReceiver() as backend:
        asks = {"judge__model": "m", "judge__base_url": judge.url, "metrics": ["agent_goal_accuracy"], "inline__hold": "2s"}
        with in_line(tmp_path, backend, **asks) as (collector, server):
            send(collector, requests)
            until(lambda: judge.requests and len(spans_at(backend)) == len(spans_sent(requests)), 60)
            server.kill()
    assert spans_at(backend) == spans_sent(requests)
    spans = groups([body for path, body in backend.bodies if path == "/v1/traces"]).values()
    assert not any(event.name == RESULT for _, _, span in spans for event in span.events)
