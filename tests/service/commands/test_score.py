"""`otel-eval score` from a trace file to the screen, to JSON lines and to an OTLP receiver."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from otel_eval.cli import main
from otel_eval.service.commands.score import progress_text
from otel_eval.service.tally import Tally
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("--metric", "goal_accuracy"),
        ("--otlp", "localhost:4318"),
        ("--judge", "openai"),
        ("--fail-under", "agent_goal_accuracy"),
        ("--price", "cheap"),
        ("--check", "polite"),
        ("--out", "no-such-folder/results.jsonl"),
    ],
    ids=" ".join,
)
def test_options_are_looked_at_before_the_input(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """Whoever scores an hour of traces learns at once what is wrong with an option: what is wrong with the input is told after it."""
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    result = score(*arguments, str(broken))
    assert result.exit_code == 2
    assert arguments[1] in result.stderr or "--judge-model" in result.stderr
    assert "broken" not in result.stderr


def test_a_judge_that_fails_everywhere_is_exit_code_3(conversations: Path) -> None:
    """Nothing was scored because of an error: that is no success, nor a bad agent, and one line says why."""
    refusal = {"status": 400, "json": {"error": {"code": "content_filter"}}}
    with judge_server([refusal]) as server:
        asked = ("--metric", "agent_goal_accuracy", "--judge-model", "m", "--base-url", server.url)
        plain = score(*asked, str(conversations))
        under = score(*asked, "--fail-under", "agent_goal_accuracy=0", str(conversations))
    assert (plain.exit_code, under.exit_code) == (3, 3)
    assert plain.stderr.splitlines()[-1] == "otel-eval: nothing was scored: failed 10 (judge_filtered 10)"
    assert "agent_goal_accuracy has no score" in under.stderr


def test_all_skipped_is_said(traces: Path) -> None:
    """No metric applied: nothing went wrong, and the last line says that nothing was scored."""
    result = score("--metric", "tool_call_f1", str(traces))
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "otel-eval: nothing was scored: skipped 1 (needs_missing 1)"


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


# -- options for continuous work -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    """Ten conversations in JSON lines, every other one a success by the built-in rules."""
    path = tmp_path / "conversations.jsonl"
    lines = []
    for n in range(10):
        told = f'{{"ok": true, "code": "NF-{n}71"}}' if n % 2 == 0 else '{"ok": false, "error": "no seats"}'
        messages = [
            {"role": "user", "content": "Please book two seats for tonight at 20:00."},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "book", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "1", "content": told},
            {"role": "assistant", "content": f"Your two seats have been booked, code NF-{n}71."},
        ]
        lines.append(json.dumps({"id": f"c{n}", "messages": messages}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_run_goes_on_where_it_was_interrupted(conversations: Path, tmp_path: Path) -> None:
    """With `--out` what was scored is not judged again, a cut line is taken away, and the means cover everything."""
    out = tmp_path / "results.jsonl"
    reply = verdict(VERDICT)
    arguments = ("--check", "booked=Is it booked?", "--out", str(out), "--judge-model", "m")
    with judge_server([reply]) as server:
        whole = score(*arguments, "--base-url", server.url, str(conversations))
    assert whole.exit_code == 0, whole.output
    first = out.read_text(encoding="utf-8").splitlines()
    out.write_text("\n".join(first[:6]) + "\n" + first[6][:40], encoding="utf-8")
    with judge_server([reply]) as server:
        again = score(*arguments, "--base-url", server.url, str(conversations))
    assert len(server.requests) == 4
    assert [r["conversation"] for r in rows(out)] == [f"c{n}" for n in range(10)]
    assert "6 of 10 conversations were scored before" in again.stderr
    assert "check.booked: mean 1.000 of 10" in again.stderr


def test_a_failure_is_tried_again(conversations: Path, tmp_path: Path) -> None:
    """What failed the first time is asked again by the next run, and its newer result counts."""
    out = tmp_path / "results.jsonl"
    arguments = ("--check", "booked=Is it booked?", "--out", str(out), "--judge-model", "m")
    refusal = {"status": 400, "json": {"error": {"code": "content_filter"}}}
    with judge_server([refusal]) as server:
        score(*arguments, "--base-url", server.url, str(conversations))
    with judge_server([verdict(VERDICT)]) as server:
        again = score(*arguments, "--base-url", server.url, str(conversations))
    assert "check.booked: mean 1.000 of 10" in again.stderr
    assert {r["outcome"] for r in rows(out)} == {"failed", "score"}


def test_a_file_that_is_not_ours_is_not_touched(conversations: Path, tmp_path: Path) -> None:
    """`--out` naming another file ends before anything is written to it."""
    other = tmp_path / "notes.txt"
    other.write_text("my notes\n", encoding="utf-8")
    result = score("--out", str(other), str(conversations))
    assert result.exit_code == 2
    assert "line 1" in result.stderr
    assert other.read_text(encoding="utf-8") == "my notes\n"


@pytest.mark.parametrize(
    ("threshold", "code", "said"),
    [
        ("agent_goal_accuracy=0.5", 0, "agent_goal_accuracy is 0.500 (of 10 results, 0 failed); 0.5 was asked for"),
        ("agent_goal_accuracy=0.8", 1, "agent_goal_accuracy is 0.500 (of 10 results, 0 failed); 0.8 was asked for"),
        ("tool_call_f1=0.8", 2, "one of the metrics that are run"),
        ("agent_goal_accuracy=high", 2, "is no number"),
        ("agent_goal_accuracy=nan", 2, "is no number"),
        ("agent_goal_accuracy", 2, "expected METRIC=NUMBER"),
    ],
)
def test_thresholds(conversations: Path, threshold: str, code: int, said: str) -> None:
    """A mean below the threshold is exit code 1, with a sentence; a threshold that cannot be is 2."""
    result = score("--fail-under", threshold, str(conversations))
    assert result.exit_code == code
    assert said in result.stderr


@pytest.mark.parametrize(("share", "code"), [("0.9", 0), ("0.8", 1), ("0", 1)])
def test_most_that_may_fail(conversations: Path, share: str, code: int) -> None:
    """A mean over the one conversation that was judged passes any threshold; `--max-failed` holds against how many were not."""
    refusal = {"status": 400, "json": {"error": {"code": "content_filter"}}}
    with judge_server([verdict(VERDICT), *[refusal] * 9]) as server:
        asked = ("--check", "booked=Is it booked?", "--judge-model", "m", "--base-url", server.url, "--concurrency", "1")
        result = score(*asked, "--fail-under", "check.booked=0.9", "--max-failed", share, str(conversations))
    assert result.exit_code == code
    assert "check.booked is 1.000 (of 1 results, 9 failed); 0.9 was asked for" in result.stderr
    assert ("check.booked failed on 9 of 10 results" in result.stderr) == (code == 1)


@pytest.mark.parametrize("share", ["-0.1", "1.1", "nan", "few"])
def test_a_share_that_cannot_be(conversations: Path, share: str) -> None:
    """Wrong usage, said before anything is scored."""
    result = score("--max-failed", share, str(conversations))
    assert result.exit_code == 2
    assert "--max-failed" in result.stderr


def test_a_metric_without_a_score_has_not_met_its_threshold(traces: Path) -> None:
    """Nothing could be scored: that is no success."""
    assert score("--metric", "topic_adherence_f1", "--fail-under", "topic_adherence_f1=0.1", str(traces)).exit_code == 1


def test_summaries(conversations: Path, tmp_path: Path) -> None:
    """JUnit for build servers, Markdown for people: the same results."""
    junit, markdown = tmp_path / "r.xml", tmp_path / "r.md"
    result = score("--junit", str(junit), "--markdown", str(markdown), str(conversations))
    assert result.exit_code == 0
    (suite,) = ElementTree.parse(junit).getroot()
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("agent_goal_accuracy", "10", "5")
    text = markdown.read_text(encoding="utf-8")
    assert "| agent_goal_accuracy | 0.500 | 0.237 to 0.763 | 10 | 0 | 0 |" in text
    assert text.count("\n- ") == 5


def test_a_budget_in_tokens_ends_the_judging(conversations: Path) -> None:
    """When the tokens are used up the rest fails as `budget_exhausted`: nothing more is sent, nothing is lost."""
    with judge_server([verdict(VERDICT)]) as server:
        arguments = ("--check", "booked=Is it booked?", "--judge-model", "m", "--base-url", server.url, "--max-tokens", "4000")
        result = score(*arguments, "--concurrency", "1", str(conversations))
    assert 0 < len(server.requests) < 10
    assert "budget_exhausted" in result.stderr


def test_a_budget_in_usd_needs_a_price(conversations: Path) -> None:
    """Without a price dollars cannot be counted: said at once. With one, the cost stands in the last line."""
    arguments = ("--check", "booked=Is it booked?", "--judge-model", "m", "--max-usd", "1")
    with judge_server([verdict(VERDICT)]) as server:
        without = score(*arguments, "--base-url", server.url, str(conversations))
        priced = score(*arguments, "--price", "1/10", "--base-url", server.url, str(conversations))
    assert without.exit_code == 2
    assert "--price" in without.stderr
    assert "0.0150 USD" in priced.stderr  # ten calls of 900 tokens in and 60 out
    assert score(*arguments, "--price", "cheap", str(conversations)).exit_code == 2


def test_checks_from_a_file_and_beside_a_conversation(tmp_path: Path) -> None:
    """Checks in a file run on all; a question beside a conversation (MultiChallenge's names) runs on that one; rates by category."""
    checks, talks = tmp_path / "checks.jsonl", tmp_path / "talks.jsonl"
    checks.write_text(json.dumps({"name": "polite", "question": "Is it polite?", "category": "tone"}) + "\n", encoding="utf-8")
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good morning!"}]
    own = {"id": "a", "messages": messages, "TARGET_QUESTION": "Does it greet?", "PASS_CRITERIA": "YES", "AXIS": "INFERENCE_MEMORY"}
    talks.write_text("\n".join(map(json.dumps, [own, {"id": "b", "messages": messages}])) + "\n", encoding="utf-8")
    with judge_server([verdict({**VERDICT, "evidence": []})]) as server:
        result = score("--check", str(checks), "--judge-model", "m", "--base-url", server.url, str(talks))
    assert result.exit_code == 0, result.output
    assert len(server.requests) == 3
    assert "check.polite: mean 1.000 of 2" in result.stderr
    assert "check.question: mean 1.000 of 1" in result.stderr
    assert "category tone: mean 1.000 of 2" in result.stderr
    assert "category INFERENCE_MEMORY: mean 1.000 of 1" in result.stderr


def test_the_numbers_of_ragas(traces: Path, tmp_path: Path) -> None:
    """`--compat ragas` goes to the metrics that know it."""
    references = tmp_path / "references.jsonl"
    references.write_text(json.dumps({"conversation_id": "conv-1", "reference_tool_calls": []}) + "\n", encoding="utf-8")
    found = lines(
        score("--format", "jsonl", "--dataset", str(references), "--compat", "ragas", "--metric", "tool_call_accuracy", str(traces))
    )
    assert found["tool_call_accuracy"]["value"] == 0.0


def test_a_configuration_says_what_to_do(conversations: Path, tmp_path: Path) -> None:
    """Metrics and judge from a file; an option goes before it."""
    config = tmp_path / "otel-eval.yaml"
    with judge_server([verdict(VERDICT)]) as server:
        config.write_text(
            "metrics:\n"
            "  - name: check.booked\n    parameters: {question: 'Is it booked?'}\n"
            f"judge: {{kind: openai, model: from-file, base_url: '{server.url}', api_key_file: {tmp_path / 'key'}}}\n",
            encoding="utf-8",
        )
        (tmp_path / "key").write_text("sk-file\n", encoding="utf-8")
        plain = score("--config", str(config), str(conversations))
        other = score("--config", str(config), "--judge-model", "from-option", str(conversations))
    assert (plain.exit_code, other.exit_code) == (0, 0), plain.output + other.output
    assert {r["model"] for r in server.requests} == {"from-file", "from-option"}
    assert server.headers[0]["authorization"] == "Bearer sk-file"


def test_a_configuration_carries_cascade_and_panel(conversations: Path, tmp_path: Path) -> None:
    """`judge.first` is asked before the judge, which decides where that one is not sure; `judge.panel` has votes."""
    config = tmp_path / "otel-eval.yaml"

    def by_model(request: Any) -> dict[str, Any]:
        model = request["model"]
        return verdict(
            {**VERDICT, "verdict": "no" if model == "contrary" else "yes", "certainty": "leaning" if model == "small" else "clear"}
        )

    with judge_server([by_model]) as server:
        check = "metrics: [{name: check.booked, parameters: {question: 'Is it booked?'}}]\n"
        judge = f"kind: openai, model: strong, base_url: '{server.url}'"
        config.write_text(f"{check}judge: {{{judge}, first: {{model: small}}}}\n", encoding="utf-8")
        cascade = score("--config", str(config), str(conversations))
        by_cascade = [r["model"] for r in server.requests]
        server.requests.clear()
        config.write_text(f"{check}judge: {{{judge}, panel: [{{model: contrary}}, {{model: other}}]}}\n", encoding="utf-8")
        panel = score("--config", str(config), str(conversations))
    assert (cascade.exit_code, panel.exit_code) == (0, 0), cascade.output + panel.output
    assert (by_cascade.count("small"), by_cascade.count("strong")) == (10, 10)
    assert "check.booked: mean 1.000 of 10" in panel.stderr
    assert {r["model"] for r in server.requests} == {"strong", "contrary", "other"}


def test_topics_by_agent_from_a_configuration(traces: Path, tmp_path: Path) -> None:
    """`scoring.agent_topics` names what one agent is meant to keep to; another one has no topics, and nothing is asked."""
    named = traces.read_text(encoding="utf-8").replace('"gen_ai.conversation.id"', '"gen_ai.agent.name"').replace("conv-1", "travel")
    (tmp_path / "named.json").write_text(named, encoding="utf-8")
    config = tmp_path / "otel-eval.yaml"
    config.write_text("metrics: [topic_adherence_f1]\nscoring: {agent_topics: {travel: [seats, tickets]}}\n", encoding="utf-8")
    arguments = ("--format", "jsonl", "--config", str(config))
    assert lines(score(*arguments, str(tmp_path / "named.json")))["topic_adherence_f1"]["outcome"] == "score"
    assert lines(score(*arguments, str(traces)))["topic_adherence_f1"]["reason"] == "needs_missing"


def test_a_budget_is_one_for_all_judges_of_a_run(conversations: Path) -> None:
    """What the first judge of a cascade spends is not there for the second."""
    leaning = verdict({**VERDICT, "certainty": "leaning"})
    with judge_server([leaning]) as server:
        strong = ("--check", "booked=Is it booked?", "--judge-model", "strong", "--base-url", server.url, "--concurrency", "1")
        score(*strong, "--max-tokens", "6000", str(conversations))
        alone = len(server.requests)
        server.requests.clear()
        score(*strong, "--max-tokens", "6000", "--first-judge", "openai:small", str(conversations))
    assert 0 < len(server.requests) <= alone


def test_a_local_model_that_is_not_there(conversations: Path, tmp_path: Path) -> None:
    """A path without a file, or a missing package, is said with what to do."""
    result = score("--judge", f"local:{tmp_path / 'no.gguf'}", str(conversations))
    assert result.exit_code == 2
    assert "no.gguf" in result.stderr or "otel-eval[local]" in result.stderr


def test_progress_says_cost_and_time_left() -> None:
    """How far, what it cost, how long still at the pace so far."""
    tally = Tally(conversations=5, cost_usd=0.0213)
    assert progress_text(tally, 20, 10.0) == "scored 5 of 20 conversations, 0.0213 USD, 30 s left"
    assert progress_text(Tally(conversations=1), 100, 10.0).endswith("16 min left")


def test_a_panel_and_a_cascade(conversations: Path) -> None:
    """Three opinions where the first two differ; a cheap judge first, and the strong one where it is not sure."""
    answers = iter([*(["yes", "no", "no"] * 10)])
    with judge_server([lambda _: verdict({**VERDICT, "verdict": next(answers)})]) as server:
        check = ("--check", "booked=Is it booked?", "--judge-model", "m", "--base-url", server.url, "--concurrency", "1")
        panel = score(*check, "--samples", "3", str(conversations))
    assert "check.booked: mean 0.000 of 10" in panel.stderr
    assert len(server.requests) == 30

    def by_model(request: Any) -> dict[str, Any]:
        return verdict({**VERDICT, "certainty": "leaning" if request["model"] == "small" else "clear"})

    with judge_server([by_model]) as server:
        strong = ("--check", "booked=Is it booked?", "--judge-model", "strong", "--base-url", server.url)
        cascade = score(*strong, "--first-judge", "openai:small", str(conversations))
        refused = score(*strong, "--first-judge", "small", str(conversations))
    assert cascade.exit_code == 0
    assert [r["model"] for r in server.requests].count("strong") == 10
    assert refused.exit_code == 2
