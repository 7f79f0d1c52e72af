"""LlamaIndex's own spans. **Source**: llama-index-observability-otel 0.7.0 with llama-index-core 0.14, as captured."""

from typing import Any

import pytest

from otel_eval.model import SpanEvent, StepKind
from tests.fakes.spans import moment, only, span, step_of, talk, to_json

TAGS = {"session.id": "s1", "llamaindex.run_id": "r1"}
SYSTEM = {"role": "system", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Be brief."}]}
USER = {"role": "user", "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": "Weather?"}]}
CALL = [{"block_type": "tool_call", "tool_call_id": "c1", "tool_name": "weather", "tool_kwargs": '{"city": "Lisbon"}'}]


def told(name: str, at: float, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, time_ns=moment(at), attributes={k.replace("__", "."): v for k, v in attributes.items()})


def model_call(number: int, given: list[Any], **response: Any) -> Any:
    answer = {f"response__{k}": v for k, v in response.items()}
    start = told("LLMChatStartEvent", number, messages=to_json(given), model_dict__model="gpt-4o-mini")
    return span(
        number, TAGS, name="OpenAI.achat", parent=1, events=[start, told("LLMChatEndEvent", number, messages=to_json(given), **answer)]
    )


def test_a_workflow_agent() -> None:
    """Model calls in events, a tool run in a step's summary: one conversation with ids, names and arguments."""
    result = {"role": "tool", "additional_kwargs": {"tool_call_id": "c1"}, "blocks": [{"block_type": "text", "text": "sunny"}]}
    asked = {"role": "assistant", "additional_kwargs": {}, "blocks": CALL}
    summary = "ToolCall(tool_name='weather', tool_kwargs={'city': 'Lisbon'}, tool_id='c1')"
    step = {**TAGS, "llamaindex.step.input_event": "ToolCall", "llamaindex.step.input_summary": summary}
    found = only(
        span(1, {}, name="FunctionAgent.run", events=[told("workflow.output", 9, output="StopEvent(result=…")], end=9),
        model_call(
            2, [SYSTEM, USER], message__role="assistant", message__blocks=to_json(CALL), raw__id="chatcmpl-1", raw__usage__prompt_tokens=7
        ),
        span(3, step, name="BaseWorkflowAgent.call_tool", parent=1, end=3.9),
        span(4, step, name="FunctionTool.acall", parent=3, start=3.2, end=3.4),
        model_call(5, [SYSTEM, USER, asked, result], message__role="assistant", message__blocks='[{"block_type": "text", "text": "Sun."}]'),
    )
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sun."]
    assert (found.id, found.system, found.usage.input_tokens, len(found.tool_runs)) == ("s1", "Be brief.", 7, 1)


def test_cut_arguments_are_unknown() -> None:
    """A summary that shows only how many arguments there were gives none."""
    summary = "ToolCall(tool_name='search', tool_kwargs={4 keys}, tool_id='c2')"
    step = step_of(span(1, {"llamaindex.step.input_event": "ToolCall", "llamaindex.step.input_summary": summary}))
    assert (step.kind, step.tool_name, step.tool_call_id) == (StepKind.TOOL, "search", "c2")
    assert step.content.tool_call is not None
    assert step.content.tool_call.arguments is None


def test_a_completion() -> None:
    """LLMCompletionEndEvent holds prompt and text."""
    event = told("LLMCompletionEndEvent", 1, prompt="Weather?", response__text="Sun.")
    assert talk(only(span(1, {}, name="OpenAI.complete", events=[event]))) == ["user: Weather?", "assistant: Sun."]


def test_a_query_engine() -> None:
    """A query and its response are asked and answered."""
    events = [told("QueryStartEvent", 1, query="Weather?"), told("QueryEndEvent", 2, query="Weather?", response__response="Sun.")]
    assert talk(only(span(1, {}, name="RetrieverQueryEngine.query", events=events))) == ["user: Weather?", "assistant: Sun."]


KINDS = [("RetrievalStartEvent", StepKind.RETRIEVAL), ("EmbeddingEndEvent", StepKind.EMBEDDINGS), ("workflow.output", StepKind.AGENT)]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_kinds_by_events(name: str, kind: StepKind) -> None:
    """A span's events tell what it is."""
    assert step_of(span(1, {}, name="AgentWorkflow.run", events=[told(name, 1)])).kind is kind
