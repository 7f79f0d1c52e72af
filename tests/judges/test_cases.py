"""The handed judge cases, each a test: replies of endpoints against the whole chain, and conversations that try to steer the judge."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.judge_cases import cases_of, problems_of

CASES = [case for path in sorted((Path(__file__).parent.parent / "data" / "cases").glob("judge-*.jsonl")) for case in cases_of(path)]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: Mapping[str, Any]) -> None:
    """Nothing differs from what the case says must follow."""
    assert asyncio.run(problems_of(case)) == []
