"""`kafka.yaml`: through a real Collector and a broker to two workers, and back. The main branch does not hear of a Kafka that is away."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.broker import LIMIT_BYTES, Broker
from tests.fakes.collector import Collector
from tests.fakes.kafka import LOGS, Names, WorkerProcess, name_of, talk, trace_of
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import until
from tests.fakes.traffic import spans_at

NUMBERS = range(1, 25)


def post_talks(collector: Collector, numbers: range) -> None:
    """Conversations of two turns as applications send them; each request is taken."""
    for number in numbers:
        for message in talk(number):
            assert collector.post("logs" if message.topic == LOGS else "traces", message.value) == 200


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that runs."""
    with Broker(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def topics(broker: Broker, prefix: str) -> Names:
    """Topics of one test."""
    names = Names(prefix)
    broker.create(names.topics(4), **{"max.message.bytes": str(LIMIT_BYTES)})
    return names


def collecting(names: Names, broker: Broker, backend: OtlpReceiver, folder: Path) -> Collector:
    """A Collector that writes to these topics."""
    topics = {"KAFKA_SPANS_TOPIC": names.spans, "KAFKA_LOGS_TOPIC": names.logs}
    return Collector("kafka.yaml", folder / "collector", BACKEND_OTLP_ENDPOINT=backend.url, KAFKA_BROKER=broker.address, **topics)


def test_from_application_to_backend_over_kafka(broker: Broker, tmp_path: Path) -> None:
    """Conversations sent to a Collector are scored by whichever worker has them, each once, and the results are at the backend."""
    names = topics(broker, "through")
    with OtlpReceiver() as backend, collecting(names, broker, backend, tmp_path) as collector:
        told = {"sinks__otlp_events__endpoint": collector.results, "sinks__otlp_events__protocol": "grpc"}
        told |= {**names.settings, "completion__conversation_idle": "3s"}
        workers = [WorkerProcess(tmp_path / name, broker.address, **told) for name in ("a", "b")]
        with workers[0], workers[1]:
            until(lambda: [len(worker.kafka["partitions"]) for worker in workers] == [6, 6], 60)
            post_talks(collector, NUMBERS)
            until(lambda: len({r.attributes.get("otel_eval.result.id") for r in backend.records} - {None}) >= len(NUMBERS), 90)
            until(lambda: sum(worker.kafka["unfinished"] for worker in workers) == 0, 60)
            taken = [sum(worker.kafka["taken"].values()) for worker in workers]
            poison = [worker.kafka["poison"] for worker in workers]
        results = [r.attributes for r in backend.records if "otel_eval.result.id" in r.attributes]
        until(lambda: len(spans_at(backend)) == 4 * len(NUMBERS), 30)
    assert {r["gen_ai.conversation.id"]: r["gen_ai.evaluation.score.value"] for r in results} == {name_of(n): 2.0 for n in NUMBERS}
    assert len(results) == len(NUMBERS)
    assert min(taken) > 0
    assert poison == [{}, {}]


def test_the_main_branch_does_not_hear_of_kafka(broker: Broker, tmp_path: Path) -> None:
    """With no broker there, applications are answered and the backend has every span once; when it comes, workers get what waited."""
    names = topics(broker, "away")
    broker.kill()
    with OtlpReceiver() as backend, OtlpReceiver() as results, collecting(names, broker, backend, tmp_path) as collector:
        post_talks(collector, NUMBERS)
        until(lambda: len(spans_at(backend)) == 4 * len(NUMBERS), 30)
        broker.start()
        with WorkerProcess(tmp_path / "a", broker.address, **names.settings, sinks__otlp_events__endpoint=results.url) as worker:
            until(lambda: len({r.trace_id for r in results.records}) == len(NUMBERS), 120)
            assert worker.kafka["poison"] == {}
    assert set(Counter(spans_at(backend)).values()) == {1}
    assert {r.trace_id for r in results.records} == {trace_of(n, 2).hex() for n in NUMBERS}
