"""Signals of size: nothing that was not recorded becomes a number."""

import asyncio
from typing import Any

import pytest

from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Conversation, Failed, Skipped, SkipReason, Usage
from tests.fakes.conversations import calls, conversation, outcome_of, result, says, user, value_of

SECOND = 1_000_000_000
PRICES = {"gpt-4o": [2.5, 10], "*": [1, 1]}


def used(**fields: object) -> Conversation:
    usage = Usage(input_tokens=1000, output_tokens=100)
    return conversation(user("Hi"), says("Hello"), **{"usage": usage, "models": ("gpt-4o",), "model_calls": 2, **fields})


def reason(metric: str, talk: Conversation, **parameters: Any) -> SkipReason:
    outcome = outcome_of(metric, talk, **parameters)
    assert isinstance(outcome, Skipped), outcome
    return outcome.reason


def test_lengths() -> None:
    """Messages of all roles and those of the user are counted."""
    talk = conversation(user("Hi"), calls(("f", {})), result("ok"), says("Hello"), user("Bye"))
    assert value_of("message_count", talk) == 5.0
    assert value_of("turn_count", talk) == 2.0


@pytest.mark.parametrize(
    ("metric", "value"), [("input_tokens", 1000.0), ("output_tokens", 100.0), ("total_tokens", 1100.0), ("model_call_count", 2.0)]
)
def test_usage(metric: str, value: float) -> None:
    """Recorded usage is given as it is; without it there is no value, and half of it is no total."""
    assert value_of(metric, used()) == value
    assert reason(metric, conversation(user("Hi"))) is SkipReason.NEEDS_MISSING
    assert reason("total_tokens", used(usage=Usage(input_tokens=1))) is SkipReason.NEEDS_MISSING


def test_usage_is_not_known_by_turn() -> None:
    """Tokens are summed over the conversation, so a single turn has no number."""
    outcome = asyncio.run(builtin_metric("total_tokens").score(MetricInput(conversation=used(), turn=0)))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNDEFINED


def test_duration() -> None:
    """From the first start to the last end in seconds; unknown times are no duration of 0."""
    assert value_of("duration_s", used(start_ns=10 * SECOND, end_ns=14 * SECOND + SECOND // 2)) == 4.5
    assert reason("duration_s", used()) is SkipReason.NEEDS_MISSING


def test_cost() -> None:
    """1000 input tokens at 2.5 and 100 output tokens at 10 dollars a million: 0.0035 USD."""
    assert value_of("cost_usd", used(), prices=PRICES) == pytest.approx(0.0035)
    assert value_of("cost_usd", used(models=("other",)), prices=PRICES) == pytest.approx(0.0011)


def test_cost_is_not_guessed() -> None:
    """No price list, no price for the model, no usage, or several prices for one sum of tokens: no value."""
    assert reason("cost_usd", used()) is SkipReason.NEEDS_MISSING
    assert reason("cost_usd", used(models=("other",)), prices={"gpt-4o": [1, 2]}) is SkipReason.NEEDS_MISSING
    assert reason("cost_usd", conversation(user("Hi")), prices=PRICES) is SkipReason.NEEDS_MISSING
    assert reason("cost_usd", used(models=("gpt-4o", "other")), prices=PRICES) is SkipReason.UNDEFINED
    assert isinstance(outcome_of("cost_usd", used(), prices={"gpt-4o": 2.5}), Failed)
