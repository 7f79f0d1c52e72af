"""Our own JSON of a conversation: nothing is lost, and what is no such object says so."""

import json
from typing import Any

import pytest
from hypothesis import given

from otel_eval.errors import InputError
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.own import SCHEMA, conversation_from_own, own_from_conversation
from otel_eval.exchange.records import conversation_from_record
from otel_eval.exchange.schema import CONVERSATION
from otel_eval.model import Conversation, Message, Text, ToolCall
from tests.fakes.any_conversation import conversations
from tests.fakes.conversations import conversation, says, user
from tests.fakes.json_schema import faults


@given(conversations())
def test_nothing_is_lost_on_the_way(there: Conversation) -> None:
    """Out as a line of JSON and in again is the same conversation, all fields of it."""
    line = text_from_value(own_from_conversation(there))
    assert "\n" not in line
    assert conversation_from_record(json.loads(line)) == there


@given(conversations())
def test_what_is_written_is_as_the_schema_has_it(there: Conversation) -> None:
    """Every member written is named and typed in the schema that is published."""
    assert faults(json.loads(text_from_value(own_from_conversation(there))), CONVERSATION, CONVERSATION) == []


def test_what_is_unknown_is_left_out() -> None:
    """A message without name, finish reason and source has no such members; only the id is null."""
    out = own_from_conversation(Conversation(id=None, messages=(user("Hello"),)))
    assert out["id"] is None
    assert out["messages"] == [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]
    assert "system" not in out


def test_turns_name_their_messages_by_place() -> None:
    """The messages stand once; a turn gives their places."""
    out = own_from_conversation(conversation(user("Hello"), says("Hi"), user("Bye"), says("Bye")))
    assert [turn["messages"] for turn in out["turns"]] == [[0, 1], [2, 3]]


def test_messages_alone_are_enough() -> None:
    """A hand-written object needs schema, id and messages; its turns follow from them, and it is given."""
    read = conversation_from_own(
        {"schema": SCHEMA, "id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]}
    )
    assert [m.text for t in read.turns for m in t.messages] == ["Hello"]
    assert read.joined_by == "given"


def test_values_without_a_word_in_json_are_written_as_otlp_does() -> None:
    """Bytes become base64, NaN its name: the line stays JSON."""
    call = ToolCall(name="f", arguments={"a": b"\x01", "b": float("nan"), "c": (1, 2)})
    line = text_from_value(own_from_conversation(Conversation(id="c", messages=(Message(role="assistant", parts=(call,)),))))
    assert json.loads(line)["messages"][0]["parts"][0]["arguments"] == {"a": "AQ==", "b": "NaN", "c": [1, 2]}


def test_half_a_character_does_not_spoil_the_line() -> None:
    """Text cut inside a surrogate pair is written as an escape, so that the line is UTF-8."""
    line = text_from_value(own_from_conversation(Conversation(id="c", messages=(Message(role="user", parts=(Text(text="\ud83d"),)),))))
    assert json.loads(line.encode())["messages"][0]["parts"][0]["text"] == "\ud83d"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"schema": "otel-eval.conversation/9"}, "schema is another than"),
        ({"messages": "hello"}, "messages is a text: expected a list"),
        ({"messages": [{"role": "critic", "parts": []}]}, "messages[0].role is none of system, user, assistant, tool"),
        ({"messages": [{"role": "user", "parts": [{"type": "song"}]}]}, "messages[0].parts[0].type is no type of part"),
        ({"messages": [{"role": "user", "parts": [{"type": "text", "text": {}}]}]}, "messages[0].parts[0].text is an object"),
        ({"turns": [{"messages": [7]}]}, "turns[0].messages[0] is beyond the 0 messages"),
        ({"gaps": [{"reason": "secret", "where": "x"}]}, "gaps[0].reason is no reason that is known"),
        ({"spans": [{"trace_id": "a"}]}, "spans[0] is no span reference"),
        ({"tool_runs": [{"name": "f"}]}, "tool_runs[0].source is null"),
        ({"start_ns": "yesterday"}, "start_ns is a text: expected a whole number"),
    ],
)
def test_a_fault_is_named_by_its_place(changed: dict[str, Any], said: str) -> None:
    """The error says where the fault stands and what was expected, and never what stood there."""
    with pytest.raises(InputError) as raised:
        conversation_from_record({"schema": SCHEMA, "id": "c", "messages": [], **changed})
    assert said in str(raised.value)
    assert not {"critic", "song", "secret", "yesterday", "hello"} & set(str(raised.value).replace("'", " ").split())
