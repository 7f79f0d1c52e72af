"""Bytes to conversations: spans and conversations in JSON by one road, and one sentence where nothing can be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import InputError
from otel_eval.exchange.own import own_from_conversation
from otel_eval.model import Span, Step
from otel_eval.service.convert import conversations_from_paths
from tests.captures import capture
from tests.fakes.conversations import conversation, says, user

LINE: dict[str, Any] = {"id": "given", "messages": [{"role": "user", "content": "Hello"}], "reference": "A greeting"}


def written(folder: Path, *records: Any) -> Path:
    """The records as lines of a file."""
    path = folder / "conversations.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_spans_and_json_come_together(tmp_path: Path) -> None:
    """Conversations read from spans come first, those given in JSON after them, in the order of the input."""
    own = own_from_conversation(conversation(user("Hi"), says("Hi"), id="own"))
    spans = capture("hand-otlp-json").write(tmp_path)
    found = conversations_from_paths([written(tmp_path, LINE, own), spans]).conversations
    assert [(c.id, c.joined_by) for c in found[:2]] == [("conv-booking-001", "conversation_id"), ("conv-cancel-002", "conversation_id")]
    assert [(c.id, c.joined_by) for c in found[2:4]] == [("given", "given"), ("own", "given")]


def test_what_stands_beside_a_conversation_is_kept(tmp_path: Path) -> None:
    """The object of a given conversation can be asked for: its reference may stand in it."""
    conversion = conversations_from_paths([written(tmp_path, LINE)])
    (found,) = conversion.conversations
    assert conversion.beside(found) == LINE
    assert conversion.beside(conversation(user("Hello"))) is None


def test_a_set_of_cases_is_many_conversations(tmp_path: Path) -> None:
    """Of a set of evaluation cases each case is a conversation, with its own object beside it; a broken case costs only itself."""
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hello"}]}}]}
    broken = {"eval_id": "b", "conversation": [{}]}
    conversion = conversations_from_paths([written(tmp_path, {"eval_set_id": "s", "eval_cases": [broken, case]})])
    assert [(c.id, conversion.beside(c)) for c in conversion.conversations] == [("a", case)]
    (fault,) = conversion.report.faults
    assert fault.startswith("conversation 1 (")
    assert fault.endswith("line 1): conversation[0].user_content is not there: expected what the user said, as an object with parts")


def test_a_broken_conversation_costs_only_itself(tmp_path: Path) -> None:
    """The others are read; which one is left out, in which line of which file, and why is said, once for each of the first."""
    broken = {"messages": [{"role": "critic", "content": "Secret"}]}
    conversion = conversations_from_paths([written(tmp_path, broken, LINE, *[broken] * 5)])
    assert [c.id for c in conversion.conversations] == ["given"]
    (line,) = [line for line in conversion.report.lines() if "in JSON" in line]
    assert line.startswith("left out 6 conversations in JSON: conversation 1 ('")
    assert "line 1): messages[0].role is none of" in line
    assert "conversation 4" in line
    assert "conversation 6" not in line
    assert "Secret" not in line


def test_nothing_readable_is_one_sentence(tmp_path: Path) -> None:
    """The first fault is told, the others are counted."""
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("no traces")
    with pytest.raises(InputError, match=r"^'.*a\.txt' holds nothing that can be read .* \(and 1 more\)$"):
        conversations_from_paths([tmp_path / "a.txt", tmp_path / "b.txt"])
    with pytest.raises(InputError, match=r"^conversation 1 \('.*', line 1\): messages\[0\] is a text: expected an object$"):
        conversations_from_paths([written(tmp_path, {"messages": ["Hello"]})])


def test_an_empty_file_is_no_fault(tmp_path: Path) -> None:
    """There is nothing in it, and nothing wrong with it."""
    (tmp_path / "empty.json").touch()
    assert conversations_from_paths([tmp_path / "empty.json"]).conversations == []


def test_each_step_is_told_with_its_span(tmp_path: Path) -> None:
    """Who wants to see every span as it is understood is called once for each."""
    seen: list[tuple[Span, Step]] = []
    conversion = conversations_from_paths([capture("hand-otlp-json").write(tmp_path)], on_step=lambda span, step: seen.append((span, step)))
    assert len(seen) == conversion.report.spans == 19
    assert all(span.ref == step.ref for span, step in seen)
