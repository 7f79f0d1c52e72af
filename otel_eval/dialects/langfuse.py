"""Langfuse SDKs 3 to 5, Python and JavaScript: `langfuse.observation.*`.

**Source**: langfuse/langfuse-python `_client/attributes.py`, langfuse/langfuse-js `packages/tracing`.
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

LANGFUSE = Envelope(
    info=DialectCard(
        name="langfuse",
        version=1,
        sentence="Langfuse SDKs 3 to 5: langfuse.observation.type, .input, .output; session.id.",
        source="langfuse/langfuse-python _client/attributes.py, langfuse/langfuse-js packages/tracing",
        detects=("langfuse.observation.", "langfuse.trace."),
        content=("langfuse.observation.input", "langfuse.observation.output"),
        lacks=(
            "Tool spans carry no call id; streamed parallel calls can come glued into one in the JavaScript SDK; "
            "plain @observe marks no tool."
        ),
        switch="on by default; off by @observe(capture_input=False, capture_output=False) or a mask function",
        conversation_ids=(
            "langfuse.session.id",
            "session.id",
            *(f"langfuse.{of}.metadata.{key}" for key in ("conversation_id", "session_id", "thread_id") for of in ("trace", "observation")),
        ),
    ),
    names=Names(
        type=("langfuse.observation.type",),
        input=("langfuse.observation.input",),
        output=("langfuse.observation.output",),
        system=("langfuse.observation.metadata.instructions", "langfuse.observation.metadata.systemInstruction"),
        tool_call_id=("langfuse.observation.metadata.tool_call_id",),
        model=("langfuse.observation.model.name",),
        usage=("langfuse.observation.usage_details",),
    ),
    kinds={
        "generation": StepKind.INFERENCE,
        "agent": StepKind.AGENT,
        "tool": StepKind.TOOL,
        "chain": StepKind.WRAPPER,
        "span": StepKind.WRAPPER,
        "event": StepKind.WRAPPER,
        "retriever": StepKind.RETRIEVAL,
        "embedding": StepKind.EMBEDDINGS,
        "evaluator": StepKind.EVALUATION,
        "guardrail": StepKind.EVALUATION,
    },
    error_values={"langfuse.observation.level": frozenset({"error"})},
)
