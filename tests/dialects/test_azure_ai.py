"""Azure AI Agents. **Source**: azure-ai-agents 1.1.0 with azure-core-tracing-opentelemetry, as captured."""

from typing import Any

from otel_eval.model import SpanEvent, StepKind
from tests.fakes.spans import only, span, step_of, talk, to_json

AGENTS = {"gen_ai.system": "az.ai.agents", "gen_ai.thread.id": "thread_1"}


def event(name: str, **body: Any) -> SpanEvent:
    """A message event; the body is JSON."""
    return SpanEvent(name=f"gen_ai.{name}.message", attributes={"gen_ai.event.content": to_json(body)})


def operation(number: int, name: str, *events: SpanEvent, **more: Any) -> Any:
    """One call of the SDK."""
    return span(number, {**AGENTS, "gen_ai.operation.name": name, **more}, name=name, events=events, parent=9)


POSTED = operation(1, "create_message", event("user", content="Weather?", role="user"))
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": {"city": "Lisbon"}}}
RUN = operation(
    2,
    "process_thread_run",
    event("tool", content="sunny", id="c1"),
    event("assistant", tool_calls=[CALL]),
    event("assistant", content={"text": {"value": "Sun.", "annotations": []}}, role="assistant"),
    **{"gen_ai.thread.run.id": "run_1", "gen_ai.response.model": "m", "gen_ai.usage.input_tokens": 7},
)


def test_a_streamed_run() -> None:
    """The question of the posting span; calls before their results, though the span tells them after."""
    found = only(span(9, {}, name="handle_message", start=0), POSTED, RUN)
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sun."]
    assert (found.id, found.models, found.response_id) == ("thread_1", ("m",), "run_1")


def test_a_run_with_instructions() -> None:
    """Instructions and messages that are given to one run."""
    run = operation(
        1, "process_thread_run", event("system", content="Be brief."), event("user", content="Hi"), event("assistant", content="Yo")
    )
    content = step_of(run).content
    assert (content.system, [m.text for m in content.input or ()], [m.text for m in content.output or ()]) == ("Be brief.", ["Hi"], ["Yo"])


def test_what_only_repeats() -> None:
    """Polls and lists tell nothing new."""
    listed = operation(1, "list_messages", event("assistant", content={"text": {"value": "Sun."}}, role="assistant"))
    for item in (listed, operation(1, "get_thread_run"), operation(1, "start_thread_run"), operation(1, "submit_tool_outputs")):
        step = step_of(item)
        assert (step.kind, step.content.output) == (StepKind.WRAPPER, None)


def test_only_its_own_spans() -> None:
    """Other producers that tell a thread are read by others; the id counts all the same."""
    step = step_of(span(1, {"gen_ai.thread.id": "thread_1", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}))
    assert (step.kind, step.conversation_ids) == (StepKind.INFERENCE, (("gen_ai.thread.id", "thread_1"),))
