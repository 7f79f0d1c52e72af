"""Codex CLI and Gemini CLI. **Source**: @openai/codex 0.171.0 and @google/gemini-cli, as captured."""

from typing import Any

from otel_eval.dialects.session_logs import spans_from_session_logs
from otel_eval.model import GapReason, LogRecord, StepKind
from tests.fakes.spans import converted, log, moment, only, reasons, span, step_of, talk, to_json

CODEX = {"conversation.id": "01a229ec-27e8-7611-be0a-4cf6460b9a81", "app.version": "0.171.0", "model": "gpt-5"}
GEMINI = {"session.id": "a045ffbb-15e4-4267-8c53-06e5b81f0afe", "prompt_id": "a045ffbb-15e4-4267-8c53-06e5b81f0afe"}
AGENT = {"gen_ai.agent.name": "gemini-cli", "gen_ai.conversation.id": GEMINI["session.id"]}


def loose(second: float, name: str, known: dict[str, Any], **attributes: Any) -> LogRecord:
    """A session event without ids."""
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    return LogRecord(time_ns=moment(second), attributes={**known, "event.name": name, **named})


def codex_turn() -> list[LogRecord]:
    run = {
        "call_id": "c1",
        "tool_name": "get_weather",
        "tool_namespace": "mcp__desk",
        "arguments": '{"city": "Lisbon"}',
        "duration_ms": "5",
    }
    return [
        loose(1, "codex.user_prompt", CODEX, prompt="Weather?"),
        loose(2, "codex.api_request", CODEX, duration_ms="79"),
        loose(2.1, "codex.sse_event", CODEX, event__kind="response.output_text.delta"),
        loose(2.2, "codex.sse_event", CODEX, event__kind="response.completed", input_token_count=10, output_token_count=2),
        loose(3, "codex.tool_result", CODEX, success="true", output="Wall time: 0.1 seconds\nOutput:\nsunny", **run),
        loose(4, "codex.api_request", CODEX, duration_ms="79"),
    ]


def test_codex_tells_prompts_and_tool_runs() -> None:
    """Prompts, calls, arguments and outputs stand in events; answers are nowhere, which shows as an answer without words and a gap."""
    found = only(*spans_from_session_logs(codex_turn()))
    assert found.id == CODEX["conversation.id"]
    assert talk(found) == [
        "user: Weather?",
        "assistant: -> mcp__desk__get_weather(city='Lisbon')",
        "tool(c1): Wall time: 0.1 seconds\nOutput:\nsunny",
        "assistant: …",
    ]
    assert GapReason.CONTENT_NOT_CAPTURED in reasons(found.gaps)
    assert (found.model_calls, found.usage.input_tokens) == (2, 10)


def test_codex_records_with_ids_stand_on_their_own_spans() -> None:
    """With a trace exporter each event carries the ids of the client's span; the name stands only in the attribute."""
    record = log(
        7,
        "event otel/src/tool_result.rs:54",
        attributes={**CODEX, "event.name": "codex.tool_result", "tool_name": "shell", "success": "false"},
    )
    step = step_of(span(7, {"code.file.path": "x.rs"}, name="dispatch_tool_call_with_state"), record)
    assert (step.kind, step.tool_name, step.is_error) == (StepKind.TOOL, "shell", True)
    assert step.conversation_ids == (("conversation.id", CODEX["conversation.id"]),)
    assert spans_from_session_logs([record]) == []


def test_codex_moments_stand_in_an_attribute() -> None:
    """Codex leaves the record's time at zero: `event.timestamp` is the moment."""
    record = LogRecord(
        attributes={**CODEX, "event.name": "codex.user_prompt", "prompt": "Hi", "event.timestamp": "2026-11-30T00:48:46.818Z"}
    )
    assert spans_from_session_logs([record])[0].start_ns == 1795999726818000000


