"""`tail-sampling.yaml` and `probabilistic-sampling.yaml`: what was sampled before otel-eval, and what its results say of that."""

from collections import Counter
from pathlib import Path
from typing import Any

from tests.fakes.bench import otlp_json
from tests.fakes.collector import Collector
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Server, until
from tests.fakes.spans import agent, chat, says, user
from tests.fakes.traffic import spans_at

RESULT = "gen_ai.evaluation.result"
UPSTREAM = "otel_eval.sampling.upstream"
EACH = 64
HALF = "ot=th:8"
"""Written by a sampler that kept every second trace."""
STATES = {1: "", 2: HALF, 3: f"vendor=1,{HALF},other=2", 4: f"vendor=1,{HALF};rv:ffffffffffffff", 5: ""}
"""By group of traces: what stands in their tracestate."""
FAILED = 5
"""The group whose model calls failed."""


def group_of(trace: str) -> int:
    return int(trace, 16) // 2**96


def turns(*groups: int) -> bytes:
    """Traces of one turn each, whose ids spread evenly over what a sampler of one half keeps."""
    spans: list[Any] = []
    for group in groups:
        for number in range(EACH):
            randomness = 2**55 + number * 2**55 // EACH
            ids: dict[str, Any] = {"trace": group * 2**96 + number * 2**64 + randomness, "trace_state": STATES[group]}
            call = chat(1, [user("Hi")], says("Hello"), parent=9, error="boom" if group == FAILED else None, **ids)
            spans += [call, agent(9, "clerk", start=0, end=3, **ids)]
    return otlp_json(spans)


def sampled(folder: Path, config: str, body: bytes, **environment: str) -> tuple[set[str], dict[str, tuple[str, float | None]]]:
    """(traces at the backend, what the result of each judged one says of sampling: the word and the probability)."""
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

        def kept() -> set[str]:
            return {name.split()[0] for name in spans_at(backend)}

        def said() -> dict[str, tuple[str, float | None]]:
            results = [r for r in list(backend.records) if r.event_name == RESULT]
            return {r.trace_id: (r.attributes[UPSTREAM], r.attributes.get(f"{UPSTREAM}_probability")) for r in results}

        with collector, server:
            assert collector.post("traces", body, json_body=True) == 200
            until(lambda: kept() and said().keys() == kept(), 60)
            return kept(), said()


def test_behind_a_tail_sampler_the_probability_is_unknown(tmp_path: Path) -> None:
    """otel-eval judges what the sampler kept (all failures, and a share of the rest) and says `unknown`, also where an earlier sampler's
    threshold stood in the tracestate."""
    environment = {"TAIL_SAMPLING_WAIT": "1s", "TAIL_SAMPLING_PERCENTAGE": "50"}
    kept, said = sampled(tmp_path, "tail-sampling.yaml", turns(*STATES), **environment)
    counts = Counter(map(group_of, kept))
    assert counts.pop(FAILED) == EACH
    assert all(0 < count < EACH for count in counts.values())
    assert counts.keys() == STATES.keys() - {FAILED}
    assert set(said.values()) == {("unknown", None)}


def test_a_probabilistic_sampler_tells_its_share(tmp_path: Path) -> None:
    """Results carry the share that the Collector kept, times what was kept before it."""
    kept, said = sampled(tmp_path, "probabilistic-sampling.yaml", turns(1, 2), SAMPLING_PERCENTAGE="25")
    counts = Counter(map(group_of, kept))
    assert all(0 < counts[group] < EACH for group in (1, 2))
    assert {group_of(trace): word for trace, word in said.items()} == {1: ("tracestate", 0.25), 2: ("tracestate", 0.125)}
    assert len(set(said.values())) == 2
