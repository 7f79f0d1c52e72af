"""Runs files of metric cases against the metrics, and says what differs.

    python tests/parity.py FILE…

reads JSON Lines in the formats of `ragas-parity.jsonl`, `adk-trajectory.jsonl` and `pass-hat-k.jsonl`, prints one line for each thing that
differs and closes with `N passed, N failed`. A case passes when

- with `compat` the metric gives the recorded value of the reference implementation within 1e-12, or no value where that raised;
- where `legacy_value` is given, `compat="ragas-legacy"` gives that;
- where the recorded value is `disputed`, the metric's own way gives `better_value`, or no value where that is null.

Judged metrics are run with the replies of `judge_script`, and must ask for them in the order of `judge_calls`. Some scripts are of a judge
that was fooled, so that no way of asking it gives the better value: then the judge of rules is asked (it gets the script's word on which
topics are inside).
"""

import asyncio
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from otel_eval.judges.base import Judge, JudgeError
from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import ADK, RAGAS, RAGAS_LEGACY, MetricInput
from otel_eval.metrics.pass_hat_k import PassHatK, TaskTrials, TooFewTrials, pass_hat_k_over_tasks
from otel_eval.model import Failed, FailReason, Outcome, Score, Skipped, SkipReason
from tests.fakes.cases import Case, InvalidInput, conversation_of, reference_of
from tests.fakes.ragas_script import RagasScript, RulesWithScriptedTopics

TOLERANCE = 1e-12
MATCH_TYPES = ("exact", "in_order", "any_order")
STATUS_OF_LABEL = {"pass": "PASSED", "fail": "FAILED"}


def main(paths: Sequence[str]) -> int:
    """Runs the files; 0 when all cases passed."""
    passed, failed = 0, 0
    for case, problems in run_files(map(Path, paths)):
        for problem in problems:
            print(f"{case['id']}: {problem}")
        passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0 or passed == 0)


def run_files(paths: Iterator[Path]) -> Iterator[tuple[Case, list[str]]]:
    """Each case of the files with what is wrong with it."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                case = json.loads(line)
                yield case, problems_of(case)


def problems_of(case: Case) -> list[str]:
    """What differs in one case; empty when nothing does."""
    check = CHECKS.get(case.get("metric", ""))
    return list(check(case)) if check else [f"no metric {case.get('metric')!r} is known here"]


def ragas_problems(case: Case) -> Iterator[str]:
    """A case of a metric of ragas: recorded value, deprecated value, better value."""
    name, parameters = _metric_and_parameters(case)
    judge = RagasScript(case.get("judge_script", {}))
    outcome = _scored(case, name, parameters, RAGAS, judge)
    yield from _differs("ragas", case, outcome)
    if "judge_calls" in case and judge.kinds != case["judge_calls"]:
        yield f"asked {judge.kinds}, ragas asks {case['judge_calls']}"
    yield from _judge_inputs(case, judge)
    if "legacy_value" in case:
        legacy = _scored(case, name, parameters, RAGAS_LEGACY, RagasScript(case.get("judge_script", {})))
        yield from _value_differs("ragas-legacy", case["legacy_value"], legacy)
    if "disputed" in case:
        yield from _better_value(case, name, parameters)


def _metric_and_parameters(case: Case) -> tuple[str, dict[str, Any]]:
    parameters: dict[str, Any] = dict(case.get("params", {}))
    if case["metric"] == "topic_adherence":
        return f"topic_adherence_{parameters.pop('mode', 'f1')}", parameters
    return RENAMED.get(case["metric"], str(case["metric"])), parameters


def _scored(case: Case, name: str, parameters: Mapping[str, Any], compat: str | None, judge: Judge) -> Outcome | InvalidInput:
    try:
        given = MetricInput(
            conversation=conversation_of(case),
            reference=reference_of(case),
            judge=judge,
            parameters=parameters,
            compat=compat,
        )
    except InvalidInput as error:
        return error
    try:
        return asyncio.run(builtin_metric(name).score(given))
    except JudgeError as error:
        return Failed(error_type=FailReason(error.reason), detail=str(error))


def _judge_inputs(case: Case, judge: RagasScript) -> Iterator[str]:
    """The texts that ragas puts into its prompts, held against those of our questions."""
    for question in judge.asked:
        if "transcript" in question.inputs and _comparable(question.inputs["transcript"]) != _comparable(case["transcript"]):
            yield f"the transcript of {question.name} differs from the one of ragas"
        if question.name == "compare" and {k: question.inputs.get(k) for k in case["compare_input"]} != case["compare_input"]:
            yield "the texts to compare differ from those of ragas"


def _comparable(transcript: str) -> str:
    """Without the lone line that ragas writes for an empty list of calls, which our messages do not tell from no list."""
    lines = transcript.split("\n")
    return "\n".join(x for x, after in zip(lines, [*lines[1:], ""], strict=True) if x and (x != "Tools:" or after.startswith("  ")))


def _better_value(case: Case, name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """What the metric's own way makes of a disputed case."""
    better = case["disputed"]["better_value"]
    found = [
        _defined(case, name, {**parameters, **extra}, judge)
        for extra, judge in (_own_ways(case["judge_script"]) if "judge_script" in case else [({}, RagasScript({}))])
    ]
    differences = [list(_value_differs("own way", better, outcome)) for outcome in found]
    if all(differences):
        yield from differences[0]


