"""Dify's own telemetry: `dify.span.type`, `dify.inputs`, `dify.outputs`, and the messages of an application in `dify.message.*`.

Its exporters to other platforms write those platforms' names (`langfuse`, `mlflow`, `openinference`, `traceai`); this is what stands
beside them.

**Source**: langgenius/dify `api/core/ops/unified_trace`, `api/core/ops/provider_export.py`, `api/enterprise/telemetry`.
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

DIFY = Envelope(
    info=DialectCard(
        name="dify",
        version=1,
        sentence="Dify: dify.span.type or dify.node.type with dify.inputs / outputs, dify.message.inputs / outputs, dify.conversation.id.",
        source="langgenius/dify api/core/ops, api/enterprise/telemetry",
        detects=("dify.",),
        content=("dify.inputs", "dify.outputs", "dify.message.inputs", "dify.message.outputs", "dify.node.inputs", "dify.node.outputs"),
        lacks="Workflow nodes tell fields, not messages; tool runs have no call id.",
        switch="content: the export's include_content",
        conversation_ids=("dify.conversation.id", "dify.session.id"),
    ),
    names=Names(
        type=("dify.span.type", "dify.node.type"),
        input=("dify.inputs", "dify.message.inputs", "dify.node.inputs", "dify.workflow.inputs"),
        output=("dify.outputs", "dify.message.outputs", "dify.node.outputs", "dify.workflow.outputs"),
        tool_name=("dify.tool.name", "gen_ai.tool.name"),
        tool_input=("dify.tool.inputs",),
        tool_output=("dify.tool.outputs",),
        model=("gen_ai.request.model",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "agent": StepKind.AGENT,
        "message": StepKind.AGENT,
        "workflow": StepKind.WORKFLOW,
        "knowledge-retrieval": StepKind.RETRIEVAL,
        "dataset_retrieval": StepKind.RETRIEVAL,
        "moderation": StepKind.EVALUATION,
    },
    span_name_is_agent=False,
    error_values={"dify.span.status": frozenset({"error", "failed"}), "dify.node.status": frozenset({"failed", "exception"})},
)
