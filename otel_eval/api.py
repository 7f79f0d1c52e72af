"""The Python interface: `otel_eval.score(...)` and its async twin `ascore`. Nothing global, results are values.

report = otel_eval.score(messages, metrics=["agent_goal_accuracy"])
report.results[0].outcome      # Score(value=1.0, label="pass", explanation=…, evidence=(2, 3), …)
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from otel_eval.errors import ConfigError, InputError
from otel_eval.exchange.records import conversation_from_record
from otel_eval.exchange.references import reference_from_record
from otel_eval.judges import BUILTIN, builtin_judge
from otel_eval.judges.base import Judge
from otel_eval.judges.chain import judge_chain
from otel_eval.judges.settings import JudgeSettings
from otel_eval.metrics.base import Metric
from otel_eval.metrics.custom import metric_from_object
from otel_eval.model import NO_REFERENCE, Conversation, Reference, Report
from otel_eval.scoring import MetricRun, Settings, score_conversation
from otel_eval.service.metric_choice import default_names, labels_of, run_from_text

Scorable: TypeAlias = Conversation | Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A conversation, the same as a mapping (our JSON, OpenAI's, ragas'), or a list of chat messages."""
Asked: TypeAlias = str | Metric | MetricRun | Callable[..., Any]
"""A metric by name (`"tool_call_accuracy:strict_order=false"`), as an object, or a function of yours."""


def score(
    scorable: Scorable,
    *,
    metrics: Sequence[Asked] = (),
    reference: Reference | Mapping[str, Any] | str | None = None,
    topics: Sequence[str] = (),
    judge: Judge | JudgeSettings | str | None = None,
    compat: str | None = None,
    deadline_s: float = 120.0,
) -> Report:
    """The results of the metrics on one conversation; without names, of all that apply.

    `reference` is what it is held against: a `Reference`, the mapping of a dataset's line, or the wanted outcome in words. `judge` is
    anything with `ask`, `JudgeSettings` for a model behind an endpoint, or a name; without one the built-in rules judge.
    `ConfigError` for what is wrong with the call, `InputError` for messages that cannot be read; what goes wrong while scoring is a value.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise ConfigError("score() cannot wait inside a running event loop: write `await otel_eval.ascore(...)`")
    given = {"metrics": metrics, "reference": reference, "topics": topics, "judge": judge, "compat": compat, "deadline_s": deadline_s}
    return asyncio.run(ascore(scorable, **given))  # type: ignore[arg-type]  # the same names and types as above


async def ascore(
    scorable: Scorable,
    *,
    metrics: Sequence[Asked] = (),
    reference: Reference | Mapping[str, Any] | str | None = None,
    topics: Sequence[str] = (),
    judge: Judge | JudgeSettings | str | None = None,
    compat: str | None = None,
    deadline_s: float = 120.0,
) -> Report:
    """`score`, to be awaited."""
    conversation = conversation_of(scorable)
    held_against = _reference(reference, topics)
    runs = [run_from_asked(asked, compat) for asked in metrics or default_names([held_against])]
    labels_of(runs)
    settings = Settings(secret=secrets.token_bytes(32), deadline_s=deadline_s)
    chosen, model = _judge(judge)
    try:
        return await score_conversation(conversation, held_against, runs, chosen, settings)
    finally:
        close = getattr(model, "close", None)
        if close is not None:
            await close()


def conversation_of(scorable: Scorable) -> Conversation:
    """What was given, as a conversation."""
    if isinstance(scorable, Conversation):
        return scorable
    if isinstance(scorable, Mapping):
        return conversation_from_record(scorable)
    if isinstance(scorable, list | tuple):
        return conversation_from_record({"messages": list(scorable)})
    raise InputError(f"a {type(scorable).__name__} is no conversation: give a Conversation, a mapping with messages, or a list of messages")


def _reference(reference: Reference | Mapping[str, Any] | str | None, topics: Sequence[str]) -> Reference:
    if isinstance(reference, str):
        found = Reference(outcome=reference)
    elif isinstance(reference, Mapping):
        found = reference_from_record(reference)
    else:
        found = NO_REFERENCE if reference is None else reference
    return replace(found, topics=tuple(topics)) if topics else found


def run_from_asked(asked: Asked, compat: str | None) -> MetricRun:
    """The metric that a caller means. ConfigError for one that is none."""
    if isinstance(asked, str):
        return run_from_text(asked, compat=compat)
    if isinstance(asked, MetricRun):
        return asked
    try:
        metric = metric_from_object(getattr(asked, "__name__", type(asked).__name__), asked)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return MetricRun(metric=metric, compat=compat if compat in metric.card.compat else None)


def _judge(judge: Judge | JudgeSettings | str | None) -> tuple[Judge, object]:
    """The judge with its chain, and what has to be closed: nothing where the caller made it."""
    if isinstance(judge, JudgeSettings):
        settings = judge if judge.api_key else replace(judge, api_key=os.environ.get("OPENAI_API_KEY", ""))
        model = builtin_judge("openai", settings)
        return judge_chain(model, settings), model
    if judge is None or isinstance(judge, str):
        name = judge or "heuristic"
        if name not in BUILTIN or BUILTIN[name].network:
            raise ConfigError(f"the judge {name!r} needs settings: give judge=JudgeSettings(model=…, base_url=…), or 'heuristic'")
        return builtin_judge(name, JudgeSettings()), None
    return judge, None
