"""OpenLIT. **Source**: openlit 1.20.0, 1.30.0, 1.34.20 and 1.45.0, as captured; `semcov/__init__.py`."""

from otel_eval.model import GapReason, SpanEvent, StepKind
from tests.fakes.spans import call as part
from tests.fakes.spans import event, line, only, reasons, says, span, step_of, talk, to_json, user

KNOWN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.endpoint": "openai.chat.completions",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "m",
}
CALLS = "[{'id': 'c1', 'function': {'arguments': '{\"city\": \"Lisbon\"}', 'name': 'weather'}, 'type': 'function'}]"


def told(prompt: str, completion: str) -> list[SpanEvent]:
    return [event("gen_ai.content.prompt", gen_ai__prompt=prompt), event("gen_ai.content.completion", gen_ai__completion=completion)]


def test_a_placeholder_is_no_answer() -> None:
    """To 1.33 the completion of a request with tools is the same words, whatever the model said: an answer without words, and a gap."""
    one = span(1, KNOWN, events=told("system: Be brief.\nuser: Weather?", "Function called with tools"))
    found = only(one)
    assert (found.system, talk(found)) == ("Be brief.", ["user: Weather?", "assistant: …"])
    assert GapReason.CONTENT_NOT_CAPTURED in reasons(found.gaps)


def test_calls_as_a_repr() -> None:
    """1.34 to 1.37: gen_ai.response.tool_calls, with `None` as the text of an answer without one."""
    one = span(1, {**KNOWN, "gen_ai.response.tool_calls": CALLS}, events=told("user: Weather?", "None"))
    assert talk(only(one)) == ["user: Weather?", "assistant: -> weather(city='Lisbon')"]
    words = span(1, {**KNOWN, "gen_ai.response.tool_calls": "None"}, events=told("user: Weather?", "Sun."))
    assert talk(only(words)) == ["user: Weather?", "assistant: Sun."]


def test_ids_of_responses_calls_stand_beside() -> None:
    """The call's id in the message is the item's; the one that results answer to stands on the span, which is no tool run."""
    said = {"gen_ai.input.messages": to_json([user("Hi")]), "gen_ai.output.messages": to_json([says(None, part("weather", {}, "fc_c1"))])}
    step = step_of(span(1, {**KNOWN, **said, "gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "weather", "gen_ai.tool.args": "{}"}))
    assert step.kind is StepKind.INFERENCE
    assert [c.id for m in step.content.output or () for c in m.tool_calls] == ["c1"]


def test_tools_of_frameworks() -> None:
    """gen_ai.tool.input and gen_ai.tool.output of an execute_tool span."""
    told = {"gen_ai.tool.name": "weather", "gen_ai.tool.input": '{"city": "Lisbon"}', "gen_ai.tool.output": "sunny"}
    content = step_of(span(1, {"gen_ai.operation.name": "execute_tool", **told})).content
    assert content.tool_call is not None
    assert content.tool_result is not None
    assert (content.tool_call.arguments, content.tool_result.content) == ({"city": "Lisbon"}, "sunny")


def test_workflows_and_agents() -> None:
    """Inputs and outputs of a workflow, task and output of an agent."""
    workflow = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.input": "Weather?", "gen_ai.workflow.output": "Sun."}
    task = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.task": "Weather?", "gen_ai.agent.actual_output": "Sun."}
    for attributes in (workflow, task):
        content = step_of(span(1, attributes)).content
        assert [line(m) for m in (*(content.input or ()), *(content.output or ()))] == ["user: Weather?", "assistant: Sun."]
