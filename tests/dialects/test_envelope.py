"""Platforms that put every span into one envelope, beside the dialect that the span was written in."""

from otel_eval.model import StepKind
from tests.fakes.spans import only, span, step_of, talk, to_json

EXPORTED = {"langfuse.observation.type": "span", "langfuse.observation.input": '{"city": "Lisbon"}', "langfuse.observation.output": "sunny"}


def test_the_dialect_proper_says_what_a_span_is() -> None:
    """Langfuse calls a tool's span of the conventions `span`; its input and output are the call's arguments and result all the same."""
    own = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"}
    step = step_of(span(1, {**EXPORTED, **own}, name="execute_tool weather"))
    call, result = step.content.tool_call, step.content.tool_result
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")
    assert call is not None
    assert (call.id, call.name, call.arguments) == ("c1", "weather", {"city": "Lisbon"})
    assert result is not None
    assert result.content == "sunny"


def test_an_agent_keeps_its_name() -> None:
    """The name of the span is a guess: an attribute goes before it."""
    own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    assert step_of(span(1, {"langfuse.observation.type": "agent", **own}, name="invoke_agent desk")).agent_name == "desk"


def test_metadata_carry_the_thread() -> None:
    """LangGraph's thread, in Langfuse's metadata, plain or as JSON text; a session goes before it."""
    known = {"langfuse.observation.type": "generation", "langfuse.observation.input": "Hi", "langfuse.observation.output": "Hello."}
    for written in ("t-1", '"t-1"'):
        assert only(span(1, {**known, "langfuse.observation.metadata.thread_id": written})).id == "t-1"
    assert only(span(1, {**known, "langfuse.trace.metadata.thread_id": "t-1", "session.id": "s-1"})).id == "s-1"


def test_tools_among_the_messages_are_definitions() -> None:
    """LangChain's callback lists the tools as tool messages: no results, but what the model could call."""
    definition = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    request = [{"role": "user", "content": "Hi"}, {"role": "tool", "content": definition}]
    known = {"langfuse.observation.type": "generation", "langfuse.observation.input": to_json(request)}
    got = only(span(1, {**known, "langfuse.observation.output": "Hello."}))
    assert talk(got) == ["user: Hi", "assistant: Hello."]
    assert list(got.tools) == ["weather"]


def test_tokens_stand_in_one_attribute() -> None:
    """`usage_details` is a JSON object; a dialect's own counts go before it."""
    known = {"langfuse.observation.type": "generation", "langfuse.observation.usage_details": '{"input": 7, "output": 2, "total": 9}'}
    usage = step_of(span(1, known)).usage
    assert (usage.input_tokens, usage.output_tokens) == (7, 2)
    own = step_of(span(1, {**known, "gen_ai.usage.input_tokens": 5, "gen_ai.operation.name": "chat"})).usage
    assert own.input_tokens == 5
