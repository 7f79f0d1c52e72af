"""The Python interface: a conversation in any form, metrics in any form, and values back."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

import otel_eval
from otel_eval.errors import ConfigError, InputError
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Failed, FailReason, Reference, Score
from otel_eval.testing import ScriptedJudge
from tests.fakes.judge_server import JudgeServer, verdict
from tests.fakes.talk import REACHED, booking

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Please book two seats for tonight at 20:00."},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "book", "arguments": '{"seats": 2}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": '{"ok": true, "code": "NF-2071"}'},
    {"role": "assistant", "content": "Your two seats have been booked, code NF-2071."},
]


def value(report: Any, number: int = 0) -> float:
    outcome = report.results[number].outcome
    assert isinstance(outcome, Score), outcome
    return outcome.value


def test_messages_and_nothing_else() -> None:
    """A list of chat messages is enough: goal accuracy by the built-in rules, marked as theirs."""
    report = otel_eval.score(MESSAGES)
    assert [r.metric for r in report.results] == ["agent_goal_accuracy"]
    outcome = report.results[0].outcome
    assert isinstance(outcome, Score)
    assert outcome.judge is not None
    assert (outcome.value, outcome.judge.kind) == (1.0, "heuristic")


@pytest.mark.parametrize(
    "scorable",
    [
        booking(),
        {"id": "x", "messages": MESSAGES},
        {
            "user_input": [
                {"type": "human", "content": "Please book two seats."},
                {"type": "ai", "content": "Booked, code 7.", "tool_calls": []},
            ]
        },
    ],
    ids=["conversation", "openai", "ragas"],
)
def test_every_form_of_a_conversation(scorable: Any) -> None:
    """Our own value, OpenAI's object, ragas' sample: all can be judged."""
    judge = ScriptedJudge(answers={"goal_accuracy": {"requests": [{"request": "r1", "status": "reached"}]}})
    assert value(otel_eval.score(scorable, judge=judge)) == 1.0


def test_every_form_of_a_metric() -> None:
    """A name with parameters and a function of one's own, in one call."""

    def polite(given: MetricInput) -> bool:
        return "Your" in (given.messages[-1].text or "")

    reference = {"reference_tool_calls": [{"name": "book", "args": {"seats": 2}}]}
    report = otel_eval.score(MESSAGES, metrics=["tool_call_accuracy:strict_order=false", polite], reference=reference)
    assert [r.metric for r in report.results] == ["tool_call_accuracy", "polite"]
    assert (value(report), value(report, 1)) == (1.0, 1.0)


@pytest.mark.parametrize("reference", ["NF-2071 is booked", {"reference": "NF-2071 is booked"}, Reference(outcome="NF-2071 is booked")])
def test_every_form_of_a_reference(reference: Any) -> None:
    """Words, a dataset's line, a value: the wanted outcome brings its metric by itself."""
    report = otel_eval.score(MESSAGES, reference=reference)
    assert [r.metric for r in report.results] == ["agent_goal_accuracy", "agent_goal_accuracy_with_reference"]
    assert value(report, 1) == 1.0


def test_a_model_by_settings() -> None:
    """JudgeSettings name a model behind an endpoint; the whole chain stands around it."""

    async def run() -> Any:
        async with JudgeServer([verdict({**REACHED, "requests": [{"same_as": "", "goal": "g", **REACHED["requests"][0]}]})]) as server:
            return await otel_eval.ascore(MESSAGES, judge=otel_eval.JudgeSettings(model="m", base_url=server.url))

    report = asyncio.run(run())
    outcome = report.results[0].outcome
    assert isinstance(outcome, Score)
    assert outcome.judge is not None
    assert (outcome.judge.model, outcome.judge.input_tokens, outcome.evidence) == ("fake-1", 900, (2, 3))


def test_trouble_while_scoring_is_a_value() -> None:
    """A judge that cannot answer gives a failure with its reason, not an exception."""
    outcome = otel_eval.score(MESSAGES, judge=ScriptedJudge(answers={})).results[0].outcome
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.JUDGE_MISCONFIGURED


def test_what_is_wrong_with_the_call_is_raised() -> None:
    """Unknown metrics, judges and things that are no conversation are errors of the caller, said at once."""
    with pytest.raises(ConfigError, match="did you mean"):
        otel_eval.score(MESSAGES, metrics=["agent_goal_acuracy"])
    with pytest.raises(ConfigError, match="JudgeSettings"):
        otel_eval.score(MESSAGES, judge="openai")
    with pytest.raises(InputError, match="no conversation"):
        otel_eval.score("Hello")  # type: ignore[arg-type]  # that is what is tested

    async def inside() -> None:
        otel_eval.score(MESSAGES)

    with pytest.raises(ConfigError, match="ascore"):
        asyncio.run(inside())


def test_importing_the_package_costs_nothing() -> None:
    """`import otel_eval` loads no other module of ours: names are found when they are asked for."""
    code = "import sys, otel_eval; print([m for m in sys.modules if m.startswith('otel_eval.')]); otel_eval.score"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
