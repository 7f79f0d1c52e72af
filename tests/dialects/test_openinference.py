"""OpenInference: indexed messages, values, the shapes of its instrumentations. Field bugs A11, A14."""

from typing import Any

import pytest

from otel_eval.model import GapReason, Span, StepKind
from tests.fakes.spans import line, only, reasons, span, step_of, talk, to_json

LLM = {"openinference.span.kind": "LLM"}
OPENAI = {
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be brief.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.content": "Hi",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "weather",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"city": "Lisbon"}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "sunny",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Sunny.",
}
ANTHROPIC = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "text",
    "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.contents.0.message_content.type": "tool_use",
    "llm.input_messages.1.message.contents.0.tool_call.id": "c1",
    "llm.input_messages.1.message.contents.0.tool_call.function.name": "weather",
    "llm.input_messages.1.message.contents.0.tool_call.function.arguments": '{"city": "Lisbon"}',
    "llm.input_messages.2.message.role": "user",
    "llm.input_messages.2.message.tool_call_id": "c1",
    "llm.input_messages.2.message.content": "sunny",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Sunny.",
}
LEGACY = {
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hi",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.function_call_name": "weather",
    "llm.output_messages.0.message.function_call_arguments_json": '{"city": "Lisbon"}',
}
CALLED = ["assistant: -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sunny."]


def told(one: Span) -> list[str]:
    content = step_of(one).content
    return [line(m) for m in (*(content.input or ()), *(content.output or ()))]


@pytest.mark.parametrize(
    ("attributes", "lines"),
    [
        (OPENAI, ["system: Be brief.", "user: Hi", *CALLED]),
        (ANTHROPIC, ["user: Hi", *CALLED]),
        (LEGACY, ["user: Hi", "assistant: -> weather(city='Lisbon')"]),
        (dict(reversed(OPENAI.items())), ["system: Be brief.", "user: Hi", *CALLED]),
    ],
    ids=["openai", "anthropic", "legacy function call", "backwards"],
)
def test_indexed_messages(attributes: dict[str, Any], lines: list[str]) -> None:
    """A14: indexed messages in the forms of its instrumentations, in any order of attributes."""
    assert told(span(1, {**LLM, **attributes})) == lines


def test_without_a_span_kind_the_messages_tell_it() -> None:
    """A11: indexed messages make a model call, kind attribute or not."""
    assert step_of(span(1, OPENAI)).kind is StepKind.INFERENCE


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("LLM", StepKind.INFERENCE),
        ("AGENT", StepKind.AGENT),
        ("TOOL", StepKind.TOOL),
        ("CHAIN", StepKind.WRAPPER),
        ("RETRIEVER", StepKind.RETRIEVAL),
        ("RERANKER", StepKind.RETRIEVAL),
        ("EMBEDDING", StepKind.EMBEDDINGS),
        ("EVALUATOR", StepKind.EVALUATION),
        ("GUARDRAIL", StepKind.EVALUATION),
        ("llm", StepKind.INFERENCE),
    ],
)
def test_the_span_kind_tells_the_kind(kind: str, expected: StepKind) -> None:
    """The kinds of OpenInference, whatever their letters."""
    assert step_of(span(1, {"openinference.span.kind": kind, "input.value": "x"}, name="x")).kind is expected


REQUEST = to_json({"messages": [{"role": "user", "content": "Hi"}], "model": "m"})
RESPONSE = to_json({"id": "chatcmpl-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Sunny."}}]})


def test_values_alone_are_read() -> None:
    """Where no indexed message stands, request and response in `input.value` / `output.value` are read."""
    assert told(span(1, {**LLM, "input.value": REQUEST, "output.value": RESPONSE})) == ["user: Hi", "assistant: Sunny."]


def test_the_response_id_is_found_in_the_value() -> None:
    """The response id stands only inside `output.value`."""
    assert step_of(span(1, {**LLM, "output.value": RESPONSE})).response_id == "chatcmpl-1"


def test_dropped_messages_are_made_good_by_the_value() -> None:
    """T4: where the limit of 128 attributes dropped the oldest messages, the request as a whole still tells them."""
    attributes = {k: v for k, v in OPENAI.items() if ".input_messages.0." not in k and ".input_messages.1." not in k}
    whole = to_json({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, *_rest()]})
    assert told(span(1, {**LLM, **attributes, "input.value": whole})) == ["system: Be brief.", "user: Hi", *CALLED]


