"""docs/in-process.md: what it shows is what happens."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import otel_eval
from tests.fakes.sdk import Application

ROOT = Path(__file__).parent.parent.parent
DOCUMENT = (ROOT / "docs" / "in-process.md").read_text()


def test_the_example_prints_what_the_document_says(tmp_path: Path) -> None:
    """The agent written by hand, run as it stands, prints the text beneath it."""
    script, printed = re.search(r"```python\n(import otel_eval\n\nmade = .*?)```.*?```text\n(.*?)```", DOCUMENT, re.DOTALL).groups()  # type: ignore[union-attr]  # it is there
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**clean, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    assert [line.rstrip() for line in done.stdout.splitlines()] == [line.rstrip() for line in printed.splitlines()]


def test_what_set_reference_shows_is_what_metrics_get(tmp_path: Path) -> None:
    """Expected calls and topics on live traffic: metrics that need them have them; task and trial stand in the results of the file sink."""
    results = tmp_path / "results.jsonl"
    config = {"metrics": ["tool_call_accuracy", "turn_count"], "sinks": {"jsonl": {"path": str(results)}}}
    with Application(config) as app, app.span("turn", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}):
        otel_eval.set_reference(outcome="a table is booked", tool_calls=[], topics=["tables"], task="booking-2", trial=3)
        app.chat("Book a table", "Done")
    app.scorer.force_flush(10_000)
    told = {line["metric"]: line for line in map(json.loads, results.read_text().splitlines())}
    assert told["turn_count"]["task"] == "booking-2"
    assert told["turn_count"]["trial"] == "3"
    assert told["tool_call_accuracy"]["outcome"] in ("score", "skipped")
    assert told["tool_call_accuracy"].get("reason") != "needs_missing"
