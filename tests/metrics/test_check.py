"""Checks: one named yes/no question on the answer alone."""

import asyncio
from typing import Any

import pytest

from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.check import Check
from otel_eval.model import Conversation, Failed, FailReason, Message, Outcome, Score, Skipped, SkipReason
from otel_eval.testing import ScriptedJudge
from tests.fakes.talk import agent, call, tool, user

TALK = (user("My secret plan: can I get a refund?"), agent("", call("refunds")), tool("14 days"), agent("You get it back within 14 days."))
YES = ScriptedJudge(answers={"yes_no": {"verdict": "yes", "reason": "It says 14 days."}})


def checked(judge: ScriptedJudge = YES, *messages: Message, conversation: dict[str, Any] | None = None, **parameters: Any) -> Outcome:
    given = MetricInput(
        conversation=Conversation(id="c", messages=messages or TALK, **(conversation or {})),
        judge=judge,
        parameters={"question": "Does the answer name a period?", **parameters},
        secret=b"k",
    )
    return asyncio.run(Check(name="period").score(given))


def test_the_judge_sees_the_answer_and_the_question_only() -> None:
    """The method of MultiChallenge: neither the user's words nor tool results are shown."""
    judge = ScriptedJudge(answers={"yes_no": {"verdict": "yes"}})
    outcome = checked(judge)
    assert isinstance(outcome, Score)
    (question,) = judge.asked
    assert "You get it back within 14 days." in question.record
    assert "secret plan" not in question.text
    assert "refunds" not in question.text
    assert "Does the answer name a period?" in question.ask
    assert outcome.evidence == (3,)


@pytest.mark.parametrize(("verdict", "expect", "value"), [("yes", "yes", 1.0), ("no", "yes", 0.0), ("yes", "no", 0.0), ("no", "no", 1.0)])
def test_the_expected_answer_passes(verdict: str, expect: str, value: float) -> None:
    """`expect` says which answer is the good one."""
    outcome = checked(ScriptedJudge(answers={"yes_no": {"verdict": verdict}}), expect=expect)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label) == (value, "pass" if value else "fail")


def test_cannot_tell_is_no_verdict() -> None:
    """A doubt has no value."""
    outcome = checked(ScriptedJudge(answers={"yes_no": {"verdict": "cannot_tell", "reason": "unclear"}}))
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.CANNOT_TELL


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ({"agent": "shop"}, True),
        ({"agent": "helper"}, True),
        ({"agent": "other"}, False),
        ({"tool_called": "refunds"}, True),
        ({"tool_called": "pay"}, False),
        ({"user_says": "REFUND"}, True),
        ({"user_says": "invoice"}, False),
        ({"attribute": {"tenant": "a"}}, True),
        ({"attribute": {"tenant": "b"}}, False),
        ({"agent": "shop", "tool_called": "pay"}, False),
    ],
)
def test_conditions(when: dict[str, Any], applies: bool) -> None:
    """A check is run only where all its conditions hold; else it is skipped, which lowers no rate."""
    facts = {"agent": "shop", "agents": ("shop", "helper"), "attributes": {"tenant": "a"}}
    outcome = checked(conversation=facts, when=when)
    assert isinstance(outcome, Score) is applies
    assert applies or (isinstance(outcome, Skipped) and outcome.reason is SkipReason.NEEDS_MISSING)


def test_an_unknown_condition_is_said() -> None:
    """A condition that does not exist is an error of configuration, not silently true."""
    outcome = checked(when={"agnet": "shop"})
    assert isinstance(outcome, Failed)
    assert "'agnet'" in outcome.detail


def test_no_answer_in_words_is_nothing_to_judge() -> None:
    """Calls alone are no answer."""
    outcome = checked(YES, user("Refund?"), agent("", call("refunds")), tool("ok"))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.NOTHING_TO_JUDGE


def test_an_answer_without_content_fails_without_a_call() -> None:
    """A colon passes no check, whatever a judge might say of it."""
    judge = ScriptedJudge(answers={})
    outcome = checked(judge, user("Refund?"), agent(":"), expect="no")
    assert isinstance(outcome, Score)
    assert (outcome.value, judge.asked) == (0.0, [])


def test_card_and_category() -> None:
    """The name stands in the metric's name; the category in the details, for rates by category."""
    assert Check(name="period").card.name == "check.period"
    outcome = checked(category="clarity")
    assert isinstance(outcome, Score)
    assert outcome.details["category"] == "clarity"


@pytest.mark.parametrize(("asked", "said"), [("환불되나요?", "14일 안에 환불됩니다."), ("可以退款吗?", "十四天内可以退款。")])
def test_korean_and_chinese(asked: str, said: str) -> None:
    """Answer and question in any language."""
    judge = ScriptedJudge(answers={"yes_no": {"verdict": "yes", "reason": "기간이 있다"}})
    outcome = checked(judge, user(asked), agent(said), question="답변에 기간이 있습니까? 回答中有期限吗?")
    assert isinstance(outcome, Score)
    assert f"| {said}" in judge.asked[0].record
    assert outcome.explanation == "기간이 있다"
