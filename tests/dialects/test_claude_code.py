"""Claude Code. **Source**: @anthropic-ai/claude-code 2.1.197, as captured: spans of the tracing beta, session events as log records."""

from typing import Any

from otel_eval.dialects.session_logs import spans_from_session_logs
from otel_eval.model import GapReason, LogRecord, StepKind
from tests.fakes.spans import event, log, moment, only, reasons, span, step_of, talk, to_json

SESSION = {"session.id": "0a0b0c0d-0001-4000-8000-00000000b001", "terminal.type": "xterm"}
PROMPT = "94d3be1e-96f6-4381-b38c-c3ff5fdc83e0"


def told(number: float, name: str, *, ids: bool = False, **attributes: Any) -> LogRecord:
    """A session event: body `claude_code.NAME`, `event.name` without the prefix, with or without the interaction's ids."""
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    record = log(1, name, f"claude_code.{name}", at=number, attributes={**SESSION, "event.name": name, "prompt.id": PROMPT, **named})
    if ids:
        return record
    return LogRecord(event_name=name, body=record.body, time_ns=record.time_ns, attributes=record.attributes)


def turn(*, ids: bool = False) -> list[LogRecord]:
    """Two tools at once, then an answer."""
    mcp = {"tool_name": "mcp_tool", "tool_parameters": to_json({"mcp_server_name": "desk", "mcp_tool_name": "get_weather"})}
    return [
        told(1, "user_prompt", ids=ids, prompt="Weather in Lisbon?", event__sequence=1),
        told(
            2,
            "api_request",
            ids=ids,
            model="claude-sonnet-4-5",
            duration_ms="500",
            input_tokens="101",
            output_tokens="20",
            query_source="sdk",
        ),
        told(2.5, "tool_result", ids=ids, tool_use_id="t1", success="true", duration_ms="300", tool_input='{"city":"Lisbon"}', **mcp),
        told(2.6, "tool_result", ids=ids, tool_use_id="t2", success="false", duration_ms="100", tool_name="Bash", error="no such file"),
        told(3, "api_request", ids=ids, model="claude-haiku", duration_ms="10", query_source="generate_session_title"),
        told(3, "assistant_response", ids=ids, response="A title", query_source="generate_session_title"),
        told(4, "api_request", ids=ids, model="claude-sonnet-4-5", duration_ms="500", query_source="sdk"),
        told(4, "assistant_response", ids=ids, response="It is sunny.", query_source="sdk"),
    ]


TURN = [
    "user: Weather in Lisbon?",
    "assistant: -> mcp__desk__get_weather(city='Lisbon') -> Bash(?)",
    "tool(t1): None",
    "tool(t2) !: no such file",
    "assistant: It is sunny.",
]


def spans_of(logs: list[LogRecord]) -> Any:
    return only(*spans_from_session_logs(logs))


def test_a_session_of_log_records_without_ids_is_a_conversation() -> None:
    """Prompt, calls with arguments and answer of a turn come from events that carry only session and prompt id; side calls are left out."""
    found = spans_of(turn())
    assert (found.id, talk(found)) == (SESSION["session.id"], TURN)
    assert found.model_calls == 2


def test_order_and_repetition_of_records_change_nothing() -> None:
    """The same records give the same spans, however they come and however often."""
    logs = turn()
    assert sorted(spans_from_session_logs([*reversed(logs), *logs]), key=repr) == sorted(spans_from_session_logs(logs), key=repr)


def test_each_prompt_is_a_turn_of_its_own() -> None:
    """Two prompts of a session are two traces of one conversation; a late record stands with the prompt it names."""
    later = [
        told(9, "user_prompt", prompt="And tomorrow?", prompt__id="p2"),
        told(10, "api_request", duration_ms="100", prompt__id="p2"),
        told(10, "assistant_response", response="Rain.", prompt__id="p2"),
    ]
    late = told(11, "tool_result", tool_use_id="t3", success="true", duration_ms="8450", tool_name="Read")
    found = spans_of([*turn(), *later, late])
    assert talk(found)[1] == "assistant: -> mcp__desk__get_weather(city='Lisbon') -> Bash(?) -> Read(?)"
    assert talk(found)[-2:] == ["user: And tomorrow?", "assistant: Rain."]
    assert len(found.trace_ids) == 2


def test_events_with_ids_stand_on_the_interaction() -> None:
    """With tracing on the records carry the ids of the interaction's span, whose model calls have no words of their own."""
    spans = [
        span(1, {**SESSION, "span.type": "interaction", "user_prompt": "Weather in Lisbon?"}, name="claude_code.interaction", end=9),
        span(2, {**SESSION, "span.type": "llm_request", "llm_request.context": "interaction"}, name="claude_code.llm_request", parent=1),
    ]
    assert talk(only(*spans, *turn(ids=True))) == [line for line in TURN if not line.startswith("tool(t1)")]
    assert spans_from_session_logs(turn(ids=True), spans) == []


