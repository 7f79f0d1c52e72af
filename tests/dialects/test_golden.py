"""Golden files: `golden/DIALECT/CASE.otlp.json` is one trace as it came, `CASE.steps.json` what its spans are read as.

`REWRITE_GOLDEN=1 pytest tests/dialects/test_golden.py` writes the steps anew; the difference is read in review. A new case is a new
`.otlp.json` (traces and logs of one trace, from a real instrumentation) and one run with the flag.
"""

import json
import os
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.model import LogRecord, Message, Part, Step
from otel_eval.otlp.otlp_json import batch_from_json

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(GOLDEN.glob("*/*.otlp.json"))


def steps_of(case: Path) -> list[Step]:
    """The spans of a case as steps, in order of time."""
    batch = batch_from_json(case.read_bytes())
    reader = Reader(BUILTIN)
    return [reader.step(s, logs_of(s.span_id, batch.logs)) for s in sorted(batch.spans, key=lambda s: (s.start_ns or 0, s.span_id))]


def logs_of(span_id: str, logs: tuple[LogRecord, ...]) -> tuple[LogRecord, ...]:
    return tuple(r for r in logs if r.span_id == span_id)


def written(step: Step) -> dict[str, Any]:
    """A step as JSON: what is None, empty or zero is left out."""
    content = step.content
    found = {
        "kind": step.kind.value,
        "name": step.name,
        "span": step.ref.span_id,
        "parent": step.parent_span_id,
        "dialects": list(step.dialects),
        "conversation_ids": [list(pair) for pair in step.conversation_ids],
        "agent_name": step.agent_name,
        "tool_name": step.tool_name,
        "tool_call_id": step.tool_call_id,
        "response_id": step.response_id,
        "model": step.model,
        "provider": step.provider,
        "finish_reasons": list(step.finish_reasons),
        "usage": plain(asdict(step.usage)),
        "error": [step.error_type, step.error_message] if step.is_error else None,
        "system": content.system,
        "input": [message(m) for m in content.input or ()],
        "output": [message(m) for m in content.output or ()],
        "tool_call": plain(asdict(content.tool_call)) if content.tool_call else None,
        "tool_result": plain(asdict(content.tool_result)) if content.tool_result else None,
        "tool_definitions": [d["name"] for d in content.tool_definitions],
        "gaps": [f"{g.reason.value} at {g.where}" for g in content.gaps],
    }
    return plain(found)


def message(m: Message) -> dict[str, Any]:
    return {"role": m.role} | plain({"parts": [part(p) for p in m.parts], "finish_reason": m.finish_reason, "name": m.name})


def part(p: Part) -> dict[str, Any]:
    return {"part": type(p).__name__} | plain(asdict(p))


def plain(value: dict[str, Any]) -> dict[str, Any]:
    return {k: v.value if isinstance(v, Enum) else v for k, v in value.items() if v is not None and v not in ([], {})}


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.parent.name}/{c.name.removesuffix('.otlp.json')}")
def test_spans_are_read_as_reviewed(case: Path) -> None:
    """The steps of a real trace are those that were read and found right."""
    expected = case.with_name(case.name.replace(".otlp.json", ".steps.json"))
    got = json.dumps([written(s) for s in steps_of(case)], ensure_ascii=False, indent=1, default=str) + "\n"
    if os.environ.get("REWRITE_GOLDEN"):
        expected.write_text(got, encoding="utf-8")
        pytest.skip("written anew: read the difference in review")
    assert json.loads(got) == json.loads(expected.read_text(encoding="utf-8"))


def test_every_folder_is_a_dialect_that_reads_its_cases() -> None:
    """A case stands in the folder of a dialect that says something of its spans."""
    known = {d.info.name for d in BUILTIN}
    for case in CASES:
        assert case.parent.name in known
        assert any(case.parent.name in s.dialects for s in steps_of(case))
