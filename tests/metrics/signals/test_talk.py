"""Signals of the talk, in several languages."""

import pytest

from otel_eval.model import Conversation, Gap, GapReason, Message, Score, Skipped, SkipReason
from tests.fakes.conversations import calls, conversation, outcome_of, result, says, user, value_of

HIDDEN = (Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="gen_ai.output.messages"),)


def reason(metric: str, talk: Conversation) -> SkipReason:
    outcome = outcome_of(metric, talk)
    assert isinstance(outcome, Skipped), outcome
    return outcome.reason


def test_unanswered_turn() -> None:
    """A conversation that ends with the user, a tool call or a result is unanswered; one that ends in words is not."""
    assert value_of("unanswered_turn", conversation(user("Hi"), says("Hello"))) == 0.0
    assert value_of("unanswered_turn", conversation(user("Hi"), says("Hello"), user("And?"))) == 1.0
    assert value_of("unanswered_turn", conversation(user("Hi"), says("Let me see"), calls(("f", {})))) == 1.0
    assert value_of("unanswered_turn", conversation(user("Hi"), calls(("f", {})), result("ok"))) == 1.0


def test_unanswered_turn_is_not_guessed() -> None:
    """Where the agent's words were not recorded, or the user said nothing, nobody can tell."""
    assert reason("unanswered_turn", conversation(user("Hi"), Message(role="assistant"), gaps=HIDDEN)) is SkipReason.CONTENT_NOT_CAPTURED
    assert reason("unanswered_turn", conversation(says("Welcome"))) is SkipReason.UNDEFINED


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ("cancel my order 5", "Cancel my order 5!", 1.0),
        ("주문 5번 취소해 주세요", "주문 5번을 취소해 주세요", 1.0),
        ("请帮我取消订单五号", "请帮我取消订单五号！", 1.0),
        ("注文をキャンセルしてください", "注文をキャンセルしてください。", 1.0),
        ("cancel my order 5", "book a table for eight", 0.0),
        ("yes", "yes", 0.0),
        ("네", "네", 0.0),
    ],
)
def test_user_repetition(first: str, second: str, value: float) -> None:
    """Nearly the same words count in any script; short words of assent do not."""
    assert value_of("user_repetition", conversation(user(first), says("ok"), user(second), says("ok"))) == value


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I am unable to refund this fare.",
        "죄송합니다. 이 항공권은 환불해 드릴 수 없습니다.",
        "申し訳ございませんが、この運賃は返金できません。",
        "很抱歉，这张机票无法退款。",
        "Lo siento, no puedo reembolsar este billete.",
        "Leider kann ich dieses Ticket nicht erstatten.",
        "Je suis désolé, je ne peux pas rembourser ce billet.",
    ],
)
def test_refusal_in_seven_languages(text: str) -> None:
    """A refusal is seen in each language we know, with the message as evidence."""
    outcome = outcome_of("refusal", conversation(user("?"), says(text)))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.evidence) == (1.0, "yes", (1,))


@pytest.mark.parametrize("text", ["Your table is booked for eight.", "예약이 완료되었습니다.", "您的订单已经发送。"])
def test_an_answer_is_no_refusal(text: str) -> None:
    """What was done is not refused."""
    assert value_of("refusal", conversation(user("?"), says(text))) == 0.0


def test_refusal_is_not_guessed() -> None:
    """A language without phrases, a silent agent and hidden words have no value."""
    assert reason("refusal", conversation(user("?"), says("Я не могу вернуть деньги за этот билет."))) is SkipReason.UNDEFINED
    assert reason("refusal", conversation(user("?"))) is SkipReason.UNDEFINED
    assert reason("refusal", conversation(user("?"), Message(role="assistant"), gaps=HIDDEN)) is SkipReason.CONTENT_NOT_CAPTURED
