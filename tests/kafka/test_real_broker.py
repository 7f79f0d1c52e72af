"""Workers on Apache Kafka itself: killed, joined by others, with the broker restarted, with messages that nobody can read or carry."""

import os
import re
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import ConfigError
from otel_eval.kafka.settings import KafkaSettings
from otel_eval.kafka.topics import check_topics
from tests.fakes.broker import LIMIT_BYTES, Broker
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.kafka import Bus, Message, Names, WorkerProcess, name_of, talk, trace_of, turn_messages
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import until

JUDGED = "agent_goal_accuracy"
TURNS = 2
_TALK = re.compile(r"talk-\d{6}")


class Judge:
    """Answers after a moment, and counts by conversation how often it was asked about the whole of it."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.calls: Counter[str] = Counter()
        self._delay_s = delay_s

    def __call__(self, request: Any) -> Any:
        text = str(request["messages"])
        if all(f"Question {turn} of" in text for turn in range(1, TURNS + 1)):
            self.calls.update(set(_TALK.findall(text)))
        return {**reached(request), "delay_s": self._delay_s}


def settings(names: Names, judge_url: str, receiver_url: str, **more: Any) -> dict[str, Any]:
    return {
        **names.settings,
        "metrics": [JUDGED, "turn_count"],
        "judge__model": "fake",
        "judge__base_url": judge_url,
        "completion__conversation_idle": "10s",
        "sinks__otlp_events__endpoint": receiver_url,
        **more,
    }


def ids_of_whole(receiver: OtlpReceiver, metric: str) -> dict[str, list[str]]:
    """By conversation, the ids of the results that hang on its last turn, each as often as it came."""
    last = {trace_of(number, TURNS).hex() for number in range(1, 10_000)}
    ids: dict[str, list[str]] = defaultdict(list)
    for record in tuple(receiver.records):
        a = record.attributes
        if record.trace_id in last and a["gen_ai.evaluation.name"] == metric:
            ids[a["gen_ai.conversation.id"]].append(a["otel_eval.result.id"])
    return ids


def test_nothing_is_lost_whatever_dies(broker: Broker, tmp_path: Path) -> None:
    """Workers killed while they judge, others joining, the broker killed: each conversation is at the backend under one id, and is judged
    once, and once more at most for each crash."""
    names, judge, crashes = Names("chaos"), Judge(0.3), 3
    broker.create(names.topics(6))
    with judge_server([judge]) as judging, OtlpReceiver() as receiver:
        told = settings(names, judging.url, receiver.url, scoring__concurrency=2, completion__conversation_idle="4s")
        group = Group([WorkerProcess(tmp_path / str(n), broker.address, **told) for n in range(4)], names)
        try:
            group.start(0, 1, 2)
            write(broker, names, range(1, 41))
            until(lambda: judge.calls.total() >= 6 and group.has_gathered(), 90)
            group.kill(0)
            group.start(0, 3)
            until(lambda: group.partitions == 18, 60)
            write(broker, names, range(41, 81))
            until(lambda: judge.calls.total() >= 50 and group.has_gathered(), 90)
            broker.kill()
            broker.start()
            until(lambda: judge.calls.total() >= 60, 90)
            group.kill(1)
            expected = {name_of(n) for n in range(1, 81)}
            until(lambda: set(ids_of_whole(receiver, JUDGED)) == expected, 120, every_s=0.2)
            until(lambda: group.partitions == 18 and group.unfinished == 0, 60, every_s=0.2)
            poison = sum(worker.kafka["poison"].get(names.spans, 0) for worker in group.alive)
        finally:
            group.end()
    for metric in (JUDGED, "turn_count"):
        found = ids_of_whole(receiver, metric)
        assert {name: ids for name, ids in found.items() if len(set(ids)) != 1} == {}
        assert set(found) == expected
    assert set(judge.calls) == expected
    assert max(judge.calls.values()) <= 1 + crashes
    assert poison > 0


class Group:
    """Workers of one group, some of which may be dead."""

    def __init__(self, workers: list[WorkerProcess], names: Names) -> None:
        self._workers, self._names = workers, names
        self.alive: list[WorkerProcess] = []

    def start(self, *numbers: int) -> None:
        """Start some at once."""
        begun = [self._workers[number] for number in numbers]
        threads = [threading.Thread(target=worker.start) for worker in begun]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(worker.ports for worker in begun)
        self.alive += begun

    def kill(self, number: int) -> None:
        self.alive.remove(self._workers[number])
        self._workers[number].kill()

    def end(self) -> None:
        for worker in self.alive:
            worker.kill()

    @property
    def partitions(self) -> int:
        return sum(len(worker.kafka["partitions"]) for worker in self.alive)

    @property
    def unfinished(self) -> int:
        return sum(worker.kafka["unfinished"] for worker in self.alive)

    def has_gathered(self) -> bool:
        """Whether all that a Collector wrote is brought together."""
        lags = [worker.kafka["lag"] for worker in self.alive]
        return not sum(lag[topic] for lag in lags for topic in (self._names.spans, self._names.logs))


def write(broker: Broker, names: Names, numbers: range) -> None:
    """Conversations as a Collector writes them, and among them something that is no OTLP."""
    bus = Bus(broker.address)
    bus.write(names.of(message for number in numbers for message in talk(number, turns=TURNS)))
    bus.write([Message(topic=names.spans, key=b"x", value=b"no protobuf")])


def test_partitions_move_without_judging_twice(broker: Broker, tmp_path: Path) -> None:
    """Workers that join and leave in order cost nothing: each conversation is judged once."""
    names, count = Names("moves"), 40
    broker.create(names.topics(4))
    judge = Judge(0.2)
    with judge_server([judge]) as judging, OtlpReceiver() as receiver:
        told = settings(names, judging.url, receiver.url, completion__conversation_idle="3s", scoring__concurrency=2)
        first, second, third = (WorkerProcess(tmp_path / str(n), broker.address, **told) for n in range(3))
        with first:
            bus = Bus(broker.address)
            bus.write(names.of(m for number in range(1, count + 1) for m in talk(number, turns=TURNS)))
            until(lambda: len(judge.calls) > 3, 60)
            with second:
                until(lambda: len(second.kafka["partitions"]) == 6, 60)
                with third:
                    until(lambda: third.kafka["partitions"], 60)
                assert third.process.returncode == 0
                until(lambda: len(ids_of_whole(receiver, JUDGED)) == count, 90, every_s=0.2)
                until(lambda: first.kafka["unfinished"] + second.kafka["unfinished"] == 0, 60)
    assert set(judge.calls.values()) == {1}
    assert [ids for ids in ids_of_whole(receiver, JUDGED).values() if len(set(ids)) != 1] == []


def test_a_restart_under_the_same_name_moves_nothing(broker: Broker, tmp_path: Path) -> None:
    """Workers with names of their own (`group.instance.id`) are restarted without a rebalance for the others, and go on where they were."""
    names = Names("static")
    broker.create(names.topics(2))
    with OtlpReceiver() as receiver:
        told = {**names.settings, "sinks__otlp_events__endpoint": receiver.url, "kafka__session_timeout": "40s"}
        first, second = (
            WorkerProcess(tmp_path / name, broker.address, **told, kafka__client={"group.instance.id": name}) for name in ("a", "b")
        )
        with first:
            until(lambda: first.kafka["partitions"], 60)
            with second:
                until(lambda: second.kafka["partitions"], 60)
                rebalances, places = first.kafka["rebalances"], second.kafka["partitions"]
                assert second.stop() == 0
                second.start()
                until(lambda: second.kafka["partitions"] == places, 60)
                assert first.kafka["rebalances"] == rebalances
                Bus(broker.address).write(names.of(m for number in range(1, 9) for m in talk(number, turns=TURNS)))
                until(lambda: {r.attributes["gen_ai.conversation.id"] for r in receiver.records} == {name_of(n) for n in range(1, 9)}, 60)


def test_messages_that_nobody_can_read_or_that_are_as_large_as_can_be(broker: Broker, tmp_path: Path) -> None:
    """Unreadable messages are named and passed by; one at the broker's limit is carried over both topics, whatever is in it."""
    names = Names("odd")
    broker.create(names.topics(2))
    noise = os.urandom(LIMIT_BYTES).hex()
    call, log, root = turn_messages(7, 1, padding=noise[: LIMIT_BYTES - 4_000])
    with OtlpReceiver() as receiver:
        told = {**names.settings, "sinks__otlp_events__endpoint": receiver.url}
        with WorkerProcess(tmp_path, broker.address, **told) as worker:
            bus = Bus(broker.address)
            poison = [Message(topic=t, key=None, value=v, partition=p) for t in names.all for v in (b"\xff\xfe no", b"") for p in (0, 1)]
            bus.write(names.of(turn_messages(6, 1)))
            bus.write(poison)
            bus.write(names.of([call, log, root, *turn_messages(8, 1)]))
            until(lambda: {r.attributes["gen_ai.conversation.id"] for r in receiver.records} == {name_of(n) for n in (6, 7, 8)}, 90)
            until(lambda: worker.kafka["unfinished"] == 0, 30)
            state = worker.kafka
    assert LIMIT_BYTES - 4_500 < len(call.value) < LIMIT_BYTES
    assert state["poison"] == dict.fromkeys(names.all, 4)
    assert sum(state["lag"].values()) == 0
    named = [line for line in worker.log if "is passed by" in line]
    assert len(named) == 12
    assert all(re.search(r"odd_\w+\[[01]\] at offset \d+", line) for line in named)


