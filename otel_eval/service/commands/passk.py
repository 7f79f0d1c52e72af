"""`otel-eval passk`: the chance that k trials of a task all pass, from results of repeated trials."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError, InputError
from otel_eval.exchange.json_text import text_from_value
from otel_eval.metrics.pass_hat_k import PASSED_FROM, PassHatK, TaskTrials, TooFewTrials, pass_hat_k_over_tasks
from otel_eval.model.characters import whole
from otel_eval.service.trials import TrialSet, trial_sets_from_paths
from otel_eval.sinks.table import one_line

DONE, UNUSABLE = 0, 2
MOST_K = 10
"""So far k goes where none is named: a row for each of a thousand trials is no table to read."""
_HEAD = ("trials of", "k", "pass^k", "95 % interval", "tasks", "n", "c", "no verdict")
_RIGHT = frozenset(_HEAD) - {"trials of", "95 % interval"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one set of trials comes to: values by k, or the sentence why there are none."""

    trials: TrialSet
    tasks: tuple[TaskTrials, ...]
    left_out: tuple[TaskTrials, ...] = ()
    values: tuple[PassHatK, ...] = ()
    fault: str | None = None
    most_k: int | None = None
    """The greatest k that could be asked for, where fewer are shown than that."""


def run(
    *,
    paths: tuple[Path, ...],
    metrics: tuple[str, ...] = (),
    k: tuple[int, ...] = (),
    passed_from: float = PASSED_FROM,
    task_key: str | None = None,
    leave_out_short: bool = False,
    by_task: bool = False,
    as_json: bool = False,
    **_: Any,
) -> int:
    """Write pass^k of each set. 0 when every set has its values, 2 when one has not; `InputError` and `ConfigError` for what is wrong."""
    sets = _chosen(trial_sets_from_paths(paths, task_key=task_key, stdin=sys.stdin.buffer), metrics, task_key)
    found = [_found(each, k, passed_from=passed_from, leave_out_short=leave_out_short) for each in sets]
    lines = [text_from_value([members_of(each) for each in found])] if as_json else _text(found, by_task=by_task)
    sys.stdout.buffer.writelines(f"{whole(line)}\n".encode() for line in lines)
    for each in found:
        for sentence in _remarks(each):
            sys.stderr.write(f"otel-eval: {sentence}\n")
    return UNUSABLE if any(each.fault for each in found) else DONE


def _chosen(sets: Sequence[TrialSet], metrics: Sequence[str], task_key: str | None) -> list[TrialSet]:
    """The sets of the metrics that are named; all without a name, where there is no more than one metric to choose from."""
    names = [each.name for each in sets]
    unknown = [name for name in metrics if name not in names]
    if unknown:
        raise ConfigError(f"--metric {unknown[0]!r}: no result of it is in the input; there are {', '.join(names) or 'none'}")
    chosen = [each for each in sets if each.name in metrics] if metrics else [each for each in sets if not each.of_turns] or list(sets)
    of_turns = [each.name for each in chosen if each.of_turns]
    if of_turns:
        raise ConfigError(f"{of_turns[0]!r} is a metric of turns: pass^k needs one result a trial, as metrics of conversations give")
    of_results = [each for each in chosen if each.trials and each.k is None]
    if not metrics and len(of_results) > 1:
        raise ConfigError(f"the input has results of {', '.join(each.name for each in of_results)}: name those to count with --metric")
    if not any(each.trials or each.counted for each in chosen):
        raise InputError(_nothing(sum(each.without_task for each in chosen), task_key))
    return [each for each in chosen if each.trials or each.counted]


def _nothing(without_task: int, task_key: str | None) -> str:
    if not without_task:
        return "there is no trial in the input"
    if task_key:
        return f"none of the {without_task} results has a member {task_key!r}"
    return (
        f"none of the {without_task} results names a task: give conversations one (span attribute otel_eval.reference.task, a field `task` "
        "in their line or in the dataset, or `otel-eval score --task-key`) and score them again"
    )


