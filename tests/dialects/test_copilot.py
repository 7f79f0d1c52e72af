"""GitHub Copilot. **Source**: Copilot CLI 1.0.102 (as captured), microsoft/vscode-copilot-chat of March 2026."""

from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import call, chat, line, only, result, says, span, step_of, talk, to_json, user

EDITOR = "<context>\nThe current date is today.\n</context>\n<reminderInstructions>\nBe kind.\n</reminderInstructions>\n"


def asked(text: str, **more: Any) -> dict[str, Any]:
    """A model call of Copilot Chat."""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": "request-1",
        "copilot_chat.session_id": "session-1",
        "gen_ai.input.messages": to_json([user(text)]),
        "gen_ai.output.messages": to_json([says("Sun.")]),
        **more,
    }


TEXTS = [
    f"{EDITOR}<userRequest>\nWeather?\n</userRequest>\n",
    f"{EDITOR}<user_query>\nWeather?\n</user_query>",
    "<current_datetime>2026-11-30T02:11:33.425+00:00</current_datetime>\n\nWeather?",
    "Weather?",
]


@pytest.mark.parametrize("text", TEXTS)
def test_only_the_users_words(text: str) -> None:
    """What the editor and the command line put around the question is no word of the user."""
    assert talk(only(span(1, asked(text)))) == ["user: Weather?", "assistant: Sun."]


@pytest.mark.parametrize("text", [EDITOR, "Is a < b?", "<userRequest></userRequest>", "Say <current_datetime>x</current_datetime>"])
def test_other_texts_stay(text: str) -> None:
    """Context without a question, and anything else with a tag."""
    assert [line(m) for m in step_of(span(1, asked(text))).content.input or ()] == [f"user: {text}"]


def test_the_chats_ids_come_before_the_requests() -> None:
    """VS Code writes one request's id as the conventions' conversation id."""
    step = step_of(span(1, asked("Hi", **{"copilot_chat.chat_session_id": "chat-1"})))
    assert [v for _, v in step.conversation_ids] == ["chat-1", "session-1", "request-1"]


@pytest.mark.parametrize("more", [{"copilot_chat.debug_log_label": "title"}, {"gen_ai.agent.name": "retry-progressMessages"}])
def test_asides_are_no_talk(more: dict[str, Any]) -> None:
    """Titles and progress lines are asked apart."""
    step = step_of(span(1, asked("Name this chat", **more)))
    assert (step.kind, step.content.output) == (StepKind.WRAPPER, None)


def test_a_turn_of_the_command_line() -> None:
    """Each model call is told only what is new; tools stand beside."""
    ids = {"gen_ai.conversation.id": "c1", "github.copilot.turn_id": "0"}
    found = only(
        span(1, {"gen_ai.operation.name": "invoke_agent", "github.copilot.agent.type": "builtin", **ids}, name="invoke_agent", end=9),
        chat(2, [user("Weather?")], says(None, call("weather", {"city": "Lisbon"}, "c1")), ids, parent=1),
        chat(4, [result("sunny", "c1")], says("Sun."), ids, parent=1),
    )
    assert talk(found) == ["user: Weather?", "assistant: -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sun."]


def test_a_turn_of_the_editor() -> None:
    """The run has the session's id, its model calls the request's: one conversation."""
    run = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "copilot", "gen_ai.conversation.id": "session-1"}
    found = only(
        span(1, {**run, "copilot_chat.session_id": "session-1"}, name="invoke_agent copilot", end=9),
        span(2, asked("Weather?"), parent=1),
        span(3, asked("Weather?", **{"gen_ai.conversation.id": "request-2"}), parent=1),
    )
    assert (found.id, talk(found)) == ("session-1", ["user: Weather?", "assistant: Sun."])
