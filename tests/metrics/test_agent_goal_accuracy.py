"""Goal accuracy without reference: the table of requests, both strategies, what needs no judge, any language."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import JudgeError
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.model import (
    Conversation,
    Failed,
    FailReason,
    Gap,
    GapReason,
    Message,
    Outcome,
    Score,
    Skipped,
    SkipReason,
)
from otel_eval.testing import ScriptedJudge
from tests.fakes.cases import conversation_of
from tests.fakes.talk import REACHED, agent, booking, call, tool, user


def talk(*messages: Message, **more: Any) -> Conversation:
    return Conversation(id="c", messages=messages, **more)


TWO = talk(
    user("Cancel order 7."),
    agent("", call("cancel", order=7)),
    tool('{"ok": true}'),
    agent("Done."),
    user("And refund it."),
    agent("Refunded!"),
)


def row(request: str, status: str, **more: Any) -> dict[str, Any]:
    return {"request": request, "status": status, "reason": f"{request} {status}", **more}


def scored(conversation: Conversation, judge: ScriptedJudge, **given: Any) -> Outcome:
    return asyncio.run(
        builtin_metric("agent_goal_accuracy").score(MetricInput(conversation=conversation, judge=judge, secret=b"k", **given))
    )


def judged(*rows: Mapping[str, Any], conversation: Conversation = TWO, **parameters: Any) -> Outcome:
    judge = ScriptedJudge(answers={"goal_accuracy": {"requests": list(rows)}})
    return scored(conversation, judge, parameters=parameters)


def test_all_goals_reached() -> None:
    """Every request reached: 1, pass, with the evidence of all."""
    outcome = judged(row("r1", "reached", evidence=[2]), row("r2", "reached", evidence=[5]))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.evidence, outcome.details["share"]) == (1.0, "pass", (2, 5), 1.0)


def test_one_goal_missed_is_a_failure_with_its_share() -> None:
    """One of two only claimed: 0; the share is in the details, reason and evidence are the failing request's."""
    outcome = judged(row("r1", "reached", evidence=[2]), row("r2", "not_reached", evidence=[5]))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.details["share"]) == (0.0, "fail", 0.5)
    assert (outcome.explanation, outcome.evidence) == ("r2 not_reached", (5,))


def test_partly_is_not_reached() -> None:
    """A goal reached in part is not reached."""
    outcome = judged(row("r1", "partly"), row("r2", "reached"))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0


def test_repeated_dropped_and_empty_requests_are_not_counted() -> None:
    """A repetition belongs to its first request, whatever the judge says of it; a dropped one and a greeting are no goals."""
    conversation = talk(
        user("Hi"), agent("Hello"), user("Order tea"), agent("?"), user("Green tea"), agent("Ok"), user("No, forget coffee"), agent("Ok")
    )
    rows = (row("r1", "no_request"), row("r2", "reached"), row("r3", "not_reached", same_as="r2"), row("r4", "dropped"))
    outcome = judged(*rows, conversation=conversation)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.details["reached"], outcome.details["missed"]) == (1.0, 1, 0)


@pytest.mark.parametrize("pointers", [("r1", "r2"), ("r2", "r1"), ("", "r2")])
def test_pointers_in_circles_do_no_harm(pointers: tuple[str, str]) -> None:
    """A request that points at itself or forwards stands for itself: none can vanish that way."""
    outcome = judged(
        row("r1", "reached", same_as=pointers[0]), row("r2", "not_reached", same_as=pointers[1] if pointers[1] != "r1" else "r2")
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 0.0


@pytest.mark.parametrize(
    ("blocked", "expected"),
    [("left_out", 1.0), ("pass", 1.0), ("fail", 0.0)],
)
def test_a_request_that_is_rightly_declined(blocked: str, expected: float) -> None:
    """Declined by the recorded rules: no failure by default; the operator may count it either way."""
    outcome = judged(row("r1", "reached"), row("r2", "blocked"), blocked=blocked)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.details["blocked"]) == (expected, 1)


def test_only_declined_requests_are_undefined() -> None:
    """Nothing else was asked: there is nothing that could be reached."""
    outcome = judged(row("r1", "blocked"), row("r2", "no_request"))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNDEFINED


