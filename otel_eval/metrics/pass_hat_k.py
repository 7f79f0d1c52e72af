"""pass^k: the chance that k trials of a task all pass.

Not a metric of one conversation: it needs repeated trials of the same task, which conversations carry as a task key. A task with n trials,
c of them passed, gives C(c, k) / C(n, k); the value is the mean over tasks. n = 4, c = 3, k = 2 gives 3/6 = 0.5, where (3/4)² = 0.5625
would be too high. pass@k, which benchmarks of code report, is the opposite: the chance that one of k passes.

**Source**: Yao et al., τ-bench (arXiv:2406.12045), sierra-research/tau-bench; sierra-research/tau2-bench drops infrastructure errors first
and uses each task's own n, as here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import comb, fsum

PASSED_FROM = 1.0 - 1e-6
"""Rewards are sums of doubles; τ-bench takes |reward - 1| ≤ 1e-6 as passed."""
RESAMPLES = 2000
CONFIDENCE = 0.95


class TooFewTrials(ValueError):
    """Some task has fewer trials than k, so pass^k is undefined for it."""

    def __init__(self, tasks: Sequence[str], k: int) -> None:
        named = ", ".join(map(repr, tasks[:3])) + (f" and {len(tasks) - 3} more" if len(tasks) > 3 else "")
        super().__init__(
            f"pass^{k} needs {k} trials of each task, but {named} {'has' if len(tasks) == 1 else 'have'} fewer; lower k or leave them out"
        )
        self.tasks = tuple(tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One run of a task. `value` is its score, None where no verdict came about for reasons outside the agent (infrastructure)."""

    task: str
    value: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTrials:
    """The counted trials of one task: n of them, c passed; `infrastructure_failures` are not among the n."""

    task: str
    n: int
    c: int
    infrastructure_failures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PassHatK:
    """pass^k with all that is needed to read it: k, each task's n and c, and the interval.

    `interval` is the bootstrap's over tasks (95 %), None for fewer than two tasks. Runs of one task are alike, so tasks and not runs are
    drawn.
    """

    k: int
    value: float
    per_task: tuple[float, ...]
    tasks: tuple[TaskTrials, ...]
    interval: tuple[float, float] | None

    @property
    def n(self) -> int:
        return sum(t.n for t in self.tasks)

    @property
    def c(self) -> int:
        return sum(t.c for t in self.tasks)

    @property
    def infrastructure_failures(self) -> int:
        return sum(t.infrastructure_failures for t in self.tasks)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """C(c, k) / C(n, k) of one task, in [0, 1]; 0.0 for c < k. TooFewTrials for n < k, ValueError for counts that cannot be.

    Both binomials are exact whole numbers, rounded once: n = 100, c = 90, k = 10 gives 0.33047621108672525.
    """
    if k < 1 or c < 0 or c > n:
        raise ValueError(f"pass^k takes k of at least 1 and 0 ≤ c ≤ n, not n={n}, c={c}, k={k}")
    if n < k:
        raise TooFewTrials([f"a task with n={n}"], k)
    return comb(c, k) / comb(n, k)


def task_trials(trials: Iterable[Trial], *, passed_from: float = PASSED_FROM) -> tuple[TaskTrials, ...]:
    """Trials counted by task, in the order in which the tasks first appear. A value of `passed_from` or more has passed."""
    by_task: dict[str, list[float | None]] = {}
    for trial in trials:
        by_task.setdefault(trial.task, []).append(trial.value)
    return tuple(
        TaskTrials(
            task=task,
            n=sum(v is not None for v in values),
            c=sum(v is not None and v >= passed_from for v in values),
            infrastructure_failures=sum(v is None for v in values),
        )
        for task, values in by_task.items()
    )


def pass_hat_k_over_tasks(tasks: Sequence[TaskTrials], *, k: int, seed: int = 0, resamples: int = RESAMPLES) -> PassHatK:
    """pass^k over tasks, with its bootstrap interval; the same tasks, k and seed give the same interval.

    TooFewTrials names the tasks with fewer than k trials; a task of which only infrastructure failures are known is one of them.
    """
    if not tasks:
        raise ValueError("pass^k needs at least one task")
    short = [t.task for t in tasks if t.n < k]
    if short:
        raise TooFewTrials(short, k)
    per_task = tuple(pass_hat_k(t.n, t.c, k) for t in tasks)
    return PassHatK(
        k=k, value=_mean(per_task), per_task=per_task, tasks=tuple(tasks), interval=bootstrap_interval(per_task, seed, resamples)
    )


def bootstrap_interval(values: Sequence[float], seed: int, resamples: int = RESAMPLES) -> tuple[float, float] | None:
    """Percentile interval (95 %) of the mean, by drawing as many values with replacement; None for fewer than two values."""
    if len(values) < 2:
        return None
    numbers = _numbers(seed, len(values))
    means = sorted(_mean([values[next(numbers)] for _ in values]) for _ in range(resamples))
    tail = int((1.0 - CONFIDENCE) / 2 * resamples)
    return means[tail], means[-1 - tail]


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _numbers(seed: int, below: int) -> Iterator[int]:
    """Numbers below `below` without end, the same ones for the same seed on every machine and Python."""
    block = 0
    while True:
        digest = blake2b(f"{seed}:{block}".encode(), digest_size=64).digest()
        yield from (int.from_bytes(digest[i : i + 8], "big") * below >> 64 for i in range(0, 64, 8))
        block += 1
