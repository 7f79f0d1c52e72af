"""One model call, one tool run and one conversation id in the own words of each dialect beside the conventions and OpenInference."""

from dataclasses import dataclass
from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import line, only, span, step_of, to_json

REQUEST = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
ANSWER = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
RESPONSE = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": ANSWER}]}
EVENTS = [
    {"event.name": "gen_ai.system.message", "content": "Be brief.", "role": "system"},
    {"event.name": "gen_ai.user.message", "content": "Hi", "role": "user"},
    {"event.name": "gen_ai.choice", "index": 0, "message": ANSWER},
]
GENKIT_INPUT = {"messages": [{"role": "system", "content": [{"text": "Be brief."}]}, {"role": "user", "content": [{"text": "Hi"}]}]}
GENKIT_CALL = {"toolRequest": {"ref": "c1", "name": "weather", "input": {"city": "Lisbon"}}}
GEMINI_INPUT = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "config": {"system_instruction": "Be brief."}}
GEMINI_CALL = {"function_call": {"id": "c1", "name": "weather", "args": {"city": "Lisbon"}}}
ARGUMENTS = '{"city": "Lisbon"}'


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A model call and a tool run of one dialect, and where it writes the conversation's id."""

    call: dict[str, Any]
    tool: dict[str, Any]
    conversation_id: str | None = None
    call_name: str = "call"
    tool_name: str = "weather"
    has_call_id: bool = True


