"""The verdict cache: the same question is not paid for twice, and what matters is part of the key."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from otel_eval.judges.base import REASON, Form, Question, question_key
from otel_eval.judges.cache import CacheJudge, SqliteStore
from tests.fakes.judges import Clock, Told, ask, failure, outcome_of, question, reply


def test_a_hit_costs_nothing_and_says_so(tmp_path: Path) -> None:
    """The second ask, by another process, is answered from the file: the same answer, zero cost, marked."""
    told = Told([reply(confidence=0.9)])
    first = outcome_of(lambda: CacheJudge(judge=told, store=SqliteStore(tmp_path / "c.db"), identity="m").ask(question()))
    second = outcome_of(lambda: CacheJudge(judge=told, store=SqliteStore(tmp_path / "c.db"), identity="m").ask(question()))
    assert len(told.asked) == 1
    assert (second.answer, second.confidence) == (first.answer, 0.9)
    assert (second.use.cached, second.use.calls, second.use.input_tokens, second.use.cost_usd) == (True, 0, 0, 0.0)


@pytest.mark.parametrize("reason", ["judge_filtered", "judge_refused"])
def test_failures_that_come_again_are_kept(reason: str) -> None:
    """A filter stops the same text every time: it is not sent again."""
    told, store = Told([failure(reason)]), SqliteStore()
    judge = CacheJudge(judge=told, store=store, identity="m")
    assert [outcome_of(lambda: judge.ask(question())).reason for _ in range(2)] == [reason] * 2
    assert len(told.asked) == 1


@pytest.mark.parametrize("reason", ["judge_unavailable", "judge_rate_limited", "budget_exhausted", "reply_schema", "deadline"])
def test_other_failures_are_not(reason: str) -> None:
    """What may pass is asked again."""
    told = Told([failure(reason), reply()])
    judge = CacheJudge(judge=told, store=SqliteStore(), identity="m")
    outcome_of(lambda: judge.ask(question()))
    assert outcome_of(lambda: judge.ask(question())).answer["verdict"] == "yes"


def test_verdicts_are_forgotten() -> None:
    """After its time a verdict is asked for anew."""
    clock = Clock()
    told, store = Told([reply()]), SqliteStore(ttl_s=10, clock=clock)
    judge = CacheJudge(judge=told, store=store, identity="m")
    outcome_of(lambda: judge.ask(question()))
    clock.now += 11
    outcome_of(lambda: judge.ask(question()))
    assert len(told.asked) == 2


def test_another_judge_has_its_own_verdicts() -> None:
    """The same question to another model or at another temperature is another entry."""
    told, store = Told([reply()]), SqliteStore()
    for identity in ("m-1", "m-2"):
        ask(CacheJudge(judge=told, store=store, identity=identity))
    assert len(told.asked) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda q: replace(q, ask="Is it otherwise?"),
        lambda q: replace(q, preamble="Q"),
        lambda q: replace(q, record="RECORD n1 BEGINS\n| x"),
        lambda q: replace(q, form=Form(name="yes_no", fields={"reason": REASON})),
        lambda q: replace(q, sample=1),
        lambda q: replace(q, repair="reply_empty"),
        lambda q: replace(q, record=q.record + q.ask, ask=""),
    ],
)
def test_what_matters_is_in_the_key(change: Callable[[Question], Question]) -> None:
    """Prompt, form, sample and repair: a change in any of them is another question."""
    assert question_key(change(question())) != question_key(question())


def test_what_does_not_matter_is_not() -> None:
    """The nonce and the deadline leave the question the same: a re-rendered equal conversation is a hit."""
    other = replace(question(deadline=5.0), nonce="n2", record="RECORD n2 BEGINS")
    assert question_key(other) == question_key(question())
