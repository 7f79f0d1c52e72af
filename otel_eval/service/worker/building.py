"""A worker from its configuration; whatever cannot work is a ConfigError before the group is joined."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from otel_eval.dialects import BUILTIN
from otel_eval.errors import ConfigError, InputError, OtelEvalError
from otel_eval.kafka.courier import Courier
from otel_eval.kafka.feed import Feed
from otel_eval.kafka.positions import Positions
from otel_eval.kafka.settings import KafkaSettings
from otel_eval.kafka.topics import check_topics
from otel_eval.otlp.receive.encoding import Encoding
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.otlp.receive.receiver import Receiver
from otel_eval.otlp.receive.settings import ReceiveSettings, bind_from_text
from otel_eval.otlp.status import Receipt
from otel_eval.service.config import Config, Loaded
from otel_eval.service.config.sections import KafkaConfig
from otel_eval.service.judge_config import judge_from_config, secret_text
from otel_eval.service.serve.building import books_of, plan_from_config, sinks_from_config
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects
from otel_eval.service.serve.lifecycle import Parts, parts_of
from otel_eval.service.serve.pages import Pages
from otel_eval.service.serve.plan import Plan
from otel_eval.service.serve.scorer import set_scoring, state_of
from otel_eval.service.serve.state import State
from otel_eval.service.worker.handling import Handling
from otel_eval.service.worker.holding import Holder
from otel_eval.service.worker.instruments import Gauge
from otel_eval.store import Store, StoreLimits

WHOLE_QUIET_S = 1.0
"""Traces come whole from the topic of conversations: only those of several messages are waited for."""
_GRACE_S = 5.0


@dataclass(slots=True, kw_only=True)
class Worker:
    """All parts of a running worker."""

    parts: Parts
    state: State
    feed: Feed
    books: Store
    pages: Receiver | None
    partitions: Mapping[str, int]
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by whoever wants it to end."""

    async def start(self) -> None:
        """Answer questions, and join the group. ConfigError where the port cannot be had."""
        if self.pages is not None:
            await self.pages.start()
        self.parts.start()
        self.feed.start()

    async def stop(self) -> None:
        """Leave the group with what is begun finished; then end the rest."""
        self.state.stopping = True
        await asyncio.to_thread(self.feed.stop)
        await self.parts.stop()
        if self.pages is not None:
            await self.pages.stop(grace_s=_GRACE_S)
        await asyncio.to_thread(self.books.close)


def settings_from_config(k: KafkaConfig) -> KafkaSettings:
    """ConfigError where it is not said where Kafka is."""
    if not k.brokers:
        raise ConfigError("no Kafka brokers are named: expected HOST:PORT,HOST:PORT in `--kafka` or `kafka.brokers`")
    return KafkaSettings(
        brokers=k.brokers,
        group=k.group,
        traces_topic=k.traces_topic,
        logs_topic=k.logs_topic,
        conversations_topic=k.conversations_topic,
        max_message_bytes=k.max_message,
        session_timeout_s=k.session_timeout,
        commit_every_s=k.commit_every,
        client={**k.client, **properties_from_text(secret_text(None, k.client_file, "kafka.client_file"))},
    )


def properties_from_text(text: str) -> dict[str, str]:
    """`name=value` lines; `#` begins a comment."""
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    for number, (name, equals, _) in enumerate(pairs, 1):
        if not equals or not name.strip():
            raise ConfigError(f"entry {number} of `kafka.client_file` is no property: expected name=value")
    return {name.strip(): value.strip() for name, _, value in pairs}


def build(loaded: Loaded, environ: Mapping[str, str] = os.environ) -> Worker:
    """A worker that is ready to start. ConfigError for whatever cannot work."""
    config = loaded.config
    settings = settings_from_config(config.kafka)
    plan = whole_plan(plan_from_config(config))
    sinks = sinks_from_config(config, environ)
    partitions = check_topics(settings)
    books = Store(Path(config.kafka.books) if config.kafka.books else None)
    try:
        judge = judge_from_config(config.judge, environ, books_of(books))
    except OtelEvalError:
        books.close()
        raise
    parts = parts_of(memory_store(config), plan, judge, sinks)
    set_scoring(parts, config)
    state = state_of(parts, plan, judge, config, environ)
    handling = handling_of(settings, config, parts, plan)
    feed = Feed(settings, handling.positions, handling)
    gauge = Gauge(feed=feed, handling=handling, meter=state.meter)
    state.further, state.measure = gauge.status, gauge.measure
    state.expected, state.is_bound = frozenset({"kafka"}), feed.ready.is_set
    return Worker(parts=parts, state=state, feed=feed, books=books, pages=pages_of(config, state), partitions=partitions)


def memory_store(config: Config) -> Store:
    """What lasts is the broker's log: what is settled is kept in memory only as long as late spans may change it."""
    c = config.store
    keep_s = min(c.keep, config.completion.late_window)
    return Store(None, limits=StoreLimits(max_bytes=c.max_bytes, max_age_s=c.max_age, keep_s=keep_s, expire_when_full=c.expire_when_full))


def whole_plan(plan: Plan) -> Plan:
    return replace(plan, limits=replace(plan.limits, trace_quiet_s=min(plan.limits.trace_quiet_s, WHOLE_QUIET_S)))


def handling_of(settings: KafkaSettings, config: Config, parts: Parts, plan: Plan) -> Handling:
    """What is done with messages, tied to the parts."""
    keys, positions, store = keys_of_dialects(BUILTIN), Positions(), parts.store
    reader = EnvelopeReader(keys)
    holder = Holder(
        store=store, keeper=Keeper(store, plan.limits), reader=reader, positions=positions, keep_s=store.limits.keep_s + plan.late_window_s
    )
    rater = parts.worker.rater
    rater.is_ours, rater.ids_from_content = holder.is_held, True
    c = config.completion
    return Handling(
        settings=settings,
        parts=parts,
        positions=positions,
        courier=Courier(settings),
        holder=holder,
        reader=reader,
        limits=replace(plan.limits, trace_quiet_s=c.trace_quiet),
        max_held_bytes=config.kafka.max_held,
        handover_s=config.kafka.handover,
        wake=_in_loop(parts.worker.wake),
        hurry=_in_loop(*(sender.hurried for sender in parts.senders)),
    )


def _in_loop(*events: asyncio.Event) -> Callable[[], None]:
    """A call that sets events of this loop from another thread."""
    loop = asyncio.get_running_loop()

    def set_all() -> None:
        for event in events:
            loop.call_soon_threadsafe(event.set)

    return set_all


def pages_of(config: Config, state: State) -> Receiver | None:
    """The pages of `serve` at an address of their own; OTLP is refused there."""
    if config.kafka.status is None:
        return None
    token = secret_text(config.receive.token, config.receive.token_file, "receive.token_file")
    settings = ReceiveSettings(http=bind_from_text(config.kafka.status), grpc=None, tokens=(token,) if token else ())
    return Receiver(_refuse, settings, note=state.refused, around=lambda app: Pages(app, state, token))


async def _refuse(signal: str, body: bytes, encoding: Encoding) -> Receipt:
    raise InputError("a worker takes nothing over OTLP: send to a Collector with a Kafka exporter")