SAMPLES: dict[str, Sample] = {
    "openllmetry": Sample(
        call={
            "llm.request.type": "chat",
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": "Hi",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Let me see.",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "weather",
            "gen_ai.completion.0.tool_calls.0.arguments": ARGUMENTS,
        },
        tool={
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "weather",
            "traceloop.entity.input": ARGUMENTS,
            "traceloop.entity.output": "sunny",
        },
        conversation_id="traceloop.association.properties.session_id",
    ),
    "vercel_ai": Sample(
        call={
            "ai.operationId": "ai.generateText.doGenerate",
            "ai.prompt.messages": to_json(REQUEST),
            "ai.response.text": "Let me see.",
            "ai.response.toolCalls": to_json(
                [{"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"city": "Lisbon"}}]
            ),
        },
        tool={
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "weather",
            "ai.toolCall.id": "c1",
            "ai.toolCall.args": ARGUMENTS,
            "ai.toolCall.result": '"sunny"',
        },
        conversation_id="ai.telemetry.metadata.sessionId",
    ),
    "pydantic_ai": Sample(
        call={"gen_ai.operation.name": "chat", "events": to_json(EVENTS)},
        tool={"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1", "tool_arguments": ARGUMENTS, "tool_response": "sunny"},
        conversation_id="gen_ai.conversation.id",
    ),
    "pydantic_ai of logfire": Sample(
        call={"request_data": to_json({"messages": REQUEST}), "response_data": to_json({"message": ANSWER}), "gen_ai.system": "openai"},
        tool={"gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1", "tool_arguments": ARGUMENTS, "tool_response": "sunny"},
    ),
    "adk": Sample(
        call={
            "gcp.vertex.agent.llm_request": to_json(GEMINI_INPUT),
            "gcp.vertex.agent.llm_response": to_json({"content": {"role": "model", "parts": [{"text": "Let me see."}, GEMINI_CALL]}}),
        },
        tool={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.tool_call_args": ARGUMENTS,
            "gcp.vertex.agent.tool_response": '{"sky": "sunny"}',
        },
        conversation_id="gcp.vertex.agent.session_id",
    ),
    "langfuse": Sample(
        call={
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": to_json(REQUEST),
            "langfuse.observation.output": to_json(ANSWER),
        },
        tool={"langfuse.observation.type": "tool", "langfuse.observation.input": ARGUMENTS, "langfuse.observation.output": '"sunny"'},
        conversation_id="langfuse.session.id",
        has_call_id=False,
    ),
    "mlflow": Sample(
        call={
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": to_json({"messages": REQUEST, "model": "m"}),
            "mlflow.spanOutputs": to_json(RESPONSE),
        },
        tool={"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": ARGUMENTS, "mlflow.spanOutputs": '"sunny"'},
        conversation_id="mlflow.trace.session",
        has_call_id=False,
    ),
    "langsmith": Sample(
        call={"langsmith.span.kind": "llm", "gen_ai.prompt": to_json({"messages": REQUEST}), "gen_ai.completion": to_json(RESPONSE)},
        tool={"langsmith.span.kind": "tool", "gen_ai.prompt": ARGUMENTS, "gen_ai.completion": '{"output": "sunny"}'},
        conversation_id="langsmith.metadata.thread_id",
        has_call_id=False,
    ),
    "genkit": Sample(
        call={
            "genkit:type": "action",
            "genkit:metadata:subtype": "model",
            "genkit:name": "openai/gpt",
            "genkit:input": to_json(GENKIT_INPUT),
            "genkit:output": to_json(
                {"message": {"role": "model", "content": [{"text": "Let me see."}, GENKIT_CALL]}, "finishReason": "stop"}
            ),
        },
        tool={
            "genkit:type": "action",
            "genkit:metadata:subtype": "tool",
            "genkit:name": "weather",
            "genkit:input": ARGUMENTS,
            "genkit:output": '"sunny"',
        },
        has_call_id=False,
    ),
    "haystack": Sample(
        call={
            "haystack.agent.step.llm.input": to_json({"messages": REQUEST}),
            "haystack.agent.step.llm.output": to_json({"replies": [ANSWER]}),
        },
        tool={
            "haystack.tool.name": "weather",
            "haystack.agent.step.tool.input": ARGUMENTS,
            "haystack.agent.step.tool.output": '"sunny"',
        },
        call_name="haystack.agent.step.llm",
        tool_name="haystack.agent.step.tool",
        has_call_id=False,
    ),
    "mastra": Sample(
        call={
            "mastra.span.type": "model_generation",
            "mastra.model_generation.input": to_json({"messages": REQUEST}),
            "mastra.model_generation.output": to_json(ANSWER),
        },
        tool={
            "mastra.span.type": "tool_call",
            "gen_ai.tool.name": "weather",
            "mastra.tool_call.input": ARGUMENTS,
            "mastra.tool_call.output": '"sunny"',
        },
        conversation_id="mastra.metadata.threadId",
        has_call_id=False,
    ),
    "generic": Sample(
        call={"span.type": "llm", "input": to_json(REQUEST), "output": to_json(ANSWER)},
        tool={"span.type": "tool", "tool.name": "weather", "tool_call_id": "c1", "input": ARGUMENTS, "output": "sunny"},
        conversation_id="conversation_id",
    ),
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_model_call(sample: Sample) -> None:
    """The prompt, the question, the words and the call of one model call."""
    step = step_of(span(1, sample.call, name=sample.call_name))
    content = step.content
    said = [line(m) for m in (*(content.input or ()), *(content.output or ())) if m.role != "system"]
    prompts = [content.system, *(m.text for m in content.input or () if m.role == "system")]
    assert step.kind is StepKind.INFERENCE
    assert said == ["user: Hi", "assistant: Let me see. -> weather(city='Lisbon')"]
    assert "Be brief." in prompts
    assert [c.id for m in content.output or () for c in m.tool_calls] == ["c1"]


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_a_tool_run(sample: Sample) -> None:
    """Name, arguments and result of one tool run; its call id where the dialect has one."""
    step = step_of(span(1, sample.tool, name=sample.tool_name))
    call, result = step.content.tool_call, step.content.tool_result
    assert step.kind is StepKind.TOOL
    assert step.tool_name == "weather"
    assert call is not None
    assert dict(call.arguments or {}) == {"city": "Lisbon"}
    assert result is not None
    assert result.content in ("sunny", '{"sky": "sunny"}')
    assert not sample.has_call_id or "openllmetry" in step.dialects or step.tool_call_id == "c1"


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES.values() if s.conversation_id], ids=[n for n, s in SAMPLES.items() if s.conversation_id]
)
def test_a_conversation_id(sample: Sample) -> None:
    """The attribute that carries the conversation's id."""
    assert sample.conversation_id is not None
    assert only(span(1, {**sample.call, sample.conversation_id: "c-1"}, name=sample.call_name)).id == "c-1"


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_the_run_as_a_whole(sample: Sample) -> None:
    """Model call and tool run of one trace are one talk, whether or not the run has the call's id."""
    got = only(span(1, sample.call, name=sample.call_name), span(2, sample.tool, name=sample.tool_name))
    assert [m.role for m in got.messages] == ["user", "assistant", "tool"]
    assert got.system == "Be brief."
    assert got.tool_results[0].call_id == "c1"
    assert [(r.call_id, r.name) for r in got.tool_runs] == [("c1", "weather")]


def test_openllmetry_reads_the_id_in_langchains_configuration() -> None:
    """opentelemetry-instrumentation-langchain 0.33: the id stands only in the metadata of the workflow's input, an empty answer as JSON."""
    given = to_json({"inputs": {"messages": [["user", "Hi"]]}, "metadata": {"thread_id": "t-1"}})
    root = span(1, {"traceloop.span.kind": "workflow", "traceloop.entity.name": "LangGraph", "traceloop.entity.input": given})
    assert step_of(root).conversation_ids[0][1] == "t-1"


@pytest.mark.parametrize("prompt", ["gen_ai.prompt.0.user", "llm.prompts.0.user"])
def test_openllmetry_reads_the_prompt_of_a_completion_model(prompt: str) -> None:
    """opentelemetry-instrumentation-watsonx, -replicate, -vertexai 0.62: the prompt stands under the role's name."""
    told = {"llm.request.type": "completion", "gen_ai.system": "Watsonx", prompt: "Weather?", "gen_ai.completion.0.content": "Sun."}
    content = step_of(span(1, told)).content
    assert [line(m) for m in (*(content.input or ()), *(content.output or ()))] == ["user: Weather?", "assistant: Sun."]
