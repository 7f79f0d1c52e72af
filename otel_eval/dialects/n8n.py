"""n8n: `n8n.workflow.*` and `n8n.node.*` of its own telemetry, and the inputs and outputs that community packages add.

**Source**: n8n-io/n8n OpenTelemetry module (`workflow.execute`, `node.execute`), community packages with `n8n.node.input` and
`n8n.node.output_json`.
"""

from otel_eval.dialects.base import DialectCard, Evidence
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind


class N8n(Envelope):
    """The kind by the node's type: agents, chat models and tools of `@n8n/n8n-nodes-langchain`."""

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        a = evidence.attributes
        node = str(a.get("n8n.node.type", "")).rsplit(".", 1)[-1].lower()
        if not node:
            return StepKind.WORKFLOW if any(k.startswith("n8n.workflow.") for k in a) else None
        return next((k for start, k in self.kinds.items() if node.startswith(start)), StepKind.WRAPPER)


N8N = N8n(
    info=DialectCard(
        name="n8n",
        version=1,
        sentence="n8n workflows: n8n.workflow.*, n8n.node.type, and n8n.node.input / output where a package adds them.",
        source="n8n-io/n8n OpenTelemetry module",
        detects=("n8n.",),
        content=("n8n.node.input", "n8n.node.output", "n8n.node.output_json"),
        lacks="n8n itself records no content: only which nodes ran, how long and how many items.",
        switch="no switch in n8n itself; N8N_OTEL_CAPTURE_INPUT / N8N_OTEL_CAPTURE_OUTPUT of community packages",
        conversation_ids=("n8n.session.id", "n8n.session_id"),
    ),
    names=Names(
        type=("n8n.node.type",),
        input=("n8n.node.input", "n8n.node.input_json"),
        output=("n8n.node.output", "n8n.node.output_json"),
        tool_name=("n8n.node.name",),
        agent_name=("n8n.node.name",),
        model=("n8n.ai.model", "gen_ai.request.model"),
    ),
    kinds={
        "agent": StepKind.AGENT,
        "chainllm": StepKind.AGENT,
        "lmchat": StepKind.INFERENCE,
        "openai": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "mcpclient": StepKind.TOOL,
        "embeddings": StepKind.EMBEDDINGS,
        "vectorstore": StepKind.RETRIEVAL,
        "retriever": StepKind.RETRIEVAL,
    },
    error_values={"n8n.node.status": frozenset({"error", "failed"})},
)
