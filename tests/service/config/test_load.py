"""The configuration from file and environment, and what is said of one that is wrong."""

from pathlib import Path

import pytest

from otel_eval.errors import ConfigError
from otel_eval.service.config import Config, load_config
from otel_eval.service.config.keys import keys_of
from otel_eval.service.config.render import commented_file, documented, shown


def written(folder: Path, text: str) -> Path:
    path = folder / "some.yaml"
    path.write_text(text)
    return path


def test_nothing_given_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file and without variables every key has its default."""
    monkeypatch.chdir(tmp_path)
    loaded = load_config(None, {})
    assert loaded.config == Config()
    assert loaded.path is None


def test_the_commented_file_changes_nothing(tmp_path: Path) -> None:
    """What `init` writes is read as the defaults."""
    assert load_config(written(tmp_path, commented_file()), {}).config == Config()


def test_every_key_of_the_commented_file_can_be_uncommented(tmp_path: Path) -> None:
    """The values written beside the keys are those of the defaults, in a form that is read back."""
    lines = [
        line.replace("#", "", 1) if line.strip().startswith("#") and line.strip()[1] != " " else line
        for line in commented_file().split("\n")
    ]
    text = "\n".join(line for line in lines if "_usd: null" not in line and line.strip() != "price:")
    assert load_config(written(tmp_path, text), {}).config == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selection: {rat: 0.1}", "selection.rat: there is no such key; did you mean 'rate'?"),
        ("selektion: {rate: 0.1}", "selektion: there is no such key; did you mean 'selection'?"),
        ("metrics: [{name: a, ratee: 1}]", "metrics.0.ratee: there is no such key; did you mean 'rate'?"),
        ("metrics: ['a:x=1']", "metrics.0.name: expected parameters beside the name, as in {name: a, parameters: {x: 1}}"),
        ("metrics: [{name: 'check.b:question=Is it?'}]", "as in {name: check.b, parameters: {question: Is it?}}"),
        ("completion: {trace_quiet: soon}", "completion.trace_quiet: expected a duration such as 10s, 15m or 24h, got 'soon'"),
        ("receive: {max_body: 3 apples}", "receive.max_body: expected a size such as 64MiB or 2GiB"),
        ("selection: {rate: 2}", "selection.rate: expected less than or equal to 1, got 2"),
        ("judge: {price: {input_usd: 1}}", "judge.price.output_usd: is missing"),
        ("judge: {api_key: sk-123}", "'judge.api_key' is a secret and does not belong in a file: set OTEL_EVAL__JUDGE__API_KEY"),
        ("sinks: {otlp_events: {headers: 'a=b'}}", "is a secret"),
        ("judge: {model: a, model: b}", "line 1: key 'model' stands twice"),
        ("judge: [", "line 1"),
        ("- judge", "expected sections"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    """Each fault names the file, the key, what was expected and the nearest name that exists."""
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, text), {})
    assert said in str(error.value)
    assert "some.yaml" in str(error.value) or "secret" in str(error.value)


def test_secrets_are_never_in_a_message(tmp_path: Path) -> None:
    """The value of a key that may hold a secret is not repeated, whatever is wrong with it."""
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, "judge: {api_key: sk-very-secret}"), {})
    assert "sk-very-secret" not in str(error.value)


def test_the_environment_comes_on_top(tmp_path: Path) -> None:
    """Each key has a variable, which goes before the file; texts are taken as they are, other values as YAML."""
    environ = {
        "OTEL_EVAL__SELECTION__RATE": "0.5",
        "OTEL_EVAL__JUDGE__API_KEY": "123",
        "OTEL_EVAL__JUDGE__MODEL": "no",
        "OTEL_EVAL__METRICS": '[tool_call_f1, {name: check.polite, parameters: {question: "Is it?"}}]',
        "OTEL_EVAL__COMPLETION__TRACE_QUIET": "250ms",
        "OTEL_EVAL__SELECTION__AGENTS": "[a, b]",
    }
    loaded = load_config(written(tmp_path, "selection: {rate: 0.1, salt: x}"), environ)
    config = loaded.config
    assert (config.selection.rate, config.selection.salt, config.selection.agents) == (0.5, "x", ("a", "b"))
    assert config.judge.api_key is not None
    assert config.judge.api_key.get_secret_value() == "123"
    assert config.judge.model == "no"
    assert [m.name for m in config.metrics] == ["tool_call_f1", "check.polite"]
    assert config.completion.trace_quiet == 0.25
    assert loaded.origins["selection.rate"] == "OTEL_EVAL__SELECTION__RATE"
    assert loaded.origins["selection.salt"] == "some.yaml"


def test_a_variable_that_is_no_key_is_refused() -> None:
    """A mistyped variable is an error with the nearest one, not silence."""
    with pytest.raises(ConfigError, match="did you mean 'OTEL_EVAL__SELECTION__RATE'"):
        load_config(None, {"OTEL_EVAL__SELECTON__RATE": "1"})


def test_an_empty_variable_is_unset(tmp_path: Path) -> None:
    """A variable without a text, as deployments write it, leaves the file and the defaults alone."""
    environ = {"OTEL_EVAL__JUDGE__MODEL": "", "OTEL_EVAL__SELECTION__RATE": ""}
    loaded = load_config(written(tmp_path, "judge: {model: m}"), environ)
    assert (loaded.config.judge.model, loaded.config.selection.rate) == ("m", 1.0)
    assert loaded.origins == {"judge.model": "some.yaml"}


def test_a_variable_that_looks_like_ours_is_told() -> None:
    """One underscore where there should be two sets nothing, and is said; other variables are nobody's business."""
    loaded = load_config(None, {"OTEL_EVAL_SELECTION__RATE": "0.1", "OTEL_EVAL_JUDGE_MODEL": "m", "OTEL_EVAL_DEBUG": "1", "RATE": "1"})
    assert loaded.config.selection.rate == 1.0
    assert [warning.split("'")[1] for warning in loaded.warnings] == ["OTEL_EVAL_SELECTION__RATE", "OTEL_EVAL_JUDGE_MODEL"]
    assert "OTEL_EVAL__SELECTION__RATE does" in loaded.warnings[0]


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    """A file that was asked for and is not there is an error, not the defaults."""
    with pytest.raises(ConfigError, match="is no file"):
        load_config(tmp_path / "none.yaml", {})


def test_secrets_are_not_shown() -> None:
    """`config show` says that a secret is set and where, never its value."""
    loaded = load_config(None, {"OTEL_EVAL__JUDGE__API_KEY": "sk-1"})
    text = shown(loaded.config, loaded.origins)
    assert "judge.api_key: (set, not shown)  # OTEL_EVAL__JUDGE__API_KEY" in text
    assert "sk-1" not in text


def test_every_key_is_described() -> None:
    """No key is without a sentence, and no section without one."""
    assert [key.name for key in keys_of(Config) if not key.sentence] == []
    assert [path for path, sentence, _ in documented() if not sentence] == []
