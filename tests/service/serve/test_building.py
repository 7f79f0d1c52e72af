"""The parts as a configuration makes them: sinks that are on, budgets that outlive the process, circles that are refused."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError, JudgeError
from otel_eval.judges.base import Question
from otel_eval.judges.form import VERDICT, Form, Words
from otel_eval.judges.ledger import Amount
from otel_eval.judges.settings import JudgeSettings
from otel_eval.model import Conversation, Reference
from otel_eval.service.config import Config, load_config
from otel_eval.service.judge_config import judge_from_config
from otel_eval.service.serve.building import RUN_NAME, books_of, plan_from_config, sinks_from_config
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
        judge_from_config(config(judge__model="m", judge__base_url="http://x/v1", judge__budget__day_usd=1).judge, {}, books_of(store))


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
    chosen = judge_from_config(judge, {}, books_of(store))
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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"judge__first__model": "small"}, "set judge.model"),
        ({"judge__model": "m", "judge__first__model": "small", "judge__first__kind": "heuristic"}, "rules are not mixed"),
        ({"judge__model": "m", "judge__first__model": "small", "judge__first__base_url": "there"}, "judge.first.base_url is no address"),
        ({"judge__model": "m", "judge__samples": 3, "judge__panel": [{"model": "n"}]}, "set one of them"),
        (
            {
                "judge__model": "m",
                "judge__price__input_usd": 1,
                "judge__price__output_usd": 2,
                "judge__budget__day_usd": 1,
                "judge__panel": [{"model": "n"}],
            },
            "judge.panel.0.price is not set",
        ),
    ],
)
def test_judges_that_cannot_work_together_are_refused(settings: dict[str, Any], said: str) -> None:
    """Before the first byte, by the name of the key."""
    with pytest.raises(ConfigError, match=re.escape(said)):
        judge_from_config(config(**{"judge__base_url": "http://x/v1"} | settings).judge, {})


def test_cascade_and_panel_from_a_configuration(tmp_path: Path) -> None:
    """What serve builds asks the first judge, then judge and panel by majority, all with the books of the store."""

    def by_model(request: Any) -> dict[str, Any]:
        said = {"small": ("yes", "leaning"), "m": ("no", "clear"), "p1": ("yes", "clear"), "p2": ("yes", "clear")}[request["model"]]
        return verdict({"verdict": said[0], "certainty": said[1]})

    with judge_server([by_model]) as server, Store(None) as store:
        judge = config(
            judge__model="m",
            judge__base_url=server.url,
            judge__first__model="small",
            judge__first__audit=0.0,
            judge__panel=[{"model": "p1"}, {"model": "p2"}],
            judge__budget__run_tokens=1_000_000,
        ).judge
        answer = asyncio.run(ask_once(judge, store))
        spent = store.ledger(Amount, run=RUN_NAME).spent_in_run().tokens
    assert answer == "yes"
    assert server.requests[0]["model"] == "small"
    assert {r["model"] for r in server.requests} == {"small", "m", "p1", "p2"}
    assert spent == 4 * 960  # four calls of 900 tokens in and 60 out


def test_a_key_goes_only_where_it_belongs() -> None:
    """A judge at another address does not get the judge's key; at the same address it does; a file of its own goes before both."""
    leaning = verdict({"verdict": "yes", "certainty": "leaning"})
    with judge_server([ANSWER]) as server, judge_server([leaning]) as other, Store(None) as store:
        settings = {"judge__model": "m", "judge__base_url": server.url, "judge__api_key": "sk-own"}
        judge = config(**settings, judge__first__model="s", judge__first__base_url=other.url)
        asyncio.run(ask_once(judge.judge, store))
    assert [h["authorization"] for h in server.headers] == ["Bearer sk-own"]
    assert "sk-own" not in str(other.headers)


async def ask_once(judge: Any, store: Store) -> Any:
    chosen = judge_from_config(judge, {}, books_of(store))
    certainty = Words(options=("clear", "leaning"), optional=True)
    form = Form(name="yes_no", fields={"verdict": VERDICT, "certainty": certainty})
    try:
        return (await chosen.judge.ask(Question(name="yes_no", form=form, record="one"))).answer["verdict"]
    finally:
        await chosen.close()


def test_two_kinds_of_judge_share_no_verdicts() -> None:
    """One address and model asked as a decision endpoint and as a chat endpoint, or for other numbers of opinions, are different judges."""
    settings = JudgeSettings(kind="openai", model="m", base_url="http://x/v1")
    changed = [replace(settings, kind="decisions"), replace(settings, wire="systemone"), replace(settings, samples=3)]
    assert len({settings.identity, *(each.identity for each in changed)}) == 4


@pytest.mark.parametrize(
    ("agent", "named", "topics"),
    [
        ("billing-eu", None, ("invoices", "refunds")),
        ("travel", None, ("trains",)),
        ("other", None, ("anything",)),
        (None, None, ("anything",)),
        ("travel", ("ferries",), ("ferries",)),
    ],
)
def test_topics_by_agent(agent: str | None, named: tuple[str, ...] | None, topics: tuple[str, ...]) -> None:
    """By name or glob, else those of all agents; a reference that names topics goes before both."""
    by_agent = {"billing-*": ["invoices", "refunds"], "travel": ["trains"]}
    plan = plan_from_config(config(scoring__topics=["anything"], scoring__agent_topics=by_agent))
    assert plan.topics.added_to(Reference(topics=named), Conversation(id="c", agent=agent)).topics == topics
