"""References of a dataset file, found for a conversation."""

import json
from pathlib import Path

import pytest

from otel_eval.errors import ConfigError, InputError
from otel_eval.model import Conversation, Reference
from otel_eval.service.references import NO_REFERENCES, references_from_file

LINES = [{"id": "c-1", "reference": "Booked"}, {"task": "t-1", "reference_topics": ["travel"]}]


def written(folder: Path, text: str) -> Path:
    path = folder / "dataset.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", ["\n\n".join(map(json.dumps, LINES)), json.dumps(LINES), "\ufeff" + json.dumps(LINES, indent=2)])
def test_lines_and_lists(tmp_path: Path, text: str) -> None:
    """JSON Lines and a JSON list say the same; a conversation is found by its id."""
    references = references_from_file(written(tmp_path, text))
    assert references.of(Conversation(id="c-1")) == (Reference(outcome="Booked"), ())
    assert references.of(Conversation(id="c-2")) == (Reference(), ())


def test_found_by_task_and_by_trace(tmp_path: Path) -> None:
    """The task that a line or an attribute names, and a trace id, lead to a reference too."""
    references = references_from_file(written(tmp_path, "\n".join(map(json.dumps, LINES))))
    by_attribute = Conversation(id="x", attributes={"otel_eval.reference.task": "t-1"})
    assert references.of(by_attribute)[0] == Reference(topics=("travel",), task="t-1")
    assert references.of(Conversation(id="x"), {"task": "t-1"})[0].topics == ("travel",)
    assert references.of(Conversation(id=None, trace_ids=("c-1",)))[0].outcome == "Booked"


def test_the_nearest_word_counts(tmp_path: Path) -> None:
    """Beside the conversation, then the dataset, then attributes; an unreadable attribute is told as a gap."""
    references = references_from_file(written(tmp_path, json.dumps(LINES[0])))
    attributes = {"otel_eval.reference.outcome": "c", "otel_eval.reference.response": "d", "otel_eval.reference.topics": 4}
    talk = Conversation(id="c-1", attributes=attributes)
    reference, gaps = references.of(talk, {"reference": "a"})
    assert reference == Reference(outcome="a", response="d")
    assert [gap.where for gap in gaps] == ["otel_eval.reference.topics"]
    assert references.of(talk)[0].outcome == "Booked"
    assert NO_REFERENCES.of(talk)[0].outcome == "c"


def test_a_set_of_adk_cases(tmp_path: Path) -> None:
    """ADK's evaluation set is a dataset: each case by its eval id."""
    case = {
        "eval_id": "case-1",
        "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello"}]}}],
    }
    references = references_from_file(written(tmp_path, json.dumps({"eval_set_id": "s", "eval_cases": [case]}, indent=1)))
    found, _ = references.of(Conversation(id="case-1"))
    assert found.turns is not None
    assert [turn.response for turn in found.turns] == ["Hello"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a"}\n{"id":', "line 2: not JSON"),
        ('{"id": "a"}\n[1]', "line 2: expected an object"),
        ('{"reference": "x"}', "no name"),
        ('{"id": "a", "reference_topics": 3}', "reference_topics"),
        ('{"id": "a", "reference": "x"}\n{"id": "a", "reference": "y"}', "'a' already stands"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, said: str) -> None:
    """A bad line is named by its number, and never half read."""
    with pytest.raises(InputError, match=said):
        references_from_file(written(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """A missing dataset is a mistake of the configuration."""
    with pytest.raises(ConfigError, match=r"gone\.jsonl"):
        references_from_file(tmp_path / "gone.jsonl")
