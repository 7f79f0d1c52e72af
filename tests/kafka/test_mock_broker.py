"""Workers on the mock broker of librdkafka: quick, and with all that a group does."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from tests.fakes.judge_server import judge_server, reached
from tests.fakes.kafka import LOGS, SPANS, TALKS, Bus, WorkerProcess, hidden_messages, mock_broker, name_of, talk, trace_of
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.serving import until


def test_a_worker_scores_what_a_collector_wrote(tmp_path: Path) -> None:
    """Conversations over traces in several partitions come together, traces without an id are conversations; results reach the sink."""
    named, unnamed = range(1, 9), range(9, 13)
    with mock_broker() as brokers, OtlpReceiver() as receiver:
        bus = Bus(brokers)
        for number in (*named, *unnamed):
            bus.write(talk(number, turns=3, named=number in named))
        with WorkerProcess(tmp_path, brokers, sinks__otlp_events__endpoint=receiver.url) as worker:
            until(lambda: worker.outcomes("conversation").get("scored") == 8, 60)
            until(lambda: worker.kafka["unfinished"] == 0, 30)
            until(lambda: sum(worker.kafka["lag"].values()) == 0, 30)
            status = worker.kafka
            assert worker.get("/readyz")[0] == 200
    turns = Counter(
        {r.attributes.get("gen_ai.conversation.id") or r.trace_id: r.attributes["gen_ai.evaluation.score.value"] for r in receiver.records}
    )
    assert turns == {name_of(n): 3.0 for n in named} | {trace_of(n, turn).hex(): 1.0 for n in unnamed for turn in (1, 2, 3)}
    assert status["taken"] == {SPANS: 72, LOGS: 36, TALKS: 72}
    assert len(status["partitions"]) == 12


def test_conversations_that_only_reading_finds_come_together(tmp_path: Path) -> None:
    """Where a conversation's id stands inside a JSON text, its traces are read first and then written to where the others are."""
    numbers = range(1, 9)
    with mock_broker() as brokers, OtlpReceiver() as receiver:
        told = {"sinks__otlp_events__endpoint": receiver.url, "completion__conversation_idle": "3s"}
        with WorkerProcess(tmp_path / "a", brokers, **told) as a, WorkerProcess(tmp_path / "b", brokers, **told) as b:
            until(lambda: [len(worker.kafka["partitions"]) for worker in (a, b)] == [6, 6], 60)
            Bus(brokers).write(m for number in numbers for turn in (1, 2, 3) for m in hidden_messages(number, turn))
            until(lambda: len({r.attributes["gen_ai.conversation.id"] for r in receiver.records}) == len(numbers), 90)
            until(lambda: a.kafka["unfinished"] + b.kafka["unfinished"] == 0, 30)
    turns = [(r.attributes["gen_ai.conversation.id"], r.attributes["gen_ai.evaluation.score.value"]) for r in receiver.records]
    assert sorted(turns) == [(name_of(n), 3.0) for n in numbers]


def test_too_much_at_once_pauses_partitions_and_loses_nothing(tmp_path: Path) -> None:
    """Where more traces are open than may be held, nothing more is read until some are complete; polling goes on, and all are scored."""
    with mock_broker() as brokers, OtlpReceiver() as receiver:
        Bus(brokers).write(m for number in range(1, 201) for m in talk(number, turns=1))
        told = {"sinks__otlp_events__endpoint": receiver.url, "kafka__max_held": "4kB", "completion__trace_quiet": "1s"}
        with WorkerProcess(tmp_path, brokers, **told) as worker:
            paused: set[str] = set()

            def all_scored() -> bool:
                paused.update(worker.kafka["paused"])
                return len({r.trace_id for r in receiver.records}) == 200

            until(all_scored, 90)
            until(lambda: worker.kafka["paused"] == [] and worker.kafka["unfinished"] == 0, 30)
            rebalances = worker.kafka["rebalances"]
            code, told_of = worker.get(f"/explain/{name_of(7)}")
    assert paused
    assert {place.partition("[")[0] for place in paused} <= {SPANS, LOGS}
    assert rebalances == 1
    assert code == 200
    assert told_of["units"][0]["outcome"] == "scored"


def verdicts_in(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        (found,) = db.execute("SELECT count(*) FROM verdicts").fetchone()
    return int(found)


def test_books_in_a_file_make_a_crash_free(tmp_path: Path) -> None:
    """With `kafka.books` a worker that is killed between verdict and delivery asks no judge again: the verdicts are in its file."""
    numbers = range(1, 9)
    with mock_broker() as brokers, judge_server([reached]) as judge, OtlpReceiver(answer=lambda number: 503) as receiver:
        Bus(brokers).write(m for number in numbers for m in talk(number, turns=1))
        told = {
            "metrics": ["agent_goal_accuracy"],
            "judge__model": "fake",
            "judge__base_url": judge.url,
            "sinks__otlp_events__endpoint": receiver.url,
            "kafka__books": str(tmp_path / "books.db"),
        }
        worker = WorkerProcess(tmp_path, brokers, **told)
        worker.start()
        try:
            until(lambda: worker.outcomes("conversation") == {"scored": len(numbers)}, 60)
            until(lambda: verdicts_in(tmp_path / "books.db") == len(numbers), 30)
            assert receiver.records == []
            worker.kill()
            receiver.answer = lambda number: 200
            worker.start()
            until(lambda: {r.attributes["gen_ai.conversation.id"] for r in receiver.records} == {name_of(n) for n in numbers}, 60)
        finally:
            worker.kill()
    assert len(judge.requests) == len(numbers)
