"""ragas' multi-turn samples, out and in."""

import json
from typing import Any

import pytest
from hypothesis import given

from otel_eval.errors import InputError
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.ragas import conversation_from_ragas, ragas_from_conversation
from otel_eval.exchange.records import conversation_from_record
from otel_eval.model import Conversation, Message, ToolCall, ToolResult
from tests.fakes.any_conversation import chats
from tests.fakes.conversations import calls, conversation, says, user


@given(chats())
def test_a_sample_comes_back_as_it_went(there: Conversation) -> None:
    """Words, calls and results survive; only what ragas has no place for (system message, agent, traces) is gone."""
    read = conversation_from_record(json.loads(text_from_value(ragas_from_conversation(there))))
    assert (read.id, read.messages, read.turns) == (there.id, there.messages, there.turns)


def test_a_sample_is_as_ragas_writes_it() -> None:
    """Types human, ai and tool; calls with name and args; what ragas has no member for stands in metadata."""
    asked = Message(role="assistant", parts=(ToolCall(id="1", name="book", arguments={"to": "Rome"}),))
    told = Message(role="tool", parts=(ToolResult(call_id="1", name="book", content="full", is_error=True),))
    assert ragas_from_conversation(conversation(user("Book it"), asked, told, says("Sorry"), system="Be kind")) == {
        "id": "c-1",
        "user_input": [
            {"type": "human", "content": "Book it"},
            {"type": "ai", "content": "", "metadata": {"tool_call_ids": ["1"]}, "tool_calls": [{"name": "book", "args": {"to": "Rome"}}]},
            {"type": "tool", "content": "full", "metadata": {"tool_call_id": "1", "name": "book", "is_error": True}},
            {"type": "ai", "content": "Sorry"},
        ],
    }


def test_what_was_not_recorded_is_null() -> None:
    """Unknown words and arguments are null and not empty: ragas shall refuse the sample rather than score an invention."""
    there = conversation(Message(role="user"), calls(ToolCall(name="f")))
    assert [m["content"] for m in ragas_from_conversation(there)["user_input"]] == [None, ""]
    assert ragas_from_conversation(there)["user_input"][1]["tool_calls"] == [{"name": "f", "args": None}]


def test_a_data_set_of_ragas_is_read() -> None:
    """A line of a data set as ragas saves it, with references beside the messages, is a conversation."""
    line: dict[str, Any] = {
        "user_input": [
            {"content": "Metal prices?", "metadata": None, "type": "human"},
            {"content": "", "metadata": None, "type": "ai", "tool_calls": [{"name": "price", "args": {"metal": "copper"}}]},
            {"content": "0.0098", "metadata": None, "type": "tool"},
            {"content": "0.0098", "metadata": None, "type": "ai", "tool_calls": None},
        ],
        "reference": "0.0098",
        "rubrics": None,
    }
    read = conversation_from_record(line)
    assert [m.role for m in read.messages] == ["user", "assistant", "tool", "assistant"]
    assert read.tool_calls == (ToolCall(name="price", arguments={"metal": "copper"}),)
    assert read.tool_results == (ToolResult(name="price", content="0.0098"),)
    assert read.joined_by == "given"


def test_another_type_is_a_fault() -> None:
    """A message of no known type is named by its place."""
    with pytest.raises(InputError, match=r"user_input\[0\].type is none of human, ai, tool"):
        conversation_from_ragas({"user_input": [{"type": "critic", "content": ""}]})
