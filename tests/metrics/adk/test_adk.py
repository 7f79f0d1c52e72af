"""ADK's contract: its configuration, its documented functions as they are, and what becomes of functions that break."""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_eval.metrics.adk import metrics_from_eval_config
from otel_eval.metrics.adk.classes import is_adk_installed
from otel_eval.metrics.base import Metric, MetricInput
from otel_eval.model import Conversation, Failed, FailReason, Message, Outcome, Reference, Score, Skipped, SkipReason, TurnReference
from tests.fakes.conversations import call, calls, conversation, expected, result, says, user

SOURCE = Path(__file__).parents[2] / "data/adk/metrics.py.txt"
EXACT, PROFANITY = "my_agent.metrics.check_final_response_exact_match", "my_agent.metrics.check_for_profanity"
TALK = conversation(user("Book"), says("Booked."), user("Cancel"), says("Cancelled."))
FUNCTIONS = """
from types import SimpleNamespace as Made
seen = []

def result(status, score, turns):
    return Made(overall_score=score, overall_eval_status=status, per_invocation_results=[Made(score=score, eval_status=status)] * turns)

def keeps(metric, actual, expected, scenario):
    seen.append((metric, actual, expected, scenario))
    return result("PASSED", 0.4, len(actual))

def shaped(metric, actual, expected, scenario):
    return {"overallScore": 0.5, "overallEvalStatus": 2, "perInvocationResults": [{"score": 0.5, "evalStatus": 2}] * len(actual)}

def informs(metric, actual, expected, scenario): return result("INFORMATIONAL", 42, 0)
def no_verdict(metric, actual, expected, scenario): return result("NOT_EVALUATED", None, 0)
def nothing(metric, actual, expected, scenario): return None
def too_few(metric, actual, expected, scenario): return result("PASSED", 1.0, 1)
def no_score(metric, actual, expected, scenario): return result("PASSED", None, len(actual))
def not_a_number(metric, actual, expected, scenario): return result("FAILED", float("nan"), len(actual))
def odd_status(metric, actual, expected, scenario): return result("GREAT", 1.0, len(actual))
def three(metric, actual, expected): return result("PASSED", 1.0, len(actual))
def raises(metric, actual, expected, scenario): raise LookupError(actual[0].final_response.parts[0].text)
not_callable = 3
"""


@pytest.fixture(autouse=True)
def my_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package `my_agent` with ADK's documented metrics and with functions of our own."""
    (tmp_path / "my_agent").mkdir()
    (tmp_path / "my_agent/__init__.py").touch()
    shutil.copy(SOURCE, tmp_path / "my_agent/metrics.py")
    (tmp_path / "my_agent/functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "my_agent"]:
        del sys.modules[name]


def config(path: str, threshold: object = 0.8, **extra: Any) -> dict[str, Any]:
    return {"criteria": {"mine": threshold}, "custom_metrics": {"mine": {"code_config": {"name": path}, **extra}}}


def scored(metric: Metric, talk: Conversation = TALK, reference: Reference | None = None, turn: int | None = None) -> Outcome:
    return asyncio.run(metric.score(MetricInput(conversation=talk, reference=reference or Reference(), turn=turn)))


def by(path: str, talk: Conversation = TALK, reference: Reference | None = None, threshold: object = 0.8) -> Outcome:
    (metric,) = metrics_from_eval_config(config(path, threshold))
    return scored(metric, talk, reference)


def responses(*texts: str | None) -> Reference:
    return Reference(turns=tuple(TurnReference(response=text) for text in texts))


def test_adk_documented_exact_match_function() -> None:
    """The documented sync function as it is: one of two turns at threshold 0.8 gives 0.5, failed; at 0.5 it passes."""
    outcome = by(EXACT, reference=responses("Booked.", "Done."))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label) == (0.5, "fail")
    assert outcome.details["turns"] == (1.0, 0.0)
    assert outcome.details["turn_statuses"] == ("PASSED", "FAILED")
    passed = by(EXACT, reference=responses("Booked.", "Done."), threshold=0.5)
    assert isinstance(passed, Score)
    assert passed.label == "pass"


def test_adk_documented_profanity_function() -> None:
    """The documented async function as it is: one of two answers holds the word."""
    talk = conversation(user("Hi"), says("Hello"), user("Say it"), says("That is profanity!"))
    outcome = by(PROFANITY, talk)
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label) == (0.5, "fail")


def test_adk_documented_eval_config() -> None:
    """The documented file: a custom metric and a built-in one, in the order of the criteria, under ADK's names."""
    text = json.dumps(
        {
            "criteria": {"my_check": {"threshold": 0.8}, "tool_trajectory_avg_score": {"threshold": 1.0}},
            "custom_metrics": {"my_check": {"code_config": {"name": EXACT}}},
        }
    )
    assert [metric.card.name for metric in metrics_from_eval_config(text)] == ["my_check", "tool_trajectory_avg_score"]


