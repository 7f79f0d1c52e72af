"""How a worker is doing with Kafka: for `/status` and for its own metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.kafka.feed import Feed
from otel_eval.service.worker.handling import Handling
from otel_eval.telemetry import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """Reads numbers that others keep; one may be newer than the next."""

    feed: Feed
    handling: Handling
    meter: Meter

    def status(self) -> Mapping[str, Any]:
        """What `/status` tells beside the rest."""
        feed, handling, counts = self.feed, self.handling, self.feed.counts
        return {
            "kafka": {
                "partitions": [str(place) for place in sorted(feed.assigned)],
                "paused": [str(place) for place in sorted(feed.paused)],
                "lag": feed.lag(),
                "unfinished": handling.positions.unfinished,
                "floor_distance": handling.positions.widest,
                "traces_gathered": handling.gatherer.traces,
                "held_bytes": handling.gatherer.held_bytes,
                "traces_on_their_way": handling.router.in_flight,
                "traces_waiting": handling.holder.traces,
                "taken": dict(counts.taken),
                "passed": dict(counts.passed),
                "poison": dict(counts.poison),
                "refused": dict(handling.lost),
                "commits": dict(counts.commits),
                "rebalances": counts.rebalances,
                "faults": dict(counts.faults),
            }
        }

    def measure(self) -> None:
        """Own instruments as they stand."""
        meter, feed, handling = self.meter, self.feed, self.handling
        for topic, lag in feed.lag().items():
            meter.set("otel_eval.kafka.lag", lag, {"otel_eval.topic": topic})
        meter.set("otel_eval.kafka.partitions", len(feed.assigned - feed.paused), {"otel_eval.partition": "reading"})
        meter.set("otel_eval.kafka.partitions", len(feed.paused), {"otel_eval.partition": "paused"})
        meter.set("otel_eval.kafka.unfinished", handling.positions.unfinished)
        meter.set("otel_eval.kafka.floor_distance", handling.positions.widest)
        meter.set("otel_eval.kafka.held", handling.gatherer.held_bytes)
        meter.set("otel_eval.kafka.rebalances", feed.counts.rebalances)
        for word, topics in (("taken", feed.counts.taken), ("passed", feed.counts.passed), ("poison", feed.counts.poison)):
            for topic, times in topics.items():
                meter.set("otel_eval.kafka.messages", times, {"otel_eval.topic": topic, "otel_eval.answer": word})
        for name, times in handling.lost.items():
            meter.set("otel_eval.kafka.refused", times, {"error.type": name})
        for name, times in feed.counts.commits.items():
            meter.set("otel_eval.kafka.commits", times, {"otel_eval.answer": name})
        for name, times in feed.counts.faults.items():
            meter.set("otel_eval.faults", times, {"otel_eval.place": "kafka", "error.type": name})