def test_raw_bodies_tell_answers_results_and_system() -> None:
    """api_response_body holds the answer with its calls, the next api_request_body the results, its system blocks the instructions."""
    answer = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.txt"}}]}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "hello"}]}
    system = [{"type": "text", "text": "x-anthropic-billing-header: cc"}, {"type": "text", "text": "You are a clerk."}]
    body = {"system": system, "messages": [{"role": "user", "content": "Read it"}, answer, {"role": "user", "content": [result]}]}
    logs = [
        told(1, "user_prompt", prompt="Read it"),
        told(2, "api_request", duration_ms="500"),
        told(2.1, "api_response_body", body=to_json(answer)),
        told(3, "api_request_body", body=to_json(body)),
        told(4, "api_request", duration_ms="500"),
        told(4, "assistant_response", response="It says hello."),
    ]
    found = spans_of(logs)
    assert talk(found)[1:] == ["assistant: -> Read(file_path='a.txt')", "tool(t1): hello", "assistant: It says hello."]
    assert found.system == "You are a clerk."


def test_detailed_spans_hold_answers_arguments_and_results() -> None:
    """The detailed beta: response.model_output, tool_input and new_context below headings; tool.execution is no second run."""
    spans = [
        span(1, {**SESSION, "span.type": "interaction", "user_prompt": "Read it"}, name="claude_code.interaction", end=9),
        span(
            2,
            {
                **SESSION,
                "span.type": "llm_request",
                "model": "claude-sonnet-4-5",
                "response.has_tool_call": True,
                "user_system_prompt": "Be kind.",
            },
            name="claude_code.llm_request",
            parent=1,
        ),
        span(
            3,
            {
                **SESSION,
                "span.type": "tool",
                "tool_name": "Read",
                "tool_use_id": "t1",
                "tool_input": '[TOOL INPUT: Read]\n{"file_path":"a.txt"}',
                "new_context": '[TOOL RESULT: Read]\n[{"type":"text","text":"hello"}]',
            },
            name="claude_code.tool",
            parent=1,
        ),
        span(
            4, {**SESSION, "span.type": "tool.execution", "tool_use_id": "t1", "success": True}, name="claude_code.tool.execution", parent=3
        ),
        span(
            5, {**SESSION, "span.type": "llm_request", "response.model_output": "It says hello."}, name="claude_code.llm_request", parent=1
        ),
    ]
    found = only(*spans)
    assert talk(found)[-4:] == ["user: Read it", "assistant: -> Read(file_path='a.txt')", "tool(t1): hello", "assistant: It says hello."]
    assert found.system == "Be kind."


def test_a_failed_execution_marks_the_tool() -> None:
    """`success` false on claude_code.tool.execution is the tool's failure, its `error` the result."""
    step = step_of(
        span(
            2, {"span.type": "tool.execution", "tool_use_id": "t1", "success": False, "error": "denied"}, name="claude_code.tool.execution"
        )
    )
    result = step.content.tool_result
    assert step.kind is StepKind.TOOL
    assert step.is_error
    assert result is not None
    assert (result.content, result.is_error) == ("denied", True)


def test_builtin_tools_tell_their_output_in_an_event() -> None:
    """OTEL_LOG_TOOL_CONTENT puts outputs of built-in tools into the span event `tool.output`."""
    output = event("tool.output", 2, bash_command="ls", output="a.txt")
    step = step_of(span(2, {"span.type": "tool", "tool_name": "Bash", "tool_use_id": "t1"}, name="claude_code.tool", events=[output]))
    assert step.content.tool_result is not None
    assert step.content.tool_result.content == "a.txt"


def test_a_redacted_prompt_is_missing_content() -> None:
    """Without OTEL_LOG_USER_PROMPTS the prompt is `<REDACTED>`: a gap, no user's word."""
    step = step_of(span(1, {"span.type": "interaction", "user_prompt": "<REDACTED>"}, name="claude_code.interaction"))
    assert step.content.input is None
    assert reasons(step.content.gaps) == {GapReason.REDACTED}


def test_model_calls_keep_their_tokens_and_times() -> None:
    """An api_request begins its duration before the event and carries its tokens as texts."""
    call = next(s for s in spans_from_session_logs(turn()) if s.name == "claude_code.api_request")
    step = step_of(call)
    assert (step.kind, step.usage.input_tokens, step.usage.output_tokens) == (StepKind.INFERENCE, 101, 20)
    assert (step.start_ns, step.end_ns) == (moment(1.5), moment(2))
