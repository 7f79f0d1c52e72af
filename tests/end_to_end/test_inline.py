"""In line: what passes is as it came, judged spans get their results, and nothing is lost on the way, whatever goes wrong."""

from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.captures import capture
from tests.fakes.bench import otlp_json
from tests.fakes.judge_server import judge_server
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import Server, until
from tests.fakes.spans import agent, chat, says, trace_id, user
from tests.fakes.wire import metrics, span, traces

RESULT = "gen_ai.evaluation.result"
POISON = b"never taken"
SIGNALS = ["tool_error_rate", "turn_count"]


def spans_at(receiver: OtlpReceiver) -> dict[str, Any]:
    """The spans that arrived behind, by id; the last one of an id."""
    found = {}
    for path, body in list(receiver.bodies):
        if path.endswith("/v1/traces"):
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                for part in group.scope_spans:
                    found.update({s.span_id.hex(): s for s in part.spans})
    return found


def sent_spans(bodies: list[bytes]) -> dict[str, Any]:
    return {
        s.span_id.hex(): s
        for body in bodies
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for part in group.scope_spans
        for s in part.spans
    }


def agent_requests() -> list[bytes]:
    """The traces of an instrumented agent."""
    return [body for name, body in sorted(capture("corpus/adk-span").requests.items()) if "logs" not in name]


def test_what_is_not_an_agents_passes_at_once_as_it_came(tmp_path: Path) -> None:
    """Spans of no agent, metrics and logs are forwarded byte for byte before they are acknowledged."""
    with OtlpReceiver() as behind, Server(tmp_path, arguments=("--inline", behind.url)) as server:
        plain = traces(span(1), span(2))
        assert server.post("traces", plain) == 200
        assert behind.bodies == [("/v1/traces", plain)]
        assert server.post("metrics", metrics()) == 200
        assert behind.bodies[1] == ("/v1/metrics", metrics())


def test_judged_spans_get_their_results(tmp_path: Path) -> None:
    """Spans of an agent's trace are held until it is scored; then all of them arrive, the roots with result events, the rest as it was."""
    bodies = agent_requests()
    with OtlpReceiver() as behind, Server(tmp_path, arguments=("--inline", behind.url), metrics=SIGNALS) as server:
        for body in bodies:
            assert server.post("traces", body) == 200
        until(lambda: len(spans_at(behind)) == len(sent_spans(bodies)), 30)
        arrived, sent = spans_at(behind), sent_spans(bodies)
    judged = 0
    for span_id, own in sent.items():
        got = arrived[span_id]
        added = [e for e in got.events if e.name == RESULT]
        judged += bool(added)
        for event in added:
            names = {a.key for a in event.attributes}
            assert {"gen_ai.evaluation.name", "otel_eval.result.id"} <= names
        del got.events[len(own.events) :]
        assert got == own
    assert judged == len({s.trace_id for s in sent.values()})


def test_a_refusal_behind_reaches_the_sender(tmp_path: Path) -> None:
    """While the receiver behind refuses, senders are told to send again; once it takes, everything is there."""
    state = {"status": 503}
    with OtlpReceiver(answer=lambda number: state["status"]) as behind, Server(tmp_path, arguments=("--inline", behind.url)) as server:
        assert server.post("traces", traces(span(1))) == 503
        state["status"] = 400
        assert server.post("traces", traces(span(1))) == 503
        state["status"] = 200
        assert server.post("traces", traces(span(1))) == 200
        assert list(spans_at(behind)) == [f"{1:016x}"]


class Picky(OtlpReceiver):
    """Refuses for good what holds these bytes."""

    def take(self, body: bytes, path: str) -> int:
        self.answer = lambda number: 400 if POISON in body else 200
        return OtlpReceiver.take(self, body, path)


