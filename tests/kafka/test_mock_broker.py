"""Workers on the mock broker of librdkafka: quick, and with all that a group does."""

from collections import Counter
from pathlib import Path

from tests.fakes.kafka import LOGS, SPANS, TALKS, Bus, WorkerProcess, mock_broker, name_of, talk, trace_of
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
