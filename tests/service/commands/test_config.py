"""`otel-eval init` and `config`: a file to start from, and what a configuration comes to."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from otel_eval.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder and a clean environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def otel_eval(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_init_writes_once(folder: Path) -> None:
    """A commented file; one that is there stays unless forced."""
    assert otel_eval("init").exit_code == 0
    text = (folder / "otel-eval.yaml").read_text()
    assert "#rate: 1.0" in text
    again = otel_eval("init")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert otel_eval("init", "--force").exit_code == 0


def test_check_says_what_it_comes_to(folder: Path) -> None:
    """In sentences: ports, store, completion, selection, metrics, judge, sinks; and what is dangerous."""
    (folder / "otel-eval.yaml").write_text(
        "receive: {http: {endpoint: '0.0.0.0:4318'}}\nselection: {rate: 0.1}\nmetrics: [turn_count, {name: loops, rate: 1, at: trace}]\n"
        "judge: {model: m, base_url: 'http://judge/v1'}\nsinks: {otlp_events: {endpoint: 'http://backend:4318'}}\n"
    )
    said = otel_eval("config", "check")
    assert said.exit_code == 0, said.output
    for part in (
        "configuration: otel-eval.yaml",
        "warning: 0.0.0.0:4318 can be reached from outside and asks for no token",
        "selection: 0.1 of conversations; 20% of what is judged may be triage",
        "metric: turn_count at the end of the conversation",
        "metric: loops at the trace, rate 1",
        "judge: m at http://judge/v1 (openai)",
        "results go to: otlp_events",
    ):
        assert part in said.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selektion: {}", "did you mean 'selection'"),
        ("metrics: [goal_accuracy]", "did you mean 'agent_goal_accuracy'"),
        ("receive: {http: {enabled: false}, grpc: {enabled: false}}", "nothing would ever come in"),
        ("receive: {http: {endpoint: 'localhost:4317'}}", "both localhost:4317: give each a port of its own"),
        ("receive: {tls: {certificate_file: a.pem}}", "receive.tls.key_file is not"),
        ("judge: {budget: {day_usd: 5}, model: m, base_url: 'http://judge/v1'}", "judge.price is not set"),
        ("sinks: {others: {no_such: {}}}", "no plug-in 'no_such'"),
        ("inline: {endpoint: backend}", "is no OTLP/HTTP endpoint"),
    ],
)
def test_check_finds_what_serve_would_find(folder: Path, text: str, said: str) -> None:
    """Nothing is started, and the exit code says that it cannot work."""
    (folder / "otel-eval.yaml").write_text(text)
    result = otel_eval("config", "check")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("completion: {trace_quiet: 20m}", "warning: completion.trace_quiet (20m) is longer than completion.trace_max_age (10m)"),
        ("metrics: []", "warning: metrics is empty"),
        ("selection: {rate: 0.5}", "warning: the environment variable 'OTEL_EVAL_JUDGE__MODEL' sets nothing"),
    ],
)
def test_check_warns_of_what_works_and_is_hardly_meant(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    """It can be served like this: exit code 0, and a line that begins with `warning`."""
    monkeypatch.setenv("OTEL_EVAL_JUDGE__MODEL", "m")
    (folder / "otel-eval.yaml").write_text(text)
    result = otel_eval("config", "check")
    assert result.exit_code == 0
    assert said in result.stdout


def test_show_says_where_values_are_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value with its origin, file or variable; defaults without one."""
    (folder / "otel-eval.yaml").write_text("selection: {rate: 0.1}\n")
    monkeypatch.setenv("OTEL_EVAL__SELECTION__SALT", "x")
    shown = otel_eval("config", "show").stdout
    assert "selection.rate: 0.1  # otel-eval.yaml" in shown
    assert "selection.salt: x  # OTEL_EVAL__SELECTION__SALT" in shown
    assert "selection.min_turns: 0\n" in shown


def test_the_schema_is_one() -> None:
    """The JSON Schema names every section and forbids others."""
    schema = json.loads(otel_eval("config", "schema").stdout)
    assert {"receive", "store", "judge", "sinks"} <= set(schema["properties"])
    assert schema["additionalProperties"] is False
