"""The parts as a configuration makes them: sinks that are on, budgets that outlive the process, circles that are refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError, JudgeError
from otel_eval.judges.base import Question
from otel_eval.judges.form import VERDICT, Form
from otel_eval.service.config import Config, load_config
from otel_eval.service.serve.building import judge_from_config, plan_from_config, sinks_from_config
from otel_eval.store import Store
from tests.fakes.judge_server import judge_server, verdict

ANSWER = verdict({"verdict": "yes"})


def config(**settings: Any) -> Config:
    """Keys as `section__key`."""
    environ = {f"OTEL_EVAL__{k.upper()}": v if isinstance(v, str) else json.dumps(v) for k, v in settings.items()}
    return load_config(None, environ).config


@pytest.mark.parametrize(
    ("settings", "environ", "names"),
    [
        ({}, {}, ["console"]),
        ({}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://backend:4318"}, ["otlp_events", "otlp_metrics"]),
        ({}, {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://backend:4318/v1/logs"}, ["otlp_events"]),
        ({"sinks__otlp_events__endpoint": "http://backend:4318"}, {}, ["otlp_events"]),
        ({"sinks__otlp_metrics__enabled": False}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://backend:4318"}, ["otlp_events"]),
        ({"sinks__otlp_spans__enabled": True, "sinks__otlp_spans__endpoint": "http://backend:4318"}, {}, ["otlp_spans"]),
        ({"sinks__console__enabled": True, "sinks__otlp_events__endpoint": "http://backend:4318"}, {}, ["otlp_events", "console"]),
    ],
)
def test_which_sinks_are_on(settings: dict[str, Any], environ: dict[str, str], names: list[str]) -> None:
    """An OTLP sink is on where an endpoint is known; the console shows results where nothing else does."""
    assert list(sinks_from_config(config(**settings), environ)) == names


@pytest.mark.parametrize(
    ("endpoint", "listens"),
    [
        ("http://localhost:4318", "localhost:4318"),
        ("http://127.0.0.1:4318/v1/logs", "0.0.0.0:4318"),
        ("http://localhost:4319", "[::]:4319"),
    ],
)
def test_a_sink_that_leads_back_is_refused(endpoint: str, listens: str) -> None:
    """Results that come back to their sender arrive nowhere: that is said at the start."""
    with pytest.raises(ConfigError, match="own receiver"):
        sinks_from_config(config(sinks__otlp_events__endpoint=endpoint, receive__http__endpoint=listens), {})


def test_a_metric_asked_for_twice_is_refused() -> None:
    """Its results could not be told apart."""
    with pytest.raises(ConfigError, match="asked for twice"):
        plan_from_config(config(metrics=["turn_count", {"name": "turn_count", "rate": 0.5}]))


def test_a_budget_in_dollars_needs_a_price(tmp_path: Path) -> None:
    """Without a price nothing could be held against the limit."""
    with Store(None) as store, pytest.raises(ConfigError, match=r"judge\.price is not set"):
        judge_from_config(config(judge__model="m", judge__base_url="http://x/v1", judge__budget__day_usd=1).judge, store, {})


def test_a_budget_outlives_the_process(tmp_path: Path) -> None:
    """What a run has spent is known after a restart: the limit of the run goes on counting."""
    with judge_server([ANSWER]) as server:
        judge = config(judge__model="m", judge__base_url=server.url, judge__budget__run_tokens=3000).judge
        asked = 0
        for _ in range(3):
            with Store(tmp_path / "store.db") as store:
                asked += asyncio.run(ask_until_spent(judge, store))
        assert 1 <= len(server.requests) <= 3
        assert asked == len(server.requests)


async def ask_until_spent(judge: Any, store: Store) -> int:
    """Ask new questions until the budget says no; how many were answered."""
    chosen = judge_from_config(judge, store, {})
    answered = 0
    try:
        for number in range(10):
            question = Question(
                name="yes_no", form=Form(name="yes_no", fields={"verdict": VERDICT}), record=f"{answered} {number} {store.now_s()}"
            )
            await chosen.judge.ask(question)
            answered += 1
    except JudgeError as error:
        return answered if error.reason == "budget_exhausted" else -100
    finally:
        await chosen.close()
    raise AssertionError("the budget never ended")
