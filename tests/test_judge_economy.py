"""What judging costs, held against ragas 0.4.3, as the page on judges says it."""

import asyncio
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.judge_economy import Cost, cost_of, seed_examples, tau_conversations
from tests.fakes.wire import shared

PAGE = (Path(__file__).parent.parent / "docs" / "judge.md").read_text(encoding="utf-8")
EXAMPLES = dict(seed_examples())
MOST, LEAST_SHARED = 0.45, 0.70
"""Characters of our prompts by ragas' for the same, and share of the second prompt that the first one begins with."""


def row_of(cost: Cost) -> str:
    """The cells of the table that this cost comes to."""
    whole = (cost.prompt_chars + cost.schema_chars) / cost.ragas_chars
    counts = f"{cost.calls} | {cost.prompt_chars:,} | {cost.ragas_calls} | {cost.ragas_chars:,}"
    return f"{counts} | {cost.prompt_chars / cost.ragas_chars:.2f} | {whole:.2f} | {cost.shared_prefix:.2f} |"


@pytest.mark.parametrize("name", EXAMPLES)
def test_two_calls_for_both_metrics_at_less_than_half(name: str) -> None:
    """Goal accuracy and the three values of topic adherence ask twice, and the second prompt goes on from the first one's beginning."""
    cost = asyncio.run(cost_of(EXAMPLES[name]))
    assert (cost.calls, cost.ragas_calls) == (2, 7)
    assert cost.prompt_chars <= MOST * cost.ragas_chars
    assert cost.shared_prefix >= LEAST_SHARED


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_says_what_is_measured(name: str) -> None:
    """The table's row of each example is what the questions come to now."""
    assert row_of(asyncio.run(cost_of(EXAMPLES[name]))) in PAGE


def test_runs_of_tau_cost_less_than_half() -> None:
    """So do runs of agents with long records, each of them."""
    costs = [asyncio.run(cost_of(conversation)) for conversation in islice(tau_conversations(shared("data")), 20)]
    assert {cost.calls for cost in costs} == {2}
    assert sum(c.prompt_chars for c in costs) <= MOST * sum(c.ragas_chars for c in costs)
    assert min(cost.shared_prefix for cost in costs) >= LEAST_SHARED