def test_a_doubt_is_never_a_zero() -> None:
    """One request that cannot be told and none failed: no value. With a failure beside it the verdict stands."""
    doubt = judged(row("r1", "reached"), row("r2", "cannot_tell"))
    assert isinstance(doubt, Failed)
    assert doubt.error_type is FailReason.CANNOT_TELL
    sure = judged(row("r1", "not_reached"), row("r2", "cannot_tell"))
    assert isinstance(sure, Score)
    assert sure.value == 0.0


def test_the_question_lists_our_requests() -> None:
    """The judge judges the requests that we number; it cannot invent the list that is counted."""
    judge = ScriptedJudge(answers={"goal_accuracy": {"requests": [row("r1", "reached"), row("r2", "reached")]}})
    scored(TWO, judge)
    (question,) = judge.asked
    assert "r1 = 0, r2 = 4" in question.ask
    assert question.prompt == "goal_accuracy.v1"
    assert question.record.index("[2] TOOL RESULT cancel") < len(question.record)
    assert question.record not in question.ask


@pytest.mark.parametrize(
    ("conversation", "reason"),
    [
        (talk(), SkipReason.NOTHING_TO_JUDGE),
        (talk(user("Hello?")), SkipReason.NOTHING_TO_JUDGE),
        (talk(agent("Welcome!")), SkipReason.NOTHING_TO_JUDGE),
        (talk(user("\u200b"), agent("Yes?")), SkipReason.NOTHING_TO_JUDGE),
        (talk(*booking().messages, gaps=(Gap(reason=GapReason.TRUNCATED, where="input.value"),)), SkipReason.TRUNCATED),
        (talk(*booking().messages, gaps=(Gap(reason=GapReason.REDACTED, where="x"),)), SkipReason.CONTENT_NOT_CAPTURED),
        (talk(*booking().messages, gaps=(Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="x"),)), SkipReason.CONTENT_NOT_CAPTURED),
    ],
)
def test_what_is_not_whole_is_not_judged(conversation: Conversation, reason: SkipReason) -> None:
    """Nothing said, cut or not captured: skipped with the reason, and the judge is not asked."""
    judge = ScriptedJudge(answers={})
    outcome = scored(conversation, judge)
    assert isinstance(outcome, Skipped)
    assert outcome.reason is reason
    assert not judge.asked


@pytest.mark.parametrize("answer", [":", "…", "```", "— — —", "\u200b.\u200b", "👍"])
def test_an_answer_without_content_is_a_failure_without_a_call(answer: str) -> None:
    """No letter and no digit, and no call went through: 0, decided before the judge."""
    judge = ScriptedJudge(answers={})
    outcome = scored(talk(user("How many days are left?"), agent("", call("get")), tool('{"error": "denied"}'), agent(answer)), judge)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.details["reason"], outcome.evidence) == (0.0, "contentless_answer", (3,))
    assert not judge.asked


@pytest.mark.parametrize(
    "messages",
    [
        (user("Turn on the light"), agent("", call("light")), tool('{"ok": true}'), agent(".")),
        (user("Turn on the light"), agent("It is on."), user("Thanks"), agent("👍")),
        (user("네?"), agent("네")),
        (user("How many?"), agent("7")),
    ],
)
def test_short_is_not_contentless(messages: tuple[Message, ...]) -> None:
    """A mark after a call that went through, an emoji after a real answer, one syllable, one digit: the judge decides."""
    judge = ScriptedJudge(answers={"goal_accuracy": JudgeError("judge_refused", "asked")})
    with pytest.raises(JudgeError):
        scored(talk(*messages), judge)
    assert len(judge.asked) == 1


def test_stepwise_infers_and_compares_with_the_record() -> None:
    """Two questions; the second sees the record too, so that a claim the tools contradict cannot survive."""
    answers: dict[str, Any] = {
        "infer_goal": {"user_goal": "Two seats tonight.", "end_state": "Booked."},
        "compare": {"verdict": "yes", "reason": "NF-2071", "evidence": [2]},
    }
    judge = ScriptedJudge(answers=answers)
    outcome = scored(booking(), judge, parameters={"strategy": "stepwise"})
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.evidence, outcome.details["user_goal"]) == (1.0, (2,), "Two seats tonight.")
    assert outcome.judge is not None
    assert outcome.judge.calls == 2
    assert judge.asked[1].record == judge.asked[0].record
    assert "| Two seats tonight." in judge.asked[1].ask


