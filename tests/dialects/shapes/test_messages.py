"""Messages in every shape a producer was seen to write. Field bugs A1, A6; the reader's checklist of semconv section 2; traps T20, T21."""

import json
from typing import Any

import pytest

from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import GapReason, Media, Opaque, Reasoning, Role
from tests.fakes.shapes import ARGS, CALL, FULL, LANGCHAIN, OPENAI, OPENAI_CALL, PAIRS, PARTS, SHAPES
from tests.fakes.spans import line, reasons


def read(value: Any, role: Role = "user") -> list[str]:
    return [line(m) for m in messages_from_value(value, role, Notes())]


def merged(lines: list[str]) -> list[str]:
    """Lines with the assistant's words and calls of one answer as one, as assembly makes them."""
    out: list[str] = []
    for one in lines:
        if out and one.startswith("assistant:") and out[-1].startswith("assistant:") and "->" in one:
            out[-1] += one.removeprefix("assistant:")
        else:
            out.append(one)
    return out


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_shape_says_the_same(shape: Any) -> None:
    """A1, A6: one talk in the shapes of ten producers gives the same messages."""
    assert merged(read(shape)) == FULL


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda v: json.dumps(json.dumps(v)),
        lambda v: [json.dumps(m) for m in v],
        lambda v: {"messages": v},
        lambda v: json.dumps({"messages": v}),
        lambda v: {"messages": json.dumps(v)},
        lambda v: {"input": {"messages": v}},
        lambda v: [v],
        repr,
    ],
    ids=[
        "text",
        "doubly",
        "texts in a list",
        "request",
        "request as text",
        "text in a request",
        "nested request",
        "list in a list",
        "python",
    ],
)
def test_every_shape_is_read_in_every_wrapping(shape: Any, write: Any) -> None:
    """Checklist (1)–(7): as JSON text, doubly encoded, as texts in a list, inside a request, as a Python literal."""
    assert merged(read(write(shape))) == FULL


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_one_object_instead_of_a_list_is_read(shape: Any) -> None:
    """Checklist (4): a single message object stands for a list of one."""
    assert read(shape[0]) == FULL[:1]


def test_one_call_in_two_shapes_is_one_call() -> None:
    """A1: the same id among parts and in `tool_calls` is one call."""
    both: dict[str, Any] = {**PARTS[1], "tool_calls": [OPENAI_CALL]}
    assert read([both]) == FULL[1:2]


def test_calls_beside_parts_are_read() -> None:
    """Checklist (6): `tool_calls` beside parts that lack them."""
    beside = {"role": "assistant", "parts": [{"type": "text", "content": "Let me see."}], "tool_calls": [OPENAI_CALL]}
    assert read([beside]) == FULL[1:2]


@pytest.mark.parametrize(
    ("written", "role"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("model", "assistant"),
        ("ai", "assistant"),
        ("ASSISTANT", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
    ],
)
def test_roles_in_every_spelling(written: str, role: str) -> None:
    """Roles of all producers are the four of the conventions."""
    (got,) = messages_from_value([{"role": written, "content": "words"}], "user", Notes())
    assert got.role == role


def test_an_unknown_role_is_a_gap_and_no_guess_in_silence() -> None:
    """A role in a word that nobody knows falls back to the side it stands on, and says so."""
    notes = Notes()
    (got,) = messages_from_value([{"role": "narrator", "content": "words"}], "user", notes)
    assert (got.role, reasons(notes.gaps)) == ("user", {GapReason.ROLE_UNKNOWN})


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ("Hi", ["user: Hi"]),
        (None, []),
        ([], []),
        ({}, []),
        (["Hi", "there"], ["user: Hi\nthere"]),
        ([{"type": "text", "content": "Hi"}], ["user: Hi"]),
        ({"question": "Hi", "top_k": 4}, ["user: Hi"]),
        ({"role": "user", "content": None}, ["user: …"]),
        ({"role": "user", "parts": []}, ["user: …"]),
        (PAIRS, ["user: Hi", "assistant: Sunny."]),
        ({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Sunny."}}]}, ["assistant: Sunny."]),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Sunny."}]}}]}, ["assistant: Sunny."]),
        ({"generations": [[{"text": "Sunny.", "message": LANGCHAIN[3]}]]}, ["assistant: Sunny."]),
        ({"system": "Be brief.", "messages": OPENAI[:1]}, ["system: Be brief.", "user: Hi"]),
        ({"instructions": "Be brief.", "input": "Hi"}, ["system: Be brief.", "user: Hi"]),
        (
            {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "config": {"system_instruction": "Be brief."}},
            ["system: Be brief.", "user: Hi"],
        ),
    ],
)
def test_what_stands_around_messages(value: Any, lines: list[str]) -> None:
    """Plain texts, loose parts, requests and responses of providers, and nothing at all."""
    assert read(value) == lines


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("sunny", "sunny"),
        ({"sky": "sunny"}, '{"sky": "sunny"}'),
        ([{"type": "text", "text": "sunny"}], "sunny"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ({"type": "json", "value": {"sky": "sunny"}}, '{"sky": "sunny"}'),
        (42, "42"),
        (False, "false"),
        ({"content": [{"type": "text", "text": "sunny"}], "isError": False}, "sunny"),
    ],
)
@pytest.mark.parametrize("key", ["response", "result"])
def test_results_in_every_form(key: str, response: Any, text: str) -> None:
    """T1 of the shapes: `response` or `result`, as text, object, blocks, typed value or MCP result."""
    value = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", key: response}]}]
    assert read(value) == [f"tool(c1): {text}"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no row", "is_error": True},
        {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no row"}]}},
        {"type": "tool-result", "toolCallId": "c1", "output": {"type": "error-text", "value": "no row"}},
        {"type": "function_result", "call_id": "c1", "result": {"content": [{"type": "text", "text": "no row"}], "isError": True}},
        {"part_kind": "retry-prompt", "tool_name": "find", "tool_call_id": "c1", "content": "no row"},
    ],
)
def test_results_that_say_they_failed(part: dict[str, Any]) -> None:
    """Flags of failure of Anthropic, Bedrock, Vercel, MCP and Pydantic AI."""
    assert read([{"role": "tool", "content": [part]}]) == ["tool(c1) !: no row"]


