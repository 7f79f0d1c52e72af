"""`otel-eval passk`: from results, trials and counts to pass^k, with what is not counted said apart."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from otel_eval.cli import main
from tests.fakes.judge_server import judge_server, verdict

VERDICT = {"reason": "It is.", "evidence": [1], "certainty": "clear", "verdict": "yes"}


def passk(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["passk", *map(str, arguments)], input=stdin)


def members(*arguments: str | Path) -> dict[str, Any]:
    """The one set that the arguments come to."""
    result = passk("--json", *arguments)
    (found,) = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def written(path: Path, records: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def values(found: Mapping[str, Any]) -> dict[int, float]:
    return {each["k"]: each["value"] for each in found["pass_hat_k"]}


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    """Two tasks of four trials: three and two passed; one more trial of the first has no verdict."""
    outcomes: dict[str, list[bool | None]] = {"a": [True, True, True, False, None], "b": [True, False, True, False]}
    records = [{"task": task, "trial": n, "passed": passed} for task, listed in outcomes.items() for n, passed in enumerate(listed)]
    return written(tmp_path / "trials.jsonl", records)


def test_trials_one_a_line(trials: Path) -> None:
    """3 of 4 and 2 of 4: pass^1 5/8, pass^2 (3/6 + 1/6)/2, pass^3 (1/4 + 0)/2; n, c and the trial without a verdict stand beside it."""
    found = members(trials)
    assert values(found) == pytest.approx({1: 0.625, 2: 1 / 3, 3: 0.125, 4: 0.0})
    assert [(each["tasks"], each["n"], each["c"], each["infrastructure_failures"]) for each in found["pass_hat_k"]] == [(2, 8, 5, 1)] * 4
    assert found["without_verdict"] == {"no value": 1}
    assert found["tasks"][0] == {"task": "a", "n": 4, "c": 3, "infrastructure_failures": 1}


def test_the_table_shows_k_n_and_c_with_the_interval(trials: Path) -> None:
    """A row for each k; what is not counted is a sentence on standard error."""
    result = passk("-k", "2", "--by-task", trials)
    assert result.exit_code == 0
    head, row, _, _, first, second = result.stdout.splitlines()
    assert head.split() == ["trials", "of", "k", "pass^k", "95", "%", "interval", "tasks", "n", "c", "no", "verdict"]
    assert row.split() == ["trials", "2", "0.333", "0.167", "to", "0.500", "2", "8", "5", "1"]
    assert (first.split(), second.split()) == (["trials", "a", "4", "3", "1"], ["trials", "b", "4", "2", "0"])
    assert "1 trials without a verdict are not counted" in result.stderr


def test_counts_and_sets_of_counts(tmp_path: Path) -> None:
    """`task`, `n`, `c` a line are one set; a line with `tasks` is a set by itself, with its own k."""
    counts = written(tmp_path / "counts.jsonl", [{"task": "a", "n": 4, "c": 4}, {"task": "b", "n": 4, "c": 3}])
    assert values(members("-k", "2", counts)) == {2: 0.75}
    own = written(tmp_path / "sets.jsonl", [{"id": "s", "k": 2, "tasks": [{"n": 4, "c": 3}]}])
    assert values(members(own)) == {2: 0.5}


def test_rewards_and_thresholds(tmp_path: Path) -> None:
    """Rewards are compared with `--passed-from`; a reward that misses 1 by rounding only has passed."""
    records = [{"task_id": 7, "trial": n, "reward": reward} for n, reward in enumerate((1.0, 0.9999999, 0.8, 0.1))]
    path = written(tmp_path / "rewards.jsonl", records)
    assert values(members("-k", "1", path)) == {1: 0.5}
    assert values(members("-k", "1", "--passed-from", "0.8", path)) == {1: 0.75}


def test_results_of_score(tmp_path: Path) -> None:
    """Conversations with a task are scored, and the file of results is counted: a judge that refuses one of them fails no trial."""
    talks = [
        {
            "id": f"{task}-{n}",
            "task": task,
            "trial": n,
            "messages": [{"role": "user", "content": f"{task} {n}"}, {"role": "assistant", "content": f"Answer {task}{n}."}],
        }
        for task in ("x", "y")
        for n in range(3)
    ]
    out = tmp_path / "results.jsonl"

    def answer(request: Any) -> dict[str, Any]:
        said = request["messages"][-1]["content"]
        if "Answer x0" in said:
            return {"status": 400, "json": {"error": {"code": "content_filter"}}}
        return verdict({**VERDICT, "verdict": "no" if "Answer y1" in said else "yes"})

    path = written(tmp_path / "talks.jsonl", talks)
    with judge_server([answer]) as server:
        arguments = ["--check", "good=Is it good?", "--judge-model", "m", "--base-url", server.url, "--out", str(out), str(path)]
        scored = CliRunner().invoke(main, ["score", *arguments])
    assert scored.exit_code == 0, scored.output
    found = members(out)
    assert values(found) == pytest.approx({1: (1 + 2 / 3) / 2, 2: (1 + 1 / 3) / 2})
    assert found["name"] == "check.good"
    assert found["without_verdict"] == {"failed: judge_filtered": 1}
    assert [(task["n"], task["c"]) for task in found["tasks"]] == [(2, 2), (3, 2)]


@pytest.mark.parametrize("where", ["attribute", "resource", "field"])
def test_a_task_key_of_ones_own(tmp_path: Path, where: str) -> None:
    """`score --task-key` takes the task from an attribute of spans or their resource, or from a field beside a conversation."""
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]
    if where == "field":
        record: dict[str, Any] = {"id": "c", "app.scenario": "greeting", "messages": said}
    else:
        record = trace_of(said, where)
    path, out = written(tmp_path / "in.json", [record]), tmp_path / "results.jsonl"
    score = ["score", "--metric", "turn_count", "--task-key", "app.scenario", "--out", str(out), str(path)]
    assert CliRunner().invoke(main, score).exit_code == 0
    assert json.loads(out.read_text(encoding="utf-8"))["task"] == "greeting"


def trace_of(said: list[dict[str, Any]], where: str) -> dict[str, Any]:
    """One span in OTLP/JSON that names its scenario, on itself or on its resource."""
    own = [{"key": "app.scenario", "value": {"stringValue": "greeting"}}]
    parts = [{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in said]
    messages = {"gen_ai.input.messages": parts[:1], "gen_ai.output.messages": parts[1:]}
    span = {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "00f067aa0ba902b7",
        "name": "chat m",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            *({"key": key, "value": {"stringValue": json.dumps(value)}} for key, value in messages.items()),
            *(own if where == "attribute" else []),
        ],
    }
    resource = {"attributes": own if where == "resource" else []}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}


def result(task: str | None, conversation: str, value: float | None, **more: Any) -> dict[str, Any]:
    outcome = {"outcome": "score", "value": value} if value is not None else {"outcome": "failed", "error_type": "judge_timeout"}
    return {"conversation": conversation, "metric": "m", "task": task, "trial": None, "level": "conversation", **outcome, **more}


def test_a_later_line_of_a_file_counts(tmp_path: Path) -> None:
    """What failed and was scored again by the next run is one trial; lines of another file are other trials."""
    first = written(tmp_path / "1.jsonl", [result("t", "c1", None), result("t", "c2", 0.0), result("t", "c1", 1.0)])
    second = written(tmp_path / "2.jsonl", [result("t", "c1", 1.0)])
    assert [(t["n"], t["c"]) for t in members(first)["tasks"]] == [(2, 1)]
    assert [(t["n"], t["c"]) for t in members(first, second)["tasks"]] == [(3, 2)]


def test_tasks_with_too_few_trials(tmp_path: Path, trials: Path) -> None:
    """They are refused by name with exit code 2, and left out only when that is asked for, and then said."""
    few = written(tmp_path / "few.jsonl", [{"task": "short", "trial": 1, "passed": True}])
    refused = passk("-k", "2", trials, few)
    assert refused.exit_code == 2
    assert "'short' has fewer" in refused.stderr
    left_out = passk("-k", "2", "--leave-out-short", trials, few)
    assert left_out.exit_code == 0
    assert "1 tasks with too few trials are left out" in left_out.stderr
    assert passk("-k", "9", "--leave-out-short", few).exit_code == 2


@pytest.mark.parametrize(
    ("lines", "arguments", "said"),
    [
        (["no json"], (), "line 1: no JSON"),
        (["[" * 100_000], (), "line 1: JSON nested too deep"),
        (["[]"], (), "line 1: expected an object"),
        (['{"task": "a", "passed": "yes"}'], (), "line 1: passed is no number, true, false or null"),
        (['{"task": "a", "n": 2, "c": 3}'], (), "0 ≤ c ≤ n"),
        (['{"passed": true}'], (), "expected a member 'task'"),
        (['{"task": "a"}'], (), "nothing to count"),
        (['{"tasks": [{"n": 1, "c": 1}], "k": 0}'], (), "k is no whole number"),
        ([json.dumps(result(None, "c", 1.0))], (), "none of the 1 results names a task"),
        ([json.dumps(result("t", "c", 1.0))], ("--task-key", "scenario"), "has a member 'scenario'"),
        ([json.dumps(result("t", "c", 1.0))], ("--metric", "other"), "there are m"),
        ([json.dumps(result("t", "c", 1.0, metric=m)) for m in "mn"], (), "results of m, n"),
        ([json.dumps(result("t", "c", 1.0, level="turn"))], (), "a metric of turns"),
        ([], (), "there is no trial"),
    ],
)
def test_what_cannot_be_counted_is_said(tmp_path: Path, lines: list[str], arguments: tuple[str, ...], said: str) -> None:
    """One sentence with file and line, exit code 2, nothing on standard output."""
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    told = passk(*arguments, path)
    assert (told.exit_code, told.stdout) == (2, "")
    assert said in told.stderr


def test_standard_input() -> None:
    """`-` reads a pipe."""
    told = passk("-k", "1", "-", stdin='{"task": "a", "trial": 1, "passed": true}\n')
    assert told.exit_code == 0
    assert "1.000" in told.stdout


def test_the_recorded_cases() -> None:
    """Every set of the file of cases comes to its recorded value, and the one with too few trials is refused."""
    file = Path(__file__).parents[2] / "data" / "cases" / "pass-hat-k.jsonl"
    cases = {case["id"]: case for case in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    found = {each["name"]: each for each in json.loads(passk("--json", file).stdout)}
    assert found.keys() == cases.keys()
    for name, case in cases.items():
        assert (found[name]["error"] is not None) == ("expected_error" in case)
        for each in found[name]["pass_hat_k"]:
            assert each["value"] == pytest.approx(case["expected_value"], abs=1e-12)
            assert each["per_task"] == pytest.approx(case["expected_per_task"], abs=1e-12)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_is_refused(number: str) -> None:
    """NaN is no failed trial and Infinity no passed one: the line is named."""
    result = passk("-", stdin=f'{{"task": "a", "reward": 1}}\n{{"task": "a", "reward": {number}}}\n')
    assert result.exit_code == 2
    assert "line 2: reward is no number" in result.output


def test_without_k_ten_are_shown(tmp_path: Path) -> None:
    """However many trials a task has, k goes to ten and a sentence says so; a greater one can be named."""
    path = written(tmp_path / "counts.jsonl", [{"task": "a", "n": 100_000, "c": 99_999}])
    told = passk("--json", path)
    assert [each["k"] for each in json.loads(told.stdout)[0]["pass_hat_k"]] == list(range(1, 11))
    assert "shown are k from 1 to 10 of up to 100000" in told.stderr
    assert values(members("-k", "20", path)) == pytest.approx({20: 1 - 20 / 100_000})


def test_more_trials_than_can_be_counted_are_refused() -> None:
    """The line is named with the bound, at once."""
    told = passk("-", stdin='{"task": "a", "n": 1000000000, "c": 999999999}\n')
    assert told.exit_code == 2
    assert "line 1: n of 'a' is 1000000000: expected no more than 100000" in told.stderr


def test_verdicts_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    """The later of two verdicts of a trial counts, and how many there were is said; the same verdict twice is none of them."""
    verdicts = [("1", True), ("1", False), ("2", True), ("2", True), ("3", None), ("3", True)]
    told = passk("-k", "1", written(tmp_path / "in.jsonl", [{"task": "a", "trial": n, "passed": p} for n, p in verdicts]))
    assert "1 trials have another verdict later in the same file: the last one counts" in told.stderr
