"""Laminar's SDKs: `lmnr.span.type`, `lmnr.span.input`, `lmnr.span.output`; model calls keep to the conventions.

**Source**: lmnr-ai/lmnr-python `lmnr/opentelemetry_lib/tracing/attributes.py`, 0.4 to 0.8 (captured).
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

LAMINAR = Envelope(
    info=DialectCard(
        name="laminar",
        version=1,
        sentence="Laminar: lmnr.span.type with lmnr.span.input / output, lmnr.association.properties.session_id.",
        source="lmnr-ai/lmnr-python opentelemetry_lib/tracing 0.4–0.8",
        detects=("lmnr.",),
        content=("lmnr.span.input", "lmnr.span.output", "gen_ai.input.messages", "gen_ai.output.messages"),
        lacks="Tool spans have no call id; a plain @observe span marks no tool.",
        switch="on by default; off by @observe(ignore_input=True, ignore_output=True) or LMNR_TRACE_CONTENT=false",
        conversation_ids=("lmnr.association.properties.session_id",),
    ),
    names=Names(
        type=("lmnr.span.type",),
        input=("lmnr.span.input",),
        output=("lmnr.span.output",),
        model=("gen_ai.response.model", "gen_ai.request.model"),
        response_id=("gen_ai.response.id",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "default": StepKind.WRAPPER,
        "pipeline": StepKind.WORKFLOW,
        "executor": StepKind.WORKFLOW,
        "evaluator": StepKind.EVALUATION,
        "human_evaluator": StepKind.EVALUATION,
        "evaluation": StepKind.EVALUATION,
    },
)
