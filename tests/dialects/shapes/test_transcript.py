"""Requests written out as transcripts, as OpenLIT did."""

import pytest

from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.transcript import is_transcript
from otel_eval.model import Role
from tests.fakes.spans import line

TOLD = "developer: Be brief.\nOr briefer.\nuser: Weather?\nassistant: None\ntool: sunny\n{}\nassistant: Sunny."


def read(text: str, role: Role = "user") -> list[str]:
    return [line(m) for m in messages_from_value(text, role, Notes())]


def test_each_line_that_names_a_role_begins_a_message() -> None:
    """Lines that name none go on; `None` stands for an answer without text; a result has no id."""
    assert read(TOLD) == ["system: Be brief.\nOr briefer.", "user: Weather?", "assistant: …", "tool: sunny\n{}", "assistant: Sunny."]


@pytest.mark.parametrize("text", ["User: Hi", "user:Hi", "The user: Hi", "users: Hi", " user: Hi", "bot: Hi", ""])
def test_other_words_are_one_message(text: str) -> None:
    """Only a text that begins with a role, written small, is a transcript."""
    assert not is_transcript(text)
    assert len(read(text)) <= 1


def test_an_answer_is_no_transcript() -> None:
    """What a model says may look like one; only requests are read so."""
    assert read("user: Hi\nassistant: Hello", "assistant") == ["assistant: user: Hi\nassistant: Hello"]
