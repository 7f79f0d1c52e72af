"""What a scorer inside an application takes from it: time in `on_end`, CPU a span, and how long a turn takes.

    python benchmarks/in_process.py [ROUNDS]

An agent's turn is six spans (a turn, three model calls, two tool runs) with some 2 kB of content. Four applications run in turns in one
process: one that only makes spans, one with a batch processor whose exporter encodes OTLP and sends nowhere, the same with an
`OnlineScorer` that runs signals, and with one that also judges by rules. In `busy` turns follow each other without a pause; in `paced` the
application waits 10 ms after each, as agents wait for models. CPU is the whole process's, until all is scored; a figure is the median of
the rounds. All of it is one thread's Python beside another's: what the scorer computes, the application waits for at worst.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # run as a script, this file stands outside the package

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from otel_eval.inprocess.scorer import OnlineScorer

ROUNDS = 7
TURNS = {"busy": 400, "paced": 100}
PAUSE_S = {"busy": 0.0, "paced": 0.01}
SPANS = 6
LEAST_US = 50.0
"""The goal: p99 of `on_end`, in microseconds."""
SIGNALS = ["tool_error_rate", "repeated_calls", "unanswered_turn", "user_repetition"]


class Nowhere(SpanExporter):
    """Encodes as an OTLP exporter does, and sends nothing."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        encode_spans(spans).SerializeToString()
        return SpanExportResult.SUCCESS


class Timed(SpanProcessor):
    """Another processor, with the time that each of its `on_end` took."""

    def __init__(self, inner: SpanProcessor, taken_ns: list[int]) -> None:
        self._inner, self._taken_ns = inner, taken_ns

    def on_start(self, span: "object", parent_context: "object" = None) -> None:
        self._inner.on_start(span, parent_context)  # type: ignore[arg-type]  # handed on as it came

    def on_end(self, span: ReadableSpan) -> None:
        began = time.perf_counter_ns()
        self._inner.on_end(span)
        self._taken_ns.append(time.perf_counter_ns() - began)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._inner.shutdown()


@dataclass(kw_only=True)
class Measured:
    """One application in one way of running, over all rounds."""

    cpu_us: list[float] = field(default_factory=list)
    """A span, of the whole process."""
    turn_ms: list[float] = field(default_factory=list)
    """Every turn's time, pauses left out."""
    on_end_ns: list[int] = field(default_factory=list)
    """Of the processor that is asked about: the scorer's, else the exporter's."""


def scorer(tracers: TracerProvider, metrics: Sequence[str], taken_ns: list[int]) -> OnlineScorer:
    config = {"metrics": list(metrics), "completion": {"trace_quiet": "100ms"}}
    made = OnlineScorer(
        config, logger_provider=LoggerProvider(shutdown_on_exit=False), meter_provider=MeterProvider(shutdown_on_exit=False)
    )
    tracers.add_span_processor(Timed(made, taken_ns))
    return made


def bare(tracers: TracerProvider, taken_ns: list[int]) -> Callable[[], object]:
    return lambda: None


def exporting(tracers: TracerProvider, taken_ns: list[int]) -> Callable[[], object]:
    tracers.add_span_processor(Timed(BatchSpanProcessor(Nowhere(), max_queue_size=100_000), taken_ns))
    return lambda: None


def with_signals(tracers: TracerProvider, taken_ns: list[int]) -> Callable[[], object]:
    exporting(tracers, [])
    return scorer(tracers, SIGNALS, taken_ns).shutdown


def with_judge(tracers: TracerProvider, taken_ns: list[int]) -> Callable[[], object]:
    exporting(tracers, [])
    return scorer(tracers, ["agent_goal_accuracy", *SIGNALS], taken_ns).shutdown


APPLICATIONS: Mapping[str, Callable[[TracerProvider, list[int]], Callable[[], object]]] = {
    "spans alone": bare,
    "exporter": exporting,
    "exporter + signals": with_signals,
    "exporter + signals + rules as judge": with_judge,
}


def messages(*said: tuple[str, str]) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in said])


WORDS = "Could you please book a table for two at eight, near the window if there is one? " * 2
ANSWER = messages(("assistant", "A table for two at eight is booked."))
GIVEN = [messages(*[("user", WORDS), ("assistant", "Let me look at what is free.")] * n, ("user", WORDS)) for n in (1, 2, 3)]


def turn(tracer: Tracer, number: int) -> None:
    """Six spans with content, as an instrumented agent makes them."""
    named = {"gen_ai.agent.name": "shop", "gen_ai.provider.name": "openai"}
    with tracer.start_as_current_span("invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent", **named}):
        for place, given in enumerate(GIVEN):
            content = {"gen_ai.input.messages": given, "gen_ai.output.messages": ANSWER, "gen_ai.usage.input_tokens": 300 + number}
            tracer.start_span("chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **named, **content}).end()
            if place < len(GIVEN) - 1:
                told = {"gen_ai.tool.name": "look", "gen_ai.tool.call.id": f"{number}-{place}"}
                told["gen_ai.tool.call.arguments"] = '{"people": 2}'
                told["gen_ai.tool.call.result"] = '{"free": ["20:00"]}'
                tracer.start_span("execute_tool look", attributes={"gen_ai.operation.name": "execute_tool", **told}).end()


def run(application: Callable[[TracerProvider, list[int]], Callable[[], object]], way: str, into: Measured) -> None:
    """One round of one application, to the end of all that it set off."""
    tracers = TracerProvider(shutdown_on_exit=False)
    end = application(tracers, into.on_end_ns)
    tracer = tracers.get_tracer("shop")
    turn(tracer, 0)  # threads and imports are not what is measured
    time.sleep(0.3)
    began_cpu = time.process_time()
    for number in range(TURNS[way]):
        began = time.perf_counter()
        turn(tracer, number)
        into.turn_ms.append((time.perf_counter() - began) * 1e3)
        if PAUSE_S[way]:
            time.sleep(PAUSE_S[way])
    end()
    tracers.shutdown()
    into.cpu_us.append((time.process_time() - began_cpu) / (TURNS[way] * SPANS) * 1e6)


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main(rounds: int) -> int:
    print(f"{'':44}{'on_end, us':>26}{'CPU a span':>20}{'a turn, ms':>16}")
    print(f"{'':6}{'application':<38}{'p50':>8}{'p99':>9}{'p99.9':>9}{'us':>11}{'ratio':>9}{'p50':>8}{'p99':>8}")
    worst = 0.0
    for way in TURNS:
        measured = {name: Measured() for name in APPLICATIONS}
        for number in range(rounds):
            for name in list(APPLICATIONS)[:: -1 if number % 2 else 1]:
                run(APPLICATIONS[name], way, measured[name])
        base = measured["exporter"]
        for name, m in measured.items():
            ratio = statistics.median(a / b for a, b in zip(m.cpu_us, base.cpu_us, strict=True))
            us = [ns / 1e3 for ns in m.on_end_ns]
            on_end = (
                "".join(f"{percentile(us, share):>{width}.1f}" for share, width in ((0.5, 8), (0.99, 9), (0.999, 9))) if us else " " * 26
            )
            times = f"{percentile(m.turn_ms, 0.5):>8.2f}{percentile(m.turn_ms, 0.99):>8.2f}"
            print(f"{way:<6}{name:<38}{on_end}{statistics.median(m.cpu_us):>11.0f}{ratio:>9.2f}{times}")
            if "signals" in name:
                worst = max(worst, percentile(us, 0.99))
    print(f"\np99 of the scorer's on_end: {worst:.1f} us (goal: under {LEAST_US:g})")
    return 0 if worst < LEAST_US else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
