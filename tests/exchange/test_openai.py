"""OpenAI's chat messages and the plain form, out and in."""

import json
from typing import Any

import pytest
from hypothesis import given

from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.messages import conversation_from_messages, messages_from_conversation
from otel_eval.exchange.openai import conversation_from_openai, openai_from_conversation
from otel_eval.exchange.records import conversation_from_record
from otel_eval.model import Conversation, Gap, GapReason, Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from tests.fakes.any_conversation import chats
from tests.fakes.conversations import calls, conversation, result, says, user


@given(chats())
def test_what_chat_messages_can_say_is_not_lost(there: Conversation) -> None:
    """Words, calls, results, system message, agent and traces survive OpenAI's form."""
    assert conversation_from_record(json.loads(text_from_value(openai_from_conversation(there)))) == there


@given(chats())
def test_the_plain_form_says_the_same(there: Conversation) -> None:
    """The same holds of the plain form."""
    assert conversation_from_record(json.loads(text_from_value(messages_from_conversation(there)))) == there


def test_a_call_has_its_arguments_as_text() -> None:
    """A tool call is a function with arguments in JSON text, its result a message that names its id."""
    asked = Message(role="assistant", parts=(ToolCall(id="call_1", name="book", arguments={"to": "Zürich"}),))
    out = openai_from_conversation(conversation(user("Book it"), asked, result("ok", call_id="call_1")))
    assert out["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "book", "arguments": '{"to": "Zürich"}'}}],
    }
    assert out["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "ok"}


def test_what_was_not_recorded_is_null() -> None:
    """Unknown ids and arguments are null; unreadable arguments stay what they are."""
    out = openai_from_conversation(conversation(calls(ToolCall(name="f"), ToolCall(name="g", raw="to Rome"))))
    assert [(c["id"], c["function"]["arguments"]) for c in out["messages"][0]["tool_calls"]] == [(None, None), (None, "to Rome")]


@pytest.mark.parametrize(
    ("written", "arguments", "raw"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ("", {}, None),
        ({"a": 1}, {"a": 1}, None),
        (None, None, None),
        ("[1]", None, "[1]"),
        ("{cut", None, "{cut"),
        ([1], None, "[1]"),
    ],
)
def test_arguments_are_read_from_text_and_objects(written: Any, arguments: Any, raw: str | None) -> None:
    """JSON text and objects are arguments, an empty text is none at all, everything else stays text and is a gap."""
    read = conversation_from_openai(
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": written}}]}]}
    )
    assert [(c.arguments, c.raw) for c in read.tool_calls] == [(arguments, raw)]
    where = "messages[0].tool_calls[0].function.arguments"
    assert read.gaps == (() if raw is None else (Gap(reason=GapReason.ARGUMENTS_UNREADABLE, where=where),))


def test_a_result_takes_the_name_of_its_call() -> None:
    """By id, also out of order; without ids by place, where there is one result for each call."""
    by_id = [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a"}}, {"id": "2", "function": {"name": "b"}}]},
        {"role": "tool", "tool_call_id": "2", "content": "two"},
        {"role": "tool", "tool_call_id": "1", "content": "one"},
    ]
    by_place = [
        {"role": "assistant", "tool_calls": [{"function": {"name": "a"}}, {"function": {"name": "b"}}]},
        {"role": "tool", "content": "one"},
        {"role": "tool", "content": "two"},
    ]
    too_few = by_place[:2]
    read = [conversation_from_openai({"messages": m}).tool_results for m in (by_id, by_place, too_few)]
    assert [[r.name for r in results] for results in read] == [["b", "a"], ["a", "b"], [None]]


def test_every_kind_of_content_is_read() -> None:
    """Texts, refusals, images, sound, reasoning; an unknown part keeps its place and is a gap; data in the message is not kept."""
    content = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "hologram"},
    ]
    answer = {"role": "assistant", "content": None, "reasoning_content": "hm", "refusal": "I may not"}
    read = conversation_from_openai({"messages": [{"role": "user", "content": content}, answer]})
    assert read.messages[0].parts == (
        Text(text="Look"),
        Media(modality="image", uri="https://example.org/a.png"),
        Media(modality="image", mime_type="image/png"),
        Media(modality="audio"),
        Opaque(type="hologram"),
    )
    assert read.messages[1].parts == (Reasoning(text="hm"), Text(text="I may not"))
    assert [(g.reason, g.where) for g in read.gaps] == [(GapReason.UNKNOWN_PART, "messages[0].content[4]")]


def test_old_spellings_are_read() -> None:
    """A developer message is the system's, `function_call` is a call, a function message is a tool's."""
    read = conversation_from_openai(
        {
            "messages": [
                {"role": "developer", "content": "Be brief"},
                {"role": "system", "content": "Be kind"},
                {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": {"a": 1}},
            ]
        }
    )
    assert read.system == "Be brief\nBe kind"
    assert [c.name for c in read.tool_calls] == ["f"]
    assert read.tool_results == (ToolResult(name="f", content='{"a": 1}'),)


def test_tools_and_metadata_travel() -> None:
    """Tool definitions are nested as OpenAI has them and come back flat; strange metadata becomes attributes."""
    tool = {"name": "book", "description": "Books", "parameters": {"type": "object"}}
    out = openai_from_conversation(conversation(user("Hello"), tools={"book": tool}, agent="desk"))
    assert out["tools"] == [{"type": "function", "function": tool}]
    read = conversation_from_openai({**out, "metadata": {**out["metadata"], "task": "t-1"}})
    assert (read.tools, read.agent, read.attributes) == ({"book": tool}, "desk", {"task": "t-1"})


def test_members_of_others_are_no_fault() -> None:
    """What a stranger put beside the messages under a name of ours, in another form, is passed over."""
    read = conversation_from_messages(
        {
            "messages": [{"role": "user", "content": "Hello"}],
            "agent": {"a": 1},
            "trace_ids": 3,
            "gaps": ["x"],
            "metadata": "m",
            "tools": "t",
        }
    )
    assert (read.agent, read.trace_ids, read.gaps, read.messages) == (None, (), (), (user("Hello"),))


def test_the_plain_form_keeps_what_stood_instead_of_arguments() -> None:
    """Unreadable arguments, failures and gaps survive the plain form."""
    there = conversation(calls(ToolCall(name="f", raw="cut")), result("no", is_error=True), says("Sorry"))
    read = conversation_from_messages(messages_from_conversation(there))
    assert [(c.arguments, c.raw) for c in read.tool_calls] == [(None, "cut")]
    assert [r.is_error for r in read.tool_results] == [True]
    assert [g.reason for g in read.gaps] == [GapReason.ARGUMENTS_UNREADABLE]
