"""What an operator does with a running scorer: asks it, reloads it, looks into its store."""

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.bench import otlp_json
from tests.fakes.serving import ROOT, Server, until
from tests.fakes.spans import agent, chat, says, span, trace_id, user

ID = {"gen_ai.conversation.id": "talk/1"}


def turn(number: int, **attributes: Any) -> list[Any]:
    call = chat(1, [user("Hi")], says("Hello"), attributes, trace=number, parent=9, start=number * 100 + 1)
    return [call, agent(9, "clerk", attributes, trace=number, start=number * 100, end=number * 100 + 2)]


def otel_eval(server: Server, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command beside the server, with the same environment."""
    command = [sys.executable, "-m", "otel_eval", *arguments]
    environment = {**server.environment(), "OTEL_EVAL__RECEIVE__HTTP__ENDPOINT": f"127.0.0.1:{server.ports['http']}"}
    return subprocess.run(command, env=environment, cwd=server.folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("serve")
    settings: dict[str, Any] = {
        "metrics": ["turn_count", "tool_error_rate"],
        "sinks__jsonl__path": str(folder / "r.jsonl"),
        "completion__trace_max_age": "1s",
    }
    with Server(folder, **settings) as running:

        def send(*spans: Any) -> int:
            return running.post("traces", otlp_json(spans), json_body=True)

        assert send(*turn(1)) == 200
        assert send(*turn(2, **ID)) == 200
        assert send(turn(3)[0]) == 200
        assert send(span(1, {"http.method": "GET"}, trace=4)) == 200
        until(lambda: running.outcomes() == {"scored": 3, "fragment": 1, "no_genai_content": 1}, 20)
        yield running


@pytest.mark.parametrize("by", ["server", "file"])
def test_explain_tells_what_became_of_an_id(server: Server, by: str) -> None:
    """A trace, a conversation and a result are found by their ids, over HTTP or in the store's file of the running worker."""
    where = ("--server", server.url) if by == "server" else ()
    scored = otel_eval(server, "explain", trace_id(1), *where)
    assert scored.returncode == 0, scored.stderr
    first = scored.stdout.splitlines()[0]
    assert first.startswith(f"trace {trace_id(1)}: scored")
    assert "turn_count: 1;" in scored.stdout
    assert "tool_error_rate: skipped: undefined" in scored.stdout
    assert "selected by estimate, probability 1" in scored.stdout
    assert "jsonl: revision 1 sent" in scored.stdout
    assert "Hello" not in scored.stdout
    talk = json.loads(otel_eval(server, "explain", "talk/1", "--json", *where).stdout)["units"]
    assert [(u["kind"], u["outcome"]) for u in talk] == [("conversation", "scored")]
    result = talk[0]["results"][0]["id"]
    by_result = json.loads(otel_eval(server, "explain", result, "--json", *where).stdout)["units"]
    assert [(u["id"], u["results"]) for u in by_result] == [("talk/1", talk[0]["results"])]
    fragment = otel_eval(server, "explain", trace_id(3), *where).stdout
    assert "fragment, no_root" in fragment
    assert "completion.fragments: score" in fragment
    assert otel_eval(server, "explain", "nobody", *where).returncode == 1


def test_a_pending_trace_says_what_it_waits_for(tmp_path: Path) -> None:
    """Before its outcome a trace is `pending`, with the reason and the moment at which it is looked at again."""
    with Server(tmp_path, completion__trace_quiet="30s", completion__trace_max_age="60s") as waiting:
        waiting.post("traces", otlp_json(turn(1)), json_body=True)
        (unit,) = waiting.get(f"/explain/{trace_id(1)}")[1]["units"]
        assert (unit["outcome"], unit["reason"]) == ("pending", "silence")
        assert "its root has ended; it is complete at" in unit["next"]


def test_pages(server: Server) -> None:
    """Alive, ready, in numbers, by outcome; other paths and methods are refused with what there is."""
    assert server.get("/healthz") == (200, {"status": "alive"})
    assert server.get("/readyz") == (200, {"status": "ready"})
    status = server.get("/status")[1]
    assert status["metrics"] == ["turn_count", "tool_error_rate"]
    assert status["received"]["items"]["traces"] == 6
    assert {"kind": "conversation", "outcome": "scored", "reason": "", "units": 1} in server.get("/outcomes")[1]["outcomes"]
    assert server.get("/recent")[1]["recent"][0]["scores"]
    assert server.get("/nothing")[0] == 404
    with pytest.raises(urllib.request.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(server.url + "/status", data=b"x"), timeout=5)
    assert error.value.code == 405
    error.value.close()


def test_top_shows_it_once(server: Server) -> None:
    """The terminal view, as text: state, outcomes, recent conversations."""
    shown = otel_eval(server, "top", "--once")
    assert shown.returncode == 0, shown.stderr
    assert "scored" in shown.stdout
    assert "talk/1" in shown.stdout


def test_the_store_can_be_looked_into(server: Server) -> None:
    """`store info` and `export` work on the file of a running worker; `vacuum` says who is using it."""
    assert "conversations" in otel_eval(server, "store", "info").stdout
    records = [json.loads(line) for line in otel_eval(server, "store", "export").stdout.splitlines()]
    assert {"outcome", "result", "delivery", "trace"} <= {r["record"] for r in records}
    vacuum = otel_eval(server, "store", "vacuum")
    assert vacuum.returncode == 2
    assert "is in use by process" in vacuum.stderr


def test_a_second_worker_on_one_store_is_refused(server: Server) -> None:
    """One store is one worker's: the second one ends with a sentence before it binds a port."""
    second = otel_eval(server, "serve")
    assert second.returncode == 2
    assert "is in use by process" in second.stderr


def test_reload_applies_what_is_safe(tmp_path: Path) -> None:
    """SIGHUP: the new rate holds at once; a section that needs a restart is named; a broken file changes nothing."""
    file = tmp_path / "otel-eval.yaml"
    file.write_text("metrics: [turn_count]\n")
    with Server(tmp_path) as server:
        file.write_text("metrics: [turn_count]\nselection: {rate: 0, triage_share: 0}\nstore: {keep: 1d}\ncompletion: {replicas: h}\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: any("read again; what is scored" in line for line in server.log), 10)
        for name in ("store", "completion.replicas"):
            assert any(f"{name} has changed: only a restart applies that" in line for line in server.log)
        server.post("traces", otlp_json(turn(1)), json_body=True)
        until(lambda: server.outcomes() == {"sampled_out": 1}, 10)
        file.write_text("selectoin: {}\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: any("was not read again" in line and "did you mean 'selection'" in line for line in server.log), 10)
        assert server.get("/readyz")[0] == 200


def test_filters_by_any_attribute(tmp_path: Path) -> None:
    """Attributes of spans and of their resource decide what is judged, whatever they are called; a reload asks for others."""
    file = tmp_path / "otel-eval.yaml"
    file.write_text("metrics: [turn_count]\nselection: {attributes: {tenant.tier: gold*}}\n")
    with Server(tmp_path) as server:
        server.post("traces", otlp_json(turn(1, **{"tenant.tier": "golden"})), json_body=True)
        server.post("traces", otlp_json(turn(2, **{"tenant.tier": "silver"})), json_body=True)
        until(lambda: server.outcomes() == {"scored": 1, "filtered": 1}, 20)
        file.write_text("metrics: [turn_count]\nselection: {attributes: {service.name: shop}}\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: any("read again; what is scored" in line for line in server.log), 10)
        server.post("traces", otlp_json(turn(3)), json_body=True)
        server.post("traces", otlp_json(turn(4), service="bank"), json_body=True)
        until(lambda: server.outcomes() == {"scored": 2, "filtered": 2}, 20)


def test_shorter_times_hold_for_what_waits(tmp_path: Path) -> None:
    """A trace that came when the silence was an hour is complete after the new one: at a reload, and at a restart."""
    file = tmp_path / "otel-eval.yaml"
    hour, moment = "metrics: [turn_count]\ncompletion: {trace_quiet: 1h}\n", "metrics: [turn_count]\ncompletion: {trace_quiet: 100ms}\n"
    file.write_text(hour)
    server = Server(tmp_path, sinks__console__enabled=False)
    del server.settings["completion__trace_quiet"], server.settings["completion__trace_max_age"]
    with server:
        server.post("traces", otlp_json(turn(1)), json_body=True)
        file.write_text(moment)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.outcomes() == {"scored": 1}, 20)
        file.write_text(hour)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: sum("read again" in line for line in server.log) == 2, 10)
        server.post("traces", otlp_json(turn(2)), json_body=True)
        server.kill()
        file.write_text(moment)
        server.start()
        until(lambda: server.outcomes() == {"scored": 2}, 20)


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    """With a token, senders and all pages but the two checks need it."""
    with Server(tmp_path, receive__token="s3cret") as server:
        body = otlp_json(turn(1))
        assert server.post("traces", body, json_body=True) == 401
        assert server.post("traces", body, json_body=True, Authorization="Bearer s3cret") == 200
        assert (server.get("/healthz")[0], server.get("/status")[0]) == (200, 401)
        assert otel_eval(server, "explain", trace_id(1), "--server", server.url).returncode == 0
        assert not any("s3cret" in line for line in server.log)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("metrics: [no_such_metric]", "there is no metric 'no_such_metric'"),
        ("judge: {kind: openai}", "set judge.model"),
        ("judge: {model: m}", "no key for the judge"),
        ("sinks: {otlp_events: {endpoint: 'http://localhost:4318'}}", "this process's own receiver"),
        ("inline: {endpoint: 'http://localhost:4318'}", "this process's own receiver"),
        ("receive: {http: {endpoint: here}}", "no address to listen on"),
        ("store: {path: /nowhere/at/all/s.db}", "/nowhere/at/all"),
        ("scoring: {references: none.jsonl}", "cannot be read"),
    ],
)
def test_what_cannot_work_ends_before_a_port_is_bound(tmp_path: Path, text: str, said: str) -> None:
    """A configuration that cannot work is refused at the start, with a sentence."""
    (tmp_path / "otel-eval.yaml").write_text(text)
    clean = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "otel_eval", "serve"]
    ended = subprocess.run(command, env=clean, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
