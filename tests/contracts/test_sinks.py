"""What every sink behind an outbox must keep, whatever it is: nothing lost, nothing doubled, and each unit's results in their order."""

import asyncio
import io
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_eval.model import Report, Result, Score
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.service.serve.sending import Sender
from otel_eval.sinks.base import OutboxSink
from otel_eval.sinks.otlp_events import OtlpEventSink
from otel_eval.sinks.otlp_metrics import OtlpMetricsSink
from otel_eval.sinks.otlp_spans import OtlpSpanSink
from otel_eval.sinks.streams import ConsoleSink, FileSink
from otel_eval.store import Finished, Outgoing, Store
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.stores import open_store, talk
from tests.fakes.talk import booking, ref

UNITS, REVISIONS = 12, 3


@dataclass
class Far:
    """A far side: the sink that leads there, and the ids it has, in order of arrival."""

    sink: OutboxSink
    ids: Callable[[], list[str]]


def report(unit: int, revision: int) -> Report:
    """Two results of one conversation."""
    results = tuple(
        Result(
            id=f"{unit}-{revision}-{n}",
            metric=f"m{n}",
            metric_version="1",
            outcome=Score(value=n / 2, label="pass"),
            revision=revision,
            anchor=ref(1),
        )
        for n in range(2)
    )
    return Report(conversation=replace(booking(), id=f"c{unit}"), results=results, time_ns=1_790_000_000_000_000_000)


EXPECTED = [f"{unit}-{revision}-{n}" for unit in range(UNITS) for revision in range(1, REVISIONS + 1) for n in range(2)]


@contextmanager
def events(answer: Callable[[int], int], folder: Path) -> Iterator[Far]:
    with OtlpReceiver(answer=answer) as receiver:
        sink = OtlpEventSink(endpoint(receiver, "logs"), resource={})
        yield Far(sink, lambda: [r.attributes["otel_eval.result.id"] for r in receiver.records])


@contextmanager
def spans(answer: Callable[[int], int], folder: Path) -> Iterator[Far]:
    with OtlpReceiver(answer=answer) as receiver:
        yield Far(OtlpSpanSink(endpoint(receiver, "traces"), resource={}), lambda: list(span_ids(receiver)))


def span_ids(receiver: OtlpReceiver) -> Iterator[str]:
    for _, body in receiver.bodies:
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            for span in group.scope_spans[0].spans:
                yield next(a.value.string_value for a in span.attributes if a.key == "otel_eval.result.id")


@contextmanager
def file(answer: Callable[[int], int], folder: Path) -> Iterator[Far]:
    path = folder / "results.jsonl"
    yield Far(FileSink(path), lambda: [json.loads(line)["result_id"] for line in path.read_text().splitlines()])


def endpoint(receiver: OtlpReceiver, signal: str) -> Endpoint:
    return Endpoint(url=f"{receiver.url}/v1/{signal}", timeout_s=5.0)


SINKS: Mapping[str, Any] = {"otlp_events": events, "otlp_spans": spans, "jsonl": file}
LUCK = random.Random(7)


def by_luck(number: int) -> int:
    return LUCK.choice([200, 503, 429, 200, 0])


ANSWERS: Mapping[str, Callable[[], Callable[[int], int]]] = {
    "well": lambda: lambda number: 200,
    "for now": lambda: lambda number: 503 if number < 4 else 200,
    "broken off": lambda: lambda number: 0 if number < 3 else 200,
    "at random": lambda: by_luck,
}


def fill(store: Store, name: str, sink: OutboxSink) -> None:
    """Commit results of several units and revisions, unit by unit in turn."""
    for revision in range(1, REVISIONS + 1):
        for unit in range(UNITS):
            payload = sink.payload(report(unit, revision))
            assert payload is not None
            outgoing = (Outgoing(sink=name, payload=payload),)
            done = Finished(unit=talk(f"c{unit}"), revision=revision, seen_s=store.now_s(), outcome="scored", outgoing=outgoing)
            assert store.queues.finish(done).result()


async def empty(store: Store, name: str, sink: OutboxSink, **more: Any) -> Sender:
    """Send until nothing waits."""
    sender = Sender(name=name, store=store, sink=sink, at_once=8, first_pause_s=0.01, **more)
    stopping = asyncio.Event()
    task = asyncio.create_task(sender.run(stopping))
    async with asyncio.timeout(30):
        while store.outbox.depths().get(name) is not None:
            await asyncio.sleep(0.01)
    stopping.set()
    await task
    return sender


@pytest.mark.parametrize("name", SINKS)
@pytest.mark.parametrize("answers", ANSWERS)
def test_nothing_is_lost_or_doubled(name: str, answers: str, tmp_path: Path) -> None:
    """Each result arrives exactly once, however often the far side refused before it took it, and revisions of a unit in order."""
    with SINKS[name](ANSWERS[answers](), tmp_path) as far, open_store(None) as store:
        fill(store, name, far.sink)
        asyncio.run(empty(store, name, far.sink))
        ids = far.ids()
    assert sorted(ids) == sorted(EXPECTED)
    for unit in range(UNITS):
        own = [int(i.split("-")[1]) for i in ids if i.startswith(f"{unit}-")]
        assert own == sorted(own)


