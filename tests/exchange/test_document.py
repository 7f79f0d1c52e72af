"""docs/conversation.md against the code: its examples are read as what they show, its tables name what is written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from docs.generate import FORMS, example_conversation
from otel_eval.exchange.records import conversation_from_record
from otel_eval.exchange.schema import CONVERSATION
from tests.fakes.json_schema import faults

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "conversation.md").read_text()
EXAMPLES: list[dict[str, Any]] = [json.loads(block) for block in re.findall(r"```json\n(.*?)\n```", TEXT, re.DOTALL)]


def test_every_form_has_an_example() -> None:
    """The document shows each form of the command line once, in order."""
    assert re.findall(r"^## .*`--format (\w+)`$", TEXT, re.MULTILINE) == list(FORMS)
    assert len(EXAMPLES) == len(FORMS)


@pytest.mark.parametrize(("form", "example"), list(zip(FORMS, EXAMPLES, strict=True)))
def test_examples_are_read_as_what_they_show(form: str, example: dict[str, Any]) -> None:
    """Each example is the same conversation: id, words, calls, results, turns; our own form says all of it."""
    there, read = example_conversation(), conversation_from_record(example)
    said = [(m.role, m.text, m.tool_calls, m.tool_result) for m in there.messages]
    assert (read.id, [(m.role, m.text, m.tool_calls, m.tool_result) for m in read.messages]) == (there.id, said)
    assert len(read.turns) == len(there.turns)
    if form == "json":
        assert read == there


def test_the_example_keeps_to_the_published_schema() -> None:
    """The schema beside the document is the one in the code, and the example of our own form is as it says."""
    published = json.loads((DOCS / "conversation.schema.json").read_text())
    assert published == json.loads(json.dumps(CONVERSATION))
    assert faults(EXAMPLES[0], published, published) == []
