"""Semantic Kernel, AutoGen, Agent Framework.

**Source**: microsoft/semantic-kernel Python 1.12 (as captured) and `ModelDiagnostics.cs`, microsoft/autogen 0.7 (as captured),
microsoft/agent-framework `observability.py`.
"""

from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import agent, event, line, log, only, span, step_of, talk, to_json

USER = {"role": "user", "content": "Weather?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "desk-weather", "arguments": '{"city": "Lisbon"}'}}


def test_semantic_kernel_1_12() -> None:
    """Generation A events on an operation `chat.completions`, tokens under their first names."""
    known = {"gen_ai.operation.name": "chat.completions", "gen_ai.request.model": "m", "gen_ai.response.prompt_tokens": 7}
    step = step_of(
        span(
            1,
            known,
            name="chat.completions m",
            events=[
                event("gen_ai.content.prompt", gen_ai__prompt=to_json([USER])),
                event("gen_ai.content.completion", gen_ai__completion=to_json([{"role": "assistant", "tool_calls": [CALL]}])),
            ],
        )
    )
    assert (step.kind, step.usage.input_tokens) == (StepKind.INFERENCE, 7)
    assert [line(m) for m in step.content.output or ()] == ["assistant: -> desk-weather(city='Lisbon')"]


def test_semantic_kernel_for_dotnet() -> None:
    """Span events whose `gen_ai.event.content` is a message or a choice; the developer's event has a name of its own."""
    told: dict[str, Any] = {"role": "developer", "name": None, "content": "Be brief.", "tool_calls": []}
    chosen = {"index": 0, "message": {"role": "Assistant", "content": "Sun.", "tool_calls": []}, "tool_calls": [], "finish_reason": "Stop"}
    events = [
        event("gen_ai.tool.developer", gen_ai__event__content=to_json(told)),
        event("gen_ai.user.message", gen_ai__event__content=to_json({"role": "user", "content": "Weather?", "tool_calls": []})),
        event("gen_ai.choice", gen_ai__event__content=to_json(chosen)),
    ]
    found = only(span(1, {"gen_ai.operation.name": "chat.completions", "gen_ai.system": "openai"}, events=events))
    assert (found.system, talk(found)[-2:]) == ("Be brief.", ["user: Weather?", "assistant: Sun."])


def test_a_kernels_log_records_are_json_text() -> None:
    """Semantic Kernel for Python logs each message as JSON text, its event's name only as attribute."""
    one = span(1, {"gen_ai.operation.name": "chat", "gen_ai.system": "openai"})
    records = [
        log(1, name, to_json(body), at=1 + n / 10, attributes={"event.name": name, "CHAT_MESSAGE_INDEX": n})
        for n, (name, body) in enumerate(
            [
                ("gen_ai.user.message", USER),
                ("gen_ai.choice", {"message": {"role": "assistant", "content": "Sun."}, "finish_reason": "stop"}),
            ]
        )
    ]
    assert talk(only(one, *records)) == ["user: Weather?", "assistant: Sun."]


def autogen(number: int, kind: str, at: float, **body: Any) -> Any:
    return log(number, "", to_json({"type": kind, **body, "agent_id": None}), at=at)


def test_autogen_tells_its_model_calls_in_its_log() -> None:
    """Every LLMCall of a run stands on the run's span: the conversation is all of them in order."""
    answer = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}
    history = [
        USER,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    records = [
        autogen(1, "LLMCall", 2, messages=[USER], response=answer),
        autogen(1, "ToolCall", 3, tool_name="desk-weather", arguments={"city": "Lisbon"}, result="sunny"),
        autogen(1, "LLMStreamStart", 4, messages=history),
        autogen(1, "LLMStreamEnd", 5, response={"choices": [{"message": {"role": "assistant", "content": "Sun."}}]}),
    ]
    found = only(agent(1, "desk", {"gen_ai.system": "autogen"}), *records)
    assert talk(found) == ["user: Weather?", "assistant: -> desk-weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sun."]


KINDS = [
    ({"sk.available_functions": "desk-weather"}, "AutoFunctionInvocationLoop", StepKind.WRAPPER),
    ({"workflow.id": "w", "workflow.name": "triage"}, "workflow.run", StepKind.WORKFLOW),
    ({"executor.id": "e", "executor.type": "AgentExecutor"}, "executor.process e", StepKind.WRAPPER),
    ({"messaging.destination": "desk.(default)-A", "messaging.operation": "publish"}, "autogen send desk", StepKind.WRAPPER),
]


@pytest.mark.parametrize(("attributes", "name", "kind"), KINDS)
def test_spans_around(attributes: dict[str, Any], name: str, kind: StepKind) -> None:
    """Loops, workflows, executors and messages are told by their attributes."""
    assert step_of(span(1, attributes, name=name)).kind is kind


def test_other_log_records_say_nothing() -> None:
    """An ordinary log line of an unnamed event gives no reading."""
    assert step_of(span(1, {"http.method": "GET"}), log(1, "", '{"type": "LLMCall"')).dialects == ()
