"""`redaction.yaml`: what is masked on the way to otel-eval is masked for the judge, and conversations are read all the same."""

import json
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from otel_eval.otlp.encode import pairs_from_attributes
from tests.fakes.collector import Collector
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Server, until
from tests.fakes.traffic import spans_at
from tests.fakes.wire import SPAN, span, traces

SECRETS = ("ana@example.com", "4111 1111 1111 1111")
FORMS = ("structured attributes", "JSON text", "span events", "bodies of log records")


def words(form: str) -> str:
    return f"By {form}: book it for {SECRETS[0]} and charge {SECRETS[1]}"


def messages(form: str) -> dict[str, Any]:
    given = [{"role": "user", "parts": [{"type": "text", "content": words(form)}]}]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": f"Booked for {SECRETS[0]}."}]}]
    return {"gen_ai.input.messages": given, "gen_ai.output.messages": answer}


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "acme"}


def model_call(trace: bytes, attributes: dict[str, Any], events: dict[str, Any] | None = None) -> bytes:
    call = span(1, trace_id=trace, span_id=SPAN, end_time_unix_nano=5_000_000_000)
    call.attributes.extend(pairs_from_attributes({**CHAT, **attributes}))
    if events is not None:
        told = call.events.add(name="gen_ai.client.inference.operation.details", time_unix_nano=2000)
        told.attributes.extend(pairs_from_attributes(events))
    return traces(call)


def message_events(trace: bytes) -> bytes:
    """What was said, as log events of the call, the words in their bodies."""
    request = ExportLogsServiceRequest()
    part = request.resource_logs.add().scope_logs.add()
    bodies: dict[str, Any] = {
        "gen_ai.user.message": {"content": words(FORMS[3])},
        "gen_ai.choice": {"index": 0, "finish_reason": "stop", "message": {"content": f"Booked for {SECRETS[0]}."}},
    }
    for number, (name, body) in enumerate(bodies.items()):
        record = part.log_records.add(trace_id=trace, span_id=SPAN, time_unix_nano=2000 + number, event_name=name)
        record.attributes.extend(pairs_from_attributes({"gen_ai.system": "acme", "event.name": name}))
        record.body.kvlist_value.values.extend(pairs_from_attributes(body))
    return request.SerializeToString()


TRACES = [bytes([number]) * 16 for number in (1, 2, 3, 4)]
REQUESTS = [
    ("traces", model_call(TRACES[0], messages(FORMS[0]))),
    ("traces", model_call(TRACES[1], {name: json.dumps(value) for name, value in messages(FORMS[1]).items()})),
    ("traces", model_call(TRACES[2], {}, messages(FORMS[2]))),
    ("logs", message_events(TRACES[3])),
    ("traces", model_call(TRACES[3], {})),
]


def test_the_judge_sees_no_secret(tmp_path: Path) -> None:
    """Mail addresses and card numbers are masked in every form in which messages are written; the rest of the words is judged, and the
    backend gets everything as it was."""
    port = free_port()
    with judge_server([reached]) as judge, OtlpReceiver() as backend:
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}"}
        asks: dict[str, Any] = {"judge__model": "m", "judge__base_url": judge.url, "metrics": ["agent_goal_accuracy"]}
        server = Server(tmp_path, receive__grpc__endpoint=f"127.0.0.1:{port}", completion__trace_quiet="3s", **asks)
        with Collector("redaction.yaml", tmp_path, **environment) as collector, server:
            for signal_name, body in REQUESTS:
                assert collector.post(signal_name, body) == 200
            until(lambda: server.outcomes("trace") == {"scored": 4}, 40)
            until(lambda: len(spans_at(backend)) == 4 and len(backend.records) == 2, 20)
    asked = [json.dumps(request) for request in judge.requests]
    assert len(asked) == len(FORMS)
    for form in FORMS:
        assert any(f"By {form}: book it for **** and charge ****" in each for each in asked)
    assert not any(secret in each for secret in SECRETS for each in asked)
    kept = b"".join(body for _, body in backend.bodies)
    assert [kept.count(secret.encode()) for secret in SECRETS] == [8, 4]
