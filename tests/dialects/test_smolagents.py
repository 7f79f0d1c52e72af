"""smolagents. **Source**: huggingface/smolagents 1.2x with openinference-instrumentation-smolagents, as captured."""

from typing import Any

from otel_eval.model import StepKind
from tests.fakes.spans import call, line, only, result, says, span, step_of, talk, to_json, user

RETRY = "Now let's retry: take care not to repeat previous errors! If you have retried several times, try a completely different approach."


def indexed(side: str, number: int, role: str, text: str | None = None, **tool: Any) -> dict[str, Any]:
    """One message as OpenInference flattens it."""
    start = f"llm.{side}_messages.{number}.message"
    told: dict[str, Any] = {f"{start}.role": role}
    if text is not None:
        told |= {f"{start}.contents.0.message_content.type": "text", f"{start}.contents.0.message_content.text": text}
    if tool:
        made = f"{start}.tool_calls.0.tool_call"
        told |= {f"{made}.id": tool["id"], f"{made}.function.name": tool["name"], f"{made}.function.arguments": to_json(tool["arguments"])}
    return told


LLM = {"openinference.span.kind": "LLM"}
FINAL: dict[str, Any] = {"id": "f1", "name": "final_answer", "arguments": {"answer": "Sun."}}


def test_the_control_tool_is_the_answer() -> None:
    """A call of final_answer becomes the assistant's words; its own tool span is no tool run."""
    found = only(
        span(1, {"openinference.span.kind": "AGENT", "smolagents.max_steps": 20, "output.value": "Sun."}, name="desk.run", end=9),
        span(2, {**LLM, **indexed("input", 0, "user", "New task:\nWeather?"), **indexed("output", 0, "assistant", **FINAL)}, parent=1),
        span(3, {"openinference.span.kind": "TOOL", "tool.name": "final_answer", "output.value": "Sun."}, name="FinalAnswerTool", parent=1),
    )
    assert talk(found) == ["user: Weather?", "assistant: Sun."]
    assert found.tool_runs == ()


def test_history_is_folded_too() -> None:
    """The call in the memory's text form, and the observation that repeats it, are one answer."""
    called = "Calling tools:\n[{'id': 'f1', 'type': 'function', 'function': {'name': 'final_answer', 'arguments': {'answer': 'Sun.'}}}]"
    history = {
        **indexed("input", 0, "user", "New task:\nWeather?"),
        **indexed("input", 1, "tool-call", called),
        **indexed("input", 2, "tool-response", "Observation:\nSun."),
        **indexed("input", 3, "user", "New task:\nAnd tomorrow?"),
    }
    step = step_of(span(1, {**LLM, **history, **indexed("output", 0, "assistant", "Rain.")}))
    told = [line(m) for m in (*(step.content.input or ()), *(step.content.output or ()))]
    assert told == ["user: Weather?", "assistant: Sun.", "user: And tomorrow?", "assistant: Rain."]


def test_notes_of_failed_steps_are_left_out() -> None:
    """A failed step reaches the model as a tool message without a call; the tool's span tells it better."""
    history = {**indexed("input", 0, "user", "New task:\nWeather?"), **indexed("input", 1, "tool-response", f"Error:\nno data\n{RETRY}")}
    step = step_of(span(1, {**LLM, **history, **indexed("output", 0, "assistant", **FINAL)}))
    assert [line(m) for m in step.content.input or ()] == ["user: Weather?"]


def test_the_conventions_words_are_folded() -> None:
    """The same in gen_ai.output.messages, and for an execute_tool span."""
    given = [user("Hi"), says(None, call("final_answer", {"answer": "Yo"}, "f1")), result("Yo", "f1"), user("And?")]
    answer = [says(None, call("final_answer", {"answer": {"city": "Lisbon"}}, "f2"))]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": to_json(given), "gen_ai.output.messages": to_json(answer)}
    assert talk(only(span(1, attributes))) == ["user: Hi", "assistant: Yo", "user: And?", 'assistant: {"city": "Lisbon"}']
    assert step_of(span(2, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "final_answer"})).kind is StepKind.WRAPPER


def test_older_results_begin_with_the_calls_id() -> None:
    """To 1.10: `Call id: …` before observation or error; a failed call stays in the history."""
    called = "Calling tools:\n[{'id': 'c1', 'type': 'function', 'function': {'name': 'weather', 'arguments': {'city': 'Lisbon'}}}]"
    failed = "Call id: c1\nError:\nError when executing tool weather with arguments {'city': 'Lisbon'}: ToolFailure: no data\n"
    history = {
        **indexed("input", 0, "user", "New task:\nWeather?"),
        **indexed("input", 1, "tool-call", called),
        **indexed("input", 2, "tool-response", f"{failed}You should only use this tool with a correct input.\n{RETRY}"),
        **indexed("input", 3, "tool-call", called.replace("c1", "c2")),
        **indexed("input", 4, "tool-response", "Call id: c2\nObservation:\nsunny"),
    }
    step = step_of(span(1, {**LLM, **history, **indexed("output", 0, "assistant", **FINAL)}))
    told = [line(m) for m in step.content.input or () if m.role == "tool"]
    assert told == ["tool(c1) !: no data", "tool(c2): sunny"]
