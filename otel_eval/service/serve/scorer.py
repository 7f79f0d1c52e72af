"""A scorer as a whole: all its parts from a configuration, started, reloaded, ended.

Everything that can be wrong with a configuration is found before a port is bound.
"""

import asyncio
import json
import logging
import os
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from otel_eval.dialects import BUILTIN
from otel_eval.errors import OtelEvalError
from otel_eval.otlp.receive.intake import Intake
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.otlp.receive.receiver import Receiver
from otel_eval.service.config import Config, Loaded, load_config
from otel_eval.service.judge_choice import JudgeChoice
from otel_eval.service.judge_config import judge_from_config
from otel_eval.service.serve import logs
from otel_eval.service.serve.building import books_of, here, plan_from_config, sinks_from_config, store_from_config
from otel_eval.service.serve.inline import SINK, HeldSpans, Inline
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects
from otel_eval.service.serve.lifecycle import Parts, parts_of
from otel_eval.service.serve.pages import Pages
from otel_eval.service.serve.plan import Plan
from otel_eval.service.serve.reception import hop_from_config, receive_settings
from otel_eval.service.serve.replicas import Replicas
from otel_eval.service.serve.state import State
from otel_eval.sinks.otlp_metrics import OtlpMetricsSink
from otel_eval.store import Work
from otel_eval.telemetry import Meter

_log = logging.getLogger(__name__)

_METRICS_AT_ONCE = 10_000
_NOT_SAFE = ("receive", "store", "sinks", "inline")
"""Sections that only a restart applies: ports, files and connections."""
_GRACE_S = 5.0


