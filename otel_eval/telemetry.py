"""What otel-eval says of itself: one table of instruments, and the numbers in them.

Names under `gen_ai.` and `error.type` are standard; all others are ours. Attributes have few values: a metric, a label, an outcome, a sink;
ids only stand in exemplars. Counts go up as long as the process lives and begin anew with it, as `start_ns` tells.

**Source**: OpenTelemetry specification, metrics data model (cumulative temporality, exemplars, the overflow attribute set).
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["counter", "updown", "gauge", "histogram"]
Key: TypeAlias = tuple[tuple[str, str], ...]

MOST_SERIES = 1000
"""Sets of attributes of one instrument; what comes beyond is counted together."""
OVERFLOW: Key = (("otel.metric.overflow", "true"),)
MOST_EXEMPLARS = 4
SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0, 86_400.0)
SCORES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0)
"""Most scores lie from 0 to 1; signals that count go beyond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrument:
    """A thing that is measured."""

    name: str
    kind: Kind
    sentence: str
    unit: str = "1"
    attributes: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


INSTRUMENTS: Mapping[str, Instrument] = {
    i.name: i
    for i in (
        Instrument(
            name="otel_eval.score",
            kind="histogram",
            sentence="Values of metrics, with the judged spans as exemplars. Rates are of `selected_by` = `estimate` alone.",
            attributes=(
                "gen_ai.evaluation.name",
                "gen_ai.evaluation.score.label",
                "gen_ai.agent.name",
                "otel_eval.judge.kind",
                "otel_eval.selected_by",
            ),
            bounds=SCORES,
        ),
        Instrument(
            name="otel_eval.results",
            kind="counter",
            unit="{result}",
            sentence="Results by what they are (score, skipped, failed) and the reason why there is no value.",
            attributes=("gen_ai.evaluation.name", "otel_eval.outcome", "otel_eval.reason", "gen_ai.agent.name", "otel_eval.selected_by"),
        ),
        Instrument(
            name="otel_eval.judge.calls",
            kind="counter",
            unit="{call}",
            sentence="Calls of the judge that results took.",
            attributes=("gen_ai.evaluation.name", "otel_eval.judge.kind", "otel_eval.judge.model"),
        ),
        Instrument(
            name="otel_eval.judge.tokens",
            kind="counter",
            unit="{token}",
            sentence="Tokens that results took, as far as the endpoint told.",
            attributes=("gen_ai.evaluation.name", "otel_eval.judge.model", "gen_ai.token.type"),
        ),
        Instrument(
            name="otel_eval.judge.cost",
            kind="counter",
            unit="USD",
            sentence="What results cost, where the price is known.",
            attributes=("gen_ai.evaluation.name", "otel_eval.judge.model"),
        ),
        Instrument(
            name="otel_eval.units",
            kind="updown",
            unit="{unit}",
            sentence="Traces and conversations by what became of them, since the store was made; a revision may move one.",
            attributes=("otel_eval.unit", "otel_eval.outcome", "otel_eval.reason"),
        ),
        Instrument(
            name="otel_eval.lag",
            kind="histogram",
            unit="s",
            sentence="From the last arrival of a unit to its scores in the outbox.",
            attributes=("otel_eval.unit", "otel_eval.selected_by"),
            bounds=SECONDS,
        ),
        Instrument(
            name="otel_eval.received",
            kind="counter",
            unit="{request}",
            sentence="Requests by signal and answer.",
            attributes=("otel_eval.signal", "otel_eval.answer"),
        ),
        Instrument(
            name="otel_eval.received.items",
            kind="counter",
            unit="{item}",
            sentence="Spans and log records: kept, of an evaluator, or rejected.",
            attributes=("otel_eval.signal", "otel_eval.item"),
        ),
        Instrument(
            name="otel_eval.queue.depth",
            kind="gauge",
            unit="{unit}",
            sentence="Units that wait for a judge.",
            attributes=("otel_eval.queue",),
        ),
        Instrument(
            name="otel_eval.queue.age",
            kind="gauge",
            unit="s",
            sentence="How long the oldest of them has waited; 0 where none waits.",
            attributes=("otel_eval.queue",),
        ),
        Instrument(
            name="otel_eval.outbox.depth",
            kind="gauge",
            unit="{letter}",
            sentence="Payloads that wait for a sink.",
            attributes=("otel_eval.sink",),
        ),
        Instrument(
            name="otel_eval.outbox.age",
            kind="gauge",
            unit="s",
            sentence="How long the oldest of them has waited; 0 where none waits.",
            attributes=("otel_eval.sink",),
        ),
        Instrument(
            name="otel_eval.sent",
            kind="counter",
            unit="{letter}",
            sentence="Payloads by sink and what became of them: sent, retried, dead.",
            attributes=("otel_eval.sink", "otel_eval.answer"),
        ),
        Instrument(name="otel_eval.store.used", kind="gauge", unit="By", sentence="Bytes of the store that are in use."),
        Instrument(name="otel_eval.store.commits", kind="counter", unit="{commit}", sentence="Commits of the store."),
        Instrument(
            name="otel_eval.late",
            kind="counter",
            unit="{unit}",
            sentence="Units to which spans came after their requests were deleted: they were not scored again.",
        ),
        Instrument(
            name="otel_eval.faults",
            kind="counter",
            unit="{fault}",
            sentence="Errors that were caught and went no further, by where and by class.",
            attributes=("otel_eval.place", "error.type"),
        ),
        Instrument(
            name="otel_eval.kafka.lag",
            kind="gauge",
            unit="{message}",
            sentence="Messages of this worker's partitions that are not finished: unread, or waiting for their conversation to be over.",
            attributes=("otel_eval.topic",),
        ),
        Instrument(
            name="otel_eval.kafka.partitions",
            kind="gauge",
            unit="{partition}",
            sentence="Partitions of this worker: read, or paused since too much waits.",
            attributes=("otel_eval.partition",),
        ),
        Instrument(
            name="otel_eval.kafka.unfinished",
            kind="gauge",
            unit="{message}",
            sentence="Messages that were read and are not finished: they would be read again after a crash.",
        ),
        Instrument(
            name="otel_eval.kafka.floor_distance",
            kind="gauge",
            unit="{message}",
            sentence="Offsets from a partition's oldest unfinished message to the last one read, where that is most.",
        ),
        Instrument(name="otel_eval.kafka.held", kind="gauge", unit="By", sentence="Bytes of traces that are not complete."),
        Instrument(
            name="otel_eval.kafka.messages",
            kind="counter",
            unit="{message}",
            sentence="Messages read: taken, passed by since they were finished before, or poison (unreadable).",
            attributes=("otel_eval.topic", "otel_eval.answer"),
        ),
        Instrument(
            name="otel_eval.kafka.refused",
            kind="counter",
            unit="{trace}",
            sentence="Traces that the topic of conversations refused for good: they become fragments.",
            attributes=("error.type",),
        ),
        Instrument(
            name="otel_eval.kafka.commits",
            kind="counter",
            unit="{commit}",
            sentence="Commits of what is finished, done or by the error that refused them.",
            attributes=("otel_eval.answer",),
        ),
        Instrument(name="otel_eval.kafka.rebalances", kind="counter", unit="{rebalance}", sentence="Times that partitions were given out."),
        Instrument(
            name="otel_eval.inline",
            kind="counter",
            unit="{request}",
            sentence="Forwarded requests by what was done: passed, held, unscored, refused.",
            attributes=("otel_eval.answer",),
        ),
    )
}
"""Name → instrument. `docs/telemetry.md` is made from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exemplar:
    """A single measurement and the span that it is about."""

    value: float
    time_ns: int
    trace_id: str = ""
    span_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One series of an instrument as it stands."""

    attributes: Key
    value: float = 0.0
    """Of counters and gauges; the sum of a histogram."""
    count: int = 0
    buckets: tuple[int, ...] = ()
    least: float | None = None
    most: float | None = None
    exemplars: tuple[Exemplar, ...] = ()


