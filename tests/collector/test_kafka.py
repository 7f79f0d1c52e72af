"""`kafka.yaml`: through a real Collector and a broker to two workers, and back. The main branch does not hear of a Kafka that is away."""

from collections import Counter
from pathlib import Path

from otel_eval.kafka.settings import KafkaSettings
from tests.fakes.broker import LIMIT_BYTES, Broker
from tests.fakes.collector import Collector
from tests.fakes.kafka import LOGS, WorkerProcess, name_of, talk, trace_of
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import until
from tests.fakes.traffic import spans_at

TOPICS = KafkaSettings(brokers="").sources
NUMBERS = range(1, 25)


def post_talks(collector: Collector, numbers: range) -> None:
    """Conversations of two turns as applications send them; each request is taken."""
    for number in numbers:
        for message in talk(number):
            assert collector.post("logs" if message.topic == LOGS else "traces", message.value) == 200


def test_from_application_to_backend_over_kafka(tmp_path: Path) -> None:
    """Conversations sent to a Collector are scored by whichever worker has them, each once, and the results are at the backend."""
    with Broker(tmp_path) as broker, OtlpReceiver() as backend:
        broker.create(dict.fromkeys(TOPICS, 4), **{"max.message.bytes": str(LIMIT_BYTES)})
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "KAFKA_BROKER": broker.address}
        with Collector("kafka.yaml", tmp_path / "collector", **environment) as collector:
            told = {"sinks__otlp_events__endpoint": collector.results, "sinks__otlp_events__protocol": "grpc"}
            names = ("a", "b")
            workers = [WorkerProcess(tmp_path / name, broker.address, completion__conversation_idle="3s", **told) for name in names]
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


def test_the_main_branch_does_not_hear_of_kafka(tmp_path: Path) -> None:
    """With no broker there, applications are answered and the backend has every span once; when it comes, workers get what waited."""
    with Broker(tmp_path) as broker, OtlpReceiver() as backend:
        broker.create(dict.fromkeys(TOPICS, 4), **{"max.message.bytes": str(LIMIT_BYTES)})
        broker.kill()
        environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "KAFKA_BROKER": broker.address}
        with Collector("kafka.yaml", tmp_path / "collector", **environment) as collector, OtlpReceiver() as results:
            post_talks(collector, NUMBERS)
            until(lambda: len(spans_at(backend)) == 4 * len(NUMBERS), 30)
            broker.start()
            with WorkerProcess(tmp_path / "a", broker.address, sinks__otlp_events__endpoint=results.url) as worker:
                until(lambda: len({r.trace_id for r in results.records}) == len(NUMBERS), 120)
                assert worker.kafka["poison"] == {}
    assert set(Counter(spans_at(backend)).values()) == {1}
    assert {r.trace_id for r in results.records} == {trace_of(n, 2).hex() for n in NUMBERS}