@dataclass(slots=True, kw_only=True)
class Scorer:
    """All parts of a running scorer."""

    loaded: Loaded
    parts: Parts
    state: State
    intake: Intake
    receiver: Receiver
    keeper: Keeper
    inline: Inline | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by whoever wants it to end."""

    async def start(self) -> None:
        """Bind the ports and begin. ConfigError where a port cannot be had."""
        try:
            await asyncio.wrap_future(self._tell_limits(self.state.plan))
        except OtelEvalError as error:  # the store's, which may pass: what waits is looked at when it is due
            _log.warning("moments are not set by the limits of this configuration: %s", error)
        await self.receiver.start()
        self.parts.start()
        r = self.loaded.config.receive
        self.state.bound = {
            name: f"{part.endpoint.rpartition(':')[0]}:{port}"
            for name, part, port in (("grpc", r.grpc, self.receiver.grpc_port), ("http", r.http, self.receiver.http_port))
            if part.enabled
        }

    async def stop(self) -> None:
        """End in order, without losing anything."""
        self.state.stopping = True
        await self.receiver.stop(grace_s=_GRACE_S)
        if self.inline is not None:
            await asyncio.wrap_future(self.parts.store.outbox.hurry(SINK))
        self.intake.close()
        await self.parts.stop()
        if self.inline is not None:
            self.inline.close()

    def reload(self, path: Path | None, environ: Mapping[str, str]) -> list[str]:
        """Read the configuration again, and apply what is safe; a sentence on each thing done or not done."""
        try:
            loaded = load_config(path, environ)
            config = with_inline(loaded.config, self.loaded.config.inline.endpoint)
            plan = _plan(config)
            changed = config.judge != self.loaded.config.judge
            judge = judge_from_config(config.judge, environ, books_of(self.parts.store)) if changed else None
        except OtelEvalError as error:
            return [f"the configuration was not read again: {error}"]
        before = self.loaded.config
        said = [f"{name} has changed: only a restart applies that" for name in _NOT_SAFE if getattr(before, name) != getattr(config, name)]
        if before.completion.replicas != config.completion.replicas:
            said.append("completion.replicas has changed: only a restart applies that")
        self._apply(plan, config)
        if judge is not None:
            self.parts.judge = judge
            self.parts.worker.rater.judge, self.state.judge = judge.judge, judge.judge
            self.state.judge_kind, self.state.judge_model = judge.kind, config.judge.model
        kept = {name: getattr(before, name) for name in _NOT_SAFE}
        self.loaded = replace(loaded, config=config.model_copy(update=kept))
        return [*said, "the configuration was read again; what is scored from now on follows it"]

    def _apply(self, plan: Plan, config: Config) -> None:
        weigher = self.parts.looker.weigher
        weigher.plan = self.parts.worker.rater.plan = self.state.plan = plan
        weigher.triage.share = plan.rules.triage_share
        weigher.reader.keep(plan.rules.attribute_names)
        self.keeper.limits = plan.limits
        self._tell_limits(plan)
        if self.inline is not None:
            self.inline.plan = plan
        set_scoring(self.parts, config)
        logs.set_up(config.telemetry.log_level, config.telemetry.log_format)

    def _tell_limits(self, plan: Plan) -> "Future[bool]":
        """What waits is looked at by the limits of now, also what came when there were others."""
        return self.parts.store.progress.set_limits(json.dumps(asdict(plan.limits)))


def with_inline(config: Config, endpoint: str | None) -> Config:
    """The configuration with the endpoint that the command line names."""
    return config if endpoint is None else config.model_copy(update={"inline": config.inline.model_copy(update={"endpoint": endpoint})})


def _plan(config: Config) -> Plan:
    """The plan; in line everything that is not told otherwise runs at the trace, for spans wait for it."""
    if config.inline.endpoint is None:
        return plan_from_config(config)
    metrics = tuple(m.model_copy(update={"at": "trace"}) if m.at == "auto" else m for m in config.metrics)
    return plan_from_config(config.model_copy(update={"metrics": metrics}))


def set_scoring(parts: Parts, config: Config) -> None:
    """How much is scored at a time, and how long it may take."""
    s, worker = config.scoring, parts.worker
    worker.concurrency, worker.patience_s = s.concurrency, s.patience
    worker.rater.deadline_s, worker.rater.record_tokens = s.deadline, s.record_tokens


def build(loaded: Loaded, environ: Mapping[str, str] = os.environ) -> Scorer:
    """A scorer that is ready to start. ConfigError for whatever cannot work."""
    config = loaded.config
    settings = receive_settings(config)
    plan = _plan(config)
    sinks = sinks_from_config(config, environ)
    hop = hop_from_config(config, environ)
    held = HeldSpans(hop) if hop is not None else None
    if held is not None:
        sinks[SINK] = held
    store = store_from_config(config)
    try:
        judge = judge_from_config(config.judge, environ, books_of(store))
    except OtelEvalError:
        store.close()
        raise
    parts = parts_of(store, plan, judge, sinks)
    if config.completion.replicas is not None:
        parts.looker.replicas = Replicas(name=config.completion.replicas, now_s=store.now_s)
    set_scoring(parts, config)
    state = state_of(parts, plan, judge, config, environ)
    keeper, keys = Keeper(store, plan.limits), keys_of_dialects(BUILTIN)
    intake = Intake(keeper, keys=keys, max_body_bytes=settings.max_body_bytes)
    state.intake = intake.counts
    inline = _inline(parts, state, plan, config, intake, held, EnvelopeReader(keys)) if held is not None else None
    receiver = Receiver(
        inline if inline is not None else intake,
        settings,
        note=state.refused,
        around=lambda app: Pages(app, state, settings.tokens[0] if settings.tokens else ""),
    )
    return Scorer(loaded=loaded, parts=parts, state=state, intake=intake, receiver=receiver, keeper=keeper, inline=inline)


def state_of(parts: Parts, plan: Plan, judge: JudgeChoice, config: Config, environ: Mapping[str, str]) -> State:
    """What others may look at; the parts tell it what they do."""
    ports = {"grpc": config.receive.grpc.enabled, "http": config.receive.http.enabled}
    state = State(
        store=parts.store,
        plan=plan,
        looker=parts.looker,
        worker=parts.worker,
        senders=parts.senders,
        judge=judge.judge,
        judge_kind=judge.kind,
        judge_model=config.judge.model,
        meter=Meter(),
        version=here(environ, config).version,
        expected=frozenset(name for name, is_on in ports.items() if is_on),
    )
    parts.worker.rater.on_scored = state.saw
    for sender in parts.senders:
        if isinstance(sender.sink, OtlpMetricsSink):
            sender.sink.own = state.points
            sender.every_s, sender.always, sender.at_once = config.sinks.otlp_metrics.interval, True, _METRICS_AT_ONCE
    return state


def _inline(parts: Parts, state: State, plan: Plan, config: Config, intake: Intake, held: HeldSpans, reader: EnvelopeReader) -> Inline:
    """The hop: spans that are held leave when there is nothing to wait for, and with their results when there is."""
    inline = Inline(
        inner=intake,
        held=held,
        store=parts.store,
        plan=plan,
        reader=reader,
        meter=state.meter,
        hold_s=config.inline.hold,
        max_held_bytes=config.inline.max_held,
        max_body_bytes=config.receive.max_body,
    )

    def scored(work: Work, reports: Any) -> None:
        state.saw(work, reports)
        if work.unit.kind == "trace":
            inline.let_go(work.unit.key, reports)

    parts.worker.rater.on_scored = scored
    parts.looker.on_trace_over = inline.let_go
    state.further = lambda: {"inline": {"held_bytes": inline.held_bytes, "max_held_bytes": inline.max_held_bytes}}
    return inline
