"""What a scorer tells of itself."""

import asyncio
import logging

import pytest

from otel_eval.otlp.receive.intake import IntakeCounts
from otel_eval.service.judge_choice import JudgeChoice
from otel_eval.service.serve.scorer import state_of
from tests.fakes.bench import Bench


def test_refused_requests_are_counted_and_seldom_told(caplog: pytest.LogCaptureFixture) -> None:
    """Each reason stands in /status with its number, and in the log once, then after a minute with how many there were meanwhile."""

    async def told() -> None:
        bench, now = Bench(), [0.0]
        state = state_of(bench.parts, bench.plan, JudgeChoice(judge=bench.judge, kind="fake", model=bench.judge), bench.config, {})
        state.intake, state.clock = IntakeCounts(), lambda: now[0]
        for name, at in (("WrongType", 0), ("WrongType", 1), ("TooLarge", 2), ("WrongType", 59), ("WrongType", 61), ("WrongType", 62)):
            now[0] = at
            state.refused(name)
        assert state.status()["received"]["refused"] == {"WrongType": 5, "TooLarge": 1}
        bench.close()

    with caplog.at_level(logging.WARNING, logger="otel_eval.service.serve.state"):
        asyncio.run(told())
    assert [record.getMessage().partition(";")[0] for record in caplog.records] == [
        "refused 1 requests: WrongType",
        "refused 1 requests: TooLarge",
        "refused 3 requests: WrongType",
    ]
