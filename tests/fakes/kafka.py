"""Kafka for tests: the mock broker of librdkafka, traces as a Collector writes them, workers as processes of their own.

with mock_broker() as brokers:
    Bus(brokers).write(talk(1, turns=2))
    with WorkerProcess(tmp_path, brokers, …) as worker:
        until(lambda: worker.outcomes("conversation") == {"scored": 1}, 30)
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from otel_eval.kafka.settings import KafkaSettings
from tests.fakes.serving import Server, until

SPANS, LOGS, TALKS = KafkaSettings(brokers="").topics
_SECOND = 1_000_000_000
_BASE_NS = 1_790_000_000 * _SECOND


@contextmanager
def mock_broker() -> Iterator[str]:
    """A broker inside this process, with the three topics of four partitions each; its address."""
    producer = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    for topic in (SPANS, LOGS, TALKS):
        producer.list_topics(topic, timeout=10)
    until(lambda: {SPANS, LOGS, TALKS} <= set(producer.list_topics(timeout=10).topics), 10)
    brokers = producer.list_topics(timeout=10).brokers.values()
    yield ",".join(f"127.0.0.1:{broker.port}" for broker in brokers)
    producer.flush(0)


class Names:
    """Topics and a group of one test."""

    def __init__(self, prefix: str) -> None:
        self.group = prefix
        self.spans, self.logs, self.talks = f"{prefix}_spans", f"{prefix}_logs", f"{prefix}_talks"
        self.all = (self.spans, self.logs, self.talks)

    def topics(self, partitions: int) -> dict[str, int]:
        return dict.fromkeys((self.spans, self.logs), partitions)

    @property
    def settings(self) -> dict[str, Any]:
        """As a worker is told them."""
        return {
            "kafka__group": self.group,
            "kafka__traces_topic": self.spans,
            "kafka__logs_topic": self.logs,
            "kafka__conversations_topic": self.talks,
        }

    def of(self, messages: "Iterable[Message]") -> "Iterator[Message]":
        """The same messages in the topics of this test."""
        own = {SPANS: self.spans, LOGS: self.logs, TALKS: self.talks}
        return (replace(message, topic=own[message.topic]) for message in messages)


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a Collector's Kafka exporter."""

    topic: str
    key: bytes | None
    value: bytes
    partition: int | None = None


class Bus:
    """Writes messages and waits until the broker has them."""

    def __init__(self, brokers: str, **properties: Any) -> None:
        self._producer = Producer({"bootstrap.servers": brokers, "message.max.bytes": 64 * 2**20, "linger.ms": 5, **properties})
        self._faults: list[str] = []

    def write(self, messages: Iterable[Message]) -> None:
        for message in messages:
            place = -1 if message.partition is None else message.partition
            self._producer.produce(message.topic, key=message.key, value=message.value, partition=place, on_delivery=self._told)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0
        assert self._faults == []

    def _told(self, error: Any, _: Any) -> None:
        if error is not None:
            self._faults.append(str(error))


def name_of(number: int) -> str:
    """The id of a conversation."""
    return f"talk-{number:06d}"


def trace_of(number: int, turn: int) -> bytes:
    """The trace id of a turn: on some partition, the same in every run."""
    return (number * 2654435761 % 2**32).to_bytes(4, "big") + turn.to_bytes(4, "big") + number.to_bytes(8, "big")


def talk(number: int, *, turns: int = 2, named: bool = True) -> list[Message]:
    """A conversation, each turn a trace of its own, which a Collector writes as it comes: children first, log records apart."""
    return [message for turn in range(1, turns + 1) for message in turn_messages(number, turn, named=named)]


def turn_messages(number: int, turn: int, *, named: bool = True, padding: str = "") -> list[Message]:
    """One turn as three messages: the model call, a log record beside it, the root."""
    trace = trace_of(number, turn)
    own = {"gen_ai.conversation.id": name_of(number)} if named else {}
    asked = [{"role": "user", "parts": [{"type": "text", "content": f"Question {turn} of {name_of(number)}? {padding}"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": f"Answer {turn}."}], "finish_reason": "stop"}]
    content = {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(answered)}
    start = _BASE_NS + number * 60 * _SECOND + turn * 5 * _SECOND
    chat = _spans(trace, 2, 1, "chat model", start + _SECOND, {"gen_ai.operation.name": "chat", **content})
    root = _spans(trace, 1, None, "invoke_agent shop", start, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop", **own})
    key = trace.hex().encode()
    return [
        Message(topic=SPANS, key=key, value=chat),
        Message(topic=LOGS, key=key, value=_logs(trace, start)),
        Message(topic=SPANS, key=key, value=root),
    ]


def hidden_messages(number: int, turn: int) -> list[Message]:
    """One turn in the words of OpenInference, whose conversation stands inside a JSON text: only reading finds it."""
    trace = trace_of(number, turn)
    start = _BASE_NS + number * 60 * _SECOND + turn * 5 * _SECOND
    metadata = {"metadata": json.dumps({"thread_id": name_of(number)})}
    words = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": f"Question {turn}?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": f"Answer {turn}.",
    }
    call = _spans(trace, 2, 1, "ChatOpenAI", start + _SECOND, {"openinference.span.kind": "LLM", **words, **metadata})
    root = _spans(trace, 1, None, "LangGraph", start, {"openinference.span.kind": "CHAIN", **metadata})
    return [Message(topic=SPANS, key=trace.hex().encode(), value=value) for value in (call, root)]


def _pairs(attributes: dict[str, str]) -> list[KeyValue]:
    return [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()]


def _spans(trace: bytes, number: int, parent: int | None, name: str, start: int, attributes: dict[str, str]) -> bytes:
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(_pairs({"service.name": "shop"}))
    group.scope_spans.add().spans.add(
        trace_id=trace,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=parent.to_bytes(8, "big") if parent else b"",
        name=name,
        start_time_unix_nano=start,
        end_time_unix_nano=start + _SECOND,
        attributes=_pairs(attributes),
    )
    return request.SerializeToString()


def _logs(trace: bytes, start: int) -> bytes:
    request = ExportLogsServiceRequest()
    group = request.resource_logs.add()
    group.resource.attributes.extend(_pairs({"service.name": "shop"}))
    group.scope_logs.add().log_records.add(
        trace_id=trace, span_id=(1).to_bytes(8, "big"), time_unix_nano=start, event_name="gen_ai.client.operation.note"
    )
    return request.SerializeToString()


class WorkerProcess(Server):
    """`otel-eval worker` as a process; settings as for `Server`."""

    command = "worker"
    listens = ("status",)

    def __init__(self, folder: Path, brokers: str, **settings: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ours = {
            "kafka__session_timeout": "6s",
            "kafka__commit_every": "200ms",
            "metrics": ["turn_count"],
        }
        super().__init__(folder, arguments=("--kafka", brokers, "--status", "127.0.0.1:0"), **{**ours, **settings})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports['status']}"

    @property
    def kafka(self) -> dict[str, Any]:
        """What `/status` tells of Kafka."""
        found: dict[str, Any] = self.get("/status")[1]["kafka"]
        return found