def test_held_spans_that_are_refused_for_good_hold_up_no_others(tmp_path: Path) -> None:
    """Where the receiver behind will never take the spans of one trace, the others arrive; those stand as dead, with the reason."""
    bodies = agent_requests()
    poisoned = agent_turn(1, POISON.decode())
    with Picky() as behind, Server(tmp_path, arguments=("--inline", behind.url), metrics=SIGNALS) as server:
        assert server.post("traces", poisoned, json_body=True) == 200
        for body in bodies:
            assert server.post("traces", body) == 200
        until(lambda: len(spans_at(behind)) == len(sent_spans(bodies)), 30)
        until(lambda: server.get("/status")[1]["dead_letters"] == 1, 30)
        (told,) = [d for u in server.get(f"/explain/{trace_id(1)}")[1]["units"] for d in u["deliveries"] if d["sink"] == "inline"]
        assert (told["state"], "answered 400" in told["note"]) == ("dead", True)


def agent_turn(number: int, words: str) -> bytes:
    """One turn of an agent in a trace of its own, as JSON."""
    call = chat(1, [user("Hi")], says(words), trace=number, parent=9, start=number * 100 + 1)
    return otlp_json([call, agent(9, "clerk", trace=number, start=number * 100, end=number * 100 + 2)])


def test_spans_pass_unscored_when_the_judge_is_slow(tmp_path: Path) -> None:
    """The hold has a time limit: a judge that does not answer keeps no span longer."""
    bodies = agent_requests()
    with judge_server([{"hang": True}]) as judge, OtlpReceiver() as behind:
        settings = {"inline__hold": "2s", "judge__model": "m", "judge__base_url": judge.url, "metrics": ["agent_goal_accuracy"]}
        with Server(tmp_path, arguments=("--inline", behind.url), scoring__deadline="20s", **settings) as server:
            for body in bodies:
                assert server.post("traces", body) == 200
            until(lambda: len(spans_at(behind)) == len(sent_spans(bodies)), 15)
            assert not any(e.name == RESULT for s in spans_at(behind).values() for e in s.events)
            server.kill()


def test_held_spans_survive_a_crash(tmp_path: Path) -> None:
    """Spans that were acknowledged and held when the process died leave after its restart."""
    bodies = agent_requests()
    with OtlpReceiver() as behind:
        settings = {"inline__hold": "3s", "completion__trace_quiet": "60s", "completion__trace_max_age": "120s"}
        with Server(tmp_path, arguments=("--inline", behind.url), **settings) as server:
            for body in bodies:
                assert server.post("traces", body) == 200
            server.kill()
            assert len(spans_at(behind)) < len(sent_spans(bodies))
            server.start()
            until(lambda: len(spans_at(behind)) == len(sent_spans(bodies)), 20)


def test_held_spans_leave_at_the_end(tmp_path: Path) -> None:
    """A process that is ended lets go of everything it holds."""
    bodies = agent_requests()
    with OtlpReceiver() as behind:
        server = Server(tmp_path, arguments=("--inline", behind.url), completion__trace_quiet="60s", completion__trace_max_age="120s")
        with server:
            for body in bodies:
                assert server.post("traces", body) == 200
            assert server.stop() == 0
        assert len(spans_at(behind)) == len(sent_spans(bodies))


def test_no_room_to_hold_means_passing_at_once(tmp_path: Path) -> None:
    """Above the byte limit spans are not held, and traces are scored all the same."""
    bodies = agent_requests()
    with OtlpReceiver() as behind, Server(tmp_path, arguments=("--inline", behind.url), inline__max_held="1", metrics=SIGNALS) as server:
        for body in bodies:
            assert server.post("traces", body) == 200
        assert len(spans_at(behind)) == len(sent_spans(bodies))
        until(lambda: server.outcomes("trace").get("scored", 0) > 0, 20)


def test_what_no_metric_selects_passes_at_once(tmp_path: Path) -> None:
    """Where the rate selects nothing, an agent's spans are not held, whether or not they name a conversation."""
    body = agent_turn(1, "Hello.")
    settings: dict[str, Any] = {"selection__rate": 0, "metrics": SIGNALS}
    with OtlpReceiver() as behind, Server(tmp_path, arguments=("--inline", behind.url), **settings) as server:
        assert server.post("traces", body, json_body=True) == 200
        assert behind.bodies == [("/v1/traces", body)]
