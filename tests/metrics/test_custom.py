"""Metrics of the user's own: what a function may return, and what becomes of one that breaks."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from otel_eval.metrics.base import Metric, MetricCard, MetricInput
from otel_eval.metrics.custom import custom_metric_from_path, metric_from_object
from otel_eval.model import Conversation, Failed, FailReason, Outcome, Score, Skipped, SkipReason
from tests.fakes.conversations import conversation, says, user

TALK = conversation(user("Hi"), says("We are happy to help"))


def happy(given: MetricInput) -> bool:
    """Whether the agent is happy."""
    return "happy" in (given.messages[-1].text or "")


async def length(given: MetricInput) -> int:
    await asyncio.sleep(0)
    return len(given.messages)


class Whole:
    """A metric as plug-ins write them."""

    card = MetricCard(name="whole", sentence="s", source="s", example="e")

    async def score(self, given: MetricInput) -> Outcome:
        return Score(value=1.0)


class Awaitable:
    """A callable object that gives an awaitable."""

    def __call__(self, given: MetricInput) -> Any:
        return length(given)


def scored(metric: Metric, talk: Conversation = TALK) -> Outcome:
    return asyncio.run(metric.score(MetricInput(conversation=talk)))


def test_a_path_gives_a_metric() -> None:
    """`module:function` is a metric with the function's name and first sentence on its card."""
    metric = custom_metric_from_path("tests.metrics.test_custom:happy")
    assert (metric.card.name, metric.card.sentence) == ("happy", "Whether the agent is happy.")
    assert scored(metric) == Score(value=1.0)


def test_a_path_to_a_whole_metric_is_that_metric() -> None:
    """A class with a card and `score` is used as it is."""
    assert custom_metric_from_path("tests.metrics.test_custom:Whole").card is Whole.card


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (True, Score(value=1.0)),
        (0.25, Score(value=0.25)),
        (3, Score(value=3.0)),
        ({"value": 0.5, "label": "so-so", "explanation": "half"}, Score(value=0.5, label="so-so", explanation="half")),
        (Score(value=0.5), Score(value=0.5)),
        (Skipped(reason=SkipReason.UNDEFINED), Skipped(reason=SkipReason.UNDEFINED)),
        (Failed(error_type=FailReason.CANNOT_TELL), Failed(error_type=FailReason.CANNOT_TELL)),
    ],
)
def test_what_a_function_may_return(returned: object, outcome: Outcome) -> None:
    """Booleans, numbers, a mapping with a value, and outcomes are taken for what they are."""
    assert scored(metric_from_object("m", lambda given: returned)) == outcome


@pytest.mark.parametrize("function", [length, Awaitable()])
def test_async_functions_and_objects_are_awaited(function: Callable[[MetricInput], Any]) -> None:
    """Coroutine functions and callables that give an awaitable work like plain functions."""
    assert scored(metric_from_object("m", function)) == Score(value=2.0)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "None"),
        ("0.5", "a str"),
        (float("nan"), "not a number"),
        (float("inf"), "not a number"),
        ({"score": 1}, "a dict"),
        (Score(value=float("nan")), "not a number"),
        ({"value": "high"}, "a str"),
    ],
)
def test_what_is_no_number_fails(returned: object, said: str) -> None:
    """None, texts and not-a-number become `Failed` with what was returned, never 0."""
    outcome = scored(metric_from_object("m", lambda given: returned))
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.METRIC_ERROR
    assert f"'m' returned {said}" in outcome.detail


def test_an_exception_becomes_a_failure_without_its_words() -> None:
    """The class and the place of an exception are told; its message, which may hold content, is not."""

    def leaky(given: MetricInput) -> float:
        raise KeyError(given.messages[-1].text)

    outcome = scored(metric_from_object("leaky", leaky))
    assert isinstance(outcome, Failed)
    assert "KeyError in leaky, line " in outcome.detail
    assert "happy" not in outcome.detail


def test_an_empty_conversation_is_skipped() -> None:
    """A function is not asked about a conversation without messages."""
    assert isinstance(scored(metric_from_object("m", happy), conversation()), Skipped)


@pytest.mark.parametrize("path", ["happy", "no.such.module:f", "tests.metrics.test_custom:gone", "tests.metrics.test_custom:TALK", ":f"])
def test_wrong_paths(path: str) -> None:
    """A path that is none, or leads nowhere or to no function, is refused before the first conversation."""
    with pytest.raises(ValueError, match=r"tests|module|path|happy|:f"):
        custom_metric_from_path(path)
