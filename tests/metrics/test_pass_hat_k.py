"""pass^k: the published formula, tasks apart, and what is refused."""

import random

import pytest

from otel_eval.metrics.pass_hat_k import TaskTrials, TooFewTrials, Trial, pass_hat_k, pass_hat_k_over_tasks, task_trials


def task(name: str, n: int, c: int) -> TaskTrials:
    return TaskTrials(task=name, n=n, c=c)


def test_one_task() -> None:
    """Three of four trials passed: 0.75 for k=1, 3/6 for k=2, 0 for k=4."""
    assert [pass_hat_k(4, 3, k) for k in (1, 2, 4)] == [0.75, 0.5, 0.0]


def test_mean_over_tasks_and_not_of_pooled_counts() -> None:
    """4/4, 3/4, 2/4 and 0/4 with k=2 give 0.4167; pooled counts would give 0.3."""
    found = pass_hat_k_over_tasks([task("a", 4, 4), task("b", 4, 3), task("c", 4, 2), task("d", 4, 0)], k=2)
    assert found.value == pytest.approx(0.4166666666666667)
    assert (found.n, found.c, found.k) == (16, 9, 2)


def test_trials_are_counted_by_task_with_infrastructure_failures_apart() -> None:
    """A trial without verdict is no failed one: it is counted beside n."""
    counted = task_trials(
        [Trial(task="a", value=1.0), Trial(task="b", value=0.5), Trial(task="a", value=None), Trial(task="a", value=0.9999999)]
    )
    assert counted == (TaskTrials(task="a", n=2, c=2, infrastructure_failures=1), TaskTrials(task="b", n=1, c=0))
    assert pass_hat_k_over_tasks(counted, k=1).infrastructure_failures == 1


def test_fewer_trials_than_k_are_refused_by_name() -> None:
    """pass^k is undefined for a task with fewer than k trials; the message names it."""
    with pytest.raises(TooFewTrials, match="'short'") as refused:
        pass_hat_k_over_tasks([task("short", 3, 3), task("long", 4, 4)], k=4)
    assert refused.value.tasks == ("short",)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 4, 0)])
def test_counts_that_cannot_be(n: int, c: int, k: int) -> None:
    """More passed than run, or k below 1, is a mistake of the caller."""
    with pytest.raises(ValueError, match=r"pass\^k"):
        pass_hat_k(n, c, k)


def test_no_task_is_refused() -> None:
    """There is no mean over nothing."""
    with pytest.raises(ValueError, match="at least one task"):
        pass_hat_k_over_tasks([], k=1)


def test_the_interval_is_over_tasks_and_comes_again() -> None:
    """The same seed gives the same interval, which holds the value; one task has none; equal tasks have one of no width."""
    tasks = [task(str(i), 4, i % 5) for i in range(40)]
    found = pass_hat_k_over_tasks(tasks, k=2, seed=7)
    assert found.interval is not None
    assert found.interval == pass_hat_k_over_tasks(tasks, k=2, seed=7).interval
    assert found.interval != pass_hat_k_over_tasks(tasks, k=2, seed=8).interval
    assert found.interval[0] < found.value < found.interval[1]
    assert pass_hat_k_over_tasks(tasks[:1], k=2).interval is None
    assert pass_hat_k_over_tasks([task("a", 4, 3), task("b", 4, 3)], k=2).interval == (0.5, 0.5)


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Over 100 draws of 40 tasks, the 95 % interval holds the true mean of 0.5 in nine of ten and more."""
    numbers, held = random.Random(1), 0
    for draw in range(100):
        tasks = [task(str(i), 100, numbers.randint(0, 100)) for i in range(40)]
        interval = pass_hat_k_over_tasks(tasks, k=1, seed=draw, resamples=200).interval
        assert interval is not None
        held += interval[0] <= 0.5 <= interval[1]
    assert held >= 90
