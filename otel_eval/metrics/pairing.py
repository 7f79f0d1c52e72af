"""Pairs of made and expected calls: how well each fits each, and which answers which where order does not matter."""

from collections.abc import Sequence

from otel_eval.metrics.assignment import Pairs, Weights, best_assignment
from otel_eval.metrics.base import Parameter
from otel_eval.metrics.calls import MadeCall, arguments_of
from otel_eval.metrics.equality import text
from otel_eval.metrics.matchers import ArgumentComparer
from otel_eval.model import ToolCall

ARGUMENTS = Parameter(
    name="arguments",
    kind="mapping",
    sentence="Matcher by argument (`amount`, `pay.amount`, `*`): exact, ignore, number:0.01, case_insensitive, regex, module:function.",
)


def call_weights(made: Sequence[MadeCall], expected: Sequence[ToolCall], comparer: ArgumentComparer) -> list[list[float]]:
    """A table with a row for each expected and a column for each made call: 0 for another tool, else the share of arguments."""
    theirs = [(text(c.name or ""), arguments_of(c) or {}) for c in expected]
    mine = [(text(c.name), c.arguments or {}) for c in made]
    return [[comparer.share(name, have, want) if name and name == tool else 0.0 for tool, have in mine] for name, want in theirs]


def assigned_by_tool(weights: Weights) -> Pairs:
    """The best assignment, worked out apart for each set of rows and columns that have to do with each other."""
    pairs: list[tuple[int, int]] = []
    for rows, columns in _connected(weights):
        inner = best_assignment([[weights[row][column] for column in columns] for row in rows])
        pairs += [(rows[row], columns[column]) for row, column in inner]
    return tuple(sorted(pairs))


def _connected(weights: Weights) -> list[tuple[list[int], list[int]]]:
    """Rows and columns joined by weights above 0: calls of one tool, or fewer."""
    parts: list[tuple[set[int], set[int]]] = []
    for row, line in enumerate(weights):
        columns = {column for column, weight in enumerate(line) if weight > 0}
        touching = [part for part in parts if part[1] & columns]
        merged = ({row}.union(*(p[0] for p in touching)), columns.union(*(p[1] for p in touching)))
        parts = [p for p in parts if p not in touching] + ([merged] if columns else [])
    return [(sorted(rows), sorted(columns)) for rows, columns in parts]
