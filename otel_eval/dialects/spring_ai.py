"""Spring AI's observations: chat clients, advisors and tool calls beside the conventions' model calls.

**Source**: spring-projects/spring-ai `ChatClientObservationDocumentation`, `ToolCallingObservationDocumentation`, 1.0 to 1.1 (captured).
"""

from collections.abc import Mapping

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import StepContent, StepKind, ToolResult

_KINDS: Mapping[str, StepKind] = {
    "chat_client": StepKind.AGENT,
    "advisor": StepKind.WRAPPER,
    "tool_call": StepKind.TOOL,
    "vector_store": StepKind.RETRIEVAL,
}


class SpringAI:
    """Java's Spring AI."""

    info = DialectCard(
        name="spring_ai",
        version=1,
        sentence="Spring AI: spring.ai.kind tells chat clients, advisors and tool calls; tool calls carry arguments and result.",
        source="spring-projects/spring-ai 1.0–1.1",
        detects=("spring.ai.kind",),
        content=("spring.ai.tool.call.arguments", "spring.ai.tool.call.result"),
        lacks="Model calls carry no messages (Spring AI writes them to its log only); tool calls have no id.",
        switch="spring.ai.tools.observations.include-content=true",
        conversation_ids=("spring.ai.chat.client.conversation.id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        told = a.get("spring.ai.kind")
        kind = _KINDS.get(told) if isinstance(told, str) else None
        if kind is not StepKind.TOOL:
            return Reading(kind=kind) if kind is not None else None
        name = text_or_none(a.get("spring.ai.tool.definition.name"))
        return Reading(kind=kind, tool_name=name, content=lambda: _run(evidence, name))


SPRING_AI = SpringAI()


def _run(evidence: Evidence, name: str | None) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes("spring.ai.tool.call.arguments")
    call = tool_call_of_span(None, name, a.get("spring.ai.tool.call.arguments"), notes)
    notes.at = "spring.ai.tool.call.result"
    raw = a.get("spring.ai.tool.call.result")
    content, is_error = content_of_result(raw, notes) if raw is not None else (None, None)
    result = ToolResult(name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))
