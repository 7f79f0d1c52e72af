"""The load of `serve` beside agentevals: processor time until acknowledged and until converted, latency when paced, a burst."""

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.processes import cpu_s, peak_mb
from benchmarks.sending import Sent, bodies, send
from benchmarks.servers import AgentEvals, OtelEval, Side
from benchmarks.serving_figures import Figure, at_most, ratio

MakeSide: TypeAlias = Callable[[Path], AbstractContextManager[Side]]

REQUESTS, SPANS = 50, 200
"""A run: fifty requests of two hundred spans in twenty traces, ten of which are one conversation."""
PACED_REQUESTS, PACED_GAP_S = 100, 0.4
_CALM_S, _PATIENCE_S = 2.0, 180.0
SAMPLED_OUT = {"selection__rate": 0, "selection__triage_share": 0}


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one server did with the requests; processor seconds are for 10,000 spans."""

    sent: Sent
    acknowledged_s: float
    converted_s: float
    peak_mb: float


def run(make: MakeSide, requests: Sequence[bytes], *, gap_s: float = 0.0, via: str = "http", spans: int = SPANS) -> Run:
    """One server on a fresh folder, from the first request until all is converted."""
    with tempfile.TemporaryDirectory() as folder:
        return run_on(make(Path(folder)), requests, gap_s=gap_s, via=via, spans=spans)


def run_on(
    server: AbstractContextManager[Side], requests: Sequence[bytes], *, gap_s: float = 0.0, via: str = "http", spans: int = SPANS
) -> Run:
    """The same of a server on a folder that is there."""
    scale = 10_000 / (len(requests) * spans)
    with server as side:
        time.sleep(_CALM_S)  # what a start leaves to do is not what is measured
        began_s = cpu_s(side.pid)
        sent = send(side.target, requests, gap_s=gap_s, via=via)
        acknowledged_s = cpu_s(side.pid) - began_s
        wait_for(lambda: side.converted() >= sent.accepted * spans)
        converted_s = cpu_s(side.pid) - began_s
        return Run(sent=sent, acknowledged_s=acknowledged_s * scale, converted_s=converted_s * scale, peak_mb=peak_mb(side.pid))


def acknowledged(make: MakeSide, requests: Sequence[bytes], *, gap_s: float = 0.0) -> Sent:
    """The same without waiting for what comes of it."""
    with tempfile.TemporaryDirectory() as folder, make(Path(folder)) as side:
        time.sleep(_CALM_S)
        return send(side.target, requests, gap_s=gap_s)


def wait_for(is_done: Callable[[], bool]) -> None:
    """Wait until something holds; SystemExit where it never does."""
    end = time.monotonic() + _PATIENCE_S
    while not is_done():
        if time.monotonic() > end:
            raise SystemExit(f"the server did not finish within {_PATIENCE_S:g} s")
        time.sleep(0.25)


def sides(has_peer: bool, **settings: object) -> Mapping[str, MakeSide]:
    """The servers to compare."""
    ours: MakeSide = lambda folder: OtelEval(folder, **settings)  # noqa: E731  # a name for the type
    return {"otel-eval": ours, "agentevals": AgentEvals} if has_peer else {"otel-eval": ours}


def load(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """Until acknowledged and until converted, of protobuf bodies over HTTP and gRPC; and of what sampling leaves out."""
    requests = bodies(requests=REQUESTS, turns=10)
    servers = {**sides(has_peer), "sampled out": lambda folder: OtelEval(folder, **SAMPLED_OUT)}
    runs: dict[str, list[Run]] = defaultdict(list)
    for turn in range(rounds):
        for name in list(servers)[:: -1 if turn % 2 else 1]:
            runs[name].append(run(servers[name], requests))
    ours, out = runs["otel-eval"], runs["sampled out"]
    found = [ratio("a sampled-out span / a converted one, CPU s", [r.converted_s for r in out], [r.converted_s for r in ours], 0.6)]
    if has_peer:
        theirs = runs["agentevals"]
        found += [
            ratio("acknowledged, CPU s per 10k spans / agentevals", *_both(ours, theirs, "acknowledged_s"), 0.25),
            ratio("converted and scored, CPU s per 10k spans / agentevals", *_both(ours, theirs, "converted_s"), 0.2),
            ratio("peak memory, MB / agentevals", *_both(ours, theirs, "peak_mb"), 0.4),
        ]
    else:
        found += [Figure(what=f"{n}, CPU s per 10k spans", found=f"{r[-1].converted_s:.2f}") for n, r in runs.items()]
    return found


def _both(ours: Sequence[Run], theirs: Sequence[Run], name: str) -> tuple[list[float], list[float]]:
    return [getattr(r, name) for r in ours], [getattr(r, name) for r in theirs]


def paced(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """Latency of acknowledgements when four clients send a request each 0.4 s."""
    requests = bodies(requests=PACED_REQUESTS, turns=10)
    runs: dict[str, list[Sent]] = defaultdict(list)
    for turn in range(rounds):
        servers = sides(has_peer)
        for name in list(servers)[:: -1 if turn % 2 else 1]:
            runs[name].append(acknowledged(servers[name], requests, gap_s=PACED_GAP_S))
    ours = [s.percentile_ms(99) for s in runs["otel-eval"]]
    half = Figure(what="paced: acknowledged, p50", found=f"{min(s.percentile_ms(50) for s in runs['otel-eval']):.0f} ms")
    if not has_peer:
        return [half, Figure(what="paced: acknowledged, p99", found=f"{min(ours):.0f} ms")]
    return [half, ratio("paced: acknowledged, p99 / agentevals", ours, [s.percentile_ms(99) for s in runs["agentevals"]], 0.3, unit=" ms")]


def burst(rounds: int, has_peer: bool) -> Sequence[Figure]:
    """A thousand conversations at once: every request is taken."""
    requests = bodies(requests=REQUESTS)
    found = []
    for name, make in sides(has_peer).items():
        sent = acknowledged(make, requests)
        answers = ", ".join(f"{count} × {answer}" for answer, count in sent.answers.items())
        if name == "otel-eval":
            found.append(at_most("1,000 conversations in one burst: requests refused", REQUESTS - sent.accepted, 0, told=f" ({answers})"))
        else:
            found.append(Figure(what=f"the same at {name}", found=answers))
    return found