def test_a_tool_message_may_hold_words_too() -> None:
    """T20: a text part beside a result in one message loses neither."""
    value = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "sunny"}, {"type": "text", "text": "And?"}]}
    ]
    assert read(value) == ["tool(c1): sunny", "user: And?"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (
            {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGk="},
            Media(modality="image", mime_type="image/png"),
        ),
        ({"type": "uri", "modality": "audio", "uri": "https://a/b.wav"}, Media(modality="audio", uri="https://a/b.wav")),
        ({"type": "file", "modality": "document", "file_id": "f-1"}, Media(modality="document", uri="f-1")),
        ({"type": "image_url", "image_url": {"url": "https://a/b.png"}}, Media(modality="image", uri="https://a/b.png")),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, Media(modality="image")),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            Media(modality="image", mime_type="image/png"),
        ),
        ({"inlineData": {"mimeType": "video/mp4", "data": "aGk="}}, Media(modality="video", mime_type="video/mp4")),
        ({"type": "reasoning", "content": "hm"}, Reasoning(text="hm")),
        ({"type": "thinking", "thinking": "hm", "signature": "x"}, Reasoning(text="hm")),
        ({"type": "redacted_thinking", "data": "xyz"}, Reasoning()),
        ({"text": "hm", "thought": True}, Reasoning(text="hm")),
        ({"reasoningContent": {"reasoningText": {"text": "hm"}}}, Reasoning(text="hm")),
        ({"type": "compaction", "id": "x"}, Opaque(type="compaction")),
    ],
)
def test_parts_that_are_no_words(part: dict[str, Any], kind: Any) -> None:
    """Media are told by kind and place, never by their bytes; thinking is kept apart from words."""
    (got,) = messages_from_value([{"role": "assistant", "parts": [part, {"type": "text", "content": "ok"}]}], "assistant", Notes())
    assert got.parts[0] == kind
    assert got.text == "ok"


def test_an_unknown_part_keeps_its_place_and_is_counted() -> None:
    """A6: a part of a kind that is not known stays as an opaque one, with a gap."""
    notes = Notes()
    (got,) = messages_from_value([{"role": "assistant", "parts": [{"type": "hologram", "beam": 4}]}], "assistant", notes)
    assert got.parts == (Opaque(type="hologram"),)
    assert reasons(notes.gaps) == {GapReason.UNKNOWN_PART}


def test_nulls_are_absent() -> None:
    """Whole dataclasses are dumped with nulls everywhere: a null is a field that is not there."""
    value = [
        {
            "role": "assistant",
            "name": None,
            "finish_reason": None,
            "parts": [
                {"type": "text", "content": "Sunny.", "id": None},
                {"type": "tool_call", "id": None, "name": "weather", "arguments": ARGS},
            ],
        }
    ]
    (got,) = messages_from_value(value, "assistant", Notes())
    assert (got.name, got.finish_reason, got.tool_calls[0].id) == (None, None, None)


def test_words_keep_their_letters() -> None:
    """White space, quotes, emoji and text that looks like JSON come out as they went in."""
    for text in ("  two  spaces \n", 'a "b" \\n', "🌤 예약", "{not json", "[1] see note", "[]", "{}", "null", "42", "true"):
        (got,) = messages_from_value([{"role": "user", "parts": [{"type": "text", "content": text}]}], "user", Notes())
        assert got.text == text


def test_a_user_may_send_json() -> None:
    """T20: a message whose words are the JSON of something else stays words."""
    for text in ('{"role_model": "Ada"}', '{"id": 7}', '[{"sku": 1}]', '{"type": "refund", "amount": 3}'):
        assert read([{"role": "user", "content": text}]) == [f"user: {text}"]


REPRS = [
    ("[ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='Hi')], _name=None, _meta={})]", ["user: Hi"]),
    (
        "[ChatMessage(role=<MessageRole.USER: 'user'>, additional_kwargs={}, blocks=[TextBlock(block_type='text', text='Hi')])]",
        ["user: Hi"],
    ),
    (
        "[HumanMessage(content='Hi', additional_kwargs={}), "
        "AIMessage(content='', tool_calls=[{'name': 'weather', 'args': {'city': 'Lisbon'}, 'id': 'c1'}])]",
        ["user: Hi", CALL],
    ),
]


@pytest.mark.parametrize(("text", "lines"), REPRS, ids=["haystack", "llamaindex", "langchain"])
def test_reprs_of_messages_are_read(text: str, lines: list[str]) -> None:
    """Some instrumentations write str() of their objects: they are read, never run."""
    assert read(text) == lines


def test_a_hash_in_place_of_a_message_list_is_redacted() -> None:
    """A2: the Collector's redaction processor hashes whole values; a hash inside a message is what somebody said."""
    notes = Notes()
    assert messages_from_value("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "user", notes) == ()
    assert [g.reason for g in notes.gaps] == [GapReason.REDACTED]
    told = {"role": "tool", "content": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "tool_call_id": "1"}
    said = messages_from_value([told], "user", Notes())
    assert [m.tool_result.content for m in said if m.tool_result] == ["da39a3ee5e6b4b0d3255bfef95601890afd80709"]
