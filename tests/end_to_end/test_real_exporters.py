"""Exporters and a pipeline that others wrote, as clients: what they send is scored with every word in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from otel_eval.model import Conversation
from otel_eval.service.convert import conversations_from_paths
from otel_eval.service.serve.judgement import content_hash
from otel_eval.store.admin import export, export_bodies
from tests.captures import capture
from tests.fakes.clients import Crowd
from tests.fakes.exporters import Rotel, run_js
from tests.fakes.programs import free_port
from tests.fakes.serving import Copy, Server, copy_of, settled, until
from tests.fakes.spans import says, talk, to_json, user

PIPED = ("adk-events", "hand-semconv-structured", "captures/openlit-chat", "captures/litellm-otel-event")
JS = Path(__file__).parent / "js" / "agent.mjs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    ports = {f"receive__{name}__endpoint": f"127.0.0.1:{free_port()}" for name in ("http", "grpc")}
    settings: dict[str, Any] = {"completion__conversation_idle": "2s", "metrics": ["turn_count"], **ports}
    with Server(tmp_path_factory.mktemp("exporters"), sinks__console__enabled=False, **settings) as running:
        yield running


def arrived(server: Server, folder: Path) -> dict[str, Conversation]:
    """The conversations that stand in the requests as the store has them."""
    folder.mkdir()
    for body in export_bodies(server.folder / "store.db"):
        (folder / f"{body.id:06}.{body.signal}.otlp").write_bytes(body.data)
    return {c.key: c for c in conversations_from_paths([folder]).conversations}


def outcomes(server: Server) -> dict[tuple[str, str], Any]:
    """Outcome, and hash of the content where it was read, by kind and key."""
    rows = [r for r in export(server.folder / "store.db") if r["record"] == "outcome"]
    return {(r["kind"], r["key"]): (r["outcome"], (r["facts"] or {}).get("hash")) for r in rows}


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_the_python_sdk(server: Server, tmp_path: Path, protocol: str) -> None:
    """Two turns in traces of their own, by the batch processor and the exporter as they come from PyPI, one of them compressing."""
    name = f"python-{protocol}"
    exporter: Any
    if protocol == "grpc":
        exporter = GrpcExporter(endpoint=f"http://{server.grpc}", insecure=True)
    else:
        exporter = HttpExporter(endpoint=f"{server.url}/v1/traces", compression=Compression.Gzip)
    provider = TracerProvider(resource=Resource({"service.name": "desk"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    turn(provider.get_tracer("agent"), name, [user("Is room 7 free? ✓")], says("It is."))
    turn(provider.get_tracer("agent"), name, [user("Is room 7 free? ✓"), says("It is."), user("Book it.")], says("Booked."))
    assert provider.force_flush()
    provider.shutdown()
    until(lambda: ("conversation", name) in outcomes(server), 30)
    found = arrived(server, tmp_path / "requests")[name]
    assert talk(found) == ["user: Is room 7 free? ✓", "assistant: It is.", "user: Book it.", "assistant: Booked."]
    assert outcomes(server)["conversation", name] == ("scored", content_hash(found))


def turn(tracer: trace.Tracer, conversation: str, given: Any, answer: Any) -> None:
    known = {"gen_ai.conversation.id": conversation, "gen_ai.agent.name": "clerk"}
    content = {"gen_ai.input.messages": to_json(given), "gen_ai.output.messages": to_json([answer])}
    with (
        tracer.start_as_current_span("invoke_agent clerk", attributes={"gen_ai.operation.name": "invoke_agent", **known}),
        tracer.start_as_current_span("chat", attributes={"gen_ai.operation.name": "chat", **known, **content}),
    ):
        pass


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_the_javascript_sdk(server: Server, tmp_path: Path, compression: str) -> None:
    """The SDK's JSON exporters for spans and logs: words on spans, and words only in log events with null among their values."""
    program = tmp_path / "agent.mjs"
    program.write_text(JS.read_text().replace('"told"', f'"told-{compression}"').replace('"hidden"', f'"hidden-{compression}"'))
    ran = run_js(program, server.url, OTEL_EXPORTER_OTLP_COMPRESSION=compression)
    assert (ran.returncode, ran.stderr) == (0, "")
    names = [f"told-{compression}", f"hidden-{compression}"]
    until(lambda: outcomes(server).keys() >= {("conversation", name) for name in names}, 30)
    found = arrived(server, tmp_path / "requests")
    for name in names:
        assert talk(found[name]) == ["user: Is room 7 free? ✓", "assistant: It is.", "user: Book it.", "assistant: Booked."]
        assert outcomes(server)["conversation", name] == ("scored", content_hash(found[name]))


@pytest.mark.parametrize(("protocol", "number"), [("http", 0), ("grpc", 1)])
def test_a_pipeline_in_front(server: Server, tmp_path: Path, protocol: str, number: int) -> None:
    """Through rotel, which batches and packs anew, nothing is lost or changed, though the server is killed and comes back meanwhile."""
    made = [copy_of(capture(name), place + number * len(PIPED)) for place, name in enumerate(PIPED, 1)]
    expected = {c.key: c for copy in made for c in conversations_of(copy, tmp_path) if c.sub_agent_of is None}
    with Rotel(tmp_path, server, protocol) as pipe:
        crowd = Crowd(pipe.http_port, pipe.grpc_port, repeat=0.0)
        server.kill()
        crowd.start(sent for copy in made for sent in copy.requests)
        until(lambda: crowd.is_done, 60)
        server.start()
        until(lambda: expected.keys() <= {key for _, key in outcomes(server)} and settled(server), 90, every_s=0.2)
    assert crowd.refused == []
    found = {key: told for (_, key), told in outcomes(server).items()}
    assert {key for key, c in expected.items() if found[key] != ("scored", content_hash(c))} == set()


def conversations_of(copy: Copy, folder: Path) -> list[Conversation]:
    return conversations_from_paths([copy.files(folder / str(copy.number))]).conversations
