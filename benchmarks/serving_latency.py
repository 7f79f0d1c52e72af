"""From a trace's completion to its event at the backend, and memory, with an instant judge: all of `serve` is loaded then."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from benchmarks.processes import rss_mb
from benchmarks.sending import bodies, send
from benchmarks.servers import OtelEval
from benchmarks.serving_figures import Figure, at_most
from benchmarks.serving_load import REQUESTS, SPANS, wait_for
from otel_eval.otlp.decode import batch_from_traces
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.otlp_receiver import OtlpReceiver, records_from_body

QUIET_S = 1.0
TRACES, GAP_S = 200, 0.05
BURSTS = 6
JUDGED = {"name": "agent_goal_accuracy", "at": "trace"}


@dataclass(slots=True)
class Clocked(OtlpReceiver):
    """A backend that remembers when the first event of each trace came."""

    came_s: dict[str, float] = field(default_factory=dict)

    def take(self, body: bytes, path: str) -> int:
        now_s = time.monotonic()
        for record in records_from_body(body) if path.endswith("/v1/logs") else ():
            self.came_s.setdefault(record.trace_id, now_s)
        return 200


@contextmanager
def served(**settings: Any) -> Iterator[tuple[OtelEval, Clocked]]:
    """A server with both receivers and the model of an instant judge, and the backend that its events go to."""
    with tempfile.TemporaryDirectory() as folder, judge_server([reached]) as judge, Clocked() as backend:
        judged = {"judge__model": "instant", "judge__base_url": judge.url, "judge__concurrency": 32}
        sinks = {"sinks__otlp_events__endpoint": backend.url, "sinks__jsonl__path": None}
        with OtelEval(Path(folder), **{**judged, **sinks, **settings}) as side:
            yield side, backend


def latency(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """Single traces of ten spans, twenty a second; the time beyond `trace_quiet`."""
    settings = {"completion__trace_quiet": f"{QUIET_S:g}s", "completion__conversation_idle": "1h", "metrics": [JUDGED]}
    acknowledged_s: dict[str, float] = {}
    with served(**settings) as (side, backend):
        for body in bodies(requests=TRACES, spans=10):
            send(side.target, [body], clients=1, gap_s=GAP_S)
            acknowledged_s[batch_from_traces(body).spans[0].trace_id] = time.monotonic()
        wait_for(lambda: len(backend.came_s) >= TRACES)
    late_s = [backend.came_s[trace] - at_s - QUIET_S for trace, at_s in acknowledged_s.items()]
    percents = quantiles(late_s, n=100)
    return [
        at_most("from completion to the event at the backend, p50, beyond trace_quiet", percents[49] * 1000, 150, unit=" ms"),
        at_most("the same, p99", percents[98] * 1000, 1000, unit=" ms"),
    ]


def memory(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """Resident memory with everything loaded, after each of several bursts of 10,000 spans that are all judged."""
    found_mb: list[float] = []
    with served(metrics=["agent_goal_accuracy", "unanswered_turn"]) as (side, _):
        for number in range(BURSTS):
            send(side.target, bodies(requests=REQUESTS, turns=10, seed=number * REQUESTS))
            wait_for(lambda sent=(number + 1) * REQUESTS * SPANS: side.converted() >= sent)  # type: ignore[misc]  # bound now
            found_mb.append(rss_mb(side.pid))
    told = ", ".join(f"{mb:.0f}" for mb in found_mb)
    return [
        at_most("resident memory, all loaded, after 60,000 spans", found_mb[-1], 135, unit=" MB", told=f" (after each 10,000: {told})"),
        at_most("its growth from 40,000 to 60,000 spans", found_mb[-1] - found_mb[3], 2, unit=" MB"),
    ]
