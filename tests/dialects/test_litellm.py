"""LiteLLM. **Source**: BerriAI/litellm 1.110.2 `integrations/opentelemetry.py`, as captured."""

from otel_eval.model import StepKind
from tests.fakes.spans import line, only, span, step_of, talk, to_json, user

KNOWN = {"litellm.call_id": "x", "llm.request.type": "completion", "gen_ai.operation.name": "chat", "gen_ai.response.id": "chatcmpl-1"}
CALLS = {"gen_ai.completion.0.function_call.name": "weather", "gen_ai.completion.0.function_call.arguments": '{"city": "Lisbon"}'}


def test_calls_beside_the_messages() -> None:
    """An answer's parts are empty: its calls stand in gen_ai.completion.N.function_call."""
    second = {"gen_ai.completion.1.function_call.name": "time", "gen_ai.completion.1.function_call.arguments": "{}"}
    said = {"gen_ai.input.messages": to_json([user("Hi")]), "gen_ai.output.messages": to_json([{"role": "assistant", "parts": []}])}
    found = only(span(1, {**KNOWN, **said, **CALLS, **second}, name="litellm_request"))
    assert talk(found) == ["user: Hi", "assistant: -> weather(city='Lisbon') -> time()"]


def test_calls_beside_indexed_words() -> None:
    """Older versions write the words indexed too."""
    said = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Let me see."}
    step = step_of(span(1, {**KNOWN, **said, **CALLS, "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"}))
    told = [line(m) for m in (*(step.content.input or ()), *(step.content.output or ()))]
    assert told == ["user: Hi", "assistant: Let me see. -> weather(city='Lisbon')"]


def test_the_raw_request_is_the_same_call() -> None:
    """raw_gen_ai_request holds Python reprs of request and response, and is no second model call."""
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
    raw = {
        "llm.openai.messages": repr([{"role": "user", "content": "Hi"}]),
        "llm.openai.choices": repr([{"index": 0, "message": {"content": None, "role": "assistant", "tool_calls": [call]}}]),
        "llm.openai.tools": repr([{"type": "function", "function": {"name": "weather", "parameters": {}}}]),
        "llm.openai.id": "chatcmpl-1",
    }
    found = only(span(1, {**KNOWN, **CALLS}, name="litellm_request", end=3), span(2, raw, name="raw_gen_ai_request", parent=1))
    assert talk(found) == ["user: Hi", "assistant: -> weather(city='Lisbon')"]
    assert (found.model_calls, list(found.tools)) == (1, ["weather"])


def test_other_providers_raw_requests() -> None:
    """Anthropic's content and Gemini's candidates."""
    claude = {
        "llm.anthropic.messages": repr([{"role": "user", "content": "Hi"}]),
        "llm.anthropic.content": repr([{"type": "text", "text": "Yo"}]),
    }
    gemini = {
        "llm.gemini.contents": repr([{"role": "user", "parts": [{"text": "Hi"}]}]),
        "llm.gemini.candidates": repr([{"content": {"role": "model", "parts": [{"text": "Yo"}]}}]),
    }
    for raw in (claude, gemini):
        assert talk(only(span(1, raw, name="raw_gen_ai_request"))) == ["user: Hi", "assistant: Yo"]


def test_a_given_trace_id_is_the_session() -> None:
    """`litellm.trace_id` is the session that a caller gave, unless it is the random one of each request."""
    given = step_of(span(1, {**KNOWN, "litellm.trace_id": "conv-1"}))
    assert [v for _, v in given.conversation_ids] == ["conv-1"]
    assert step_of(span(1, {**KNOWN, "litellm.trace_id": "37676a7e-1dbf-4b0f-9b7c-a93520e05310"})).conversation_ids == ()
    assert given.kind is StepKind.INFERENCE
