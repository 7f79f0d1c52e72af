"""The exact assignments, held against trying everything."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.metrics.assignment import Pairs, Weights, best_alignment, best_assignment

WEIGHT = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1 / 3, 1.0])


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    return [[draw(WEIGHT) for _ in range(columns)] for _ in range(rows)]


@st.composite
def grouped(draw: st.DrawFn) -> tuple[list[list[float]], list[list[int]]]:
    weights = draw(tables())
    columns = list(range(len(weights[0])))
    ends = sorted({*draw(st.sets(st.integers(1, len(columns)))), len(columns)})
    return weights, [columns[a:b] for a, b in pairwise([0, *ends])]


def total(weights: Weights, pairs: Pairs) -> float:
    return sum(weights[row][column] for row, column in pairs)


def best_by_trying(weights: Weights, groups: list[list[int]], row: int = 0, used: frozenset[int] = frozenset(), group: int = 0) -> float:
    """The largest total over all ways to give rows to unused columns of this group or a later one."""
    if row == len(weights):
        return 0.0
    best = best_by_trying(weights, groups, row + 1, used, group)
    for later in range(group, len(groups)):
        for column in set(groups[later]) - used:
            rest = best_by_trying(weights, groups, row + 1, used | {column}, later)
            best = max(best, weights[row][column] + rest)
    return best


@given(tables())
def test_assignment_is_the_best(weights: list[list[float]]) -> None:
    """No other assignment of rows to columns has a larger total, and no row or column is used twice."""
    pairs = best_assignment(weights)
    assert abs(total(weights, pairs) - best_by_trying(weights, [list(range(len(weights[0])))])) < 1e-9
    assert len({row for row, _ in pairs}) == len(pairs) == len({column for _, column in pairs})


@given(grouped())
def test_alignment_is_the_best_that_keeps_order(table: tuple[list[list[float]], list[list[int]]]) -> None:
    """No other assignment that keeps the order of groups has a larger total."""
    weights, groups = table
    pairs = best_alignment(weights, groups)
    group_of = {column: number for number, group in enumerate(groups) for column in group}
    assert abs(total(weights, pairs) - best_by_trying(weights, groups)) < 1e-9
    assert all(group_of[first[1]] <= group_of[second[1]] for first, second in pairwise(pairs))
