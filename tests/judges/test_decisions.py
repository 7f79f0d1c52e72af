"""Decision endpoints: both wires, words with probabilities, refusals one by one, and their place in a cascade."""

import asyncio
from typing import Any

import pytest

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Form, Judge, Question, Sentence, Sentences
from otel_eval.judges.base import Reply as Answer
from otel_eval.judges.cascade import CascadeJudge
from otel_eval.judges.decisions import DecisionsJudge
from otel_eval.judges.settings import JudgeSettings, Price
from otel_eval.metrics.agent_goal_accuracy import goal_form
from otel_eval.metrics.topic_adherence import topic_form
from tests.fakes.judge_server import JudgeServer, Reply
from tests.fakes.judges import Told, question, reply

USAGE = {"input_tokens": 500, "output_tokens": 0}


def choice(**probabilities: float) -> dict[str, Any]:
    rows = [{"value": value, "probability": p} for value, p in probabilities.items()]
    return {"type": "choice", "choice": max(probabilities, key=lambda v: probabilities[v]), "confidence": 0.9, "probabilities": rows}


def run(replies: list[Reply], asked: Question, **settings: Any) -> tuple[Answer | JudgeError, JudgeServer]:
    async def all_of_it() -> tuple[Answer | JudgeError, JudgeServer]:
        async with JudgeServer(replies) as server:
            judge = DecisionsJudge(JudgeSettings(model="d-1", base_url=server.url, **settings))
            try:
                return await judge.ask(asked), server
            except JudgeError as error:
                return error, server
            finally:
                await judge.close()

    return asyncio.run(all_of_it())


def test_a_verdict_with_its_probability() -> None:
    """One choice; the likeliest word is the answer, its probability the confidence; no reason is made up."""
    body = {"status": 200, "json": {"model": "d-1.1", "usage": USAGE, "answers": [choice(yes=0.8, no=0.15, cannot_tell=0.05)]}}
    found, server = run([body], question(), price=Price(input_usd=0.1, output_usd=0.0))
    assert isinstance(found, Answer)
    assert (found.answer["verdict"], found.answer["reason"], found.answer["certainty"]) == ("yes", "", "leaning")
    assert (found.confidence, found.confidence_source, found.use.model, found.use.input_tokens) == (0.8, "decision", "d-1.1", 500)
    assert found.use.cost_usd == pytest.approx(500 * 0.1 / 1e6)
    (request,) = server.requests
    assert request["input"] == "P\n\nRECORD n1 BEGINS\n\nIs it so?"
    assert [c["value"] for c in request["questions"][0]["choices"]] == ["yes", "no", "cannot_tell"]


def test_the_other_wire() -> None:
    """TypeSafe's: a state, questions and answers by name."""
    answers = {"verdict": {"type": "choice", "choice": "no", "probabilities": {"yes": 0.02, "no": 0.97, "cannot_tell": 0.01}}}
    found, server = run([{"status": 200, "json": {"answers": answers, "usage": USAGE}}], question(), wire="systemone")
    assert isinstance(found, Answer)
    assert (found.answer["verdict"], found.answer["certainty"]) == ("no", "clear")
    assert list(server.requests[0]["questions"]["verdict"]["criteria"]) == ["yes", "no", "cannot_tell"]


def test_two_decisions_a_request_in_one_call() -> None:
    """Topic adherence of two requests: domain, place in it and handling of each, in one call."""
    form = topic_form(("r1", "r2"), ("d1",), blocks=4)
    one = [choice(yes=0.95, no=0.05), choice(d1=0.9, none=0.1), choice(answered=0.99, refused=0.01)]
    two = [choice(no=0.97, yes=0.03), choice(none=1.0), choice(refused=0.92, answered=0.08)]
    asked = Question(name="topic_adherence", form=form, ask="?")
    found, server = run([{"status": 200, "json": {"answers": [*one, *two], "usage": USAGE}}], asked)
    assert isinstance(found, Answer)
    rows = found.answer["requests"]
    assert [(r["in_domain"], r["domain"], r["handling"]) for r in rows] == [("yes", "d1", "answered"), ("no", "", "refused")]
    assert found.confidence == 0.9
    assert [q["name"] for q in server.requests[0]["questions"]][:3] == ["r1_in_domain", "r1_domain", "r1_handling"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"status": 200, "json": {"answers": [{"type": "refusal", "name": None}], "usage": USAGE}}, "judge_refused"),
        ({"status": 200, "json": {"answers": [], "usage": USAGE}}, "reply_incomplete"),
        ({"status": 200, "json": {"answers": [choice(perhaps=1.0)], "usage": USAGE}}, "reply_schema"),
        ({"status": 200, "json": {"usage": USAGE}}, "judge_unavailable"),
        ({"status": 401, "json": {"error": {"code": "invalid_api_key"}}}, "judge_auth"),
        ({"status": 429, "json": {"error": {"code": "rate_limit_exceeded"}}}, "judge_rate_limited"),
        ({"status": 404, "json": {"error": {"message": "no such path"}}}, "judge_misconfigured"),
    ],
)
def test_each_way_to_fail_has_its_reason(body: Reply, reason: str) -> None:
    """The closed reasons are the same as everywhere."""
    found, _ = run([body], question())
    assert isinstance(found, JudgeError)
    assert found.reason == reason


@pytest.mark.parametrize("fields", [{"user_goal": Sentence()}, {"topics": Sentences()}])
def test_free_text_is_not_for_decisions(fields: dict[str, Any]) -> None:
    """A form that asks for words of the judge's own goes to another judge, without a call."""
    found, server = run([{"status": 200, "json": {}}], Question(name="x", form=Form(name="x", fields=fields)))
    assert isinstance(found, JudgeError)
    assert (found.reason, server.requests) == ("cannot_tell", [])


@pytest.mark.parametrize(("words", "stage"), [({"yes": 0.97, "no": 0.03}, 1), ({"no": 0.97, "yes": 0.03}, 2), ({"yes": 0.6, "no": 0.4}, 2)])
def test_in_a_cascade(words: dict[str, float], stage: int) -> None:
    """A sure yes is taken; a sure no goes on to the judge that can say why, and so does a doubt."""

    async def all_of_it() -> Answer:
        async with JudgeServer([{"status": 200, "json": {"answers": [choice(**words)], "usage": USAGE}}]) as server:
            first = DecisionsJudge(JudgeSettings(model="d", base_url=server.url))
            second: Judge = Told([reply("no")])
            try:
                return await CascadeJudge(first=first, second=second, audit=0.0).ask(question())
            finally:
                await first.close()

    found = asyncio.run(all_of_it())
    assert found.notes["stage"] == stage
    assert found.answer["reason"] == ("" if stage == 1 else "ok")


def test_goals_are_decided_too() -> None:
    """The table of goals has words and ids only beside its reasons: a decision endpoint can fill it."""
    form = goal_form(("r1",), blocks=2)
    body = {"answers": [choice(none=1.0), choice(reached=0.99, partly=0.01)], "usage": USAGE}
    found, _ = run([{"status": 200, "json": body}], Question(name="goal_accuracy", form=form, ask="?"))
    assert isinstance(found, Answer)
    assert (found.answer["requests"][0]["status"], found.answer["requests"][0]["same_as"]) == ("reached", "")