def test_gemini_spans_hold_request_and_answer() -> None:
    """telemetry.traces: `llm_call` with Gemini contents, `tool_call` with the scheduler's objects; each call is a trace of its own."""
    call = {"functionCall": {"id": "c1", "name": "weather", "args": {"city": "Lisbon"}}}
    given = [{"role": "user", "parts": [{"text": "<session_context>\nToday is Monday</session_context>"}, {"text": "Weather?"}]}]
    answer = {"functionResponse": {"id": "c1", "name": "weather", "response": {"error": "no data"}}}
    request = {"callId": "c1", "name": "weather", "args": {"city": "Lisbon"}}
    spans = [
        span(
            1,
            {
                **AGENT,
                "gen_ai.operation.name": "llm_call",
                "gen_ai.system_instructions": '"Be brief."',
                "gen_ai.input.messages": to_json(given),
                "gen_ai.output.messages": to_json([{"role": "model", "parts": [call]}]),
                "gen_ai.agent.description": "CLI",
            },
            name="llm_call",
            trace=1,
        ),
        span(
            2,
            {
                **AGENT,
                "gen_ai.operation.name": "tool_call",
                "gen_ai.tool.name": "weather",
                "gen_ai.tool.call_id": "c1",
                "gen_ai.input.messages": to_json(request),
                "gen_ai.output.messages": to_json({"status": "error", "request": request, "response": {"responseParts": [answer]}}),
            },
            name="tool_call",
            trace=2,
        ),
    ]
    found = only(*spans)
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", 'tool(c1) !: {"error": "no data"}']
    assert (found.system, found.id) == ("Be brief.", GEMINI["session.id"])


def test_gemini_answers_without_ids_join_their_requests() -> None:
    """Without telemetry.traces the response's record has no ids: it becomes a span below its request's, one model call with it."""
    request = log(
        1,
        "",
        attributes={
            **GEMINI,
            "event.name": "gemini_cli.api_request",
            "request_text": to_json([{"role": "user", "parts": [{"text": "Hi"}]}]),
        },
    )
    chunks = [{"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello"}]}}]}]
    response = loose(2, "gemini_cli.api_response", GEMINI, response_text=to_json(chunks), input_token_count=3, duration_ms=400)
    model_call = span(1, {**AGENT, "gen_ai.operation.name": "llm_call"}, name="llm_call", end=2)
    made = spans_from_session_logs([request, response], [model_call])
    found = only(model_call, request, *made)
    assert [s.parent_span_id for s in made] == [model_call.span_id]
    assert (talk(found), found.model_calls) == (["user: Hi", "assistant: Hello"], 1)


def test_gemini_details_call_an_answer_system() -> None:
    """The details record of an answer says role `system`: it is the assistant's."""
    details = {
        "gen_ai.input.messages": to_json([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]),
        "gen_ai.output.messages": to_json([{"role": "system", "finish_reason": "stop", "parts": [{"type": "text", "content": "Hello"}]}]),
        "gen_ai.response.id": "resp-1",
    }
    logs = [
        loose(1, "gemini_cli.user_prompt", GEMINI, prompt="Hi"),
        loose(2, "gemini_cli.api_response", GEMINI, duration_ms=400, response_text="[]"),
        LogRecord(time_ns=moment(2), attributes={**GEMINI, "event.name": "gen_ai.client.inference.operation.details", **details}),
    ]
    found = only(*spans_from_session_logs(logs))
    assert (talk(found), found.response_id) == (["user: Hi", "assistant: Hello"], "resp-1")


def test_a_session_told_by_spans_is_not_told_twice() -> None:
    """Where spans hold the answers of a session, its loose records add nothing."""
    told = span(1, {**AGENT, "gen_ai.operation.name": "llm_call", "gen_ai.output.messages": "[]"})
    assert spans_from_session_logs([loose(1, "gemini_cli.user_prompt", GEMINI, prompt="Hi")], [told]) == []


def test_a_scheduler_span_of_one_tool_run_says_whether_it_failed() -> None:
    """gemini_cli.tool_call stands on `schedule_tool_calls`, whose one tool span lies below it."""
    failed = {"function_name": "weather", "function_args": '{"city": "Lisbon"}', "success": False, "error": "no data"}
    record = log(1, "", attributes={**GEMINI, "event.name": "gemini_cli.tool_call", **failed})
    outer = span(1, {**AGENT, "gen_ai.operation.name": "schedule_tool_calls"}, name="schedule_tool_calls", end=3)
    inner = span(2, {**AGENT, "gen_ai.operation.name": "tool_call", "gen_ai.tool.name": "weather", "gen_ai.tool.call_id": "c1"}, parent=1)
    step = step_of(outer, record)
    assert (step.kind, step.is_error) == (StepKind.TOOL, True)
    assert len(converted(outer, inner, record)[0].tool_runs) <= 1


def test_qwen_code_is_read_as_gemini() -> None:
    """QwenLM/qwen-code writes the same events under its own prefix."""
    known = {"session.id": "q1", "prompt_id": "q1########1"}
    logs = [
        loose(1, "qwen-code.user_prompt", known, prompt="Hi"),
        loose(
            2,
            "qwen-code.api_response",
            known,
            response_text=to_json([{"candidates": [{"content": {"role": "model", "parts": [{"text": "Yo"}]}}]}]),
        ),
    ]
    assert talk(only(*spans_from_session_logs(logs))) == ["user: Hi", "assistant: Yo"]
