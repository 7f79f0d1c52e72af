"""AWS Distro for OpenTelemetry: message texts moved into a log record.

**Source**: aws-observability/aws-otel-python-instrumentation `llo_handler.py`; strands-agents/evals fixtures.
"""

from typing import Any

import pytest

from otel_eval.model import LogRecord, StepKind
from tests.fakes.spans import line, log, only, span, step_of, talk, to_json

LANGCHAIN = "openinference.instrumentation.langchain"
GENERATION = to_json(
    {"generations": [[{"text": "Let me see.", "message": {"tool_calls": [{"name": "weather", "args": {"city": "Lisbon"}, "id": "c1"}]}}]]}
)
TOOL_MESSAGE = to_json({"name": "weather", "type": "tool", "content": "sunny", "tool_call_id": "c1", "status": "success"})


def moved(number: int, given: list[tuple[str, Any]], answer: list[tuple[str, Any]], event: str = LANGCHAIN) -> LogRecord:
    """The record of a span: what stood in its attributes, by role."""
    body = {side: {"messages": [{"role": r, "content": c} for r, c in texts]} for side, texts in (("input", given), ("output", answer))}
    return log(number, event, body)


def test_spans_that_lost_all_they_had_are_told_by_their_outputs() -> None:
    """A model call by its generations, a tool run by its tool message, any other chain is none of both."""
    asked = [("user", "Weather?")]
    got = only(
        *(span(n, {"event.name": LANGCHAIN}, name=LANGCHAIN) for n in (1, 2, 3, 4)),
        moved(1, asked, [("assistant", GENERATION)]),
        moved(2, [("user", "{'city': 'Lisbon'}")], [("assistant", TOOL_MESSAGE)]),
        moved(3, asked, [("assistant", to_json({"generations": [[{"text": "Sunny."}]]}))]),
        moved(4, [("user", "state")], [("assistant", "__end__")]),
    )
    assert talk(got) == ["user: Weather?", "assistant: Let me see. -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sunny."]
    assert got.dialects == ("aws_adot",)


def test_a_span_that_tells_its_kind_keeps_it() -> None:
    """What is left on the span says what it is; the record says only the words."""
    known = {"openinference.span.kind": "TOOL", "tool.name": "weather"}
    step = step_of(span(1, known), moved(1, [("user", '{"city": "Lisbon"}')], [("assistant", "sunny")]))
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")
    call, result = step.content.tool_call, step.content.tool_result
    assert call is not None
    assert (call.name, call.arguments) == ("weather", {"city": "Lisbon"})
    assert result is not None
    assert result.content == "sunny"


def test_a_whole_request_goes_before_its_single_messages() -> None:
    """`input.value` comes first and holds the calls that the indexed messages have lost; nothing is told twice."""
    request = [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    given = [("user", to_json({"messages": request})), ("user", "Weather?"), ("tool", "sunny")]
    step = step_of(span(1, {"openinference.span.kind": "LLM"}), moved(1, given, [("assistant", "Sunny."), ("assistant", "Sunny.")]))
    assert [line(m) for m in step.content.input or ()] == ["user: Weather?", "assistant: -> weather()", "tool(c1): sunny"]
    assert [line(m) for m in step.content.output or ()] == ["assistant: Sunny."]


def test_strands_texts_stand_one_deeper() -> None:
    """The content of Strands' events is an object with Bedrock's blocks as JSON text."""
    given = [("system", "Be brief."), ("user", {"content": to_json([{"text": "Weather?"}])})]
    called = to_json([{"text": "Let me see."}, {"toolUse": {"name": "weather", "toolUseId": "c1", "input": {"city": "Lisbon"}}}])
    record = moved(1, given, [("assistant", {"message": called, "finish_reason": "tool_use"})], "strands.telemetry.tracer")
    step = step_of(span(1, {"gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents"}), record)
    assert [line(m) for m in step.content.input or ()] == ["system: Be brief.", "user: Weather?"]
    assert [line(m) for m in step.content.output or ()] == ["assistant: Let me see. -> weather(city='Lisbon')"]


@pytest.mark.parametrize("body", [None, "text", {"content": "Hi"}, {"input": {}, "output": None}, {"input": {"messages": ["x"]}}])
def test_records_of_another_form_are_left_to_others(body: Any) -> None:
    """The name of a scope alone says nothing."""
    assert "aws_adot" not in step_of(span(1), log(1, LANGCHAIN, body)).dialects
