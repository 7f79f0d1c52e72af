"""The topics as they must be, looked at before the first message: what cannot work is a ConfigError that says what to do."""

from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from otel_eval.errors import ConfigError
from otel_eval.kafka.client_log import client_logger
from otel_eval.kafka.settings import OVERHEAD_BYTES, KafkaSettings, admin_properties

_RETENTION_MS = 24 * 3600 * 1000


def check_topics(s: KafkaSettings) -> dict[str, int]:
    """The number of partitions of each topic; the topic of conversations is made where it is missing."""
    admin = AdminClient(admin_properties(s), logger=client_logger())
    counts = _counts(admin, s)
    missing = [topic for topic in s.sources if topic not in counts]
    if missing:
        raise ConfigError(
            f"Kafka has no topic {' and no topic '.join(map(repr, missing))}: create it (with as many partitions as the other) and let a "
            "Collector's Kafka exporter write to it, or name others in `kafka.traces_topic` and `kafka.logs_topic`"
        )
    fault = fault_of_counts(s, counts)
    if fault is not None:
        raise ConfigError(fault)
    if s.conversations_topic not in counts:
        _create(admin, s, counts[s.traces_topic])
        counts[s.conversations_topic] = counts[s.traces_topic]
    return {topic: counts[topic] for topic in s.topics}


def fault_of_counts(s: KafkaSettings, counts: dict[str, int]) -> str | None:
    """Why partitions of these numbers cannot work: a trace and its log records must come to one worker."""
    traces, logs = counts[s.traces_topic], counts[s.logs_topic]
    if traces == logs:
        return None
    fewer, most = (s.traces_topic, logs) if traces < logs else (s.logs_topic, traces)
    return (
        f"the topic {s.traces_topic!r} has {traces} partitions and {s.logs_topic!r} has {logs}: expected the same number, so that a trace "
        f"and its log records come to one worker. Run: kafka-topics.sh --bootstrap-server {s.brokers} --alter --topic {fewer} "
        f"--partitions {most}"
    )


def _counts(admin: AdminClient, s: KafkaSettings) -> dict[str, int]:
    try:
        found: Any = admin.list_topics(timeout=s.patience_s)
    except KafkaException as error:
        raise ConfigError(
            f"no Kafka broker answers at {s.brokers!r} ({error.args[0].name()}): expected HOST:PORT,HOST:PORT in `--kafka` or "
            "`kafka.brokers`; what the brokers ask of clients (TLS, SASL) goes into `kafka.client_file`"
        ) from error
    return {name: len(topic.partitions) for name, topic in found.topics.items() if topic.error is None}


def _create(admin: AdminClient, s: KafkaSettings, partitions: int) -> None:
    topic = s.conversations_topic
    config = {
        "cleanup.policy": "delete",
        "retention.ms": str(_RETENTION_MS),
        "max.message.bytes": str(s.max_message_bytes + OVERHEAD_BYTES),
    }
    new = NewTopic(topic, num_partitions=partitions, replication_factor=-1, config=config)
    try:
        admin.create_topics([new], operation_timeout=s.patience_s)[topic].result(2 * s.patience_s)
    except (KafkaException, TimeoutError) as error:
        name = error.args[0].name() if isinstance(error, KafkaException) else "TIMED_OUT"
        if name == "TOPIC_ALREADY_EXISTS":  # another worker started in the same moment
            return
        raise ConfigError(
            f"the topic {topic!r} is missing and could not be made ({name}). Run: kafka-topics.sh --bootstrap-server {s.brokers} --create "
            f"--topic {topic} --partitions {partitions} --config retention.ms={_RETENTION_MS} "
            f"--config max.message.bytes={s.max_message_bytes + OVERHEAD_BYTES}"
        ) from error
