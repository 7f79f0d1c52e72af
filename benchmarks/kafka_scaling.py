"""What a conversation costs behind Kafka: the broker, the workers and the judge apart, with one and with two workers.

    make kafka && python benchmarks/kafka_scaling.py [--conversations 1000] [--rounds 3] [--rate 1.0]

A real broker (three topics of four partitions), workers as processes, an instant judge in a process of its own. Each conversation is one
trace of ten spans (27 kB), written as two messages as a Collector's batches would cut it. Workers are up and have their partitions before
the first message is written; the clock stops when the last message is finished. Rounds run the variants in turns; figures are medians.
With `--rate` only a share is judged, and the rest is left out by its id alone (no triage).

CPU is read from /proc (Linux). Conversations a second depend on what else the machine does and on how many cores broker, workers and judge
share; CPU seconds a conversation hardly do, and are what docs/scaling.md reckons with.
"""

import argparse
import contextlib
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.generate import Generator  # noqa: E402  # the path is set above
from tests.fakes.broker import Broker  # noqa: E402  # as above
from tests.fakes.judge_server import judge_server, reached  # noqa: E402  # as above
from tests.fakes.kafka import SPANS, Bus, Message, Names, WorkerProcess  # noqa: E402  # as above
from tests.fakes.serving import until  # noqa: E402  # as above

SPANS_A_TRACE = 10
METRICS = ["agent_goal_accuracy", "tool_error_rate", "repeated_calls", "unanswered_turn", "user_repetition"]


@dataclass(frozen=True, kw_only=True)
class Run:
    """One round of one variant. CPU in milliseconds a conversation."""

    seconds: float
    workers_ms: float
    broker_ms: float
    judge_ms: float
    rss_mb: float


def messages(count: int, seed: int) -> list[Message]:
    """Conversations as a Collector writes them."""
    generator, made = Generator(seed=seed), []
    for _ in range(count):
        spans = generator.trace(SPANS_A_TRACE)
        key = spans[0].trace_id.hex().encode()
        for part in (spans[:5], spans[5:]):
            request = ExportTraceServiceRequest()
            group = request.resource_spans.add()
            group.resource.attributes.append(KeyValue(key="service.name", value=AnyValue(string_value="support-agent")))
            group.scope_spans.add().spans.extend(part)
            made.append(Message(topic=SPANS, key=key, value=request.SerializeToString()))
    return made


def cpu_s(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def judge_process(url: "multiprocessing.Queue[str]") -> None:
    """An endpoint that answers at once, until it is ended."""
    with judge_server([reached]) as server:
        url.put(server.url)
        threading.Event().wait()


@contextlib.contextmanager
def judge() -> Iterator[tuple[str, int]]:
    """Address and process id of an instant judge."""
    context = multiprocessing.get_context("spawn")
    told: multiprocessing.Queue[str] = context.Queue()
    process = context.Process(target=judge_process, args=(told,), daemon=True)
    process.start()
    try:
        yield told.get(timeout=60), process.pid or 0
    finally:
        process.kill()
        process.join()


def run(broker: Broker, folder: Path, name: str, workers: int, written: list[Message], count: int, rate: float) -> Run:
    """Score so many conversations with so many workers."""
    names = Names(name)
    broker.create(names.topics(4))
    files = [folder / f"{name}-{n}.jsonl" for n in range(workers)]
    with judge() as (url, judge_pid), contextlib.ExitStack() as stack:
        told = {**names.settings, "metrics": METRICS, "judge__model": "fake", "judge__base_url": url, "judge__concurrency": 64}
        told |= {"scoring__concurrency": 32, "completion__conversation_idle": "500ms", "kafka__commit_every": "1s"}
        told |= {"selection__rate": rate, "selection__triage_share": 0.2 if rate == 1 else 0.0}
        group = [
            WorkerProcess(folder / f"{name}-{n}", broker.address, sinks__jsonl__path=str(file), **told) for n, file in enumerate(files)
        ]
        for worker in group:
            stack.enter_context(worker)
        until(lambda: [len(worker.kafka["partitions"]) for worker in group] == [12 // workers] * workers, 120)
        pids = [worker.process.pid for worker in group]
        before = [cpu_s(pid) for pid in (broker.process.pid, judge_pid, *pids)]
        began = time.monotonic()
        Bus(broker.address, **{"compression.type": "zstd"}).write(names.of(iter(written)))
        until(lambda: is_finished(group, names, count), 60 + count, every_s=0.5)
        seconds = time.monotonic() - began
        broker_s, judge_s, *worker_s = (cpu_s(pid) - was for pid, was in zip((broker.process.pid, judge_pid, *pids), before, strict=True))
        used = max(map(rss_mb, pids))
    per = 1000 / count
    return Run(seconds=seconds, workers_ms=sum(worker_s) * per, broker_ms=broker_s * per, judge_ms=judge_s * per, rss_mb=used)


def is_finished(group: list[WorkerProcess], names: Names, count: int) -> bool:
    """Whether every conversation was brought together, and nothing of any is left to do."""
    states = [worker.kafka for worker in group]
    return sum(s["taken"].get(names.talks, 0) for s in states) >= count and not any(s["unfinished"] for s in states)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--conversations", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1.0)
    options = parser.parse_args()
    count = options.conversations
    written = messages(count, seed=1)
    runs: dict[int, list[Run]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as place, Broker(Path(place)) as broker:
        for turn in range(options.rounds):
            for workers in runs if turn % 2 == 0 else reversed(runs):
                runs[workers].append(run(broker, Path(place), f"r{turn}w{workers}", workers, written, count, options.rate))
                print(f"round {turn + 1}, {workers} workers: {runs[workers][-1]}", file=sys.stderr)
    shape = f"{count} conversations of one trace of {SPANS_A_TRACE} spans, {options.rate:.0%} of them judged"
    print(f"{shape}, medians of {options.rounds} rounds in turns\n")
    print("| workers | conversations/s | CPU ms a conversation: workers | broker | judge | largest worker, MB |\n|---|---|---|---|---|---|")
    for workers, found in runs.items():
        rate = statistics.median(count / each.seconds for each in found)
        cells = [statistics.median(getattr(each, name) for each in found) for name in ("workers_ms", "broker_ms", "judge_ms", "rss_mb")]
        print(f"| {workers} | {rate:.0f} | {cells[0]:.1f} | {cells[1]:.1f} | {cells[2]:.1f} | {cells[3]:.0f} |")


if __name__ == "__main__":
    main()
