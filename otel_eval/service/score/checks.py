"""Checks by what a user writes: `--check NAME=QUESTION`, a JSON Lines file of them, or questions beside a conversation in its line."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.metrics.check import Check
from otel_eval.metrics.requirements import parameter_problems
from otel_eval.scoring import MetricRun
from otel_eval.service.text_file import text_of_file

_PARAMETERS = ("question", "expect", "when", "category")
_MULTICHALLENGE = {"TARGET_QUESTION": "question", "PASS_CRITERIA": "expect", "AXIS": "category"}
"""Names in the files of MultiChallenge (ekwinox117/multi-challenge)."""


def checks_from_text(text: str) -> list[MetricRun]:
    """The checks of `NAME=QUESTION`, or of a file with one object a line: `name`, `question`, `expect`, `category`, `when`."""
    name, equals, question = text.partition("=")
    if equals:
        return [check_run(name.strip(), {"question": question.strip()})]
    path = Path(text)
    if not path.is_file():
        raise ConfigError(f"--check {text!r}: expected NAME=QUESTION, or a file of checks")
    return list(_from_file(path))


def _from_file(path: Path) -> Iterator[MetricRun]:
    for number, line in enumerate(text_of_file(path, "--check").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            name = record["name"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ConfigError(f"--check {str(path)!r}, line {number}: expected an object with 'name' and 'question'") from None
        yield check_run(str(name), _parameters(record))


def checks_beside(record: Mapping[str, Any] | None) -> list[MetricRun]:
    """The checks of one conversation: a list `checks` in its line, or one `question`, in our words or MultiChallenge's."""
    if record is None:
        return []
    listed = record.get("checks")
    if isinstance(listed, list):
        named = [(str(c.get("name") or n), c) for n, c in enumerate(listed, start=1) if isinstance(c, Mapping)]
        return [check_run(name, _parameters(check)) for name, check in named]
    own = {ours: record[theirs] for theirs, ours in _MULTICHALLENGE.items() if isinstance(record.get(theirs), str)}
    own |= _parameters(record) if isinstance(record.get("question"), str) else {}
    if "question" not in own:
        return []
    if "expect" in own:
        own["expect"] = str(own["expect"]).strip().lower()
    return [check_run("question", own)]


def check_run(name: str, parameters: Mapping[str, Any]) -> MetricRun:
    """The run of one check; ConfigError for what is wrong with it."""
    metric = Check(name=name)
    problems = list(parameter_problems(metric.card, parameters))
    if not name or not parameters.get("question"):
        problems.append("a check needs a name and a question")
    if problems:
        raise ConfigError(f"check {name!r}: {'; '.join(problems)}")
    return MetricRun(metric=metric, parameters=parameters)


def _parameters(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in _PARAMETERS if record.get(name) is not None}
