"""Producers that tell a span's kind in `gen_ai.span.kind`: traceAI (Future AGI), Alibaba's LoongSuite and ARMS, Dify's exporters.

traceAI is OpenInference under other names: `gen_ai.input.messages.N.message.*` and `gen_ai.output.messages.N.message.*`, before
`fi.span.kind` with `llm.input_messages.N` (which `openinference` reads) and `raw.input` / `raw.output`. The others write the conventions
or `input.value` / `output.value`.

**Source**: future-agi/traceAI `python/fi_instrumentation/fi_types.py` (traceai-openai captured), langgenius/dify
`api/core/ops/*/entities/semconv.py`, alibaba/loongsuite-python-agent `GenAISpanKind`.
"""

from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.dialects.shapes.indexed import nested_from_indexed
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import Message, Role, StepKind


class TraceAI(Envelope):
    """Indexed messages before anything else; the whole request before its last words."""

    def _messages(self, evidence: Evidence, names: tuple[str, ...], role: Role, notes: Notes) -> tuple[Message, ...] | None:
        prefix = "gen_ai.input.messages" if role == "user" else "gen_ai.output.messages"
        tried = evidence.notes(prefix)
        listed = nested_from_indexed(evidence.attributes, prefix, tried)
        if listed:
            notes.gaps.extend(tried.gaps)
            return messages_from_value([_message(m) for m in listed], role, notes, evidence.ref)
        indexed = "llm.input_messages." if role == "user" else "llm.output_messages."
        if prefix in evidence.attributes or any(k.startswith(indexed) for k in evidence.attributes):
            return None  # for the readers of the conventions and of OpenInference
        return super()._messages(evidence, names, role, notes)


def _message(item: Any) -> Any:
    """An indexed message as a plain one."""
    inner = item.get("message") if isinstance(item, dict) else None
    if not isinstance(inner, dict):
        return item
    blocks = [b.get("message_content", b) if isinstance(b, dict) else b for b in inner.get("contents") or ()]
    return {**inner, "content": blocks} if blocks and not inner.get("content") else inner


TRACEAI = TraceAI(
    info=DialectCard(
        name="traceai",
        version=1,
        sentence="traceAI, LoongSuite, Dify: gen_ai.span.kind or fi.span.kind, gen_ai.input.messages.N.message.*, input.value.",
        source="future-agi/traceAI fi_types.py, langgenius/dify api/core/ops, alibaba/loongsuite-python-agent",
        detects=("gen_ai.span.kind", "fi.span.kind", "traceai.span.kind"),
        content=("gen_ai.input.messages.N", "gen_ai.output.messages.N", "raw.input", "raw.output", "input.value", "output.value"),
        lacks="A model call's input.value is only its last or first text; parts of Dify's model calls are one transcript.",
        switch="on by default; off by FI_HIDE_INPUTS / FI_HIDE_OUTPUTS",
        conversation_ids=("gen_ai.session.id",),
    ),
    names=Names(
        type=("gen_ai.span.kind", "fi.span.kind", "traceai.span.kind"),
        input=("raw.input", "input.value"),
        output=("raw.output", "output.value"),
        tool_name=("gen_ai.tool.name", "tool.name"),
        tool_call_id=("gen_ai.tool.call.id", "tool_call.id"),
        tool_input=("gen_ai.tool.call.arguments", "gen_ai.tool.call", "input.value", "gen_ai.tool.parameters", "tool.parameters"),
        tool_output=("gen_ai.tool.call.result", "output.value"),
        agent_name=("gen_ai.agent.name",),
        model=("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
        response_id=("gen_ai.response.id",),
        definitions=("gen_ai.tool.definitions",),
        metadata=("metadata",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "agent": StepKind.AGENT,
        "tool": StepKind.TOOL,
        "entry": StepKind.WORKFLOW,
        "chain": StepKind.WRAPPER,
        "step": StepKind.WRAPPER,
        "task": StepKind.WRAPPER,
        "unknown": StepKind.WRAPPER,
        "retriever": StepKind.RETRIEVAL,
        "reranker": StepKind.RETRIEVAL,
        "embedding": StepKind.EMBEDDINGS,
        "guardrail": StepKind.EVALUATION,
        "evaluator": StepKind.EVALUATION,
    },
    otherwise=None,
)
