"""A scorer that others can reach: TLS, client certificates and tokens; and what it writes down is nobody's words."""

import http.client
import json
import os
import pty
import select
import signal
import ssl
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc

from otel_eval.store.admin import export
from tests.fakes.bench import otlp_json
from tests.fakes.judge_server import judge_server
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import ROOT, Server, until
from tests.fakes.spans import agent, chat, says, trace_id, user

TLS = ROOT / "tests" / "data" / "tls"
WIDE = {f"receive__{name}__endpoint": "0.0.0.0:0" for name in ("http", "grpc")}
SECRET = "xyzzy-the-words-of-a-user"


def turn(number: int, words: str = "Hello") -> bytes:
    """One turn in a trace of its own."""
    call = chat(1, [user(words)], says(words), trace=number, parent=9, start=number * 100 + 1)
    return otlp_json([call, agent(9, "clerk", trace=number, start=number * 100, end=number * 100 + 2)])


def command(server: Server, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    whole = [sys.executable, "-m", "otel_eval", *arguments]
    told = {**server.environment(), **environment}
    return subprocess.run(whole, env=told, cwd=server.folder, capture_output=True, text=True, timeout=60, check=False)


def over_grpc(server: Server, body: bytes, *, key: bytes | None, certificate: bytes | None) -> bool:
    """Whether a protobuf request is taken over gRPC with TLS."""
    credentials = grpc.ssl_channel_credentials((TLS / "ca.pem").read_bytes(), key, certificate)
    with grpc.secure_channel(f"localhost:{server.ports['grpc']}", credentials) as channel:
        call: Any = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
        try:
            return bool(call(body, timeout=10) == b"")
        except grpc.RpcError:
            return False


def over_http(server: Server, body: bytes, context: ssl.SSLContext) -> bool:
    """Whether a JSON request is taken over HTTPS."""
    with closing(http.client.HTTPSConnection("localhost", server.ports["http"], context=context, timeout=10)) as connection:
        try:
            connection.request("POST", "/v1/traces", body, {"Content-Type": "application/json"})
            return connection.getresponse().status == 200
        except OSError:
            return False


def test_client_certificates(tmp_path: Path) -> None:
    """Bound wide with client certificates there is no warning; who shows one gets in over both ports, and nobody else does."""
    files = {"certificate_file": "server.pem", "key_file": "server.key", "client_ca_file": "ca.pem"}
    settings = {f"receive__tls__{name}": str(TLS / file) for name, file in files.items()}
    with Server(tmp_path, metrics=["turn_count"], sinks__console__enabled=False, **settings, **WIDE) as server:
        assert not any("can be reached from other machines" in line for line in server.log)
        stranger = ssl.create_default_context(cafile=TLS / "ca.pem")
        known = ssl.create_default_context(cafile=TLS / "ca.pem")
        known.load_cert_chain(TLS / "client.pem", TLS / "client.key")
        pair = {"key": (TLS / "client.key").read_bytes(), "certificate": (TLS / "client.pem").read_bytes()}
        assert (over_http(server, turn(1), known), over_http(server, turn(2), stranger)) == (True, False)
        assert (over_grpc(server, b"", **pair), over_grpc(server, b"", key=None, certificate=None)) == (True, False)
        until(lambda: any(r["record"] == "outcome" and r["outcome"] == "scored" for r in export(tmp_path / "store.db")), 30)
        asks = ("top", "--once", "--server", f"https://localhost:{server.ports['http']}")
        shown = {"CERTIFICATE": "ca.pem", "CLIENT_CERTIFICATE": "client.pem", "CLIENT_KEY": "client.key"}
        seen = command(server, *asks, **{f"OTEL_EXPORTER_OTLP_{name}": str(TLS / file) for name, file in shown.items()})
        assert seen.returncode == 0, seen.stderr
        refused = command(server, *asks)
        assert (refused.returncode, "OTEL_EXPORTER_OTLP_CERTIFICATE" in refused.stderr) == (2, True), refused.stderr


def test_bound_wide_without_a_token_it_warns(tmp_path: Path) -> None:
    """Who can be reached from other machines and asks for nothing is told so at the start; with a token there is no such line."""
    with Server(tmp_path, **WIDE) as server:
        until(lambda: any("0.0.0.0" in line and "set a bearer token" in line for line in server.log), 10)
        server.stop()
        server.settings["receive__token"] = "t0ken"
        began = len(server.log)
        server.start()
        until(lambda: any("results go to" in line for line in server.log[began:]), 10)
        assert not any("bearer" in line for line in server.log[began:])


def test_logs_hold_nobodys_words(tmp_path: Path) -> None:
    """At the level `debug`, with judge, sink and senders in trouble, no line holds content or a key, and each is a JSON object."""
    refusal = {"status": 400, "json": {"error": {"message": f"bad prompt: {SECRET}"}}}
    with judge_server([refusal]) as judge, OtlpReceiver(answer=lambda number: 400) as backend:
        settings: dict[str, Any] = {"judge__model": "m", "judge__base_url": judge.url, "judge__api_key": "k3y", "receive__token": "t0ken"}
        settings["scoring__patience"] = "1s"
        settings |= {"telemetry__log_level": "debug", "telemetry__log_format": "json", "sinks__otlp_events__endpoint": backend.url}
        with Server(tmp_path, **settings) as server:
            assert server.post("traces", turn(1, SECRET), json_body=True, Authorization="Bearer t0ken") == 200
            assert server.post("traces", turn(2, SECRET)[:-9], json_body=True, Authorization="Bearer t0ken") == 400
            assert server.post("logs", turn(3, SECRET), json_body=True, Authorization="Bearer t0ken") == 400
            assert server.post("traces", turn(4, SECRET), json_body=True, Authorization="Bearer other") == 401
            until(lambda: any(r["record"] == "letter" and r["dead"] for r in export(tmp_path / "store.db")), 60)
            assert server.stop() == 0
    assert len([line for line in server.log if "sink otlp_events refused results for good" in line]) == 1
    assert [line for line in server.log if SECRET in line or "k3y" in line or "t0ken" in line] == []
    assert all({"time", "severity", "logger", "message"} <= json.loads(line).keys() for line in server.log)


def test_the_standard_variables_say_where_results_go(tmp_path: Path) -> None:
    """OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS and OTEL_SERVICE_NAME are enough: events arrive there, with the header, under that name."""
    with OtlpReceiver() as backend:

        class Told(Server):
            def environment(self) -> dict[str, str]:
                told = {"ENDPOINT": backend.url, "HEADERS": "x-team=blue%20one", "METRICS_ENDPOINT": f"{backend.url}/own/metrics"}
                return {**super().environment(), "OTEL_SERVICE_NAME": "judge-1", **{f"OTEL_EXPORTER_OTLP_{k}": v for k, v in told.items()}}

        with Told(tmp_path, metrics=["turn_count"], sinks__otlp_metrics__interval="200ms") as server:
            assert server.post("traces", turn(1), json_body=True) == 200
            until(lambda: {"/v1/logs", "/own/metrics"} <= set(backend.paths), 30)
            (record,) = backend.records
            assert (record.resource["service.name"], record.trace_id) == ("judge-1", trace_id(1))
            assert record.attributes["otel_eval.sampling.probability"] == 1.0
            assert backend.seen_headers["x-team"] == "blue one"


def test_top_goes_on(tmp_path: Path) -> None:
    """On a terminal `top` stays, shows what comes, and ends at Ctrl-C."""
    with Server(tmp_path, metrics=["turn_count"], sinks__console__enabled=False) as server:
        assert server.post("traces", turn(1), json_body=True) == 200
        ours, theirs = pty.openpty()
        told = {**server.environment(), "TERM": "xterm", "COLUMNS": "200", "LINES": "50"}
        watching = subprocess.Popen(
            [sys.executable, "-m", "otel_eval", "top", "--server", server.url],
            env=told,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=tmp_path,
        )
        os.close(theirs)
        seen = bytearray()
        try:
            until(lambda: shows(ours, seen, trace_id(1)[:16]), 40)
            assert server.post("traces", turn(2), json_body=True) == 200
            until(lambda: shows(ours, seen, "scored: 2"), 40)
            watching.send_signal(signal.SIGINT)
            until(lambda: shows(ours, seen, "") and watching.poll() is not None, 20)
            assert b"Traceback" not in seen
        finally:
            watching.kill()
            watching.wait()
            os.close(ours)


def shows(terminal: int, seen: bytearray, words: str) -> bool:
    """Read what is there; whether the words have been shown."""
    while select.select([terminal], [], [], 0)[0]:
        try:
            seen += os.read(terminal, 65_536)
        except OSError:  # the other side has closed it
            break
    return words.encode() in seen
