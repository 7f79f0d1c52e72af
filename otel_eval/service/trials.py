"""Trials of tasks from files of JSON lines: results that `otel-eval score --out` or a file sink wrote, trials, or counts.

| a line | is |
|---|---|
| `{"metric", "outcome", "task", …}` | a result of ours: one trial of its task, for its metric |
| `{"task", "passed": true}`, or `value` or `reward` with a number | one trial; null is one without a verdict |
| `{"task", "n": 4, "c": 3}` | the trials of one task, counted: n of them, c passed |
| `{"tasks": [{"n": 4, "c": 3}, …], "k": 2}` | a whole set of tasks, by itself |

Within a file a later line of the same trial takes the place of the earlier one: that is how `score` goes on after an interruption. Lines of
different files are different trials.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

from otel_eval.errors import InputError
from otel_eval.metrics.pass_hat_k import PASSED_FROM, TaskTrials, Trial, task_trials

STDIN = "-"
MOST_TRIALS = 100_000
"""Of one task in one line of counts: binomials of more take minutes, and nobody runs a task so often."""
TRIALS = "trials"
"""The name of what is no result of ours and names no metric."""
_TASK_MEMBERS = ("task", "task_id")
_TRIAL_MEMBERS = ("trial", "trial_id")
_VALUE_MEMBERS = ("passed", "value", "reward")
_EXPECTED = "a result of `otel-eval score`, a trial with `task` and `passed`, `value` or `reward`, or counts `n` and `c`"


@dataclass(slots=True, kw_only=True)
class TrialSet:
    """The trials that one pass^k is made from: those of one metric, or one set of counts."""

    name: str
    k: int | None = None
    """The k that the set itself asks for."""
    counted: list[TaskTrials] = field(default_factory=list)
    trials: dict[tuple[str, ...], tuple[Trial, str]] = field(default_factory=dict)
    """By file, task and name of the trial: the trial, and why it has no verdict."""
    without_task: int = 0
    """Results that name no task; they are no trials."""
    of_turns: int = 0
    """Results of single turns: no trial has one result then."""
    contradicted: int = 0
    """Verdicts whose place another verdict of the same trial took, later in the file."""

    def tasks(self, passed_from: float = PASSED_FROM) -> tuple[TaskTrials, ...]:
        """The trials counted by task; counts of one task from several lines are added up."""
        both = [*self.counted, *task_trials((trial for trial, _ in self.trials.values()), passed_from=passed_from)]
        by_task: dict[str, TaskTrials] = {}
        for task in both:
            by_task[task.task] = task if task.task not in by_task else _sum(by_task[task.task], task)
        return tuple(by_task.values())

    @property
    def without_verdict(self) -> Counter[str]:
        """Trials that are neither passed nor failed, by reason."""
        return Counter(why for trial, why in self.trials.values() if trial.value is None)


def _sum(one: TaskTrials, other: TaskTrials) -> TaskTrials:
    failures = one.infrastructure_failures + other.infrastructure_failures
    return TaskTrials(task=one.task, n=one.n + other.n, c=one.c + other.c, infrastructure_failures=failures)


def trial_sets_from_paths(paths: Sequence[Path], *, task_key: str | None = None, stdin: BinaryIO | None = None) -> list[TrialSet]:
    """The sets in the order in which they first appear. `task_key` names the member of a line that groups, instead of `task`.

    InputError with file and line for what is none of the four kinds.
    """
    sets: dict[str, TrialSet] = {}
    for path in paths:
        for number, record in _records(path, stdin):
            try:
                _add(sets, record, f"{path}:{number}", _Names(file=str(path), task_key=task_key, line=number))
            except InputError as error:
                raise InputError(f"{str(path)!r}, line {number}: {error}") from None
    return list(sets.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """Where a line stands, and what its task is called."""

    file: str
    line: int
    task_key: str | None

    def task(self, record: Mapping[str, Any]) -> str | None:
        return _text(record, (self.task_key,) if self.task_key else _TASK_MEMBERS)


def _records(path: Path, stdin: BinaryIO | None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        if str(path) != STDIN:
            data = path.read_bytes()
        elif stdin is not None:
            data = stdin.read()
        else:
            raise InputError("standard input is not connected")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is no text in UTF-8: expected JSON lines, each {_EXPECTED}") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _object(path, number, line)


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except RecursionError:
        raise InputError(f"{str(path)!r}, line {number}: JSON nested too deep") from None
    except ValueError:
        raise InputError(f"{str(path)!r}, line {number}: no JSON; expected one object a line, {_EXPECTED}") from None
    if not isinstance(record, Mapping):
        raise InputError(f"{str(path)!r}, line {number}: expected an object, {_EXPECTED}")
    return record


def _add(sets: dict[str, TrialSet], record: Mapping[str, Any], place: str, names: _Names) -> None:
    if isinstance(record.get("tasks"), list):
        made = _set_of_counts(record, place)
        sets[f"{place} {made.name}"] = made
    elif "outcome" in record and isinstance(record.get("metric"), str):
        _add_result(sets.setdefault(record["metric"], TrialSet(name=record["metric"])), record, names)
    elif "n" in record and "c" in record:
        sets.setdefault(TRIALS, TrialSet(name=TRIALS)).counted.append(_counts(record, _named(record, names)))
    else:
        _add_trial(sets.setdefault(TRIALS, TrialSet(name=TRIALS)), record, names)


def _set_of_counts(record: Mapping[str, Any], place: str) -> TrialSet:
    k = record.get("k")
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or k < 1):
        raise InputError("k is no whole number of at least 1")
    if not all(isinstance(task, Mapping) for task in record["tasks"]):
        raise InputError("tasks has an item that is no object: expected objects with n and c")
    counted = [_counts(task, _text(task, _TASK_MEMBERS) or f"task {place}") for place, task in enumerate(record["tasks"], start=1)]
    return TrialSet(name=_text(record, ("id", "name")) or place, k=k, counted=counted)


def _counts(record: Mapping[str, Any], task: str) -> TaskTrials:
    n, c = record.get("n"), record.get("c")
    if type(n) is not int or type(c) is not int or not 0 <= c <= n:
        raise InputError(f"n and c of {task!r} are no counts: expected whole numbers with 0 ≤ c ≤ n")
    if n > MOST_TRIALS:
        raise InputError(f"n of {task!r} is {n}: expected no more than {MOST_TRIALS} trials of a task")
    return TaskTrials(task=task, n=n, c=c)


def _add_result(found: TrialSet, record: Mapping[str, Any], names: _Names) -> None:
    task = names.task(record)
    if task is None or record.get("level") == "turn":
        found.without_task += task is None
        found.of_turns += record.get("level") == "turn"
        return
    outcome = record["outcome"]
    if outcome == "score":
        value, why = _value(record, ("value",)), ""
    else:
        value, why = None, f"{outcome}: {record.get('error_type') or record.get('reason') or 'no reason given'}"
    _put(found, Trial(task=task, value=value), why, _trial_name(record, names), names)


def _add_trial(found: TrialSet, record: Mapping[str, Any], names: _Names) -> None:
    if not any(name in record for name in _VALUE_MEMBERS):
        raise InputError(f"nothing to count: expected {_EXPECTED}")
    name = _text(record, _TRIAL_MEMBERS) or f"line {names.line}"
    _put(found, Trial(task=_named(record, names), value=_value(record, _VALUE_MEMBERS)), "no value", name, names)


def _put(found: TrialSet, trial: Trial, why: str, name: str, names: _Names) -> None:
    key = names.file, trial.task, name
    earlier = found.trials[key][0].value if key in found.trials else None
    found.contradicted += earlier is not None and trial.value is not None and earlier != trial.value
    found.trials[key] = trial, why


def _trial_name(record: Mapping[str, Any], names: _Names) -> str:
    """What tells a result from others of its task: its trial, else its conversation."""
    return _text(record, _TRIAL_MEMBERS) or f"conversation {_text(record, ('conversation',)) or names.line}"


def _named(record: Mapping[str, Any], names: _Names) -> str:
    task = names.task(record)
    if task is None:
        raise InputError(f"no task: expected a member {names.task_key or 'task'!r} that is the same for all trials of a task")
    return task


def _value(record: Mapping[str, Any], members: Sequence[str]) -> float | None:
    """The first of these members that is there, as a number; None for null."""
    name = next((m for m in members if m in record), None)
    value = record[name] if name is not None else None
    if value is None:
        return None
    if not isinstance(value, bool | int | float) or not isfinite(value):
        raise InputError(f"{name} is no number, true, false or null")
    return float(value)


def _text(record: Mapping[str, Any], members: Sequence[str]) -> str | None:
    """The first of these members that is there, as text: numbers as their digits."""
    value = next((v for m in members if (v := record.get(m)) is not None), None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{' or '.join(members)} is no text or number")
    return str(value)