@dataclass(slots=True)
class _Series:
    value: float = 0.0
    count: int = 0
    buckets: list[int] = field(default_factory=list)
    least: float | None = None
    most: float | None = None
    exemplars: list[Exemplar] = field(default_factory=list)

    def point(self, attributes: Key) -> Point:
        return Point(
            attributes=attributes,
            value=self.value,
            count=self.count,
            buckets=tuple(self.buckets),
            least=self.least,
            most=self.most,
            exemplars=tuple(self.exemplars),
        )

    def copy(self) -> "_Series":
        return _Series(self.value, self.count, list(self.buckets), self.least, self.most, list(self.exemplars))


class Meter:
    """Numbers by instrument and attributes. From any thread; KeyError for an instrument that is not in the table."""

    def __init__(self, *, start_ns: int | None = None) -> None:
        self.start_ns = time.time_ns() if start_ns is None else start_ns
        self._guard = threading.Lock()
        self._series: dict[str, dict[Key, _Series]] = {}

    def add(self, name: str, value: float = 1.0, attributes: Mapping[str, str | None] | None = None) -> None:
        """Count up."""
        with self._guard:
            self._of(name, attributes).value += value

    def set(self, name: str, value: float, attributes: Mapping[str, str | None] | None = None) -> None:
        """What a gauge, or a count kept elsewhere, is now."""
        with self._guard:
            self._of(name, attributes).value = value

    def record(self, name: str, value: float, attributes: Mapping[str, str | None] | None = None, exemplar: Exemplar | None = None) -> None:
        """One measurement of a histogram."""
        bounds = INSTRUMENTS[name].bounds
        with self._guard:
            series = self._of(name, attributes)
            series.buckets = series.buckets or [0] * (len(bounds) + 1)
            series.buckets[bisect_left(bounds, value)] += 1
            series.value += value
            series.count += 1
            series.least = value if series.least is None else min(series.least, value)
            series.most = value if series.most is None else max(series.most, value)
            if exemplar is not None:
                series.exemplars = [*series.exemplars[-MOST_EXEMPLARS + 1 :], exemplar]

    def clear(self, name: str) -> None:
        """Forget all series of an instrument whose numbers are kept elsewhere and are about to be told anew."""
        with self._guard:
            self._series.pop(name, None)

    def points(self) -> dict[str, tuple[Point, ...]]:
        """Everything as it stands, by instrument."""
        with self._guard:
            return {name: tuple(s.point(key) for key, s in series.items()) for name, series in self._series.items()}

    def copy(self) -> "Meter":
        """The same numbers, to try what comes of more."""
        other = Meter(start_ns=self.start_ns)
        with self._guard:
            other._series = {name: {key: s.copy() for key, s in series.items()} for name, series in self._series.items()}
        return other

    def thin_exemplars(self) -> None:
        """They were told once: the last one of each bucket stays, for who looks rarely (a Collector that is scraped)."""
        with self._guard:
            for name, series in self._series.items():
                bounds = INSTRUMENTS[name].bounds
                for one in series.values():
                    one.exemplars = list({bisect_left(bounds, e.value): e for e in one.exemplars}.values())

    def _of(self, name: str, attributes: Mapping[str, str | None] | None) -> _Series:
        allowed = INSTRUMENTS[name].attributes
        key: Key = tuple((a, v) for a in allowed if attributes and (v := attributes.get(a)) is not None)
        series = self._series.setdefault(name, {})
        if key not in series and len(series) >= MOST_SERIES:
            key = OVERFLOW
        return series.setdefault(key, _Series())


def merged(meters: Sequence[Meter]) -> dict[str, tuple[Point, ...]]:
    """The points of several meters that measure different things."""
    return {name: points for meter in meters for name, points in meter.points().items()}
