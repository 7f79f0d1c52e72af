"""Tool calls and results in shapes that few producers write."""

from typing import Any

import pytest

from otel_eval.dialects.shapes.calls import call_from_value, content_from_result, result_from_value
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from tests.fakes.spans import line, to_json


def test_an_id_that_is_a_list_is_its_json_text() -> None:
    """agent-framework over OpenAI Assistants tells run and call as a JSON list in a text, which exporters decode; both give the same id."""
    told = '["run_1", "call_1"]'
    assert call_from_value({"id": ["run_1", "call_1"], "name": "f", "arguments": {}}, Notes()).id == told
    assert call_from_value({"id": told, "name": "f", "arguments": {}}, Notes()).id == told
    assert result_from_value({"id": ["run_1", "call_1"], "response": "x"}, Notes()).call_id == told


@pytest.mark.parametrize(
    ("written", "content", "is_error"),
    [
        ({"type": "function_result", "call_id": "c1", "result": "sunny"}, "sunny", None),
        ({"type": "function_result", "call_id": "c1", "result": {"sky": "sunny"}}, '{"sky": "sunny"}', None),
        ({"type": "function_result", "call_id": "c1", "result": "no", "exception": "ValueError"}, "no", True),
        ({"type": "function_result", "call_id": "c1"}, None, None),
    ],
)
def test_a_result_written_out_as_an_object(written: dict[str, Any], content: str | None, is_error: bool | None) -> None:
    """agent-framework before 1.0 wrote its result object into the response; one without a result stays as it is."""
    assert content_from_result(to_json(written), Notes()) == (content if content is not None else to_json(written), is_error)


def test_a_result_as_text_is_read_alike_on_both_roads() -> None:
    """The road for plain messages leaves such results to the general readers."""
    told = to_json({"type": "function_result", "call_id": "c1", "result": "sunny"})
    message = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": told}]}
    assert [line(m) for m in messages_from_value([message], "tool", Notes())] == ["tool(c1): sunny"]


def test_a_tool_message_without_a_type() -> None:
    """An object with a call id and content is a tool's message (LangChain's dump without its class)."""
    told = to_json({"content": "sunny", "tool_call_id": "c1", "status": "success"})
    assert content_of_result(told, Notes()) == ("sunny", None)


def test_calls_without_a_type() -> None:
    """Vercel's `ai.response.toolCalls`, exported as an output of its own, is a call and no words."""
    calls = [{"toolCallId": "c1", "toolName": "weather", "input": '{"city": "Lisbon"}'}]
    assert [line(m) for m in messages_from_value(to_json(calls), "assistant", Notes())] == ["assistant: -> weather(city='Lisbon')"]
    results = [{"toolCallId": "c1", "toolName": "weather", "input": {}, "output": "sunny"}]
    assert [line(m) for m in messages_from_value(results, "user", Notes())] == ["tool(c1): sunny"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"args": ["Hi"]}, ["user: Hi"]),
        ({"args": ["Hi"], "kwargs": {}}, ["user: Hi"]),
        ({"args": [], "kwargs": {"question": "Hi"}}, ["user: Hi"]),
        ({"args": [[{"role": "user", "content": "Hi"}]]}, ["user: Hi"]),
        ({"args": ["asst_1", "Hi"], "kwargs": {}}, []),
        ({"args": [], "kwargs": {}}, []),
    ],
)
def test_what_a_decorator_recorded_of_a_function(value: Any, expected: list[str]) -> None:
    """Its only argument is what was said; of several nobody can tell which."""
    assert [line(m) for m in messages_from_value(to_json(value), "user", Notes())] == expected