def test_unequal_topics_are_refused_with_the_command(broker: Broker) -> None:
    """Unequal partition counts are an error that says what to run; a missing topic, what to make; an absent broker, what to name."""
    broker.create({"uneven_spans": 3, "uneven_logs": 5})
    s = KafkaSettings(brokers=broker.address, traces_topic="uneven_spans", logs_topic="uneven_logs")
    with pytest.raises(ConfigError, match=r"3 partitions and 'uneven_logs' has 5: .*--topic uneven_spans --partitions 5"):
        check_topics(s)
    with pytest.raises(ConfigError, match="no topic 'nothing'"):
        check_topics(KafkaSettings(brokers=broker.address, traces_topic="nothing", logs_topic="uneven_logs"))
    with pytest.raises(ConfigError, match=r"no Kafka broker answers at '127.0.0.1:1'"):
        check_topics(KafkaSettings(brokers="127.0.0.1:1", patience_s=1.0))


def test_the_topic_of_conversations_is_made(broker: Broker) -> None:
    """What is missing of ours is made with as many partitions as the others have; a second worker finds it."""
    broker.create({"made_spans": 3, "made_logs": 3})
    s = KafkaSettings(brokers=broker.address, traces_topic="made_spans", logs_topic="made_logs", conversations_topic="made_talks")
    assert check_topics(s) == {"made_spans": 3, "made_logs": 3, "made_talks": 3}
    assert check_topics(s) == {"made_spans": 3, "made_logs": 3, "made_talks": 3}