def _found(trials: TrialSet, ks: Sequence[int], *, passed_from: float, leave_out_short: bool) -> Found:
    tasks = trials.tasks(passed_from)
    wanted = sorted(set(ks)) or ([trials.k] if trials.k else None)
    least = max(wanted) if wanted else 1
    left_out = tuple(task for task in tasks if leave_out_short and task.n < least)
    kept = tuple(task for task in tasks if task not in left_out)
    if not kept:
        return Found(trials=trials, tasks=tasks, left_out=left_out, fault=f"no task has {least} trials with a verdict")
    try:
        most = min(task.n for task in kept)
        values = tuple(pass_hat_k_over_tasks(kept, k=k) for k in wanted or range(1, min(max(1, most), MOST_K) + 1))
    except TooFewTrials as error:
        return Found(trials=trials, tasks=kept, fault=f"{error}: --leave-out-short")
    most_k = most if not wanted and most > MOST_K else None
    return Found(trials=trials, tasks=kept, left_out=left_out, values=values, most_k=most_k)


def members_of(found: Found) -> dict[str, Any]:
    """A set as JSON members."""
    return {
        "name": found.trials.name,
        "pass_hat_k": [
            {
                "k": each.k,
                "value": each.value,
                "interval": list(each.interval) if each.interval else None,
                "tasks": len(each.tasks),
                "n": each.n,
                "c": each.c,
                "infrastructure_failures": each.infrastructure_failures,
                "per_task": list(each.per_task),
            }
            for each in found.values
        ],
        "tasks": [_task_members(task) for task in found.tasks],
        "left_out": [_task_members(task) for task in found.left_out],
        "without_verdict": dict(found.trials.without_verdict),
        "without_task": found.trials.without_task,
        "error": found.fault,
    }


def _task_members(task: TaskTrials) -> dict[str, Any]:
    return {"task": task.task, "n": task.n, "c": task.c, "infrastructure_failures": task.infrastructure_failures}


def _text(found: Sequence[Found], *, by_task: bool) -> Iterator[str]:
    rows = [_row(each, value) for each in found for value in each.values]
    if rows:
        yield from _columns(_HEAD, rows, _RIGHT)
    if by_task:
        head = ("trials of", "task", "n", "c", "no verdict")
        listed = [(f.trials.name, t.task, str(t.n), str(t.c), str(t.infrastructure_failures)) for f in found for t in f.tasks]
        yield from ["", *_columns(head, listed, frozenset(head[2:]))]


def _row(found: Found, value: PassHatK) -> tuple[str, ...]:
    interval = "{:.3f} to {:.3f}".format(*value.interval) if value.interval else "–"
    counts = (len(value.tasks), value.n, value.c, value.infrastructure_failures)
    return (found.trials.name, str(value.k), f"{value.value:.3f}", interval, *map(str, counts))


def _columns(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], right: frozenset[str]) -> Iterator[str]:
    listed = [head, *(tuple(map(one_line, row)) for row in rows)]
    widths = [max(len(row[place]) for row in listed) for place in range(len(head))]
    for row in listed:
        cells = (cell.rjust(width) if name in right else cell.ljust(width) for cell, width, name in zip(row, widths, head, strict=True))
        yield "  ".join(cells).rstrip()


def _remarks(found: Found) -> Iterator[str]:
    """What must be known to read the numbers, and what is not in them."""
    name, without = found.trials.name, found.trials.without_verdict
    if without:
        reasons = ", ".join(f"{reason} {count}" for reason, count in without.most_common())
        yield f"{name}: {without.total()} trials without a verdict are not counted ({reasons})"
    if found.trials.without_task:
        yield f"{name}: {found.trials.without_task} results name no task and are not counted"
    if found.trials.contradicted:
        yield f"{name}: {found.trials.contradicted} trials have another verdict later in the same file: the last one counts"
    if found.most_k:
        yield f"{name}: shown are k from 1 to {MOST_K} of up to {found.most_k}; name others with -k"
    if found.left_out:
        yield f"{name}: {len(found.left_out)} tasks with too few trials are left out"
    if found.fault:
        yield f"{name}: {found.fault}"
