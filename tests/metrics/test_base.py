"""The input of a metric, and what is decided before one is worked out."""

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricCard, MetricInput, Need, Parameter
from otel_eval.metrics.requirements import not_scored, parameter_problems
from otel_eval.model import Reference, Score, Skipped, ToolCall, TurnReference
from tests.fakes.conversations import call, calls, conversation, says, user

A, B = call(("a", {})), call(("b", {}))
TALK = conversation(user("1"), calls(("a", {})), user("2"), calls(("b", {})), says("done"))
CARD = MetricCard(
    name="m",
    sentence="s",
    source="s",
    example="e",
    parameters=(
        Parameter(name="order", kind="text", sentence="s", default="exact", choices=("exact", "in_order")),
        Parameter(name="share", kind="number", sentence="s"),
    ),
    compat=("ragas",),
)


def test_a_turn_is_a_part_of_the_conversation() -> None:
    """With a turn, messages and expectations are that turn's, and evidence counts from its first message."""
    reference = Reference(turns=(TurnReference(tool_calls=(A,)), TurnReference(tool_calls=(B,))))
    whole = MetricInput(conversation=TALK, reference=reference)
    second = MetricInput(conversation=TALK, reference=reference, turn=1)
    assert (len(whole.messages), whole.first_message, whole.expected_calls) == (5, 0, (A, B))
    assert (len(second.messages), second.first_message, second.expected_calls) == (3, 2, (B,))
    assert MetricInput(conversation=TALK, turn=7).messages == ()


def test_expectations_for_the_whole_go_before_those_by_turn() -> None:
    """Expected calls are those of the reference itself, else those of its turns; none written down is None."""
    assert MetricInput(conversation=TALK, reference=Reference(tool_calls=(), turns=(TurnReference(tool_calls=(A,)),))).expected_calls == ()
    assert MetricInput(conversation=TALK, reference=Reference(turns=(TurnReference(response="x"),))).expected_calls is None


def test_a_turn_is_scored_with_its_own_calls() -> None:
    """A metric given a turn looks at nothing else, and points at the conversation's messages."""
    reference = Reference(turns=(TurnReference(tool_calls=(A,)), TurnReference(tool_calls=(A,))))
    outcome = asyncio.run(builtin_metric("tool_trajectory").score(MetricInput(conversation=TALK, reference=reference, turn=1)))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.evidence) == (0.0, (3,))


@pytest.mark.parametrize(
    ("parameters", "compat", "said"),
    [
        ({"ordre": "exact"}, None, "no parameter 'ordre'; it has 'order', 'share'"),
        ({"order": 1}, None, "must be a text, not int"),
        ({"order": "any"}, None, "must be one of 'exact', 'in_order'"),
        ({"share": True}, None, "must be a number, not bool"),
        ({}, "adk", "no compat='adk'; it has 'ragas'"),
    ],
)
def test_parameters_that_cannot_be(parameters: dict[str, Any], compat: str | None, said: str) -> None:
    """Each wrong parameter is named with what was expected."""
    (problem,) = parameter_problems(CARD, parameters, compat)
    assert said in problem


def test_parameters_that_can_be() -> None:
    """Choices are read in any spelling, and None stands for a default of None."""
    assert parameter_problems(CARD, {"order": "IN-ORDER", "share": None}, "ragas") == ()


@pytest.mark.parametrize(
    ("need", "reference", "compat", "there"),
    [
        ("reference_outcome", Reference(outcome=" "), None, False),
        ("reference_outcome", Reference(outcome=" "), "ragas", True),
        ("reference_outcome", Reference(outcome=""), "ragas", False),
        ("reference_outcome", Reference(outcome=""), "ragas-legacy", True),
        ("topics", Reference(topics=()), None, False),
        ("topics", Reference(topics=()), "ragas-legacy", True),
        ("reference_tool_calls", Reference(tool_calls=()), None, True),
        ("reference_response", Reference(turns=(TurnReference(response=""),)), None, True),
        ("reference_response", Reference(turns=(TurnReference(tool_calls=(ToolCall(name="a"),)),)), None, False),
        ("judge", Reference(), None, False),
        ("question", Reference(), None, False),
    ],
)
def test_needs(need: Need, reference: Reference, compat: str | None, there: bool) -> None:
    """What is blank or absent is missing, and the outcome says what to give; ragas and its deprecated classes take more."""
    card = MetricCard(name="m", sentence="s", source="s", example="e", needs=frozenset({need}), compat=("ragas", "ragas-legacy"))
    outcome = not_scored(card, MetricInput(conversation=TALK, reference=reference, compat=compat))
    assert (outcome is None) == there
    assert there or (isinstance(outcome, Skipped) and ":" in outcome.detail)


def test_an_unknown_name_is_a_key_error() -> None:
    """There is no metric by a name that is not in the table."""
    with pytest.raises(KeyError):
        builtin_metric("tool_call_f2")


def test_the_table_loads_nothing_heavy() -> None:
    """Importing the table, and making the metrics of it, brings neither pydantic nor openai."""
    code = "import sys, otel_eval.metrics as m; list(map(m.builtin_metric, m.BUILTIN)); print({'pydantic', 'openai'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "set()"