def test_what_the_documented_functions_leave_to_luck() -> None:
    """No expectations, a turn without answer, other numbers of turns, no turns: each has a reason and no number."""
    unanswered = conversation(user("Book"), says("Booked."), user("Cancel"), calls(("cancel", {})))
    cases = [
        (EXACT, TALK, None, "needs_missing"),
        (EXACT, TALK, responses("Booked."), "needs_missing"),
        (EXACT, unanswered, responses("Booked.", "Done."), "metric_error"),
        (PROFANITY, unanswered, None, "metric_error"),
        (PROFANITY, conversation(), None, "nothing_to_judge"),
    ]
    for path, talk, reference, reason in cases:
        outcome = by(path, talk, reference)
        assert not isinstance(outcome, Score)
        assert (outcome.reason if isinstance(outcome, Skipped) else outcome.error_type) == reason
        assert outcome.detail


def test_a_function_decides_on_the_status() -> None:
    """A passed 0.4 at threshold 0.8 stays passed; a value outside the interval and a status without verdict are taken as they are."""
    outcome = by("my_agent.functions.keeps")
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.details["threshold"]) == (0.4, "pass", 0.8)
    informed = by("my_agent.functions.informs")
    assert isinstance(informed, Score)
    assert (informed.value, informed.label) == (42.0, None)


def test_any_object_of_the_shape_is_read() -> None:
    """A mapping in camel case with numbers for statuses says the same as ADK's classes."""
    outcome = by("my_agent.functions.shaped")
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label, outcome.details["turn_statuses"]) == (0.5, "fail", ("FAILED", "FAILED"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "gave no EvaluationResult"),
        ("odd_status", "gave no EvaluationResult"),
        ("too_few", "gave 1 results for 2 turns"),
        ("no_score", "no finite overall_score"),
        ("not_a_number", "no finite overall_score"),
        ("three", "raised TypeError"),
        ("raises", "raised LookupError in raises, line"),
    ],
)
def test_functions_that_break_their_contract(name: str, said: str) -> None:
    """What ADK logs, aborts on or lets pass becomes a failure with its reason, and never holds content."""
    outcome = by(f"my_agent.functions.{name}")
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.METRIC_ERROR
    assert said in outcome.detail
    assert "Booked" not in outcome.detail


def test_a_function_may_decline() -> None:
    """NOT_EVALUATED is no value; with a reference there it is the function's own decision."""
    outcome = by("my_agent.functions.no_verdict", reference=responses("a", "b"))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNDEFINED


def given_to(talk: Conversation, reference: Reference | None = None, criterion: object = 0.8, turn: int | None = None) -> tuple[Any, ...]:
    """The four arguments a function got."""
    (metric,) = metrics_from_eval_config(config("my_agent.functions.keeps", criterion))
    assert isinstance(scored(metric, talk, reference, turn), Score)
    arguments: tuple[Any, ...] = sys.modules["my_agent.functions"].seen[-1]
    return arguments


def test_the_metric_argument() -> None:
    """The threshold stands in the criterion and not beside it; further fields of a criterion are passed through."""
    metric, _, expected_argument, scenario = given_to(TALK, criterion={"threshold": 1, "rubrics": ["a"], "judgeModel": "m"})
    assert (metric.metric_name, metric.threshold, metric.criterion.threshold) == ("mine", None, 1.0)
    assert (metric.criterion.rubrics, metric.criterion.judgeModel) == (["a"], "m")
    assert metric.criterion.include_intermediate_responses_in_final is False
    assert expected_argument is None
    assert scenario is None


def test_invocations_are_read_like_those_of_adk() -> None:
    """Words, calls and responses of a turn stand where ADK has them, as events and as lists."""
    made = ("search", {"q": "table", "n": 2})
    talk = conversation(user("Book"), says("One moment"), calls(made), result('{"free": 3}'), result("ok"), says("Booked."), agent="waiter")
    _, (turn,), _, _ = given_to(talk)
    assert turn.user_content.parts[0].text == "Book"
    assert [part.text for part in turn.final_response.parts] == ["Booked."]
    data = turn.intermediate_data
    assert [(c.name, c.args) for c in data.tool_uses] == [made]
    assert [r.response for r in data.tool_responses] == [{"free": 3}, {"result": "ok"}]
    assert [(author, parts[0].text) for author, parts in data.intermediate_responses] == [("waiter", "One moment")]
    assert [event.content is None for event in data.invocation_events] == [False, False, False, False, True]
    assert turn.invocation_id == "c-1-0"
    assert turn.duration is None


