"""The command line answers at once: `--help` loads nothing that it does not need."""

import subprocess
import sys

HEAVY = ("google.protobuf", "grpc", "openai", "opentelemetry", "pydantic", "pydantic_core", "rich", "uvicorn", "yaml")

SCRIPT = f"""
import sys
from otel_eval.cli import main
try:
    main(["--help"])
finally:
    print("loaded:", [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""


def test_the_package_imports_nothing_heavy() -> None:
    """`import otel_eval` loads none of them either: a public name brings what it needs when it is first asked for."""
    script = f"import sys, otel_eval; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_help_imports_nothing_heavy() -> None:
    """`otel-eval --help` needs click alone: none of the heavy packages is loaded."""
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("Usage:")
    assert run.stderr.strip() == "loaded: []"
