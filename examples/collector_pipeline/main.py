"""collector/fanout.yaml at work: what the agent sends reaches the backend and otel-eval, and the scores reach the backend."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from running.environments import command_of
from running.pipeline import Backend, Collector, free_port
from running.processes import Scorer, until

HERE = Path(__file__).parent
AGENT = HERE.parent / "openai_loop"
results = f"127.0.0.1:{free_port()}"


def attributes(record) -> dict:
    return {pair.key: pair.value.string_value or pair.value.double_value for pair in record.attributes}


def start_collector(backend: Backend, scorer: Scorer) -> Collector:
    return Collector(
        {
            "BACKEND_OTLP_ENDPOINT": backend.url,
            "METRICS_OTLP_ENDPOINT": f"{backend.url}/v1/metrics",
            "OTEL_EVAL_ENDPOINT": scorer.addresses["grpc"],
            "OTEL_EVAL_RESULTS_ENDPOINT": results,
        }
    )


with (
    Backend() as backend,
    Scorer(HERE / "scorer.yaml", sinks__otlp_events__endpoint=f"http://{results}") as scorer,
    start_collector(backend, scorer) as collector,
):
    # The agent knows the Collector alone.
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
    subprocess.run(command_of(AGENT), cwd=AGENT, env=environment, check=True)
    until(lambda: len(backend.logs) >= 2, "the scores in the backend")

    once = len({span.span_id for span in backend.spans}) == len(backend.spans)
    print(f"\nbackend: {len(backend.spans)} spans, {'each once' if once else 'some more than once'}")
    for told in sorted(map(attributes, backend.logs), key=lambda told: told["gen_ai.conversation.id"]):
        score, label = told["gen_ai.evaluation.score.value"], told["gen_ai.evaluation.score.label"]
        print(f"backend: {told['gen_ai.conversation.id']}: {told['gen_ai.evaluation.name']} {score:.0f} {label}")
