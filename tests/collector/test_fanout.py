"""`fanout.yaml`: the main backend gets everything once, whatever otel-eval does; results come back, and not in a circle."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otel_eval.dialects import BUILTIN
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.keeping import keys_of_dialects
from tests.captures import capture, names
from tests.fakes.collector import Collector
from tests.fakes.evaluators import MODES, QUEUE_FULL, SIGNALS
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import ROOT, Server, settled, until
from tests.fakes.traffic import arrived, logs_at, logs_sent, metric_names_at, of_corpus, requests_of, spans_at, spans_sent

RESULT = "gen_ai.evaluation.result"
TO_EVAL = 'exporter="otlp_grpc/eval"'


@pytest.mark.parametrize("mode", MODES)
def test_the_main_backend_gets_everything_once(tmp_path: Path, mode: str) -> None:
    """In every state of otel-eval all requests are taken and each span reaches the main backend once; a full queue drops and counts."""
    port, requests = free_port(), requests_of(of_corpus())
    expected = spans_sent(requests)
    (tmp_path / "eval").mkdir()
    with OtlpReceiver() as backend, MODES[mode](tmp_path / "eval", port):
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}"}
        if mode == QUEUE_FULL:
            environment["OTEL_EVAL_QUEUE_BYTES"] = "1000000"
        with Collector("fanout.yaml", tmp_path, **environment) as collector:
            for sent in requests:
                assert collector.post(sent.signal, sent.body, json_body=sent.is_json) == 200
            until(lambda: len(spans_at(backend)) == len(expected) and logs_at(backend) == logs_sent(requests), 30)
            if mode == QUEUE_FULL:
                until(lambda: collector.counts("otelcol_exporter_enqueue_failed_spans", TO_EVAL) > 0, 30)
            if mode == "answering":
                until(lambda: collector.counts("otelcol_exporter_sent_spans", TO_EVAL) == sum(expected.values()), 30)
            collector.kill()  # it would wait for otel-eval
        assert spans_at(backend) == expected


def test_results_come_back_and_not_in_a_circle(tmp_path: Path) -> None:
    """Scores reach the backend as log events on the judged spans and the metrics backend as a histogram; otel-eval never gets them."""
    port, requests = free_port(), requests_of(of_corpus())
    with OtlpReceiver() as backend, OtlpReceiver() as metrics:
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "METRICS_OTLP_ENDPOINT": f"{metrics.url}/v1/metrics"}
        collector = Collector("fanout.yaml", tmp_path, OTEL_EVAL_ENDPOINT=f"127.0.0.1:{port}", **environment)
        back = {"endpoint": collector.results, "protocol": "grpc", "enabled": True}
        sinks: dict[str, Any] = {
            f"sinks__otlp_{name}__{key}": value for name in ("events", "metrics", "spans") for key, value in back.items()
        }
        sinks |= {"sinks__otlp_metrics__interval": "300ms", "receive__grpc__endpoint": f"127.0.0.1:{port}"}
        with collector, Server(tmp_path, metrics=SIGNALS, **sinks) as server:
            for sent in requests:
                assert collector.post(sent.signal, sent.body, json_body=sent.is_json) == 200
            until(lambda: collector.counts("otelcol_exporter_sent_spans", TO_EVAL) == sum(spans_sent(requests).values()), 30)
            until(lambda: server.outcomes() and settled(server), 60)
            results = [r for r in backend.records if r.event_name == RESULT]
            until(lambda: "otel_eval.score" in metric_names_at(metrics), 20)
            # Whatever were on its way back to otel-eval would be there before what is sent now.
            for sent in (last := requests_of(of_corpus(2))):
                assert collector.post(sent.signal, sent.body, json_body=sent.is_json) == 200
            everything = sum(spans_sent(requests + last).values())
            until(lambda: collector.counts("otelcol_exporter_sent_spans", TO_EVAL) == everything, 30)
            status = server.get("/status")[1]
        judged = {f"{r.trace_id} {r.span_id}" for r in results}
        assert {r.attributes["gen_ai.evaluation.name"] for r in results} == set(SIGNALS)
        assert judged <= set(spans_sent(requests))
        assert status["received"]["items"]["traces"] == everything
        assert status["received"]["own"] == {"logs": 0, "traces": 0}


def test_what_a_backend_would_get_is_printed(tmp_path: Path) -> None:
    """With `print.yaml` the Collector needs no backend: results of the examples stand in its output."""
    port = free_port()
    collector = Collector("print.yaml", tmp_path, OTEL_EVAL_ENDPOINT=f"127.0.0.1:{port}")
    back = {"sinks__otlp_events__endpoint": collector.results, "sinks__otlp_events__protocol": "grpc"}
    with collector, Server(tmp_path, receive__grpc__endpoint=f"127.0.0.1:{port}", **back):
        for line in (ROOT / "examples" / "traces" / "langgraph.jsonl").read_bytes().splitlines():
            assert collector.post("traces", line, json_body=True) == 200
        until(lambda: f"EventName: {RESULT}" in collector.log, 40)


def test_no_log_record_of_an_agent_is_filtered(tmp_path: Path) -> None:
    """Of every captured instrumentation otel-eval gets all log records that it would read, and hardly any other."""
    port, bodies = free_port(), [(name.endswith(".json"), body) for name, body in log_requests()]
    reader, expected = EnvelopeReader(keys_of_dialects(BUILTIN)), Counter[str]()
    for is_json, body in bodies:
        envelope = reader.read("logs", body, "json" if is_json else "protobuf")
        expected.update({trace.trace_id: trace.logs for trace in envelope.traces})
    with OtlpReceiver() as backend, Server(tmp_path, receive__grpc__endpoint=f"127.0.0.1:{port}", metrics=SIGNALS) as server:
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}"}
        with Collector("fanout.yaml", tmp_path, **environment) as collector:
            for is_json, body in bodies:
                assert collector.post("logs", body, json_body=is_json) == 200
            until(lambda: sum(logs for _, logs in arrived(server).values()) >= expected.total(), 40)
            assert {trace: logs for trace, (_, logs) in arrived(server).items()} == dict(expected)
            passed = collector.counts("otelcol_exporter_sent_log_records", TO_EVAL)
    assert expected.total() <= passed < logs_at(backend)


def log_requests() -> list[tuple[str, bytes]]:
    """All requests of log records of all captures."""
    return [(file, body) for name in names() for file, body in sorted(capture(name).requests.items()) if "logs" in file]