@pytest.mark.parametrize("name", ["otlp_events", "otlp_spans"])
def test_what_is_refused_for_good_takes_no_other_with_it(name: str, tmp_path: Path) -> None:
    """The letters of a batch that the far side will never take are sent alone; only the bad one is dead, and its delivery says so."""
    bad: list[int] = []

    def answer(number: int) -> int:
        """The first batch is refused as a whole; of its letters, sent alone, the second."""
        bad.append(number)
        return 400 if number in (1, 3) else 200

    with SINKS[name](answer, tmp_path) as far, open_store(None) as store:
        fill(store, name, far.sink)
        sender = asyncio.run(empty(store, name, far.sink))
        missing = sorted(set(EXPECTED) - set(far.ids()))
        dead = store.info().dead_letters
    assert (sender.dead, dead) == (1, 1)
    assert len({i.rpartition("-")[0] for i in missing}) == 1
    assert len(missing) == 2


@pytest.mark.parametrize("name", SINKS)
def test_a_restart_goes_on(name: str, tmp_path: Path) -> None:
    """What was not sent before the end is sent by the next process, with the same ids, and what was sent is not sent again."""
    with SINKS[name](lambda number: 200 if number == 1 else 503, tmp_path) as far:
        with open_store(tmp_path / "store.db") as store:
            fill(store, name, far.sink)
            sender = Sender(name=name, store=store, sink=far.sink, at_once=5, first_pause_s=0.0)
            asyncio.run(sender.once())
        before = far.ids()
        with SINKS[name](lambda number: 200, tmp_path) as next_far, open_store(tmp_path / "store.db") as store:
            asyncio.run(empty(store, name, next_far.sink))
            after = next_far.ids()
    got = after if name == "jsonl" else before + after
    assert sorted(got) == sorted(EXPECTED)


@pytest.mark.parametrize("answers", ANSWERS)
def test_sums_of_metrics_are_exact(answers: str) -> None:
    """The sums that the far side took last count each result once, whatever it refused on the way."""
    with OtlpReceiver(answer=ANSWERS[answers]()) as receiver, open_store(None) as store:
        sink = OtlpMetricsSink(endpoint(receiver, "metrics"), resource={})
        fill(store, "otlp_metrics", sink)
        asyncio.run(empty(store, "otlp_metrics", sink, every_s=0.01))
        assert counted(receiver.bodies[-1][1]) == len(EXPECTED)


def test_sums_go_on_over_a_restart(tmp_path: Path) -> None:
    """Sums begin anew with the process; those of both processes together count each result once."""
    with OtlpReceiver() as receiver:
        first = OtlpMetricsSink(endpoint(receiver, "metrics"), resource={})
        with open_store(tmp_path / "store.db") as store:
            fill(store, "otlp_metrics", first)
            asyncio.run(Sender(name="otlp_metrics", store=store, sink=first, at_once=5).once())
        before = counted(receiver.bodies[-1][1])
        with open_store(tmp_path / "store.db") as store:
            asyncio.run(empty(store, "otlp_metrics", OtlpMetricsSink(endpoint(receiver, "metrics"), resource={}), every_s=0.01))
        assert before + counted(receiver.bodies[-1][1]) == len(EXPECTED)


def counted(body: bytes) -> float:
    """The sum of `otel_eval.results` in a request."""
    metrics = ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0].metrics
    found = next(m for m in metrics if m.name == "otel_eval.results")
    return sum(p.as_double for p in found.sum.data_points)


def test_a_line_that_a_crash_left_behind_spoils_nothing(tmp_path: Path) -> None:
    """A piece of a line at the end of the file is taken away at the start: it was not said to be sent, and is sent again."""
    path = tmp_path / "results.jsonl"
    path.write_text('{"a": 1}\n{"b": ')
    sink = FileSink(path)
    asyncio.run(sink.send([b'{"c": 3}\n']))
    assert path.read_text() == '{"a": 1}\n{"c": 3}\n'


def test_a_pipe_is_written_to() -> None:
    """What cannot be synced or cut, such as `/dev/stdout` of a container, gets each line once."""
    reading, writing = os.pipe()
    try:
        sink = FileSink(Path(f"/dev/fd/{writing}"))
        asyncio.run(sink.send([b'{"a": 1}\n', b'{"b": 2}\n']))
        asyncio.run(sink.send([b'{"c": 3}\n']))
        assert os.read(reading, 1000) == b'{"a": 1}\n{"b": 2}\n{"c": 3}\n'
    finally:
        os.close(reading)
        os.close(writing)


def test_a_console_that_is_gone_keeps_nobody() -> None:
    """What cannot be shown any more is refused for good: nothing piles up for a console."""
    stream = io.StringIO()
    sink = ConsoleSink(stream)
    with open_store(None) as store:
        fill(store, "console", sink)
        asyncio.run(empty(store, "console", sink))
        assert stream.getvalue().count("m0") == UNITS * REVISIONS
        stream.close()
        done = Finished(
            unit=talk("late"), revision=1, seen_s=store.now_s(), outcome="scored", outgoing=(Outgoing(sink="console", payload=b"x"),)
        )
        store.queues.finish(done).result()
        asyncio.run(empty(store, "console", sink))
        assert store.info().dead_letters == 1
