"""`otel_eval.instrument()`, in processes of its own: what it sets stays for as long as a process lives."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_eval.dialects import BUILTIN
from otel_eval.inprocess.capture import VARIABLES
from otel_eval.service.switches import TEXT_OF_SCOPE
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.receiving import Receiving

ROOT = Path(__file__).parent.parent.parent
HEAD = """
import json, os, sys
import otel_eval
def say(**values):
    print(json.dumps(values))
"""

INSTRUMENTOR = """
import os
class Instrumentor:
    is_instrumented_by_opentelemetry = False
    def instrument(self, **providers):
        if {fails}:
            raise OSError("no")
        type(self).is_instrumented_by_opentelemetry = True
        print("CALLED {name}", sorted(providers), os.environ.get("TRACELOOP_TRACE_CONTENT"))
    def uninstrument(self):
        type(self).is_instrumented_by_opentelemetry = False
        print("TAKEN BACK {name}")
"""


def run(script: str, folder: Path, **environ: str) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """What a script said as objects, its other lines, and the lines on standard error."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + script],
        env={**clean, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", **environ},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = [line.removeprefix("otel-eval: ") for line in done.stderr.splitlines() if line.startswith("otel-eval: ")]
    return [json.loads(line) for line in lines if line.startswith("{")], [line for line in lines if not line.startswith("{")], told


def install(folder: Path, name: str, *, instrumentor: bool = True, fails: bool = False) -> None:
    """A distribution in a folder, as pip would leave it."""
    module = name.replace("-", "_")
    meta = folder / f"{module}-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    if instrumentor:
        (meta / "entry_points.txt").write_text(f"[opentelemetry_instrumentor]\nany = {module}_of_test:Instrumentor\n")
        (folder / f"{module}_of_test.py").write_text(INSTRUMENTOR.format(name=name, fails=fails))


def test_the_protocol_is_the_environments(tmp_path: Path) -> None:
    """With OTEL_EXPORTER_OTLP_PROTOCOL=grpc the same goes by gRPC, and a flush is done when it has arrived."""
    with Receiving() as receiver:
        said, _, told = run(
            """
made = otel_eval.instrument()
with otel_eval.agent_turn("shop", "Book a table") as turn:
    turn.answer("Done")
say(flushed=made.force_flush(20_000))
""",
            tmp_path,
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{receiver.target}",
            OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
            OTEL_EVAL_DEBUG="1",
        )
    assert said == [{"flushed": True}]
    assert [received.signal for received in receiver.kept] == ["traces"]
    assert told[-1] == f"tracer provider: made, exports to http://{receiver.target} by grpc"


def test_one_call_and_the_scores_arrive(tmp_path: Path) -> None:
    """Providers and exporters from the standard environment, and a scorer: a turn's result reaches a receiver when the script ends."""
    with OtlpReceiver() as receiver:
        environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_SERVICE_NAME": "shop", "OTEL_EVAL_DEBUG": "1"}
        said, _, told = run(
            """
otel_eval.instrument(online=True, config={"metrics": ["turn_count"]})
with otel_eval.agent_turn("shop", "Book a table") as turn:
    turn.answer("Done")
say(trace=turn.trace_id)
""",
            tmp_path,
            **environ,
        )
    (record,) = [r for r in receiver.records if r.event_name == "gen_ai.evaluation.result"]
    assert (record.trace_id, record.resource["service.name"]) == (said[0]["trace"], "shop")
    assert record.attributes["gen_ai.evaluation.name"] == "turn_count"
    assert {path for path, _ in receiver.bodies} == {"/v1/traces", "/v1/logs", "/v1/metrics"}
    assert [line.split(",")[0] for line in told] == [
        "logger provider: made",
        "meter provider: made",
        "tracer provider: made",
        "scorer: scores in this process",
    ]


def test_without_an_endpoint_nothing_is_exported(tmp_path: Path) -> None:
    """No endpoint and no exporter named: nothing is sent anywhere, and the line says what to set."""
    said, _, told = run("say(told=otel_eval.instrument().told)", tmp_path)
    assert told == []
    assert "tracer provider: made, exports nothing: set OTEL_EXPORTER_OTLP_ENDPOINT to export" in said[0]["told"]


def test_providers_that_are_there_stay(tmp_path: Path) -> None:
    """An application's own providers are added to, not replaced; flushing is theirs, too."""
    said, _, _ = run(
        """
from opentelemetry import _logs, metrics, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
own = TracerProvider()
own.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(own); _logs.set_logger_provider(LoggerProvider()); metrics.set_meter_provider(MeterProvider())
made = otel_eval.instrument(online=True, config={"metrics": ["turn_count"]})
with otel_eval.agent_turn("shop", "Book a table") as turn:
    turn.answer("Done")
say(same=trace.get_tracer_provider() is own, spans=len(exporter.get_finished_spans()), flushed=made.force_flush(20_000),
    outcome=made.scorer.explain(turn.trace_id)[0]["outcome"], told=made.told)
""",
        tmp_path,
    )
    assert (said[0]["same"], said[0]["spans"], said[0]["flushed"], said[0]["outcome"]) == (True, 1, True, "scored")
    assert said[0]["told"][:3] == [f"{name} provider: was there and stays" for name in ("logger", "meter", "tracer")]


def test_a_second_call_changes_nothing_but_a_missing_scorer(tmp_path: Path) -> None:
    """The same handle comes back; a scorer is hung in once."""
    said, _, _ = run(
        """
first = otel_eval.instrument()
second = otel_eval.instrument(scorer=otel_eval.OnlineScorer({"metrics": ["turn_count"]}))
scorer = first.scorer
third = otel_eval.instrument(online=True)
say(same=first is second is third, kept=third.scorer is scorer, told=first.told[-1])
""",
        tmp_path,
    )
    assert said == [{"same": True, "kept": True, "told": "scorer: yours is hung in"}]


def test_content_is_switched_on_for_what_is_installed(tmp_path: Path) -> None:
    """Variables before instrumentors, one of these a library, the operator's own words as they are, faults told; `undo` takes all back."""
    install(tmp_path, "opentelemetry-util-genai", instrumentor=False)
    install(tmp_path, "opentelemetry-semantic-conventions-ai", instrumentor=False)
    install(tmp_path, "semantic_kernel", instrumentor=False)
    install(tmp_path, "opentelemetry-instrumentation-genai-openai")
    install(tmp_path, "openinference-instrumentation-openai")
    install(tmp_path, "opentelemetry-instrumentation-langchain")
    install(tmp_path, "openinference-instrumentation-crewai", fails=True)
    install(tmp_path, "opentelemetry-instrumentation-requests")
    said, lines, told = run(
        """
made = otel_eval.instrument()
names = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "TRACELOOP_TRACE_CONTENT", "OTEL_SEMCONV_STABILITY_OPT_IN")
say(set={name: os.environ.get(name) for name in names})
made.undo()
say(left={name: os.environ.get(name) for name in names})
say(again=otel_eval.instrument() is not made)
""",
        tmp_path,
        OTEL_EVAL_DEBUG="1",
        OTEL_SEMCONV_STABILITY_OPT_IN="http",
    )
    assert said[0]["set"] == {
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
        "TRACELOOP_TRACE_CONTENT": "true",
        "OTEL_SEMCONV_STABILITY_OPT_IN": "http",
    }
    assert set(said[1]["left"].values()) == {None, "http"}
    assert said[2]["again"]
    providers = "['logger_provider', 'meter_provider', 'tracer_provider'] true"
    called = [
        f"CALLED opentelemetry-instrumentation-genai-openai {providers}",
        f"CALLED opentelemetry-instrumentation-langchain {providers}",
    ]
    back = ["TAKEN BACK opentelemetry-instrumentation-langchain", "TAKEN BACK opentelemetry-instrumentation-genai-openai"]
    assert lines[:4] == [*called, *back]
    assert told[3:11] == [
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT set, for opentelemetry-util-genai",
        "OTEL_SEMCONV_STABILITY_OPT_IN=http was set and stays (opentelemetry-util-genai reads it)",
        "TRACELOOP_TRACE_CONTENT=true set, for opentelemetry-semantic-conventions-ai",
        "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true set, for semantic-kernel",
        "opentelemetry-instrumentation-genai-openai switched on",
        "openinference-instrumentation-crewai raised OSError: it is off",
        "openinference-instrumentation-openai left out: opentelemetry-instrumentation-genai-openai instruments openai",
        "opentelemetry-instrumentation-langchain switched on",
    ]


def test_content_can_be_left_as_it_is(tmp_path: Path) -> None:
    """`content=False` sets no variable and calls no instrumentor."""
    install(tmp_path, "opentelemetry-instrumentation-genai-openai")
    install(tmp_path, "opentelemetry-util-genai", instrumentor=False)
    said, lines, _ = run("say(told=otel_eval.instrument(content=False).told)", tmp_path)
    assert lines == []
    assert all("provider" in line for line in said[0]["told"])


def test_every_variable_is_a_documented_switch() -> None:
    """What is set here is what some dialect's card, or the table of switches, tells people to set."""
    texts = " ".join([*(dialect.info.switch for dialect in BUILTIN), *TEXT_OF_SCOPE.values()])
    ours: Mapping[str, str] = {v.name: v.value for v in VARIABLES}
    assert {name for name in ours if name not in texts} == {"OTEL_SEMCONV_STABILITY_OPT_IN"}
