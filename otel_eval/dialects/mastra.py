"""Mastra: the conventions' attributes beside `mastra.span.type` and `mastra.<type>.input` / `.output`.

**Source**: mastra-ai/mastra `observability/otel-exporter`, `observability/arize`, 0.20 to 1.x.
"""

from otel_eval.dialects.base import DialectCard, Evidence, Reading
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

_TYPES = (
    "agent_run",
    "workflow_run",
    "workflow_step",
    "model_generation",
    "model_inference",
    "llm_generation",
    "model_step",
    "model_chunk",
    "tool_call",
    "mcp_tool_call",
    "generic",
)


class Mastra(Envelope):
    """A chunk is no call of its own; a step is one, whose input stands on the generation around it."""

    def read(self, evidence: Evidence) -> Reading | None:
        kind = self.kind_of(evidence)
        if kind is StepKind.WRAPPER:
            return Reading(kind=kind, alone=True)
        reading = super().read(evidence)
        if reading is not None and evidence.attributes.get("mastra.span.type") == "model_step":
            reading.alone = True  # its input has placeholders for calls and results
        return reading


MASTRA = Mastra(
    info=DialectCard(
        name="mastra",
        version=1,
        sentence="Mastra: mastra.span.type with mastra.<type>.input / .output, beside the GenAI conventions.",
        source="mastra-ai/mastra observability/otel-exporter",
        detects=("mastra.",),
        content=tuple(
            f"mastra.{t}.{side}" for t in ("agent_run", "model_generation", "model_inference", "tool_call") for side in ("input", "output")
        ),
        lacks="The history of a generation holds placeholders for tool results; calls are missing from gen_ai.output.messages.",
        switch="on by default; off by the exporter's includeInput / includeOutput or a SensitiveDataFilter",
        conversation_ids=(
            "mastra.metadata.threadId",
            "mastra.metadata.sessionId",
            "mastra.metadata.conversationId",
            "metadata.threadId",
            "metadata.sessionId",
        ),
    ),
    names=Names(
        type=("mastra.span.type",),
        input=tuple(f"mastra.{t}.input" for t in _TYPES if t != "model_step"),
        output=(*(f"mastra.{t}.output" for t in _TYPES), "output.value"),
        tool_name=("gen_ai.tool.name", "mastra.tool.name"),
        tool_call_id=("gen_ai.tool.call.id",),
        tool_input=("gen_ai.tool.call.arguments",),
        tool_output=("gen_ai.tool.call.result",),
        agent_name=("gen_ai.agent.name",),
    ),
    kinds={
        "agent_run": StepKind.AGENT,
        "workflow_run": StepKind.WORKFLOW,
        "workflow_step": StepKind.WRAPPER,
        "model_generation": StepKind.INFERENCE,
        "model_inference": StepKind.INFERENCE,
        "llm_generation": StepKind.INFERENCE,
        "model_step": StepKind.INFERENCE,
        "model_chunk": StepKind.WRAPPER,
        "tool_call": StepKind.TOOL,
        "mcp_tool_call": StepKind.TOOL,
        "generic": StepKind.WRAPPER,
    },
    span_name_is_tool=False,
    span_name_is_agent=False,
)