def test_stepwise_without_a_goal_is_undefined() -> None:
    """The user asked for nothing: no second question."""
    judge = ScriptedJudge(answers={"infer_goal": {"user_goal": "", "end_state": "Greetings."}})
    assert isinstance(scored(booking(), judge, parameters={"strategy": "stepwise"}), Skipped)


def test_a_window_that_is_too_small_is_learnt() -> None:
    """The endpoint says how much it takes: the record is rendered again to fit, once, and the score says that something is missing."""
    sizes: list[int] = []

    def answer(question: Any) -> Any:
        sizes.append(question.estimated_tokens)
        if len(sizes) == 1:
            return JudgeError("conversation_too_long", "too long", limit_tokens=5000)
        return REACHED

    conversation = talk(
        user("Summarise"), agent("", call("read")), tool("\n".join(f"line {n} of text" for n in range(2000))), agent("Here is the summary.")
    )
    outcome = scored(conversation, ScriptedJudge(answers={"goal_accuracy": answer}))
    assert isinstance(outcome, Score)
    assert len(sizes) == 2
    assert sizes[1] < 5000
    assert outcome.details["truncated"] is True


def test_a_conversation_that_cannot_be_shortened_enough() -> None:
    """Too long even so: `conversation_too_long`, never a verdict on a piece."""
    outcome = scored(talk(user("x " * 9000), agent("y")), ScriptedJudge(answers={}), record_tokens=100)
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.CONVERSATION_TOO_LONG


@pytest.mark.parametrize(
    ("asked", "said", "goal", "reason"),
    [
        ("오늘 저녁 8시에 2명 예약해 주세요.", "저녁 8시 2명으로 예약했어요.", "저녁 8시 2명 예약", "도구가 예약을 확인했다"),
        ("请帮我预订今晚八点两个人的座位。", "已预订今晚八点,两位。", "预订今晚八点", "工具确认了预订"),
    ],
)
def test_korean_and_chinese(asked: str, said: str, goal: str, reason: str) -> None:
    """Requests, results and reasons in any language go in and come out whole."""
    judge = ScriptedJudge(answers={"goal_accuracy": {"requests": [row("r1", "reached", goal=goal, evidence=[2]) | {"reason": reason}]}})
    outcome = scored(talk(user(asked), agent("", call("예약", 시간="20:00")), tool("예약 완료"), agent(said)), judge)
    assert isinstance(outcome, Score)
    assert outcome.explanation == reason
    assert outcome.details["requests"][0]["goal"] == goal
    assert f"| {asked}" in judge.asked[0].record
    assert "AGENT CALLS 예약" in judge.asked[0].record


def documented() -> Conversation:
    """The conversation of ragas' documentation on goal accuracy without reference: a table for 8 pm at a Chinese restaurant."""
    lines = (Path(__file__).parents[1] / "data" / "cases" / "ragas-parity.jsonl").read_text(encoding="utf-8").splitlines()
    return conversation_of(next(case for case in map(json.loads, lines) if case["id"] == "gn-seed"))


def test_ragas_documented_example() -> None:
    """One question: the table was asked for, chosen and booked, the thanks at the end ask for nothing: 1, resting on the tool's word."""
    conversation = documented()
    booked = max(i for i, m in enumerate(conversation.messages) if m.role == "tool")
    rows = [row("r1", "reached", evidence=[booked]), row("r2", "reached", same_as="r1"), row("r3", "no_request")]
    judge = ScriptedJudge(answers={"goal_accuracy": {"requests": rows}})
    outcome = scored(conversation, judge)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.evidence) == (1.0, "pass", (booked,))
    assert len(judge.asked) == 1


def test_ragas_documented_example_the_way_of_ragas() -> None:
    """With `compat` the two questions of ragas: the inferred goal held against the inferred end state."""
    inferred = {"user_goal": "Book a table", "end_state": "A table is booked."}
    judge = ScriptedJudge(answers={"infer_goal": inferred, "compare": {"verdict": "1", "reason": "same"}})
    outcome = scored(documented(), judge, compat="ragas")
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert [q.name for q in judge.asked] == ["infer_goal", "compare"]