def _own_ways(script: Mapping[str, Any]) -> list[tuple[dict[str, str], Judge]]:
    """The scripted judge asked step by step; where it was the one that was fooled, the judge of rules asked in one question."""
    return [({"strategy": "stepwise"}, RagasScript(script)), ({}, RulesWithScriptedTopics(script))]


def _defined(case: Case, name: str, parameters: Mapping[str, Any], judge: Judge) -> Outcome | InvalidInput:
    """The outcome; where the metric calls it undefined and the case says 1, the one that the metric gives when told so."""
    outcome = _scored(case, name, parameters, None, judge)
    undefined = isinstance(outcome, Skipped) and outcome.reason is SkipReason.UNDEFINED
    if undefined and case["disputed"]["better_value"] is not None:
        return _scored(case, name, {**parameters, "undefined_is": 1.0}, None, judge)
    return outcome


def adk_problems(case: Case) -> Iterator[str]:
    """A case of ADK's tool trajectory: value, status and turns as recorded, then the better value."""
    parameters = {ADK_PARAMETERS[name]: value for name, value in case["params"].items()}
    if isinstance(parameters.get("match"), int):  # ADK takes the numbers of its enumeration too
        parameters["match"] = MATCH_TYPES[parameters["match"]]
    outcome = _scored(case, "tool_trajectory", parameters, ADK, RagasScript({}))
    yield from _differs("adk", case, outcome)
    if isinstance(outcome, Score):
        turns = zip(outcome.details["turns"], outcome.details["turn_labels"], strict=True)
        found = [{"value": value, "status": STATUS_OF_LABEL[label]} for value, label in turns]
        if found != case["expected_turns"]:
            yield f"turns are {found}, ADK has {case['expected_turns']}"
        if STATUS_OF_LABEL[outcome.label or ""] != case["expected_status"]:
            yield f"status is {outcome.label}, ADK has {case['expected_status']}"
    if "disputed" in case:
        yield from _value_differs(
            "own way", case["disputed"]["better_value"], _scored(case, "tool_trajectory", parameters, None, RagasScript({}))
        )


def pass_hat_k_problems(case: Case) -> Iterator[str]:
    """A case of pass^k: one value a task, and their mean."""
    try:
        found: PassHatK | None = pass_hat_k_over_tasks(
            [TaskTrials(task=str(number), n=task["n"], c=task["c"]) for number, task in enumerate(case["tasks"])], k=case["k"]
        )
    except TooFewTrials:
        found = None
    if found is None or "expected_error" in case:
        if (found is None) != ("expected_error" in case):
            yield "refused" if found is None else "not refused"
        return
    if not _close(found.value, case["expected_value"]):
        yield f"value is {found.value!r}, expected {case['expected_value']!r}"
    if not all(map(_close, found.per_task, case["expected_per_task"])) or len(found.per_task) != len(case["expected_per_task"]):
        yield f"values of the tasks are {found.per_task}, expected {case['expected_per_task']}"


def _differs(way: str, case: Case, outcome: Outcome | InvalidInput) -> Iterator[str]:
    """The recorded value, not-a-number, or error."""
    if "expected_error" in case:
        yield from _error_differs(way, case["expected_error"]["kind"], outcome)
    elif case.get("expected_nan"):
        value = outcome.value if isinstance(outcome, Score) else None
        if not (isinstance(outcome, Skipped) and outcome.reason is SkipReason.UNDEFINED) and not (value is not None and math.isnan(value)):
            yield f"{way}: {_shown(outcome)}, expected not-a-number"
    else:
        yield from _value_differs(way, case["expected_value"], outcome)


def _error_differs(way: str, kind: str, outcome: Outcome | InvalidInput) -> Iterator[str]:
    refused = isinstance(outcome, InvalidInput) or (isinstance(outcome, Skipped) and outcome.reason is SkipReason.NEEDS_MISSING)
    refused |= isinstance(outcome, Failed) and outcome.error_type is FailReason.METRIC_ERROR
    unreadable = isinstance(outcome, Failed) and outcome.error_type.value.startswith("reply_")
    if not (refused if kind == "invalid_input" else unreadable):
        yield f"{way}: {_shown(outcome)}, expected {kind}"


def _value_differs(way: str, expected: float | None, outcome: Outcome | InvalidInput) -> Iterator[str]:
    if expected is None and not isinstance(outcome, Score):
        return
    if expected is None or not isinstance(outcome, Score) or not _close(outcome.value, expected):
        yield f"{way}: {_shown(outcome)}, expected {expected!r}"


def _close(value: float, expected: float) -> bool:
    return abs(value - expected) <= TOLERANCE


def _shown(outcome: Outcome | InvalidInput) -> str:
    if isinstance(outcome, Score):
        return repr(outcome.value)
    return f"no value ({outcome if isinstance(outcome, InvalidInput) else f'{type(outcome).__name__}: {outcome.detail}'})"


RENAMED = {"agent_goal_accuracy_without_reference": "agent_goal_accuracy"}
ADK_PARAMETERS = {"match_type": "match", "threshold": "threshold", "ignore_args": "ignore_args"}
CHECKS: Mapping[str, Callable[[Case], Iterator[str]]] = {
    "tool_call_accuracy": ragas_problems,
    "tool_call_f1": ragas_problems,
    "topic_adherence": ragas_problems,
    "agent_goal_accuracy_with_reference": ragas_problems,
    "agent_goal_accuracy_without_reference": ragas_problems,
    "tool_trajectory_avg_score": adk_problems,
    "pass_hat_k": pass_hat_k_problems,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
