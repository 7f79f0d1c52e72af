"""References in every form that they are written in."""

import json
from typing import Any

import pytest

from otel_eval.errors import InputError
from otel_eval.exchange.references import (
    keys_of_record,
    merged_references,
    reference_from_adk_case,
    reference_from_attributes,
    reference_from_record,
)
from otel_eval.model import GapReason, Reference, ToolCall, TurnReference

BOOK = ToolCall(name="book", arguments={"id": 7})


@pytest.mark.parametrize(
    "written",
    [
        {"name": "book", "arguments": {"id": 7}},
        {"name": "book", "arguments": '{"id": 7}'},
        {"name": "book", "args": {"id": 7}},
        {"type": "function", "function": {"name": "book", "arguments": '{"id": 7}'}},
        {"type": "tool_use", "name": "book", "input": {"id": 7}},
    ],
)
def test_tool_calls_of_every_form(written: dict[str, Any]) -> None:
    """Our own, ragas', OpenAI's and Anthropic's way to write a call give the same call."""
    assert reference_from_record({"reference_tool_calls": [written]}).tool_calls == (BOOK,)


def test_the_members_of_ragas_samples() -> None:
    """A ragas sample's own names are read, and the conversation beside them is left alone."""
    record = {"user_input": [], "reference": "Booked", "reference_topics": ["travel"], "reference_tool_calls": []}
    assert reference_from_record(record) == Reference(outcome="Booked", topics=("travel",), tool_calls=())


def test_one_object_for_all() -> None:
    """Everything may stand in `reference`, by its own name; what stands outside fills the rest."""
    record = {
        "reference": {"outcome": "Booked", "tool_calls": [{"name": "book", "args": {"id": 7}}]},
        "task_id": 4,
        "reference_response": "Done",
    }
    assert reference_from_record(record) == Reference(outcome="Booked", tool_calls=(BOOK,), task="4", response="Done")


def test_turns() -> None:
    """A turn is a list of calls or an object with what the user says, the answer and the calls."""
    record = {"reference_turns": [[{"name": "book", "args": {"id": 7}}], {"user": "Hi", "response": "Hello"}, []]}
    turns = (TurnReference(tool_calls=(BOOK,)), TurnReference(user="Hi", response="Hello"), TurnReference(tool_calls=()))
    assert reference_from_record(record).turns == turns


def test_nothing_written_is_nothing_expected() -> None:
    """Absent members and null are no expectation; an empty list is the expectation of nothing."""
    assert reference_from_record({"reference_tool_calls": None, "messages": []}) == Reference()
    assert reference_from_record({"reference_tool_calls": []}).tool_calls == ()


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"reference_tool_calls": "not a list"}, "reference_tool_calls"),
        ({"reference_tool_calls": ["book"]}, r"reference_tool_calls\[0\]"),
        ({"reference_tool_calls": [{"args": {}}]}, "without name"),
        ({"reference_topics": "biology"}, "reference_topics"),
        ({"reference": ["x"]}, "reference"),
        ({"reference_turns": [3]}, r"reference_turns\[0\]"),
    ],
)
def test_what_is_no_reference(record: dict[str, Any], said: str) -> None:
    """A member of another kind is an error that says where it stands."""
    with pytest.raises(InputError, match=said):
        reference_from_record(record)


def test_span_attributes_structured_or_as_json() -> None:
    """Attributes carry the same, as structured values or JSON text; one topic may be a plain text."""
    calls = [{"name": "book", "arguments": {"id": 7}}]
    wanted = Reference(outcome="Booked", tool_calls=(BOOK,), topics=("travel",), task="t-1")
    plain = {"outcome": "Booked", "tool_calls": calls, "topics": ["travel"], "task": "t-1"}
    text = {"outcome": "Booked", "tool_calls": json.dumps(calls), "topics": "travel", "task": "t-1"}
    for attributes in (plain, text):
        found = reference_from_attributes({f"otel_eval.reference.{name}": value for name, value in attributes.items()} | {"other": 1})
        assert found == (wanted, ())


def test_an_unreadable_attribute_is_a_gap() -> None:
    """What cannot be read is left out, not guessed, and leaves a trace."""
    reference, gaps = reference_from_attributes({"otel_eval.reference.tool_calls": "[{", "otel_eval.reference.outcome": "Booked"})
    assert reference == Reference(outcome="Booked")
    assert [(gap.reason, gap.where) for gap in gaps] == [(GapReason.UNREADABLE, "otel_eval.reference.tool_calls")]


def test_an_evaluation_case_of_adk() -> None:
    """What an evaluation case of ADK says turn by turn is what is expected."""
    case = {
        "evalId": "case-1",
        "conversation": [
            {
                "userContent": {"parts": [{"text": "Book 7"}]},
                "finalResponse": {"parts": [{"text": "Booked."}]},
                "intermediateData": {"toolUses": [{"name": "book", "args": {"id": 7}}]},
            }
        ],
    }
    turn = TurnReference(user="Book 7", response="Booked.", tool_calls=(BOOK,))
    assert reference_from_adk_case(case) == Reference(task="case-1", turns=(turn,))


def test_the_first_of_each_kind_wins() -> None:
    """References from several places are joined kind by kind."""
    merged = merged_references(Reference(outcome="a"), Reference(outcome="b", topics=("x",)), Reference(topics=("y",), task="t"))
    assert merged == Reference(outcome="a", topics=("x",), task="t")


def test_keys() -> None:
    """A line of a dataset goes by its task, conversation id or evaluation id."""
    assert keys_of_record({"task": "t", "id": 3, "conversation_id": "t"}) == ("t", "3")
