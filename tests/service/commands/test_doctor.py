"""`otel-eval doctor` as it is typed."""

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from otel_eval.cli import MISSED, UNUSABLE, main
from tests.captures import capture


def asked(*arguments: Any, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["doctor", *map(str, arguments)], input=stdin)


def test_a_whole_capture_is_code_zero(tmp_path: Path) -> None:
    """Ready to score: the verdict stands first, on standard output, and nothing on standard error."""
    result = asked(capture("hand-otlp-json").write(tmp_path))
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Ready to score: yes. All 2 conversations hold the words of user and agent.\n\nFound\n")


def test_content_off_is_code_one_and_names_the_switch(tmp_path: Path) -> None:
    """Nothing can be scored: the switch to turn is in the text."""
    result = asked(capture("otel-genai-openai-content-off").write(tmp_path))
    assert result.exit_code == MISSED
    assert "What to switch on" in result.stdout
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT" in result.stdout


def test_nothing_readable_is_code_two(tmp_path: Path) -> None:
    """One sentence on standard error, nothing on standard output."""
    (tmp_path / "note.txt").write_text("no traces")
    result = asked(tmp_path / "note.txt")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (UNUSABLE, "", 1)


def test_a_file_among_others_that_cannot_be_read_is_a_note(tmp_path: Path) -> None:
    """What can be read is diagnosed; what cannot stands under the notes."""
    (tmp_path / "note.txt").write_text("no traces")
    (tmp_path / "more").mkdir()
    result = asked(tmp_path / "note.txt", capture("hand-otlp-json").write(tmp_path / "more"))
    assert result.exit_code == 0
    assert "note.txt' holds nothing that can be read" in " ".join(result.stdout.split())


def test_json_holds_the_same_facts(tmp_path: Path) -> None:
    """`--json` is one object with every part of the report."""
    result = asked("--json", capture("adk-nocontent").write(tmp_path))
    told = json.loads(result.stdout)
    assert result.exit_code == MISSED
    assert list(told) == ["ready", "why", "found", "content", "gaps", "remedies", "not_understood", "left_out", "notes"]
    assert told["ready"] == "no"
    assert told["found"]["dialects"] == {"otel_genai": 25, "adk": 1}
    assert told["content"]["model_calls"] == 9
    assert told["gaps"][0]["reason"] == "content_not_captured"
    assert told["remedies"][0]["instrumentation"] == "adk"


def test_conversations_in_json_are_diagnosed() -> None:
    """Conversations given in JSON count as given; there are no spans to have a switch for."""
    line = {"id": "c", "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}
    told = json.loads(asked("--json", "-", stdin=json.dumps(line).encode()).stdout)
    assert (told["ready"], told["found"]["given"], told["content"]["joined_by"], told["remedies"]) == ("yes", 1, {"given": 1}, [])


def test_what_was_not_read_is_named(tmp_path: Path) -> None:
    """Files that are empty or hold nothing known, and the lines that were rejected, are told by name, in words and in JSON."""
    talk = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day."}]}
    (tmp_path / "talks.jsonl").write_text(f'{json.dumps(talk)}\n{{"no": json}}\n', encoding="utf-8")
    (tmp_path / "empty.json").touch()
    (tmp_path / "notes.txt").write_text("my notes", encoding="utf-8")
    names = {name: str(tmp_path / name) for name in ("talks.jsonl", "empty.json", "notes.txt")}
    told = json.loads(CliRunner().invoke(main, ["doctor", "--json", str(tmp_path)]).stdout)
    assert told["left_out"]["rejected_at"] == {"broken_json": [f"{names['talks.jsonl']!r}, line 2"]}
    assert told["notes"] == [f"1 empty: {names['empty.json']!r}", f"passed over 1 without traces or logs: {names['notes.txt']!r}"]
    text = " ".join(CliRunner().invoke(main, ["doctor", str(tmp_path)]).stdout.split())
    assert all(repr(name) in text for name in names.values())
