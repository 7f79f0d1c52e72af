"""`otel-eval score` from a trace file to the screen, to JSON lines and to an OTLP receiver."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from otel_eval.cli import main
from tests.fakes.judge_server import judge_server, verdict
from tests.fakes.otlp_receiver import OtlpReceiver

TRACE = "0af7651916cd43dd8448eb211c80319c"
REACHED = {
    "requests": [
        {"request": "r1", "same_as": "", "goal": "two seats", "reason": "The tool confirmed.", "evidence": [2], "status": "reached"},
    ],
    "certainty": "clear",
}
ON_TOPIC = {
    "requests": [
        {"request": "r1", "topic": "seats", "reason": "ok", "evidence": [0], "in_domain": "yes", "domain": "d1", "handling": "answered"},
    ],
    "certainty": "clear",
}
VERDICT = {"reason": "It is booked.", "evidence": [2], "certainty": "clear", "verdict": "yes"}


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """One conversation in OTLP/JSON: a booking that a tool confirms."""
    asked = {"role": "user", "parts": [{"type": "text", "content": "Please book two seats for tonight at 20:00."}]}
    called = {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "book", "arguments": {"seats": 2}}]}
    told = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "result": '{"ok": true, "code": "NF-2071"}'}]}
    said = {"role": "assistant", "parts": [{"type": "text", "content": "Your two seats have been booked, code NF-2071."}]}
    span = {
        "traceId": TRACE,
        "spanId": "00f067aa0ba902b7",
        "name": "chat m",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.conversation.id", "conv-1"),
            attribute("gen_ai.input.messages", [asked, called, told]),
            attribute("gen_ai.output.messages", [said]),
        ],
    }
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}), encoding="utf-8")
    return path


def score(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["score", *arguments])


def lines(result: Result) -> dict[str, dict[str, Any]]:
    return {found["metric"]: found for found in map(json.loads, result.stdout.splitlines())}


def test_the_first_minute(traces: Path) -> None:
    """One command and no settings: a table, by the rules that are built in, and one plain line that says so."""
    result = score(str(traces))
    assert result.exit_code == 0, result.output
    assert "agent_goal_accuracy" in result.stdout
    assert "1.00 pass" in result.stdout
    assert result.stderr.count("built-in rules judge") == 1


def test_json_lines_with_everything_that_applies(traces: Path) -> None:
    """Topics on the command line bring the topic metrics; each result is a line that says who judged."""
    found = lines(score("--format", "jsonl", "--topics", "seats,tickets", str(traces)))
    assert list(found) == ["agent_goal_accuracy", "topic_adherence_precision", "topic_adherence_recall", "topic_adherence_f1"]
    assert found["agent_goal_accuracy"]["judge"]["kind"] == "heuristic"
    assert found["agent_goal_accuracy"]["evidence"][0]["trace_id"] == TRACE


def test_references_bring_their_metrics(traces: Path, tmp_path: Path) -> None:
    """A reference for the conversation brings the tool metrics and goal accuracy with reference, by themselves."""
    references = tmp_path / "references.jsonl"
    reference = {
        "conversation_id": "conv-1",
        "reference": "NF-2071 is booked",
        "reference_tool_calls": [{"name": "book", "args": {"seats": 2}}],
    }
    references.write_text(json.dumps(reference) + "\n", encoding="utf-8")
    found = lines(score("--format", "jsonl", "--references", str(references), str(traces)))
    assert found["tool_call_accuracy"]["value"] == 1.0
    assert found["tool_call_f1"]["value"] == 1.0
    assert found["agent_goal_accuracy_with_reference"]["value"] == 1.0


def test_a_model_judges_and_the_scores_leave_as_events(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint from the environment and a model by option; goal accuracy and three topic metrics cost two calls; events arrive."""
    replies = {"goal_accuracy": verdict(REACHED), "topic_adherence": verdict(ON_TOPIC)}
    with judge_server([lambda request: replies[request["response_format"]["json_schema"]["name"]]]) as server, OtlpReceiver() as receiver:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        result = score("--judge-model", "m-1", "--topics", "seats", "--otlp", receiver.url, str(traces))
    assert result.exit_code == 0, result.output
    assert len(server.requests) == 2
    assert server.requests[0]["model"] == "m-1"
    assert server.headers[0]["authorization"] == "Bearer sk-test"
    assert {r.attributes["gen_ai.evaluation.name"] for r in receiver.records} == {
        "agent_goal_accuracy",
        "topic_adherence_precision",
        "topic_adherence_recall",
        "topic_adherence_f1",
    }
    assert {r.trace_id for r in receiver.records} == {TRACE}
    assert "built-in rules" not in result.stderr


def test_a_refused_key_ends_the_run_with_one_sentence(traces: Path) -> None:
    """A key that is not accepted is said once, with exit code 2; the key is nowhere in the output."""
    refusal = {"status": 401, "json": {"error": {"message": "Incorrect API key provided: sk-bad", "code": "invalid_api_key"}}}
    with judge_server([refusal]) as server:
        result = score("--judge-model", "m-1", "--base-url", server.url, str(traces))
    assert result.exit_code == 2
    assert "OPENAI_API_KEY" in result.stderr
    assert "sk-bad" not in result.output
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--metric", "goal_accuracy"), "did you mean 'agent_goal_accuracy'"),
        (("--metric", "tool_call_accuracy:ordr=strict"), "has no parameter 'ordr'"),
        (("--metric", "tool_call_f1", "--metric", "tool_call_f1"), "asked for twice"),
        (("--judge", "openai"), "give --judge-model"),
        (("--judge-model", "m", "--base-url", "localhost"), "expected http://HOST/v1"),
        (("--judge-model", "m"), "set OPENAI_API_KEY"),
        (("--otlp", "localhost:4318"), "no OTLP/HTTP endpoint"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(traces: Path, arguments: tuple[str, ...], said: str) -> None:
    """A wrong name, parameter, judge or endpoint ends with exit code 2 and a sentence that says what to do."""
    result = score(*arguments, str(traces))
    assert result.exit_code == 2
    assert said in result.stderr


def test_nothing_to_score_is_exit_code_1(tmp_path: Path) -> None:
    """A trace file without a conversation is not an error, and not a success either."""
    path = tmp_path / "empty.json"
    path.write_text('{"resourceSpans": []}', encoding="utf-8")
    result = score(str(path))
    assert result.exit_code == 1
    assert "otel-eval doctor" in result.stderr


def test_a_stored_conversation_brings_its_own_reference(tmp_path: Path) -> None:
    """A line of JSON with a conversation and what was expected of it is scored without a trace."""
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"seats": 2}'}}
    messages = [{"role": "user", "content": "Two seats"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    line = {"id": "c", "messages": messages, "reference_tool_calls": [{"name": "book", "arguments": {"seats": 2}}]}
    (tmp_path / "line.jsonl").write_text(json.dumps(line))
    found = lines(score("--format", "jsonl", "--metric", "tool_call_f1", str(tmp_path / "line.jsonl")))
    assert found["tool_call_f1"]["value"] == 1.0
