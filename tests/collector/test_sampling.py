"""`tail-sampling.yaml` and `probabilistic-sampling.yaml`: what was sampled before otel-eval, and what its results say of that."""

from pathlib import Path
from typing import Any

import pytest

from tests.fakes.bench import otlp_json
from tests.fakes.collector import Collector
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Server, until
from tests.fakes.spans import agent, chat, says, user
from tests.fakes.traffic import spans_at

RESULT = "gen_ai.evaluation.result"
UPSTREAM = "otel_eval.sampling.upstream"
TRACES = 64
HALF = "ot=th:8"
"""Written by a sampler that kept every second trace."""


def turns(tracestate: str, count: int = TRACES, *, error: str | None = None) -> bytes:
    """Traces of one turn each, whose ids spread evenly over what such a sampler keeps."""
    spans: list[Any] = []
    for number in range(1, count + 1):
        randomness = (1 << 55) + (number - 1) * (1 << 55) // count
        ids: dict[str, Any] = {"trace": number * 2**64 + randomness, "trace_state": tracestate}
        spans += [chat(1, [user("Hi")], says("Hello"), parent=9, error=error, **ids), agent(9, "clerk", start=0, end=3, **ids)]
    return otlp_json(spans)


def sampled(folder: Path, config: str, body: bytes, **environment: str) -> tuple[set[str], set[str], set[tuple[str, float | None]]]:
    """(traces at the backend, judged traces, what results say of sampling: the word and the probability)."""
    port = free_port()
    with OtlpReceiver() as backend:
        collector = Collector(config, folder, OTEL_EVAL_ENDPOINT=f"127.0.0.1:{port}", BACKEND_OTLP_ENDPOINT=backend.url, **environment)
        server = Server(
            folder,
            receive__grpc__endpoint=f"127.0.0.1:{port}",
            metrics=["turn_count"],
            sinks__otlp_events__endpoint=collector.results,
            sinks__otlp_events__protocol="grpc",
        )
        with collector, server:
            assert collector.post("traces", body, json_body=True) == 200

            def results() -> list[Any]:
                return [r for r in list(backend.records) if r.event_name == RESULT]

            until(lambda: spans_at(backend) and len(results()) == len({name.split()[0] for name in spans_at(backend)}), 60)
            kept = {name.split()[0] for name in spans_at(backend)}
            said = {
                (r.attributes["otel_eval.sampling.upstream"], r.attributes.get("otel_eval.sampling.upstream_probability"))
                for r in results()
            }
            return kept, {r.trace_id for r in results()}, said


@pytest.mark.parametrize("tracestate", ["", HALF, f"vendor=1,{HALF},other=2", f"vendor=1,{HALF};rv:ffffffffffffff"])
def test_behind_a_tail_sampler_the_probability_is_unknown(tmp_path: Path, tracestate: str) -> None:
    """otel-eval judges what the sampler kept, and says `unknown`, also where an earlier sampler's threshold stood in the tracestate."""
    environment = {"TAIL_SAMPLING_WAIT": "1s", "TAIL_SAMPLING_PERCENTAGE": "50"}
    kept, judged, said = sampled(tmp_path, "tail-sampling.yaml", turns(tracestate), **environment)
    assert 0 < len(kept) < TRACES
    assert judged == kept
    assert said == {("unknown", None)}


def test_a_tail_sampler_keeps_failures(tmp_path: Path) -> None:
    """Traces with an error pass whatever the percentage."""
    environment = {"TAIL_SAMPLING_WAIT": "1s", "TAIL_SAMPLING_PERCENTAGE": "0"}
    kept, judged, _ = sampled(tmp_path, "tail-sampling.yaml", turns("", 8, error="boom"), **environment)
    assert len(kept) == len(judged) == 8


@pytest.mark.parametrize(("tracestate", "probability"), [("", 0.25), (HALF, 0.125)])
def test_a_probabilistic_sampler_tells_its_share(tmp_path: Path, tracestate: str, probability: float) -> None:
    """Results carry the share that the Collector kept, times what was kept before it."""
    kept, judged, said = sampled(tmp_path, "probabilistic-sampling.yaml", turns(tracestate), SAMPLING_PERCENTAGE="25")
    assert 0 < len(kept) < TRACES
    assert judged == kept
    assert said == {("tracestate", probability)}
