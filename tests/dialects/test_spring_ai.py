"""Spring AI. **Source**: spring-ai 1.1.2 with Spring Boot 3.5.7 and the OpenTelemetry logback appender 2.15, as captured."""

from typing import Any

from otel_eval.model import LogRecord, StepKind
from tests.fakes.spans import log, only, span, step_of, talk

CLIENT = {"spring.ai.kind": "chat_client", "gen_ai.system": "spring_ai", "gen_ai.operation.name": "framework"}
MODEL = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.system": "openai"}
TOOL = {
    "spring.ai.kind": "tool_call",
    "spring.ai.tool.definition.name": "weather",
    "spring.ai.tool.call.arguments": '{"city": "Lisbon"}',
    "spring.ai.tool.call.result": '"sunny"',
}


def logged(number: int, text: str) -> LogRecord:
    """What an appender makes of a line that Spring AI logs inside a span."""
    return log(number, "", text)


def test_the_log_tells_the_words() -> None:
    """Chat clients log by role, models without; a model that asked for tools logs an empty answer."""
    found = only(
        span(1, {**CLIENT, "spring.ai.chat.client.conversation.id": "c1"}, name="spring_ai chat_client", end=9),
        span(2, MODEL, name="chat m", parent=1),
        span(3, TOOL, name="tool_call weather", parent=1),
        span(4, MODEL, name="chat m", parent=1),
        logged(1, 'Chat Client Prompt Content:\n["system":"Be brief.", "user":"Say "hi", "yo": weather?"]'),
        logged(1, 'Chat Client Completion:\n["Sun."]'),
        logged(2, 'Chat Model Prompt Content:\n["Be brief.", "Weather?"]'),
        logged(2, "Chat Model Completion:\n[]"),
        logged(4, 'Chat Model Prompt Content:\n["Be brief.", "Weather?", "null", ""]'),
        logged(4, 'Chat Model Completion:\n["Sun."]'),
    )
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", "tool: sunny", "assistant: Sun."]
    assert (found.id, found.system) == ("c1", "Be brief.")


def test_words_by_role() -> None:
    """Nothing is escaped in the log, so quotes and commas of the text stay."""
    content = step_of(
        span(1, CLIENT), logged(1, 'Chat Client Prompt Content:\n["user":"Say "hi", "yo": weather?", "system":"Be brief."]')
    ).content
    assert ([m.text for m in content.input or ()], content.system) == (['Say "hi", "yo": weather?'], "Be brief.")


def test_without_the_log() -> None:
    """Kinds, ids and tool runs are there; the words are not."""
    assert step_of(span(1, CLIENT)).kind is StepKind.AGENT
    run: Any = step_of(span(1, TOOL, name="tool_call weather")).content
    assert (run.tool_call.arguments, run.tool_result.content) == ({"city": "Lisbon"}, "sunny")
    assert step_of(span(1, {"spring.ai.kind": "advisor"})).kind is StepKind.WRAPPER


def test_other_lines_of_the_log_say_nothing() -> None:
    """An application logs much inside a span."""
    for text in ("Chat Client Completion: done", "[Chat] Prompt Content:\n[]", "Starting"):
        step = step_of(span(1, MODEL), logged(1, text))
        assert (step.content.input, step.content.output) == (None, None)
