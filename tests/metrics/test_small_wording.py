"""The words for small models: the same question with the verdict before the reason, so that any judge's reply means the same."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.judges.base import Form, Items, Question, question_key, small_question
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import Metric, MetricInput
from otel_eval.metrics.check import Check
from otel_eval.metrics.prompt import prompt
from otel_eval.model import Reference, Score
from otel_eval.testing import ScriptedJudge
from tests.fakes.talk import REACHED, booking

ASKED: dict[str, tuple[Metric, dict[str, Any]]] = {
    "goal_accuracy": (builtin_metric("agent_goal_accuracy"), {}),
    "outcome_comparison": (builtin_metric("agent_goal_accuracy_with_reference"), {}),
    "goal_comparison": (builtin_metric("agent_goal_accuracy"), {"strategy": "stepwise"}),
    "yes_no": (Check(name="booked"), {"question": "Does the answer say that seats are booked?"}),
}
ANSWERS: dict[str, Any] = {
    "goal_accuracy": REACHED,
    "compare": {"verdict": "yes", "reason": "NF-2071", "evidence": [2]},
    "infer_goal": {"user_goal": "two seats", "end_state": "two seats are booked", "reason": "", "evidence": []},
    "yes_no": {"verdict": "yes", "reason": "It says so.", "evidence": [3]},
}


def question(name: str) -> Question:
    metric, parameters = ASKED[name]
    judge = ScriptedJudge(answers=ANSWERS)
    given = MetricInput(
        conversation=booking(), judge=judge, reference=Reference(outcome="Two seats are booked."), secret=b"k", parameters=parameters
    )
    assert isinstance(asyncio.run(metric.score(given)), Score)
    return judge.asked[-1]


def fields(form: Form) -> list[str]:
    """All names of fields in their order, those of items in their place."""
    names: list[str] = []
    for name, field in form.fields.items():
        names += [name, *field.fields] if isinstance(field, Items) else [name]
    return names


@pytest.mark.parametrize("name", ASKED)
def test_the_same_fields_with_the_verdict_first(name: str) -> None:
    """Field by field the same form, so the metric reads both replies; what decides stands before its reason, in the form and in words."""
    full = question(name)
    small = small_question(full)
    assert sorted(fields(small.form)) == sorted(fields(full.form))
    decides = "status" if name == "goal_accuracy" else "verdict"
    for asked, first in ((full, "reason"), (small, decides)):
        second = decides if first == "reason" else "reason"
        assert fields(asked.form).index(first) < fields(asked.form).index(second)
        written = asked.ask.rpartition("Form: ")[2]
        assert 0 < written.index(f'"{first}"') < written.index(f'"{second}"')


@pytest.mark.parametrize("name", ASKED)
def test_nothing_else_changes(name: str) -> None:
    """Preamble and record are the same bytes, the prompts differ in the line of the form only, and the small one has a name of its own."""
    full = question(name)
    small = small_question(full)
    assert (small.preamble, small.record, small.inputs) == (full.preamble, full.record, full.inputs)
    assert (full.prompt, small.prompt) == (f"{name}.v1", f"{name}_small.v1")
    assert small.prompt_hash != full.prompt_hash
    lines = [[line for line in prompt(p).text.splitlines() if not line.startswith("Form: ")] for p in (full.prompt, small.prompt)]
    assert lines[0] == lines[1]


def test_a_question_without_such_words_stays() -> None:
    """Small models get the words of all where there are no others."""
    asked = Question(name="n", form=Form(name="n", fields={}), ask="?")
    assert small_question(asked) is asked


def test_other_words_are_another_question_for_the_cache() -> None:
    """A new version of the small words must not find the verdicts of the old ones."""
    asked = question("yes_no")
    assert asked.small is not None
    assert question_key(asked) != question_key(replace(asked, small=replace(asked.small, prompt_hash="another")))
