"""What a newcomer does wrong: one sentence that says what was expected, an exit code, and never a traceback."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from otel_eval.cli import main

TALK = {"id": "c1", "messages": [{"role": "user", "content": "Hello, what is 2+2?"}, {"role": "assistant", "content": "It is 4. 네."}]}
FILES: Mapping[str, bytes] = {
    "talk.jsonl": json.dumps(TALK).encode(),
    "twice.jsonl": b"\n".join([json.dumps(TALK).encode()] * 2),
    "junk.bin": bytes(range(129, 255)) * 20,
    "empty.json": b"",
    "object.json": b'\n{"a": 1}',
    "utf16.json": "{}".encode("utf-16"),
    "deep.json": b"[" * 5000 + b"]" * 5000,
    "folder/notes.txt": b"my notes",
    "folder/empty.json": b"",
    "none/.hidden": b"",
    "list.yaml": b"- a",
    "broken.yaml": b"judge:\n  model: [\n",
    "unknown.yaml": b"judg: {model: m}",
    "typed.yaml": b"judge: {samples: many}",
    "question.yaml": b"metrics: [check.polite]",
}

WRONG_USES: tuple[tuple[str, int, str], ...] = (
    # arguments, exit code, what is said
    ("convert junk.bin", 2, "'junk.bin' holds nothing that can be read (broken_json in line 1"),
    ("doctor object.json", 2, "(unknown_record in line 2)"),
    ("score deep.json", 2, "(json_nested_too_deep in line 1)"),
    ("score utf16.json", 2, "must be saved as UTF-8"),
    ("score folder", 2, "'folder/empty.json' is empty; 'folder/notes.txt' holds nothing known"),
    ("score none", 2, "(no file)"),
    ("score empty.json", 1, "1 empty: 'empty.json'"),
    ("score nothing.json", 2, "does not exist"),
    ("score twice.jsonl", 0, "1 ids stand for more than one conversation each ('c1')"),
    ("score --metric check.polite talk.jsonl", 2, "has no question to ask"),
    ("score --config question.yaml talk.jsonl", 2, "has no question to ask"),
    ("score --metric tool_call_f1:undefined_is=maybe talk.jsonl", 2, "must be a number"),
    ("score --metric nomodule:function talk.jsonl", 2, "importing module 'nomodule' failed"),
    ("score --metric json:dumps talk.jsonl", 3, "metric_error"),
    ("score --check junk.bin talk.jsonl", 2, "--check 'junk.bin' is no text in UTF-8"),
    ("score --check talk.jsonl talk.jsonl", 2, "--check 'talk.jsonl', line 1: expected an object with 'name'"),
    ("score --references junk.bin talk.jsonl", 2, "dataset 'junk.bin' is no text in UTF-8"),
    ("score --references empty.json talk.jsonl", 2, "'empty.json' is empty"),
    ("score --references object.json talk.jsonl", 2, "no name; expected one of the members"),
    ("score --eval-config junk.bin talk.jsonl", 2, "--eval-config 'junk.bin' is no text in UTF-8"),
    ("score --eval-config object.json talk.jsonl", 2, "no `criteria`"),
    ("score --config list.yaml talk.jsonl", 2, "expected sections such as `judge:`"),
    ("score --config broken.yaml talk.jsonl", 2, "'broken.yaml', line 3"),
    ("score --config junk.bin talk.jsonl", 2, "'junk.bin' cannot be read as YAML"),
    ("config check --config unknown.yaml", 2, "did you mean 'judge'?"),
    ("config check --config typed.yaml", 2, "judge.samples: expected a valid integer"),
    ("score --judge oracle talk.jsonl", 2, "no plug-in 'oracle'"),
    ("score --judge decisions talk.jsonl", 2, "give --judge-model"),
    ("score --judge decisions --judge-model m talk.jsonl", 2, "set OPENAI_API_KEY"),
    ("score --judge heuristic --judge-model m talk.jsonl", 2, "--judge-model is of no use to the built-in rules"),
    ("score --base-url http://localhost:1/v1 talk.jsonl", 2, "--base-url is of no use"),
    ("score --samples 3 talk.jsonl", 2, "--samples is of no use"),
    ("score --price NaN/1 --judge-model m talk.jsonl", 2, "expected USD for a million tokens"),
    ("score --max-usd nan --judge-model m talk.jsonl", 2, "is no number"),
    ("score --compat ragas --metric turn_count talk.jsonl", 2, "none of the metrics that are named knows it"),
    ("score --fail-under turn_count=1 talk.jsonl", 2, "names 'turn_count', which is not run"),
    ("score --out talk.jsonl talk.jsonl", 2, "no result of ours"),
    ("score --out folder talk.jsonl", 2, "is a directory"),
    ("score --otlp ftp://here talk.jsonl", 2, "'ftp://here' is no OTLP/HTTP endpoint"),
    ("explain abc --store junk.bin", 2, "'junk.bin' is no store of otel-eval"),
    ("explain abc --server localhost", 2, "expected http://HOST:4318"),
    ("metrics show tool_call", 2, "did you mean"),
    ("init talk.jsonl", 2, "--force"),
    ("init nowhere/otel-eval.yaml", 2, "cannot be written: No such file or directory"),
    ("passk junk.bin", 2, "'junk.bin' is no text in UTF-8"),
    ("passk --passed-from inf talk.jsonl", 2, "is no number"),
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files, in the folder that the commands run in."""
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG_USES, ids=[arguments for arguments, _, _ in WRONG_USES])
def test_a_wrong_use_is_told(arguments: str, code: int, said: str) -> None:
    """The exit code of the page of the command line, and a sentence with the file or option as it was given."""
    told = CliRunner().invoke(main, arguments.split())
    assert told.exit_code == code, told.output
    assert told.exception is None or isinstance(told.exception, SystemExit)
    assert said in " ".join(told.stderr.split())


