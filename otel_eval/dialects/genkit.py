"""Firebase Genkit: `genkit:type`, `genkit:metadata:subtype`, `genkit:input`, `genkit:output`.

**Source**: firebase/genkit `js/core/src/tracing`, Go and Python alike.
"""

from otel_eval.dialects.base import DialectCard, Evidence
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind


class Genkit(Envelope):
    """Genkit's kind stands in two attributes: the subtype of an action, else the type."""

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        a = evidence.attributes
        subtype = str(a.get("genkit:metadata:subtype", "")).lower()
        if subtype:
            return self.kinds.get(subtype, StepKind.WRAPPER)
        return StepKind.WRAPPER if "genkit:type" in a or "genkit:path" in a else None


GENKIT = Genkit(
    info=DialectCard(
        name="genkit",
        version=1,
        sentence="Firebase Genkit: genkit:metadata:subtype, genkit:input, genkit:output.",
        source="firebase/genkit js/core/src/tracing",
        detects=("genkit:type", "genkit:path", "genkit:name"),
        content=("genkit:input", "genkit:output"),
        lacks="Tool spans have no call id and no error mark; flows carry no conversation id.",
        switch="on by default with enableTelemetry; off by disableTraces or a redacting exporter",
        conversation_ids=(
            "genkit:metadata:agent:sessionId",
            "genkit:metadata:sessionId",
            "genkit:sessionId",
            "genkit:metadata:flow:sessionId",
        ),
    ),
    names=Names(
        type=("genkit:metadata:subtype",),
        input=("genkit:input",),
        output=("genkit:output",),
        tool_name=("genkit:name",),
        agent_name=("genkit:name",),
        model=("genkit:name",),
    ),
    kinds={
        "model": StepKind.INFERENCE,
        "background-model": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "tool.v2": StepKind.TOOL,
        "agent": StepKind.AGENT,
        "flow": StepKind.WORKFLOW,
        "retriever": StepKind.RETRIEVAL,
        "reranker": StepKind.RETRIEVAL,
        "embedder": StepKind.EMBEDDINGS,
        "evaluator": StepKind.EVALUATION,
    },
    error_values={"genkit:state": frozenset({"error"})},
)
