"""Strands' own attributes. **Source**: strands-agents/sdk-python `telemetry/tracer.py`, 0.1.0, 1.0 and 1.20 (as captured) and 1.40."""

from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import only, span, step_of, talk, to_json

STARTED = {"gen_ai.event.start_time": "2026-11-30T01:10:09+00:00"}
USER = {"role": "user", "content": [{"text": "Weather?"}]}
CALL = {"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Lisbon"}}}
RESULT = {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no data"}]}}]}


def model_call(number: int, given: list[Any], answer: list[Any]) -> Any:
    known = {"gen_ai.system": "strands-agents", "agent.name": "Desk", "gen_ai.request.model": "m", "gen_ai.usage.prompt_tokens": 7}
    said = {"gen_ai.prompt": to_json(given), "gen_ai.completion": to_json(answer)}
    return span(number, {**STARTED, **known, **said}, name="Model invoke", parent=2)


def test_version_0_1_0() -> None:
    """The run's prompt, cycles, model calls and tools of the first release give one conversation, told once."""
    run = {
        "gen_ai.system": "strands-agents",
        "agent.name": "Desk",
        "agent.tools": '["weather"]',
        "session.id": "s1",
        "system_prompt": "Be brief.",
    }
    ran = {"tool.name": "weather", "tool.id": "c1", "tool.parameters": '{"city": "Lisbon"}', "tool.status": "error"}
    found = only(
        span(1, {**STARTED, **run, "gen_ai.prompt": "Weather?", "gen_ai.completion": '"<replaced>"'}, name="Desk", end=9),
        span(2, {**STARTED, "event_loop.cycle_id": "x", "gen_ai.prompt": to_json([USER]), "gen_ai.completion": "[]"}, parent=1, end=8),
        model_call(3, [USER], [CALL]),
        span(4, {**STARTED, **ran, "tool.result": '[{"text": "no data"}]'}, name="Tool: weather", parent=2),
        model_call(5, [USER, {"role": "assistant", "content": [CALL]}, RESULT], [{"text": "I do not know."}]),
    )
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", "tool(c1) !: no data", "assistant: I do not know."]
    assert (found.id, found.agent, found.model_calls) == ("s1", "Desk", 2)


KINDS = [
    ({**STARTED, "gen_ai.prompt": "[]", "gen_ai.system": "strands-agents"}, StepKind.INFERENCE),
    ({**STARTED, "gen_ai.prompt": "Hi", "agent.tools": "[]"}, StepKind.AGENT),
    ({**STARTED, "gen_ai.operation.name": "execute_event_loop_cycle", "event_loop.cycle_id": "x"}, StepKind.WRAPPER),
    ({**STARTED, "gen_ai.operation.name": "invoke_graph", "gen_ai.system": "strands-agents"}, StepKind.WORKFLOW),
    ({**STARTED, "gen_ai.operation.name": "chat", "gen_ai.system": "strands-agents"}, StepKind.INFERENCE),
    ({"tool.name": "weather", "tool.id": "c1", "tool.parameters": "{}"}, StepKind.TOOL),
]


@pytest.mark.parametrize(("attributes", "kind"), KINDS)
def test_kinds(attributes: dict[str, Any], kind: StepKind) -> None:
    """Each kind of span of old and new releases is told by its attributes."""
    assert step_of(span(1, attributes)).kind is kind


def test_the_system_prompt_of_a_run_is_read() -> None:
    """`system_prompt` stands on the run's span alone."""
    step = step_of(span(1, {**STARTED, "gen_ai.prompt": "Hi", "agent.tools": "[]", "system_prompt": "Be brief."}))
    later = step_of(span(1, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Desk", "system_prompt": "Be brief."}))
    assert (later.kind, later.content.system) == (StepKind.AGENT, "Be brief.")
    assert step.content.system == "Be brief."