def test_expected_invocations() -> None:
    """Expectations by turn, or for the whole where there is one turn; a judged turn comes alone."""
    wanted = Reference(turns=(TurnReference(response="Booked.", tool_calls=(call(("book", {"n": 1})),)), TurnReference()))
    _, actual, (first, second), _ = given_to(TALK, wanted)
    assert len(actual) == 2
    assert first.final_response.parts[0].text == "Booked."
    assert [(c.name, c.args) for c in first.intermediate_data.tool_uses] == [("book", {"n": 1})]
    assert first.user_content.parts[0].text == "Book"
    assert second.final_response is None
    _, actual, (only,), _ = given_to(TALK, wanted, turn=0)
    assert [a.user_content.parts[0].text for a in actual] == ["Book"]
    assert only.final_response.parts[0].text == "Booked."
    _, _, (whole,), _ = given_to(conversation(user("Hi"), says("Hello")), Reference(response="Hello"))
    assert whole.final_response.parts[0].text == "Hello"
    assert given_to(TALK, Reference(response="Hello"))[2] is None


def test_camel_case_and_metric_info() -> None:
    """Every key may be written in camel case; the interval and description of `metric_info` are on the card."""
    (metric,) = metrics_from_eval_config(
        {
            "criteria": {"mine": {"threshold": 0.5, "includeIntermediateResponsesInFinal": True}},
            "customMetrics": {
                "mine": {
                    "codeConfig": {"name": PROFANITY},
                    "metricInfo": {
                        "metricName": "other",
                        "description": "Says XYZ.",
                        "metricValueInfo": {"interval": {"minValue": -1.0, "maxValue": 1.0}},
                    },
                }
            },
            "userSimulatorConfig": {"model": "x"},
        }
    )
    assert (metric.card.name, metric.card.sentence, metric.card.range) == ("mine", "Says XYZ.", (-1.0, 1.0))
    assert isinstance(scored(metric), Score)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"criteria": {"mine": {}}}, "threshold"),
        ({"criteria": {"tool_trajectory_avg_scor": 1.0}}, "did you mean 'tool_trajectory_avg_score'"),
        ({"criteria": {"unheard_of": 1.0}}, "custom_metrics"),
        ({"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "anyorder"}}}, "anyorder"),
        ({**config(EXACT), "custom_metrics": {"mine": {"code_config": {"name": EXACT, "args": []}}}}, "args"),
        (config("my_agent.functions.gone"), "gone"),
        (config("my_agent.functions.not_callable"), "not_callable"),
        (config("no_such_agent.metrics.f"), "no_such_agent"),
        (config("function"), "names no module"),
        ("{", "JSON"),
    ],
)
def test_files_that_are_refused(written: Any, said: str) -> None:
    """What ADK refuses, and what would only be found out during a run, is an error before it."""
    with pytest.raises(ValueError, match=said):
        metrics_from_eval_config(written)


def test_a_custom_metric_without_criterion_is_not_run() -> None:
    """As in ADK, an entry in `custom_metrics` alone does nothing, not even an import."""
    assert metrics_from_eval_config({"criteria": {}, "custom_metrics": {"mine": {"code_config": {"name": "no.such.f"}}}}) == ()


@pytest.mark.parametrize("match", ["IN_ORDER", "in order", "in-order", 1])
def test_tool_trajectory_avg_score(match: object) -> None:
    """ADK's trajectory is ours with ADK's values; its match type is read in each of ADK's spellings."""
    criterion = {"threshold": 1.0, "matchType": match}
    (metric,) = metrics_from_eval_config({"criteria": {"tool_trajectory_avg_score": criterion}})
    talk = conversation(user("Do it"), calls(("log", {})), calls(("a", {"v": 1})))
    outcome = scored(metric, talk, expected(("a", {"v": True})))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.label) == (1.0, "pass")


def test_response_match_score() -> None:
    """ADK's response match is ours, with the criterion's threshold."""
    (metric,) = metrics_from_eval_config({"criteria": {"response_match_score": 0.9}})
    outcome = scored(metric, conversation(user("?"), says("The cat sat")), Reference(response="the cat"))
    assert isinstance(outcome, Score)
    assert (round(outcome.value, 3), outcome.label) == (0.8, "fail")


@pytest.mark.parametrize("name", ["safety_v1", "hallucinations_v1", "final_response_match_v2", "token_usage_v1"])
def test_metrics_we_have_not_say_so(name: str) -> None:
    """A built-in metric of ADK that we have not is skipped with what to use instead."""
    (metric,) = metrics_from_eval_config({"criteria": {name: 0.5}})
    outcome = scored(metric)
    assert isinstance(outcome, Skipped)
    assert name in outcome.detail


@pytest.mark.skipif(is_adk_installed(), reason="google-adk is installed, so nothing stands in for it")
def test_nobody_else_finds_an_adk_that_is_not_there() -> None:
    """The stand-ins can be imported only by the module of a metric, while that is imported."""
    metrics_from_eval_config(config(EXACT))
    assert [name for name in sys.modules if name.startswith(("google.adk", "google.genai"))] == []


def test_messages_without_words_have_no_parts() -> None:
    """A message whose content was not recorded is an event without parts, never an invented text."""
    _, (turn,), _, _ = given_to(conversation(user("Hi"), Message(role="assistant")))
    assert turn.final_response is None
    assert [event.content.parts for event in turn.intermediate_data.invocation_events] == [[]]
