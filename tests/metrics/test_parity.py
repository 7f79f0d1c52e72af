"""The cases of ragas, ADK and pass^k, each a test; `tests/parity.py` runs the same on any file."""

import json
import os
from pathlib import Path

import pytest

from tests import parity
from tests.fakes.cases import Case

HERE = Path(__file__).parent.parent
FILES = ("ragas-parity.jsonl", "adk-trajectory.jsonl", "pass-hat-k.jsonl")
SHARED = Path(os.environ.get("OTEL_EVAL_SHARED", HERE.parent.parent / "shared")) / "cases"


def cases() -> list[object]:
    lines = [line for name in FILES for line in (HERE / "data/cases" / name).read_text(encoding="utf-8").splitlines()]
    return [pytest.param(case, id=case["id"]) for case in map(json.loads, lines)]


@pytest.mark.parametrize("case", cases())
def test_case(case: Case) -> None:
    """The reference implementation's value with `compat`, and the better value without it."""
    assert parity.problems_of(case) == []


@pytest.mark.parametrize("name", FILES)
def test_the_kept_cases_are_the_handed_ones(name: str) -> None:
    """The copies that CI runs are the cases as they were handed over."""
    if not (SHARED / name).exists():
        pytest.skip(f"no {name} in the folder that OTEL_EVAL_SHARED names")
    assert (HERE / "data/cases" / name).read_bytes() == (SHARED / name).read_bytes()


def test_the_script_counts_and_names_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case with a wrong value is printed by its id, and the last line counts both kinds."""
    right = {"id": "right", "metric": "pass_hat_k", "k": 1, "tasks": [{"n": 2, "c": 1}], "expected_per_task": [0.5], "expected_value": 0.5}
    wrong = {**right, "id": "wrong", "expected_value": 0.75}
    odd = {"id": "odd", "metric": "no_such_metric"}
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, (right, wrong, odd))))
    assert parity.main([str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == ["wrong", "odd"]
    assert lines[-1] == "1 passed, 2 failed"
