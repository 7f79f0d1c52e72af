"""A scorer in trouble or in a circle: it says so, recovers, and never judges itself."""

import random
import socket
import time
from contextlib import ExitStack
from pathlib import Path

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from otel_eval.store.admin import export
from otel_eval.telemetry import INSTRUMENTS
from tests.captures import capture
from tests.fakes.bench import otlp_json
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import Server, copy_of, settled, until
from tests.fakes.spans import agent, chat, says, trace_id, user


def turn(number: int, words: str = "Hello") -> bytes:
    """One turn in a trace of its own."""
    call = chat(1, [user("Hi")], says(words), trace=number, parent=9, start=number * 100 + 1)
    return otlp_json([call, agent(9, "clerk", trace=number, start=number * 100, end=number * 100 + 2)])


def test_results_that_come_back_are_not_judged(tmp_path: Path) -> None:
    """Our events and spans, sent to ourselves as a careless pipeline does, are taken, counted and left alone."""
    with OtlpReceiver() as backend:
        sinks = {f"sinks__otlp_{name}__endpoint": backend.url for name in ("events", "metrics", "spans")}
        with Server(
            tmp_path, sinks__otlp_spans__enabled=True, metrics=["turn_count"], sinks__otlp_metrics__interval="300ms", **sinks
        ) as server:
            assert server.post("traces", turn(1), json_body=True) == 200
            until(lambda: {"/v1/logs", "/v1/traces", "/v1/metrics"} <= {path for path, _ in backend.bodies}, 20)
            for path, body in list(backend.bodies):
                assert server.post(path.removeprefix("/v1/"), body) == 200
            until(lambda: server.outcomes("trace") == {"scored": 1, "evaluator_own": 1}, 20)
            status = server.get("/status")[1]
            assert status["received"]["own"] == {"logs": 1, "traces": 1}
            assert status["scored"] == {"estimate": 1}


def test_every_instrument_is_sent(tmp_path: Path) -> None:
    """Of the instruments that docs/telemetry.md lists, all but those of the Kafka worker and of faults arrive, with no others."""
    price = {"judge__price__input_usd": "1", "judge__price__output_usd": "2"}
    with judge_server([reached]) as judge, OtlpReceiver() as backend:
        sinks = {"sinks__otlp_metrics__endpoint": backend.url, "sinks__otlp_metrics__interval": "300ms"}
        sinks |= {"inline__endpoint": backend.url, "judge__model": "m", "judge__base_url": judge.url}
        with Server(tmp_path, metrics=["agent_goal_accuracy", "turn_count"], **sinks, **price) as server:
            assert server.post("traces", turn(1), json_body=True) == 200
            assert server.post("metrics", b"") == 200
            listed = {name for name in INSTRUMENTS if not name.startswith("otel_eval.kafka.")} - {"otel_eval.faults"}
            until(lambda: listed <= names_at(backend), 30)
            assert names_at(backend) == listed


def names_at(backend: OtlpReceiver) -> set[str]:
    """Names of the metrics in all requests."""
    requests = [ExportMetricsServiceRequest.FromString(body) for path, body in list(backend.bodies) if path == "/v1/metrics"]
    return {m.name for r in requests for group in r.resource_metrics for part in group.scope_metrics for m in part.metrics}


def test_a_full_store_refuses_for_now_and_recovers(tmp_path: Path) -> None:
    """Above its high mark the store refuses, retryably, and says so at /readyz; what is in it is scored, then it takes requests again."""
    words = random.Random(1).randbytes(100_000).hex()  # as large packed as anything can be
    with Server(tmp_path, store__max_bytes="6MiB", metrics=["turn_count"], completion__trace_quiet="1s") as server:
        number, refused = 0, 0
        end = time.monotonic() + 60
        while refused == 0:
            number += 1
            status = server.post("traces", turn(number, words + str(number)), json_body=True)
            assert status in (200, 503)
            refused += status == 503
            assert time.monotonic() < end
        assert server.get("/healthz")[0] == 200
        assert server.get("/readyz") == (503, {"status": "not ready", "missing": ["the store is above its high mark: see store.max_bytes"]})
        until(lambda: server.post("traces", turn(number, words), json_body=True) == 200, 30)
        until(lambda: server.outcomes("trace").get("scored") == number, 30)
        assert server.get("/readyz")[0] == 200


def test_a_judge_that_is_down_does_not_turn_intake_off(tmp_path: Path) -> None:
    """While the judge refuses, requests are taken, /readyz is ready, /status says why nothing is scored; when it answers, all is scored."""
    state = {"down": True}
    refusal = {"status": 503, "json": {"error": {"message": "down"}}}
    with judge_server([lambda request: refusal if state["down"] else reached(request)]) as judge:
        settings = {"judge__model": "m", "judge__base_url": judge.url, "metrics": ["agent_goal_accuracy"]}
        with Server(tmp_path, sinks__jsonl__path=str(tmp_path / "r.jsonl"), **settings) as server:
            assert server.post("traces", turn(1), json_body=True) == 200
            until(lambda: server.get("/status")[1]["given_back"] > 0, 30)
            assert server.get("/readyz")[0] == 200
            assert server.post("traces", turn(2), json_body=True) == 200
            (unit,) = server.get(f"/explain/{trace_id(1)}")[1]["units"]
            assert (unit["outcome"], unit["reason"]) in [("pending", "queue_estimate"), ("pending", "scoring")]
            state["down"] = False
            until(lambda: server.outcomes("trace") == {"scored": 2}, 90)
            assert len([line for line in server.log if "the judge cannot be asked (judge_unavailable)" in line]) == 1
            until(lambda: "conversations are scored again" in server.log[-1], 10)


def test_one_request_of_many_traces(tmp_path: Path) -> None:
    """A collector's request of hundreds of traces is decoded once, not once a trace: all of it is scored within seconds."""
    source = capture("corpus/hand-semconv-structured")
    bodies = [sent.body for number in range(1, 121) for sent in copy_of(source, number).requests if sent.signal == "traces"]
    with Server(tmp_path, metrics=["turn_count"], sinks__jsonl__path=str(tmp_path / "r.jsonl")) as server:
        began = time.monotonic()
        assert server.post("traces", b"".join(bodies)) == 200
        until(lambda: settled(server), 60)
        assert server.outcomes("conversation") == {"scored": 240}
        assert time.monotonic() - began < 45


def test_few_open_files(tmp_path: Path) -> None:
    """Where the system allows few open files, connections beyond them are told to come later, and what was taken is scored."""
    server = Server(tmp_path, metrics=["turn_count"], sinks__console__enabled=False)
    server.prefix = ("sh", "-c", 'ulimit -n 200 && exec "$@"', "sh")
    with server, ExitStack() as undo:
        assert server.post("traces", turn(1), json_body=True) == 200
        for _ in range(100):
            undo.enter_context(socket.create_connection(("127.0.0.1", server.ports["http"]), timeout=10))
        assert server.post("traces", turn(2), json_body=True) == 503
        until(lambda: outcomes_in(tmp_path) == 1, 20)
        undo.close()
        until(lambda: server.post("traces", turn(3), json_body=True) == 200, 20)
        until(lambda: server.outcomes("trace") == {"scored": 2}, 20)
        assert server.get("/status")[1]["faults"] == {}


def outcomes_in(folder: Path) -> int:
    """How many outcomes stand in the store."""
    return sum(r["record"] == "outcome" for r in export(folder / "store.db"))
