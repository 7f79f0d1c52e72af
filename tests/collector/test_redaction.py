"""`redaction.yaml`: what is masked on the way to otel-eval is masked for the judge, and conversations are read all the same."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_eval.otlp.encode import pairs_from_attributes
from tests.fakes.collector import Collector
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Server, until
from tests.fakes.wire import SPAN, TRACE, span, traces

SECRETS = ("ana@example.com", "4111 1111 1111 1111")
WORDS = f"Book it for {SECRETS[0]} and charge {SECRETS[1]}"
GIVEN = [{"role": "user", "parts": [{"type": "text", "content": WORDS}]}]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": f"Booked for {SECRETS[0]}."}]}]
CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "acme"}


def model_call(attributes: dict[str, Any], events: dict[str, Any] | None = None) -> bytes:
    call = span(1, trace_id=TRACE, span_id=SPAN, end_time_unix_nano=5_000_000_000)
    call.attributes.extend(pairs_from_attributes({**CHAT, **attributes}))
    if events is not None:
        told = call.events.add(name="gen_ai.client.inference.operation.details", time_unix_nano=2000)
        told.attributes.extend(pairs_from_attributes(events))
    return traces(call)


def message_events() -> bytes:
    """What was said, as log events of the call, the words in their bodies."""
    request = ExportLogsServiceRequest()
    part = request.resource_logs.add().scope_logs.add()
    bodies: dict[str, Any] = {
        "gen_ai.user.message": {"content": WORDS},
        "gen_ai.choice": {"index": 0, "finish_reason": "stop", "message": {"content": f"Booked for {SECRETS[0]}."}},
    }
    for number, (name, body) in enumerate(bodies.items()):
        record = part.log_records.add(trace_id=TRACE, span_id=SPAN, time_unix_nano=2000 + number, event_name=name)
        record.attributes.extend(pairs_from_attributes({"gen_ai.system": "acme", "event.name": name}))
        record.body.kvlist_value.values.extend(pairs_from_attributes(body))
    return request.SerializeToString()


MESSAGES = {"gen_ai.input.messages": GIVEN, "gen_ai.output.messages": ANSWER}
WRITTEN = {
    "structured attributes": [("traces", model_call(MESSAGES))],
    "JSON in attributes": [("traces", model_call({name: json.dumps(value) for name, value in MESSAGES.items()}))],
    "attributes of span events": [("traces", model_call({}, MESSAGES))],
    "bodies of log records": [("logs", message_events()), ("traces", model_call({}))],
}


@contextmanager
def masked(folder: Path, backend: OtlpReceiver, judge_url: str) -> Iterator[tuple[Collector, Server]]:
    """A Collector that masks, before otel-eval with a judge."""
    port = free_port()
    environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}"}
    server = Server(
        folder,
        receive__grpc__endpoint=f"127.0.0.1:{port}",
        judge__model="m",
        judge__base_url=judge_url,
        metrics=["agent_goal_accuracy"],
    )
    with Collector("redaction.yaml", folder, **environment) as collector, server:
        yield collector, server


@pytest.mark.parametrize("form", WRITTEN)
def test_the_judge_sees_no_secret(tmp_path: Path, form: str) -> None:
    """Mail addresses and card numbers are masked wherever an instrumentation writes messages; the rest of the words is judged, and the
    backend gets everything as it was."""
    with judge_server([reached]) as judge, OtlpReceiver() as backend, masked(tmp_path, backend, judge.url) as (collector, server):
        for signal_name, body in WRITTEN[form]:
            assert collector.post(signal_name, body) == 200
        until(lambda: server.outcomes("trace") == {"scored": 1}, 40)
        until(lambda: len(backend.bodies) == len(WRITTEN[form]), 20)
        asked = json.dumps(judge.requests)
        kept = b"".join(body for _, body in backend.bodies)
    assert "Book it for ****" in asked
    for secret in SECRETS:
        assert secret not in asked
        assert secret.encode() in kept
