"""ADK's evaluation cases, out and in."""

import json
from typing import Any

import pytest

from otel_eval.errors import InputError
from otel_eval.exchange.adk import adk_from_conversation
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.records import conversation_from_record, records_within
from otel_eval.model import Gap, GapReason, Media, Message, Reasoning, Text, ToolCall, ToolResult
from tests.fakes.conversations import conversation, says, user

ASKED = Message(role="assistant", parts=(Text(text="One moment"), ToolCall(id="1", name="book", arguments={"to": "Rome"})))
TOLD = Message(role="tool", parts=(ToolResult(call_id="1", name="book", content="full"),))


def test_a_case_is_as_adk_writes_it() -> None:
    """One invocation a turn; words, calls and results each in their place; a text result is wrapped as ADK wraps it."""
    there = conversation(user("Book it"), ASKED, TOLD, says("Sorry"), user("Bye"), says("Bye"), system="Be kind", agent="desk")
    details = {"agent_details": {"desk": {"name": "desk", "instructions": "Be kind"}}}
    nothing: dict[str, Any] = {"tool_uses": [], "tool_responses": [], "intermediate_responses": []}
    assert adk_from_conversation(there) == {
        "eval_id": "c-1",
        "conversation": [
            {
                "invocation_id": "",
                "user_content": {"role": "user", "parts": [{"text": "Book it"}]},
                "final_response": {"role": "model", "parts": [{"text": "Sorry"}]},
                "intermediate_data": {
                    "tool_uses": [{"id": "1", "name": "book", "args": {"to": "Rome"}}],
                    "tool_responses": [{"id": "1", "name": "book", "response": {"result": "full"}}],
                    "intermediate_responses": [["desk", [{"text": "One moment"}]]],
                },
                "app_details": details,
            },
            {
                "invocation_id": "",
                "user_content": {"role": "user", "parts": [{"text": "Bye"}]},
                "final_response": {"role": "model", "parts": [{"text": "Bye"}]},
                "intermediate_data": nothing,
                "app_details": details,
            },
        ],
    }


def test_a_case_comes_back_as_it_went() -> None:
    """Turns, words, calls, results, system message and agent survive where each turn has one round of calls."""
    there = conversation(user("Book it"), ASKED, TOLD, says("Sorry"), user("Bye"), says("Bye"), system="Be kind", agent="desk")
    read = conversation_from_record(json.loads(text_from_value(adk_from_conversation(there))))
    assert read == there


def test_an_object_of_a_tool_stays_an_object() -> None:
    """A result that is a JSON object is not wrapped again."""
    told = Message(role="tool", parts=(ToolResult(call_id="1", name="book", content='{"error": "full"}'),))
    out = adk_from_conversation(conversation(user("Book it"), ASKED, told))
    assert out["conversation"][0]["intermediate_data"]["tool_responses"][0]["response"] == {"error": "full"}
    assert conversation_from_record(out).tool_results[0].content == '{"error": "full"}'


def test_camel_case_and_events_are_read() -> None:
    """A case as ADK's web page saves it: camelCase, with the events of the invocation in their order."""
    events = [
        {"author": "desk", "content": {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "a", "args": {}}}]}},
        {
            "author": "desk",
            "content": {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "a", "response": {"result": 3}}}]},
        },
        {"author": "desk", "content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Three so far"}]}},
        {"author": "desk", "content": {"role": "model", "parts": [{"functionCall": {"id": "2", "name": "b", "args": None}}]}},
        {"author": "desk", "content": None},
    ]
    case = {
        "evalId": "case-1",
        "conversation": [
            {
                "userContent": {
                    "parts": [{"text": "Count"}, {"inlineData": {"mimeType": "image/png", "data": "AA"}}, {"executableCode": {}}]
                },
                "finalResponse": {"role": "model", "parts": [{"text": "Three"}]},
                "intermediateData": {"invocationEvents": events},
            }
        ],
    }
    read = conversation_from_record(case)
    assert read.id == "case-1"
    assert read.messages[0].parts[:2] == (Text(text="Count"), Media(modality="image", mime_type="image/png"))
    assert read.messages[1:] == (
        Message(role="assistant", parts=(ToolCall(id="1", name="a", arguments={}),)),
        Message(role="tool", parts=(ToolResult(call_id="1", name="a", content="3"),)),
        Message(role="assistant", parts=(Reasoning(text="hm"), Text(text="Three so far"))),
        Message(role="assistant", parts=(ToolCall(id="2", name="b"),)),
        says("Three"),
    )
    assert read.gaps == (Gap(reason=GapReason.UNKNOWN_PART, where="conversation[0].userContent.parts[2]"),)


def test_a_set_holds_many_cases() -> None:
    """Every case of a set that is told turn by turn is a conversation; a scenario for a simulated user is none yet."""
    case = {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hello"}]}}]}
    cases = records_within({"eval_set_id": "s", "eval_cases": [case, {**case, "eval_id": "b"}, {"eval_id": "c"}]})
    found = [conversation_from_record(c) for c in cases]
    assert [(c.id, [m.text for m in c.messages]) for c in found] == [("a", ["Hello"]), ("b", ["Hello"])]


@pytest.mark.parametrize(
    ("invocation", "said"),
    [
        ({"final_response": {"parts": []}}, "conversation[0].user_content is not there"),
        ({"user_content": "Hello"}, "conversation[0].user_content is a text: expected an object"),
        (
            {"user_content": {"parts": []}, "intermediate_data": {"intermediate_responses": ["hm"]}},
            "conversation[0].intermediate_data.intermediate_responses[0] is no pair",
        ),
    ],
)
def test_a_fault_is_named_by_its_place(invocation: dict[str, Any], said: str) -> None:
    """The error says where the fault stands."""
    with pytest.raises(InputError) as raised:
        conversation_from_record({"conversation": [invocation]})
    assert said in str(raised.value)
