"""What applications and lesser producers write by hand: ids under plain names, `input` and `output` attributes, `metadata` JSON.

The last to be asked: it only fills what no other dialect knows. **Source**: spellings met in real traces and public issues.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading
from otel_eval.dialects.envelope import Envelope, Names
from otel_eval.model import StepKind

_SPAN_TYPES = ("span.type", "span_type", "observation.type")


class Generic(Envelope):
    """Speaks only where a type is known or both words and a role in the run can be told."""

    def read(self, evidence: Evidence) -> Reading | None:
        reading = super().read(evidence)
        thread = evidence.attributes.get("thread.id")
        if reading is not None and isinstance(thread, str) and not thread.isdecimal() and "thread.name" not in evidence.attributes:
            reading.conversation_id = reading.conversation_id or thread  # else it is the conventions' thread of the operating system
        return reading

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        a = evidence.attributes
        for name in self.names.type:
            found = self.kinds.get(str(a.get(name, "")).lower())
            if found is not None:
                return found
        return StepKind.WRAPPER if self._has_id(a) or any(n in a for n in (*self.names.input, *self.names.output)) else None

    def _has_id(self, a: Mapping[str, Any]) -> bool:
        return any(k in a for k in (*self.info.conversation_ids, "thread.id", "metadata"))


GENERIC = Generic(
    info=DialectCard(
        name="generic",
        version=1,
        sentence="Spans written by hand: plain conversation or session ids, input / output attributes, span types.",
        source="spellings met in real traces and application code",
        detects=(
            "metadata",
            "input",
            "output",
            "conversation_id",
            "conversation.id",
            "session_id",
            "session.id",
            "thread_id",
            "thread.id",
            "chat_id",
            "chat.id",
            "sessionId",
            "threadId",
            "conversationId",
            "gen_ai.session.id",
            "langgraph.thread_id",
            "span.type",
            "span_type",
        ),
        content=("input", "output"),
        lacks="Only what the names say; tool calls only where the values hold them.",
        conversation_ids=(
            "conversation.id",
            "conversation_id",
            "conversationId",
            "gen_ai.session.id",
            "thread_id",
            "threadId",
            "langgraph.thread_id",
            "session_id",
            "sessionId",
            "chat.id",
            "chat_id",
        ),
    ),
    names=Names(
        type=_SPAN_TYPES,
        input=("input",),
        output=("output",),
        tool_name=("tool.name", "tool_name"),
        tool_call_id=("tool_call_id", "tool_call.id"),
        agent_name=("agent.name", "agent_name"),
        model=("model", "llm.model"),
        metadata=("metadata",),
    ),
    kinds={
        "llm": StepKind.INFERENCE,
        "generation": StepKind.INFERENCE,
        "tool": StepKind.TOOL,
        "function": StepKind.TOOL,
        "agent": StepKind.AGENT,
        "chain": StepKind.WRAPPER,
        "task": StepKind.WRAPPER,
        "workflow": StepKind.WORKFLOW,
        "retriever": StepKind.RETRIEVAL,
        "embedding": StepKind.EMBEDDINGS,
        "evaluator": StepKind.EVALUATION,
        "score": StepKind.EVALUATION,
        "scorer": StepKind.EVALUATION,
    },
)
