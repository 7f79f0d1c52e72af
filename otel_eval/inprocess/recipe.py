"""What a scorer inside an application is made of: the configuration of `serve`, with other defaults where the place is another.

A span is here when it ends, so no batch delay has to be waited for; memory is the application's, so little of it is taken; results go
through the application's providers, and to a sink of the configuration only where that is asked for by name.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from otel_eval.api import Asked, run_from_asked
from otel_eval.errors import ConfigError, InUse
from otel_eval.judges.base import Judge
from otel_eval.judges.chain import Books
from otel_eval.judges.settings import JudgeSettings
from otel_eval.service.config import Config, MetricConfig, ReceiveConfig, config_from_mapping, load_config
from otel_eval.service.config.sections import GrpcConfig, HttpConfig
from otel_eval.service.judge_choice import JudgeChoice, choice_from_settings
from otel_eval.service.judge_config import judge_from_config
from otel_eval.service.metric_choice import labels_of
from otel_eval.service.serve.building import (
    MEMORY,
    is_named,
    plan_from_config,
    planned,
    sinks_from_config,
    store_limits,
)
from otel_eval.service.serve.plan import Plan
from otel_eval.sinks.base import OutboxSink
from otel_eval.store import Store

Configured: TypeAlias = Config | Mapping[str, Any] | str | os.PathLike[str] | None
"""The configuration, the same as a mapping, or the path of its file; None looks for it where `serve` does."""
Judging: TypeAlias = Judge | JudgeSettings | None

_QUIET_S = 1.0
"""Nothing is on its way any more once a root has ended, but what goes on beside it."""
_MEMORY_BYTES = 64 * 2**20
_MEMORY_KEEP_S = 3600.0
_MOST_PROCESSES = 256
_OTLP = ("otlp_events", "otlp_metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that is decided before the first span. Made once; a forked child makes its own parts from it."""

    config: Config
    plan: Plan
    judge: Judging
    environ: Mapping[str, str]

    @property
    def is_in_memory(self) -> bool:
        return self.config.store.path == MEMORY

    def plan_of_store(self) -> Plan:
        """The plan for what is in the store."""
        return replace(self.plan, limits=replace(self.plan.limits, trace_quiet_s=0.0, trace_max_age_s=0.0))

    def open_store(self) -> Store:
        """A store of this process: in memory, or the first file of `NAME.db`, `NAME-2.db`, … that no other process has."""
        limits = store_limits(self.config)
        if self.is_in_memory:
            return Store(None, limits=limits)
        path = Path(self.config.store.path)
        for number in count(1):
            try:
                return Store(path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}"), limits=limits)
            except InUse:
                if number == _MOST_PROCESSES:
                    raise
        raise AssertionError("the loop above only ends by a return or an error")

    def make_judge(self, books: Books) -> JudgeChoice:
        """The judge for one event loop."""
        if isinstance(self.judge, JudgeSettings):
            settings = self.judge if self.judge.api_key else replace(self.judge, api_key=self.environ.get("OPENAI_API_KEY", ""))
            return choice_from_settings("openai", settings, books)
        if self.judge is not None:
            return JudgeChoice(judge=self.judge, kind="given", model=_Kept())
        return judge_from_config(self.config.judge, self.environ, books)

    def further_sinks(self) -> dict[str, OutboxSink]:
        """Sinks of the configuration that are asked for by name, beside the application's providers."""
        return sinks_from_config(_only_named(self.config), self.environ)


class _Kept:
    """Stands for a judge that is the caller's to close."""

    async def ask(self, question: Any) -> Any:
        raise AssertionError("only the judge itself is asked")


def recipe_from(configured: Configured, *, metrics: Sequence[Asked] | None, judge: Judging, store: str | os.PathLike[str] | None) -> Recipe:
    """The recipe. ConfigError for whatever cannot work."""
    _refuse_types(configured, metrics, judge, store)
    config = _with_defaults(_config_of(configured), store)
    plan = plan_from_config(config)
    if metrics is not None:
        plan = replace(
            plan, runs=tuple(planned(run_from_asked(m, None), MetricConfig(name="given"), config.selection.rate) for m in metrics)
        )
        labels_of([each.run for each in plan.runs])
    environ = dict(os.environ)
    recipe = Recipe(config=config, plan=plan, judge=judge, environ=environ)
    recipe.make_judge(Books())  # what is wrong is said here; and what it has to load takes half a second here, not in a request
    recipe.further_sinks()
    return recipe


def _refuse_types(configured: object, metrics: object, judge: object, store: object) -> None:
    """ConfigError for what is of no type that could be meant."""
    path = (str, os.PathLike)
    _refuse(configured, "config", (Config, Mapping, *path), "a Config, a mapping with the same keys, or the path of a file")
    _refuse(None if isinstance(metrics, str) else metrics, "metrics", (Sequence,), "a list of names, functions or metrics")
    if isinstance(metrics, str):
        raise ConfigError(f"metrics is one text: expected a list, as in metrics=[{metrics!r}]")
    if not hasattr(judge, "ask"):
        _refuse(judge, "judge", (JudgeSettings,), "JudgeSettings(model=…, base_url=…), or an object with `ask`")
    _refuse(store, "store", path, "the path of a file")


def _refuse(given: object, name: str, kinds: tuple[Any, ...], expected: str) -> None:
    if given is not None and not isinstance(given, kinds):
        raise ConfigError(f"{name} is a {type(given).__name__}: expected {expected}, or nothing")


def _config_of(configured: Configured) -> Config:
    if isinstance(configured, Config):
        return configured
    if isinstance(configured, Mapping):
        return config_from_mapping(configured)
    return load_config(Path(configured) if configured is not None else None).config


def _with_defaults(config: Config, store: str | os.PathLike[str] | None) -> Config:
    """The configuration with the defaults of this place where nobody said otherwise."""
    said = config.store.model_fields_set
    path = os.fspath(store) if store is not None else config.store.path if "path" in said else MEMORY
    kept: dict[str, Any] = {"path": path}
    if path == MEMORY:
        small = {"max_bytes": _MEMORY_BYTES, "keep": _MEMORY_KEEP_S, "expire_when_full": True}
        kept |= {name: value for name, value in small.items() if name not in said}
    completion = {} if "trace_quiet" in config.completion.model_fields_set else {"trace_quiet": _QUIET_S}
    return config.model_copy(
        update={"store": config.store.model_copy(update=kept), "completion": config.completion.model_copy(update=completion)}
    )


def _only_named(config: Config) -> Config:
    """The sinks that somebody asked for: an OTLP endpoint in the environment is the application's own exporter's."""
    s = config.sinks
    off: dict[str, Any] = {name: getattr(s, name).model_copy(update={"enabled": is_named(getattr(s, name))}) for name in _OTLP}
    off["otlp_spans"] = s.otlp_spans.model_copy(update={"enabled": s.otlp_spans.endpoint is not None})
    off["console"] = s.console.model_copy(update={"enabled": bool(s.console.enabled)})
    nobody_listens = ReceiveConfig(http=HttpConfig(enabled=False), grpc=GrpcConfig(enabled=False))
    return config.model_copy(update={"sinks": s.model_copy(update=off), "receive": nobody_listens})
