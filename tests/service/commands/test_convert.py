"""`otel-eval convert` as it is typed: every form, every exit code."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from otel_eval.cli import MISSED, UNUSABLE, main
from otel_eval.exchange.own import SCHEMA
from otel_eval.service.commands.convert import FORMATS
from tests.captures import capture


def converted(*arguments: Any, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["convert", *map(str, arguments)], input=stdin)


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout_bytes.decode().splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A capture with non-ASCII text, tools and a failure."""
    return capture("adk-span").write(tmp_path)


def test_the_options_are_the_formats() -> None:
    """Every form that the command line offers is there, and no other."""
    option = next(p for p in main.commands["convert"].params if p.name == "format")
    assert list(option.type.choices) == list(FORMATS)  # type: ignore[attr-defined]  # a Choice


@pytest.mark.parametrize("format", FORMATS)
def test_each_form_can_be_written_and_read_again(format: str, folder: Path, tmp_path: Path) -> None:
    """A line a conversation; read again, it has the same user words, tool calls and tool results."""
    first = converted(folder) if format == "messages" else converted("--format", format, folder)
    assert first.exit_code == 0
    again = lines(converted("-", stdin=first.stdout_bytes))
    asked = [[m["content"] for m in c["messages"] if m["role"] == "user"] for c in lines(converted(folder))]
    assert [[m["content"] for m in c["messages"] if m["role"] == "user"] for c in again] == asked
    calls = [[(t["name"], t["arguments"]) for m in c["messages"] for t in m.get("tool_calls", ())] for c in lines(converted(folder))]
    assert [[(t["name"], t["arguments"]) for m in c["messages"] for t in m.get("tool_calls", ())] for c in again] == calls
    assert [c["joined_by"] for c in again] == (["conversation_id"] if format == "json" else ["given"]) * 2


def test_our_own_form_is_the_same_when_read_again(folder: Path) -> None:
    """Nothing is lost: what is written from what was written is the same, byte by byte."""
    first = converted("--format", "json", folder).stdout_bytes
    assert converted("--format", "json", "-", stdin=first).stdout_bytes == first
    assert {line["schema"] for line in map(json.loads, first.decode().splitlines())} == {SCHEMA}


def test_a_part_that_cannot_be_read_is_told_beside_the_rest(folder: Path) -> None:
    """What can be read is written, what cannot is one line on standard error, and the work counts as done."""
    (folder / "notes.jsonl").write_text('{"messages": [{"role": "critic"}]}\n')
    result = converted(folder)
    assert (result.exit_code, len(lines(result))) == (0, 2)
    assert "otel-eval: left out 1 conversations in JSON" in result.stderr


def test_nothing_readable_is_one_sentence_and_code_two(tmp_path: Path) -> None:
    """A file that is nothing we know ends with one sentence on standard error and nothing on standard output."""
    (tmp_path / "note.txt").write_text("no traces")
    result = converted(tmp_path / "note.txt")
    assert (result.exit_code, result.stdout) == (UNUSABLE, "")
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_nothing_found_is_code_one(tmp_path: Path) -> None:
    """Traces without a conversation are no fault of the input, but there was nothing to do."""
    (tmp_path / "empty.json").write_text('{"resourceSpans": []}')
    result = converted(tmp_path / "empty.json")
    assert (result.exit_code, result.stdout) == (MISSED, "")
    assert "otel-eval doctor" in result.stderr


def test_output_is_utf8_whatever_the_terminal_speaks(folder: Path) -> None:
    """Under an encoding that lacks the characters the lines are the same bytes."""
    command = [sys.executable, "-m", "otel_eval", "convert", str(folder)]
    done = subprocess.run(command, capture_output=True, check=True, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.stdout == converted(folder).stdout_bytes
    assert "€" in done.stdout.decode()
