"""The plain form of a conversation: what a stranger reads of `otel-eval convert`."""

import json

from otel_eval.exchange.messages import messages_from_conversation
from tests.fakes.spans import agent, call, chat, converted, result, says, system, tool, user

ID = {"gen_ai.conversation.id": "c-1"}
LOOKUP = call("lookup", {"id": 7}, "c1")


def test_the_plain_form() -> None:
    """System first, content null where nothing was said, arguments as an object, failures only where known."""
    given = [system("Be brief."), user("Look.")]
    (got,) = converted(
        agent(1, "desk", ID, end=9),
        chat(2, given, says(None, LOOKUP), parent=1),
        tool(3, "lookup", {"id": 7}, call_id="c1", parent=1, error="no such row"),
        chat(4, [*given, says(None, LOOKUP), result("Error: no such row", "c1")], says("Sorry."), parent=1),
    )
    told = messages_from_conversation(got)
    assert told["id"] == "c-1"
    assert told["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "name": "lookup", "arguments": {"id": 7}}]},
        {"role": "tool", "content": "Error: no such row", "tool_call_id": "c1", "name": "lookup", "is_error": True},
        {"role": "assistant", "content": "Sorry."},
    ]
    assert (told["agent"], told["joined_by"], told["dialects"], told["gaps"]) == ("desk", "conversation_id", ["otel_genai"], [])
    assert "sub_agent_of" not in told
    assert json.loads(json.dumps(told)) == told


def test_what_was_not_recorded_is_null() -> None:
    """Arguments that are unknown are null, unreadable ones stand beside as text; a result without a mark says nothing of failure."""
    unknown, unreadable = {"type": "tool_call", "id": "c1", "name": "a"}, {"type": "tool_call", "id": "c2", "name": "b", "arguments": "{x"}
    history = [user("Do."), says(None, unknown, unreadable), result("ok", "c1"), result(None, "c2")]
    (got,) = converted(chat(1, history, says("Done."), ID))
    told = messages_from_conversation(got)["messages"]
    assert told[1]["tool_calls"] == [
        {"id": "c1", "name": "a", "arguments": None},
        {"id": "c2", "name": "b", "arguments": None, "raw_arguments": "{x"},
    ]
    assert told[2] == {"role": "tool", "content": "ok", "tool_call_id": "c1", "name": "a"}
    assert told[3] == {"role": "tool", "content": None, "tool_call_id": "c2", "name": "b"}


def test_a_sub_agent_names_its_caller() -> None:
    """The talk of an agent used as a tool says whose it is; gaps are told by reason and place."""
    asked = call("ask", {"q": "x"}, "t1")
    found = converted(
        agent(1, "desk", ID, end=30),
        chat(2, [user("Ask.")], says(None, asked), parent=1),
        tool(3, "ask", {"q": "x"}, "y", call_id="t1", parent=1, end=9),
        chat(4, [user("x")], says("y"), parent=3),
        chat(10, None, None, parent=1),
    )
    (sub,) = [messages_from_conversation(c) for c in found if c.sub_agent_of is not None]
    (main,) = [messages_from_conversation(c) for c in found if c.sub_agent_of is None]
    assert sub["sub_agent_of"] == "c-1"
    assert {"reason": "content_not_captured", "where": "messages"} in main["gaps"]