def test_a_dataset_for_other_conversations_is_told(tmp_path: Path) -> None:
    """Nobody wonders why a reference has no effect."""
    (tmp_path / "dataset.jsonl").write_text('{"id": "other", "reference": "4"}\n', encoding="utf-8")
    told = CliRunner().invoke(main, ["score", "--references", "dataset.jsonl", "talk.jsonl"])
    assert told.exit_code == 0
    assert "no conversation has a line in the dataset" in told.stderr
    (tmp_path / "dataset.jsonl").write_text('{"id": "c1", "reference": "4"}\n', encoding="utf-8")
    assert "dataset" not in CliRunner().invoke(main, ["score", "--references", "dataset.jsonl", "talk.jsonl"]).stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("arguments", ["convert talk.jsonl", "score talk.jsonl", "doctor talk.jsonl", "metrics list"])
def test_output_that_cannot_be_written_is_told(arguments: str) -> None:
    """A full disk is a sentence and exit code 2."""
    with Path("/dev/full").open("wb") as full:
        told = subprocess.run([sys.executable, "-m", "otel_eval", *arguments.split()], stdout=full, stderr=subprocess.PIPE, check=False)
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1] == b"Error: the output cannot be written: No space left on device"


@pytest.mark.parametrize("format", ["table", "jsonl"])
def test_a_terminal_without_all_characters(format: str) -> None:
    """An ASCII terminal shows what it can; JSON stays UTF-8."""
    command = [sys.executable, "-m", "otel_eval", "score", "--format", format, "--check", "네=맞아요?", "talk.jsonl"]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    told = subprocess.run(command, capture_output=True, env=environ, check=False)
    assert b"Traceback" not in told.stderr
    if format == "jsonl":
        assert json.loads(told.stdout.decode("utf-8"))["metric"] == "check.네"
    else:
        assert b"check.?" in told.stdout
