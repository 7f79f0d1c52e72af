"""What an application waits for its answer from the Collector of `collector/fanout.yaml`, in each state that otel-eval may be in.

    python benchmarks/fanout.py [--rounds N]

The requests of the corpus are sent over HTTP one after the other, from a process of their own, once a round. The main backend and otel-eval
are real processes on loopback. Times depend on the machine: what counts is that the rows are alike.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fakes.collector import Collector
from tests.fakes.evaluators import MODES, QUEUE_FULL
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import ROOT, Sent, until
from tests.fakes.traffic import of_corpus, requests_of, spans_at, spans_sent

TO_EVAL = 'exporter="otlp_grpc/eval"'


def answers(url: str, requests: list[Sent]) -> list[float]:
    """Seconds until each answer."""
    taken = []
    for sent in requests:
        content_type = "application/json" if sent.is_json else "application/x-protobuf"
        request = urllib.request.Request(f"{url}/v1/{sent.signal}", data=sent.body, headers={"Content-Type": content_type})
        began = time.perf_counter()
        with urllib.request.urlopen(request, timeout=60):
            taken.append(time.perf_counter() - began)
    return taken


def row(mode: str, rounds: int) -> str:
    """One line of the table."""
    requests = [sent for number in range(1, rounds + 1) for sent in requests_of(of_corpus(number))]
    expected, port = spans_sent(requests), free_port()
    with tempfile.TemporaryDirectory() as name, OtlpReceiver() as backend:
        folder = Path(name)
        (folder / "eval").mkdir()
        queue = {"OTEL_EVAL_QUEUE_BYTES": "1000000"} if mode == QUEUE_FULL else {}
        with MODES[mode](folder / "eval", port):
            environment = {"BACKEND_OTLP_ENDPOINT": backend.url, "OTEL_EVAL_ENDPOINT": f"127.0.0.1:{port}", **queue}
            with Collector("fanout.yaml", folder, **environment) as collector:
                with get_context("spawn").Pool(1) as client:
                    taken = client.apply(answers, (collector.url, requests))
                until(lambda: len(spans_at(backend)) == len(expected), 60)
                counts = [collector.counts(f"otelcol_exporter_{word}_spans", TO_EVAL) for word in ("sent", "enqueue_failed")]
        arrived = spans_at(backend)
    doubles = sum(arrived.values()) - len(arrived)
    p50, p99 = statistics.median(taken) * 1e3, statistics.quantiles(taken, n=100)[98] * 1e3
    return (
        f"| {mode} | {p50:.1f} / {p99:.1f} ms | {len(arrived):,} of {len(expected):,}, {doubles} double | "
        f"{counts[0]:,.0f} sent, {counts[1]:,.0f} dropped |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often the corpus is sent, each time under other ids")
    rounds = parser.parse_args().rounds
    subprocess.run([ROOT / "scripts" / "collector.sh"], check=True, stdout=subprocess.DEVNULL)
    print("| otel-eval | answer to the application, p50 / p99 | spans at the main backend | to otel-eval |\n| --- | --- | --- | --- |")
    for mode in MODES:
        print(row(mode, rounds), flush=True)


if __name__ == "__main__":
    main()
