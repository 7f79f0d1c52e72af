"""LangSmith's OpenTelemetry export: `langsmith.span.kind`, the run's inputs and outputs as JSON in `gen_ai.prompt` / `gen_ai.completion`.

**Source**: langchain-ai/langsmith-sdk `python/langsmith/_internal/otel/_otel_exporter.py`, `js/src/experimental/otel`.
"""

from otel_eval.dialects.base import DialectCard
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

LANGSMITH = Envelope(
    info=DialectCard(
        name="langsmith",
        version=1,
        sentence="LangSmith OTEL export: langsmith.span.kind, gen_ai.prompt / gen_ai.completion as JSON, langsmith.metadata.*.",
        source="langchain-ai/langsmith-sdk _internal/otel/_otel_exporter.py",
        detects=("langsmith.span.kind", "langsmith.trace.", "langsmith.metadata."),
        content=("gen_ai.prompt", "gen_ai.completion", "inputs", "outputs"),
        lacks="Tool spans have no call id of their own; langsmith.trace.session_name is the project, not the conversation.",
        switch="LANGSMITH_OTEL_ENABLED=true; off by LANGSMITH_HIDE_INPUTS / LANGSMITH_HIDE_OUTPUTS",
        conversation_ids=("langsmith.metadata.conversation_id", "langsmith.metadata.thread_id", "langsmith.metadata.session_id"),
    ),
    names=Names(
        type=("langsmith.span.kind",),
        input=("gen_ai.prompt", "inputs"),
        output=("gen_ai.completion", "outputs"),
        tool_name=("gen_ai.tool.name",),
        result_member="output",
        model=("gen_ai.response.model", "gen_ai.request.model"),
        response_id=("gen_ai.response.id",),
        definitions=("gen_ai.tool.definitions",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "chain": StepKind.WRAPPER,
        "agent": StepKind.AGENT,
        "prompt": StepKind.WRAPPER,
        "parser": StepKind.WRAPPER,
        "retriever": StepKind.RETRIEVAL,
        "embedding": StepKind.EMBEDDINGS,
    },
)
