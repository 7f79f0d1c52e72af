"""What a worker reads and writes, and how its client is set up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OVERHEAD_BYTES = 64 * 1024
"""Beside a message's value: key, headers, the batch around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    """Names, sizes and times. `client` are properties of librdkafka: they go before ours, except those that the group rests on."""

    brokers: str
    group: str = "otel-eval"
    traces_topic: str = "otlp_spans"
    logs_topic: str = "otlp_logs"
    conversations_topic: str = "otel_eval_conversations"
    max_message_bytes: int = 8 * 1024 * 1024
    session_timeout_s: float = 15.0
    commit_every_s: float = 1.0
    patience_s: float = 15.0
    """How long brokers may take to answer at the start."""
    client: Mapping[str, str] = field(default_factory=dict, repr=False)
    """May hold passwords."""

    @property
    def sources(self) -> tuple[str, str]:
        """What a Collector writes."""
        return self.traces_topic, self.logs_topic

    @property
    def topics(self) -> tuple[str, ...]:
        """All that is read."""
        return *self.sources, self.conversations_topic


def consumer_properties(s: KafkaSettings) -> dict[str, Any]:
    """For the one consumer. `range` gives a member the same partition numbers of all topics; other assignors do not."""
    ours = {
        "bootstrap.servers": s.brokers,
        "client.id": "otel-eval",
        "session.timeout.ms": int(s.session_timeout_s * 1000),
        "heartbeat.interval.ms": max(500, int(s.session_timeout_s * 1000 / 5)),
        "fetch.message.max.bytes": s.max_message_bytes + OVERHEAD_BYTES,
        "fetch.max.bytes": max(4 * s.max_message_bytes, 32 * 1024 * 1024),
        "receive.message.max.bytes": max(4 * s.max_message_bytes, 32 * 1024 * 1024) + s.max_message_bytes + OVERHEAD_BYTES,
        "queued.max.messages.kbytes": 16_384,
        "queued.min.messages": 1_000,
    }
    fixed = {
        "group.id": s.group,
        "group.protocol": "classic",
        "partition.assignment.strategy": "range",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "earliest",
    }
    return {**ours, **s.client, **fixed}


def producer_properties(s: KafkaSettings) -> dict[str, Any]:
    """For the topic of conversations: nothing is given up, nothing comes twice, keys go where Java's clients would put them.

    A message of the sources may be as large as a broker takes. With its key and headers here it would be larger: the client's own limit,
    which counts before compression, stands above the broker's.
    """
    ours = {
        "bootstrap.servers": s.brokers,
        "client.id": "otel-eval",
        "compression.type": "zstd",
        "linger.ms": 20,
        "message.max.bytes": 2 * s.max_message_bytes + OVERHEAD_BYTES,
        "queue.buffering.max.kbytes": 262_144,
    }
    fixed = {
        "partitioner": "murmur2_random",
        "enable.idempotence": True,
        "message.timeout.ms": 0,
    }
    return {**ours, **_without_consumer(s.client), **fixed}


def admin_properties(s: KafkaSettings) -> dict[str, Any]:
    """For looking at topics and making one."""
    return {"bootstrap.servers": s.brokers, "client.id": "otel-eval", **_without_consumer(s.client)}


_CONSUMER_ONLY = ("group.", "fetch.", "queued.", "auto.", "session.", "heartbeat.", "max.poll.", "partition.", "isolation.")


def _without_consumer(properties: Mapping[str, str]) -> dict[str, str]:
    """Properties that a producer knows, too: librdkafka warns of others."""
    return {name: value for name, value in properties.items() if not name.startswith(_CONSUMER_ONLY)}
