"""DSPy: its agents speak to their model in fields of text, not in messages and calls; `finish` is how ReAct ends, not a tool.

The spans are OpenInference's, MLflow's, or those of an instrumentation of the provider's SDK below; here only what DSPy's modules and
adapters mean is told. The fields themselves (`[[ ## name ## ]]`, or JSON objects) are read in `shapes/textsteps.py`.

**Source**: stanfordnlp/dspy `predict/react.py`, `adapters/{chat,json}_adapter.py`, 2.6 and 3.4, with openinference-instrumentation-dspy
0.1.24 and 0.1.48 and mlflow 3.17 (`mlflow/dspy/callback.py`), all captured.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import Dialect, DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.mlflow import MLFLOW
from otel_eval.dialects.openinference import OPENINFERENCE
from otel_eval.dialects.semconv import SEMCONV
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import unquoted
from otel_eval.dialects.shapes.textsteps import from_dspy
from otel_eval.model import Message, Reasoning, StepContent, StepKind

_FINISH, _DONE = "finish", "Completed."
_MARK = "[[ ## "
_SCOPE = "openinference.instrumentation.dspy"
_MODULE = re.compile(r"\w+(?:\(\w+\))?\.a?forward\Z")
_TOOL = "Tool."  # MLflow's heading of a tool span's name
# The message that holds DSPy's fields: behind the system prompt, or the first.
_FIRST = tuple(f"llm.input_messages.{n}.message.{c}" for n in (1, 0) for c in ("content", "contents.0.message_content.text"))
_IN_JSON: Mapping[str, Dialect] = {"mlflow.spanInputs": MLFLOW, "gen_ai.input.messages": SEMCONV}


class DSPy:
    """Stanford's DSPy."""

    info = DialectCard(
        name="dspy",
        version=1,
        sentence="DSPy: text fields as questions, calls and answers; modules as wrappers; ReAct's finish tool left out.",
        source="stanfordnlp/dspy 2.6–3.4 under OpenInference, MLflow or an SDK's instrumentation",
        detects=("openinference.span.kind", "mlflow.spanType", "gen_ai.input.messages"),
        content=("llm.input_messages.N", "llm.output_messages.N", "mlflow.spanInputs", "mlflow.spanOutputs", "gen_ai.input.messages"),
        lacks="No call ids; one call a step; XMLAdapter answers stay text; a failed tool's traceback is cut to its message.",
        switch="as the instrumentation's",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a, name = evidence.attributes, evidence.span.name
        mlflow = "mlflow.spanType" in a
        if name in ("finish.__call__", "finish.acall", "Tool.finish"):
            out = a.get("mlflow.spanOutputs" if mlflow else "output.value")
            return Reading(kind=StepKind.WRAPPER, alone=True) if isinstance(out, str) and unquoted(out) == _DONE else None
        if mlflow and name.startswith(_TOOL):
            return Reading(tool_name=name[len(_TOOL) :] or None)
        if name.endswith("forward") and _MODULE.match(name) and (mlflow or evidence.span.scope.name == _SCOPE):
            return Reading(kind=None if a.get("mlflow.spanType") == '"AGENT"' else StepKind.WRAPPER, alone=True)
        base = _base_of(a)
        reading = base.read(evidence) if base is not None else None
        content = reading.content if reading is not None else None
        return None if content is None else Reading(content=lambda: _read(content(), evidence.notes()), alone=True)


DSPY = DSPy()


def _base_of(a: Mapping[str, Any]) -> Dialect | None:
    """Whose words they are, where a message of the request is DSPy's fields."""
    for key in _FIRST:
        if key in a and isinstance(v := a[key], str) and v.startswith(_MARK):
            return OPENINFERENCE
    for key, base in _IN_JSON.items():
        if key in a and isinstance(v := a[key], str) and _MARK in v:
            return base
    return None


def _read(content: StepContent, notes: Notes) -> StepContent:
    given = _messages(content.input, notes)
    answer = _messages(content.output, notes)
    if answer and all(type(p) is Reasoning for m in answer for p in m.parts):
        answer = None  # finish: the answer follows from another call
    return replace(content, input=given, output=answer, gaps=(*content.gaps, *notes.gaps))


def _messages(messages: Iterable[Message] | None, notes: Notes) -> tuple[Message, ...] | None:
    """Messages whose answers may be JSON objects; the answers that DSPy's history has no values for are left out."""
    if messages is None:
        return None
    read = (m for told in messages for m in from_dspy(told, notes, as_json=True))
    return tuple(m for m in read if m.parts or m.role != "assistant")
