"""Sessions of coding agents that are told by log records without spans: joined, complete after silence, the same as `convert` gives."""

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from otel_eval.model import LogRecord, Span
from otel_eval.service.serve.judgement import content_hash
from tests.fakes.bench import Bench
from tests.fakes.spans import converted, log, moment, says, span, to_json, user

CLAUDE = {"session.id": "session-1", "prompt.id": "p1", "terminal.type": "xterm"}
CODEX = {"conversation.id": "01a229ec-27e8-7611-be0a-4cf6460b9a81", "app.version": "0.171.0", "model": "gpt-5"}
GEMINI = {"session.id": "a045ffbb-15e4-4267-8c53-06e5b81f0afe", "prompt_id": "a045ffbb-15e4-4267-8c53-06e5b81f0afe"}
DETAILS = "gen_ai.client.inference.operation.details"


def loose(second: float, name: str, known: dict[str, Any], **attributes: Any) -> LogRecord:
    """A session event without ids, its name in the attribute `event.name`."""
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    return LogRecord(time_ns=moment(second), attributes={**known, "event.name": name, **named})


def claude(second: float, kind: str, **attributes: Any) -> LogRecord:
    """Claude Code writes the full name into the body."""
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    return LogRecord(time_ns=moment(second), body=f"claude_code.{kind}", attributes={**CLAUDE, "event.name": kind, **named})


def gemini_request(second: float, text: str) -> LogRecord:
    asked = to_json([{"role": "user", "parts": [{"text": text}]}])
    return log(1, "", at=second, attributes={**GEMINI, "event.name": "gemini_cli.api_request", "request_text": asked})


def gemini_answer(second: float, text: str) -> LogRecord:
    told = to_json([{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}])
    return loose(second, "gemini_cli.api_response", GEMINI, response_text=told, input_token_count=3, duration_ms=400)


RUN = {"call_id": "c1", "tool_name": "get_weather", "arguments": '{"city": "Lisbon"}', "duration_ms": "5"}
DETAILS_TOLD = {"gen_ai.input.messages": to_json([user("Hi")]), "gen_ai.output.messages": to_json([says("Hello")])}

SESSIONS: dict[str, list[Span | LogRecord]] = {
    "claude_code": [
        claude(1, "user_prompt", prompt="Weather?"),
        claude(2, "api_request", duration_ms="79", model="m"),
        claude(3, "tool_result", tool_name="get_weather", success="true", tool_input='{"city": "Lisbon"}', tool_use_id="t1"),
        claude(4, "assistant_response", response="Sunny."),
    ],
    "codex": [
        loose(1, "codex.user_prompt", CODEX, prompt="Weather?"),
        loose(2, "codex.api_request", CODEX, duration_ms="79"),
        loose(2.2, "codex.sse_event", CODEX, event__kind="response.completed", input_token_count=10, output_token_count=2),
        loose(3, "codex.tool_result", CODEX, success="true", output="sunny", **RUN),
        loose(4, "codex.api_request", CODEX, duration_ms="79"),
    ],
    "codex without record times": [
        LogRecord(attributes={**CODEX, "event.name": f"codex.{kind}", "event.timestamp": f"2026-11-30T00:48:4{n}.818Z", **more})
        for n, (kind, more) in enumerate([("user_prompt", {"prompt": "Hi"}), ("api_request", {}), ("tool_result", RUN)])
    ],
    "gemini, records without ids": [
        loose(1, "gemini_cli.user_prompt", GEMINI, prompt="Hi"),
        gemini_answer(2, "Hello"),
        LogRecord(time_ns=moment(2), attributes={**GEMINI, "event.name": DETAILS, **DETAILS_TOLD}),
    ],
    "gemini, requests with ids": [
        gemini_request(1, "Hi"),
        gemini_answer(2, "Hello"),
    ],
    "gemini, requests on spans": [
        span(1, {"gen_ai.operation.name": "llm_call", "gen_ai.conversation.id": GEMINI["session.id"]}, name="llm_call", end=2),
        gemini_request(1, "Hi"),
        gemini_answer(2, "Hello"),
    ],
    "qwen": [
        loose(1, "qwen-code.user_prompt", {"session.id": "q1", "prompt_id": "q1########1"}, prompt="Hi"),
        loose(2, "qwen-code.api_response", {"session.id": "q1", "prompt_id": "q1########1"}, response_text="[]"),
    ],
}


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_session_is_what_convert_reads(bench: Callable[..., Bench], name: str, seed: int) -> None:
    """However its records come, one by one and in any order, the session is one conversation, scored, with the content of the whole."""
    items = SESSIONS[name]
    (expected,) = converted(*items)

    async def told() -> None:
        b, luck = bench(completion__max_revisions=9), random.Random(seed)
        for item in luck.sample(items, len(items)):
            await (b.send(item) if isinstance(item, Span) else b.send_logs(item))
            await b.after(luck.choice([0, 1, 15]))
        await b.after(70)
        await b.after(200)
        assert b.outcome_name("conversation", expected.key) == "scored"
        assert b.facts("conversation", expected.key)["hash"] == content_hash(expected)
        assert b.store.progress.next_due_s() is None

    asyncio.run(told())
