"""MLflow tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`; every value is JSON text.

**Source**: mlflow/mlflow `mlflow/tracing/constant.py`, `mlflow/entities/span.py`, 2.14 to 3.18.
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

MLFLOW = Envelope(
    info=DialectCard(
        name="mlflow",
        version=1,
        sentence="MLflow tracing: mlflow.spanType, mlflow.spanInputs, mlflow.spanOutputs as JSON text.",
        source="mlflow/mlflow tracing/constant.py and entities/span.py, 2.14–3.18",
        detects=("mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"),
        content=("mlflow.spanInputs", "mlflow.spanOutputs", "mlflow.chat.tools"),
        lacks="The OTLP export does not carry a trace's session metadata; tool spans seldom have a call id.",
        switch="on by default with mlflow.<library>.autolog()",
        conversation_ids=("mlflow.trace.session", "session_id", "mlflow.traceSession"),
    ),
    names=Names(
        type=("mlflow.spanType",),
        input=("mlflow.spanInputs", "mlflow.chat.messages"),
        output=("mlflow.spanOutputs",),
        tool_name=("mlflow.spanFunctionName",),
        tool_call_id=("tool_call_id",),
        model=("mlflow.llm.model", "model"),
        system=("instructions",),
        definitions=("mlflow.chat.tools",),
        metadata=("metadata", "mlflow.trace.metadata"),
    ),
    kinds={
        "chat_model": StepKind.INFERENCE,
        "llm": StepKind.INFERENCE,
        "agent": StepKind.AGENT,
        "tool": StepKind.TOOL,
        "chain": StepKind.WRAPPER,
        "workflow": StepKind.WORKFLOW,
        "task": StepKind.WRAPPER,
        "parser": StepKind.WRAPPER,
        "unknown": StepKind.WRAPPER,
        "retriever": StepKind.RETRIEVAL,
        "reranker": StepKind.RETRIEVAL,
        "embedding": StepKind.EMBEDDINGS,
        "evaluator": StepKind.EVALUATION,
        "guardrail": StepKind.EVALUATION,
    },
)
