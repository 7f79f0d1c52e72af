"""Platforms and low-code builders whose spans are an envelope: a type, an input, an output.

**Source**: lmnr 0.8.2 and traceai-openai (both captured), braintrust.dev documentation, coze-dev/coze-loop `lib/otel/consts.go`,
langgenius/dify `api/core/ops`, n8n-io/n8n.
"""

from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import line, only, span, step_of, talk, to_json

ASKED = to_json([{"role": "user", "content": "Weather?"}])
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
ANSWER = to_json({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]})

MODEL_CALLS: dict[str, dict[str, Any]] = {
    "laminar": {"lmnr.span.type": "LLM", "lmnr.span.input": ASKED, "lmnr.span.output": ANSWER},
    "braintrust": {"braintrust.span_attributes": '{"type": "llm"}', "braintrust.input_json": ASKED, "braintrust.output_json": ANSWER},
    "coze": {
        "cozeloop.span_type": "model",
        "cozeloop.input": to_json({"messages": [{"role": "user", "content": "Weather?"}]}),
        "cozeloop.output": ANSWER,
    },
    "dify": {"dify.span.type": "llm", "dify.inputs": ASKED, "dify.outputs": ANSWER},
    "traceai": {"gen_ai.span.kind": "LLM", "raw.input": ASKED, "raw.output": ANSWER, "input.value": "Weather?"},
    "n8n": {"n8n.node.type": "@n8n/n8n-nodes-langchain.lmChatOpenAi", "n8n.node.input": ASKED, "n8n.node.output": ANSWER},
}


@pytest.mark.parametrize("name", MODEL_CALLS)
def test_model_calls(name: str) -> None:
    """Type, input and output of a model call under each platform's names."""
    step = step_of(span(1, MODEL_CALLS[name]))
    assert (step.kind, name in step.dialects) == (StepKind.INFERENCE, True)
    assert talk(only(span(1, MODEL_CALLS[name]))) == ["user: Weather?", "assistant: -> weather(city='Lisbon')"]


TOOLS: dict[str, dict[str, Any]] = {
    "laminar": {"lmnr.span.type": "TOOL", "lmnr.span.input": '{"city":"Lisbon"}', "lmnr.span.output": '"sunny"'},
    "braintrust": {
        "braintrust.span_attributes": '{"type": "tool"}',
        "braintrust.input": '{"city": "Lisbon"}',
        "braintrust.output": "sunny",
    },
    "coze": {"cozeloop.span_type": "tool", "cozeloop.input": '{"city": "Lisbon"}', "cozeloop.output": "sunny"},
    "dify": {"dify.span.type": "tool", "dify.tool.name": "weather", "dify.inputs": '{"city": "Lisbon"}', "dify.outputs": "sunny"},
    "traceai": {"gen_ai.span.kind": "TOOL", "gen_ai.tool.name": "weather", "input.value": '{"city": "Lisbon"}', "output.value": "sunny"},
    "n8n": {
        "n8n.node.type": "@n8n/n8n-nodes-langchain.toolHttpRequest",
        "n8n.node.name": "weather",
        "n8n.node.input": '{"city": "Lisbon"}',
        "n8n.node.output": "sunny",
    },
}


@pytest.mark.parametrize("name", TOOLS)
def test_tools(name: str) -> None:
    """Name, arguments and result of a tool run under each platform's names."""
    step = step_of(span(1, TOOLS[name], name="weather"))
    call, result = step.content.tool_call, step.content.tool_result
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")
    assert call is not None
    assert result is not None
    assert (call.arguments, result.content) == ({"city": "Lisbon"}, "sunny")


IDS = [
    {"lmnr.span.type": "DEFAULT", "lmnr.association.properties.session_id": "s1"},
    {"braintrust.input": "Hi", "braintrust.metadata": '{"session_id": "s1"}'},
    {"cozeloop.span_type": "agent", "cozeloop.thread_id": "s1"},
    {"dify.span.type": "workflow", "dify.conversation.id": "s1"},
    {"gen_ai.span.kind": "AGENT", "gen_ai.session.id": "s1"},
]


@pytest.mark.parametrize("attributes", IDS, ids=lambda a: next(iter(a)))
def test_conversation_ids(attributes: dict[str, Any]) -> None:
    """The conversation's id under each platform's name."""
    assert [v for _, v in step_of(span(1, attributes)).conversation_ids] == ["s1"]


def test_traceai_indexes_its_messages() -> None:
    """OpenInference's structure under the conventions' prefix, which holds all where `input.value` holds one text."""
    told = {
        "gen_ai.span.kind": "LLM",
        "input.value": "Be brief.",
        "gen_ai.input.messages.0.message.role": "system",
        "gen_ai.input.messages.0.message.content": "Be brief.",
        "gen_ai.input.messages.1.message.role": "user",
        "gen_ai.input.messages.1.message.contents.0.message_content.type": "text",
        "gen_ai.input.messages.1.message.contents.0.message_content.text": "Weather?",
        "gen_ai.output.messages.0.message.role": "assistant",
        "gen_ai.output.messages.0.message.tool_calls.0.tool_call.id": "c1",
        "gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.name": "weather",
        "gen_ai.output.messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city": "Lisbon"}',
    }
    found = only(span(1, told))
    assert (found.system, talk(found)) == ("Be brief.", ["user: Weather?", "assistant: -> weather(city='Lisbon')"])


def test_older_traceai_is_openinference() -> None:
    """`fi.span.kind` beside `llm.input_messages.N`: the words come from there, not from the last text in `input.value`."""
    told = {
        "fi.span.kind": "LLM",
        "input.value": "Weather?",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "Be brief.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "Weather?",
        "output.value": "Sun.",
    }
    content = step_of(span(1, told)).content
    assert [line(m) for m in content.input or ()] == ["system: Be brief.", "user: Weather?"]


def test_n8n_itself_tells_only_which_nodes_ran() -> None:
    """A workflow's span and its nodes, without content."""
    assert step_of(span(1, {"n8n.workflow.id": "w", "n8n.workflow.name": "Desk"}, name="workflow.execute")).kind is StepKind.WORKFLOW
    node = step_of(span(1, {"n8n.node.type": "n8n-nodes-base.httpRequest", "n8n.node.items.input": 1}, name="node.execute"))
    assert node.kind is StepKind.WRAPPER


def test_failures_by_status() -> None:
    """A failed node says so in an attribute."""
    assert step_of(span(1, {"dify.span.type": "tool", "dify.span.status": "failed"}, name="weather")).is_error


def test_a_thread_of_the_operating_system_is_no_conversation() -> None:
    """`thread.id` with digits, or beside `thread.name`, is the conventions' thread; as another text it may be the application's."""
    assert step_of(span(1, {"thread.id": 4, "thread.name": "main", "session.id": "s1"})).conversation_ids == (("session.id", "s1"),)
    assert step_of(span(1, {"thread.id": "4"})).conversation_ids == ()
    assert [v for _, v in step_of(span(1, {"thread.id": "thread-abc"})).conversation_ids] == ["thread-abc"]