def _rest() -> list[dict[str, Any]]:
    made = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
    return [{"role": "assistant", "content": None, "tool_calls": [made]}, {"role": "tool", "tool_call_id": "c1", "content": "sunny"}]


def test_dropped_messages_that_nothing_makes_good_are_a_gap() -> None:
    """T4, A14: otherwise the loss is told."""
    attributes = {k: v for k, v in OPENAI.items() if ".input_messages.0." not in k}
    assert GapReason.ATTRIBUTES_DROPPED in reasons(step_of(span(1, {**LLM, **attributes})).content.gaps)


@pytest.mark.parametrize("hidden", ["__REDACTED__", None])
def test_hidden_content_is_a_gap(hidden: str | None) -> None:
    """T5: OPENINFERENCE_HIDE_INPUTS leaves a placeholder or nothing."""
    values = {} if hidden is None else {"input.value": hidden, "output.value": hidden}
    content = step_of(span(1, {**LLM, "llm.model_name": "m", **values})).content
    assert content.input is None
    assert content.output is None
    assert reasons(content.gaps) & {GapReason.REDACTED, GapReason.CONTENT_NOT_CAPTURED}


TOOLS: list[tuple[dict[str, Any], dict[str, Any] | None, str | None]] = [
    ({"tool.name": "weather", "input.value": '{"city": "Lisbon"}', "output.value": "sunny"}, {"city": "Lisbon"}, "sunny"),
    ({"tool.name": "weather", "tool.parameters": '{"city": "Lisbon"}', "output.value": "sunny"}, {"city": "Lisbon"}, "sunny"),
    ({"tool.name": "weather", "input.value": "{'city': 'Lisbon'}", "output.value": "sunny"}, {"city": "Lisbon"}, "sunny"),
    (
        {"tool.name": "weather", "input.value": '{"args": [], "kwargs": {"city": "Lisbon"}}', "output.value": "sunny"},
        {"city": "Lisbon"},
        "sunny",
    ),
    (
        {
            "tool.name": "weather",
            "input.value": '{"city": "Lisbon"}',
            "output.value": to_json({"type": "tool", "data": {"content": "sunny"}}),
        },
        {"city": "Lisbon"},
        "sunny",
    ),
    ({"tool.name": "weather"}, None, None),
]


@pytest.mark.parametrize(("attributes", "arguments", "content"), TOOLS)
def test_tool_spans(attributes: dict[str, Any], arguments: dict[str, Any] | None, content: str | None) -> None:
    """Arguments and results of tool spans, out of whatever callbacks put around them."""
    step = step_of(span(1, {"openinference.span.kind": "TOOL", **attributes}, name="weather"))
    assert step.content.tool_call is not None
    assert step.content.tool_call.arguments == arguments
    told_result = step.content.tool_result
    assert (told_result.content if told_result is not None else None) == content
    assert step.tool_name == "weather"


def test_a_tool_span_without_a_name_takes_that_of_the_span() -> None:
    """The span's own name is the tool's where no attribute tells it."""
    assert step_of(span(1, {"openinference.span.kind": "TOOL"}, name="weather")).tool_name == "weather"


@pytest.mark.parametrize("key", ["thread_id", "session_id", "conversation_id"])
def test_an_id_inside_metadata_is_found(key: str) -> None:
    """A17: LangChain's run metadata stands as JSON in `metadata`."""
    got = only(span(1, {**LLM, **OPENAI, "metadata": to_json({key: "c-1", "other": 1})}))
    assert got.id == "c-1"


def test_a_chain_around_the_talk_adds_nothing() -> None:
    """T2: the input and output of chains around a model call are its words again."""
    chain = {
        "openinference.span.kind": "CHAIN",
        "input.value": to_json({"messages": [{"role": "user", "content": "Hi"}]}),
        "output.value": "Sunny.",
    }
    got = only(
        span(1, chain, name="graph", end=9),
        span(2, {**LLM, "input.value": REQUEST, "output.value": RESPONSE}, parent=1),
        span(3, chain, parent=1),
    )
    assert talk(got) == ["user: Hi", "assistant: Sunny."]
