"""Which made call answers which expected one: the exact best assignment, without scipy.

Weights are a table with a row for each expected and a column for each made call, each weight in [0, 1]. The method is the Hungarian one
with potentials, a row at a time (Kuhn 1955; the shortest-path form is Jonker and Volgenant's of 1987): at most rows² × columns steps.
`MAX_STEPS` bounds it, about a second of work: 125 calls of one tool against 125. Beyond it `TooManyCalls` is raised, for a guess would be
a wrong score.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

Weights: TypeAlias = Sequence[Sequence[float]]
Pairs: TypeAlias = tuple[tuple[int, int], ...]

MAX_STEPS = 2_000_000


class TooManyCalls(ValueError):
    """More calls than can be assigned exactly in bounded time."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__(f"{rows} expected and {columns} made calls are more than can be assigned exactly (about 125 of one tool)")


def best_assignment(weights: Weights) -> Pairs:
    """The pairs (row, column) of the largest total weight, each row and each column used once; pairs of weight 0 are left out.

    [[0.5, 1.0], [0.5, 0.9]] gives ((0, 1), (1, 0)): 1.5, where taking the pairs by position gives 1.4.
    """
    rows, columns = len(weights), len(weights[0]) if weights else 0
    if rows * columns * min(rows, columns) > MAX_STEPS:
        raise TooManyCalls(rows, columns)
    if rows > columns:
        turned = [[row[column] for row in weights] for column in range(columns)]
        return tuple(sorted((row, column) for column, row in _positive_pairs(turned)))
    return tuple(sorted(_positive_pairs(weights)))


def best_alignment(weights: Weights, groups: Sequence[Sequence[int]]) -> Pairs:
    """The pairs of the largest total weight that keep the order: a later row never goes to an earlier group of columns.

    Groups hold the columns in the order they happened; the columns of one group have no order among themselves (calls issued together).
    With groups of one this is the longest common subsequence, weighted: [[1, 0], [0, 1]] with groups [[1], [0]] gives one pair, not two.
    """
    if len(groups) == 1:
        return best_assignment(weights)
    rows = len(weights)
    _check_alignment(weights, groups)
    best = [0.0] * (rows + 1)  # by the number of rows used up, the largest total of the groups so far
    choices: list[list[tuple[int, int] | None]] = []
    for group in groups:
        best, choice = _with_group(best, _blocks(weights, group))
        choices.append(choice)
    pairs: list[tuple[int, int]] = []
    end = rows
    for group, choice in zip(reversed(groups), reversed(choices), strict=True):
        block = choice[end]
        if block is not None:
            start, stop = block
            inner = best_assignment([[weights[row][column] for column in group] for row in range(start, stop)])
            pairs += [(start + row, group[column]) for row, column in inner]
            end = start
    return tuple(sorted(pairs))


def _with_group(best: Sequence[float], blocks: Iterator[tuple[int, int, float]]) -> tuple[list[float], list[tuple[int, int] | None]]:
    """One step of the alignment: for each number of rows, the best total with one more group, and the block of rows it takes."""
    grown = list(best)
    choice: list[tuple[int, int] | None] = [None] * len(best)
    for start, stop, total in blocks:
        if best[start] + total > grown[stop]:
            grown[stop], choice[stop] = best[start] + total, (start, stop)
    for end in range(1, len(grown)):
        if grown[end - 1] > grown[end]:
            grown[end], choice[end] = grown[end - 1], choice[end - 1]
    return grown, choice


def _blocks(weights: Weights, group: Sequence[int]) -> Iterator[tuple[int, int, float]]:
    """(first row, row after the last, total) of each run of rows that a group could answer together."""
    rows = [row for row, line in enumerate(weights) if any(line[column] > 0 for column in group)]
    if len(group) == 1:
        yield from ((row, row + 1, weights[row][group[0]]) for row in rows)
        return
    for first, start in enumerate(rows):
        idle = [0.0] * (len(rows) - first)  # columns of no worth, so that a row may go unanswered
        solver = _Solver(len(group) + len(idle))
        for row in rows[first:]:
            solver.add([*(weights[row][column] for column in group), *idle])
            yield start, row + 1, solver.total


def _check_alignment(weights: Weights, groups: Sequence[Sequence[int]]) -> None:
    steps = 0
    for group in groups:
        if len(group) > 1:
            rows = sum(any(line[column] > 0 for column in group) for line in weights)
            steps += rows * rows * (rows + len(group)) * min(rows, len(group)) // 2
    if steps > MAX_STEPS or len(weights) * len(groups) > MAX_STEPS:
        raise TooManyCalls(len(weights), sum(map(len, groups)))


def _positive_pairs(weights: Weights) -> list[tuple[int, int]]:
    solver = _Solver(len(weights[0]) if weights else 0)
    for row in weights:
        solver.add(row)
    return [(row, column) for row, column in solver.pairs if weights[row][column] > 0]


class _Solver:
    """Assigns rows to columns one row after the other; after each `add` the assignment of the rows so far is the best."""

    def __init__(self, columns: int) -> None:
        self._rows: list[Sequence[float]] = []
        self._row_potential: list[float] = []
        self._column_potential = [0.0] * columns
        self._row_of: list[int | None] = [None] * columns

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(row, column) for column, row in enumerate(self._row_of) if row is not None]

    @property
    def total(self) -> float:
        return sum(self._rows[row][column] for row, column in self.pairs)

    def add(self, weights: Sequence[float]) -> None:
        """Takes in one more row; there must be a column for it."""
        self._rows.append(weights)
        self._row_potential.append(0.0)
        columns = len(self._column_potential)
        slack, came_from = [float("inf")] * columns, [-1] * columns
        visited: list[int] = []
        column = -1  # the new row stands before the first column
        row: int | None = len(self._rows) - 1
        open_columns = set(range(columns))
        while row is not None:
            line, potential = self._rows[row], self._row_potential[row]
            for other in open_columns:
                cost = -line[other] - potential - self._column_potential[other]
                if cost < slack[other]:
                    slack[other], came_from[other] = cost, column
            nearest = min(open_columns, key=lambda other: (slack[other], other))
            self._move(slack[nearest], visited, open_columns, slack)
            column = nearest
            open_columns.remove(column)
            visited.append(column)
            row = self._row_of[column]
        self._turn_over(column, came_from)

    def _move(self, delta: float, visited: Sequence[int], open_columns: set[int], slack: list[float]) -> None:
        """Shifts the potentials so that the nearest open column costs nothing more."""
        self._row_potential[-1] += delta
        for column in visited:
            row = self._row_of[column]
            if row is not None:
                self._row_potential[row] += delta
            self._column_potential[column] -= delta
        for column in open_columns:
            slack[column] -= delta

    def _turn_over(self, column: int, came_from: Sequence[int]) -> None:
        """Passes the rows along the path back to the new one."""
        while column != -1:
            before = came_from[column]
            self._row_of[column] = self._row_of[before] if before != -1 else len(self._rows) - 1
            column = before
