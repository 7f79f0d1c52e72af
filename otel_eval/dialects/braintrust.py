"""Braintrust's attributes on OpenTelemetry spans: `braintrust.input_json`, `braintrust.output_json`, `braintrust.span_attributes`.

**Source**: braintrust.dev documentation, OpenTelemetry attributes and events; braintrustdata/braintrust-sdk `otel`.
"""

from otel_eval.dialects.base import DialectCard, Evidence
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import StepKind


class Braintrust(Envelope):
    """The type stands inside the JSON of `braintrust.span_attributes`, or under a name of its own."""

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        stated = evidence.attributes.get("braintrust.span_attributes")
        value = value_from_text(stated) if isinstance(stated, str) else stated
        found = self.kinds.get(str(value.get("type", "")).lower()) if isinstance(value, dict) else None
        return found or super().kind_of(evidence)


BRAINTRUST = Braintrust(
    info=DialectCard(
        name="braintrust",
        version=1,
        sentence="Braintrust: braintrust.input / output (and _json), braintrust.span_attributes with the type, braintrust.metadata.",
        source="braintrust.dev docs, OpenTelemetry attributes",
        detects=("braintrust.input", "braintrust.input_json", "braintrust.output", "braintrust.output_json", "braintrust.span_attributes"),
        content=("braintrust.input_json", "braintrust.output_json", "braintrust.input", "braintrust.output"),
        lacks="Tool spans have no call id.",
        switch="always on: applications set the attributes",
        conversation_ids=("braintrust.metadata.session_id", "braintrust.metadata.thread_id", "braintrust.metadata.conversation_id"),
    ),
    names=Names(
        type=("braintrust.span_attributes.type",),
        input=("braintrust.input_json", "braintrust.input"),
        output=("braintrust.output_json", "braintrust.output"),
        tool_name=("gen_ai.tool.name",),
        model=("gen_ai.response.model", "gen_ai.request.model"),
        response_id=("gen_ai.response.id",),
        metadata=("braintrust.metadata",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "function": StepKind.WRAPPER,
        "task": StepKind.WRAPPER,
        "automation": StepKind.WRAPPER,
        "facet": StepKind.EVALUATION,
        "eval": StepKind.EVALUATION,
        "score": StepKind.EVALUATION,
    },
)
