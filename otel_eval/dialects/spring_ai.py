"""Spring AI's observations: chat clients, advisors and tool calls beside the conventions' model calls.

Words stand in no span. Where the application lets them be logged and exports its log, they are log records inside the spans: the text of
a prompt's messages without their roles, its last words by role, and the answers.

**Source**: spring-projects/spring-ai `ChatClientObservationDocumentation`, `ToolCallingObservationDocumentation`,
`Chat{Client,Model}{PromptContent,Completion}ObservationHandler`, `ObservabilityHelper`, 1.0 to 1.1 (captured, also with the log).
"""

import re
from collections.abc import Mapping

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import Message, StepContent, StepKind, Text, ToolResult

_PROMPT, _ANSWER = " Prompt Content:\n", " Completion:\n"  # behind `Chat Client` or `Chat Model`
_ENTRY = re.compile(r"""(?:\A\[|", )"(user|system|assistant|tool)":\"""")  # nothing is escaped
_NO_WORDS = ("", "null")  # what messages with calls or results have as text
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
        content=(
            "spring.ai.tool.call.arguments",
            "spring.ai.tool.call.result",
            "log records `Chat Client Prompt Content:` / `Completion:`, `Chat Model …`",
        ),
        lacks="Model calls carry no messages, only the log does, without roles; tool calls have no id.",
        switch=(
            "spring.ai.tools.observations.include-content=true; spring.ai.chat.client.observations.log-prompt=true, …log-completion=true "
            "with an OpenTelemetry appender"
        ),
        conversation_ids=("spring.ai.chat.client.conversation.id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names) or ("event:" in names and "gen_ai.system" in names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        told = a.get("spring.ai.kind")
        kind = _KINDS.get(told) if isinstance(told, str) else None
        if kind is not StepKind.TOOL:
            logged = _logged(evidence) if evidence.logs else {}
            content = (lambda: _words(evidence, logged)) if logged else None
            return Reading(kind=kind, content=content) if kind is not None or content is not None else None
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


def _logged(evidence: Evidence) -> dict[str, str]:
    """The texts that Spring AI's handlers logged inside the span, by what they are."""
    found: dict[str, str] = {}
    for record in evidence.logs:
        body = record.body
        for mark in (_PROMPT, _ANSWER) if isinstance(body, str) else ():
            start, told, text = str(body).partition(mark)
            if told and start in ("Chat Client", "Chat Model") and text.startswith("[") and text.endswith("]"):
                found.setdefault(mark, text)
    return found


def _words(evidence: Evidence, logged: Mapping[str, str]) -> StepContent:
    """The last words of each role, or the last of a prompt without roles; the answer."""
    prompt, answer = logged.get(_PROMPT, "[]"), logged.get(_ANSWER, "[]")
    marks = list(_ENTRY.finditer(prompt))
    ends = [m.start() for m in marks[1:]] + [len(prompt) - 2]
    by_role = {m.group(1): prompt[m.end() : end] for m, end in zip(marks, ends, strict=False)}
    asked = by_role.get("user") if by_role else prompt[2:-2].rpartition('", "')[2]
    said = answer[2:-2]
    return StepContent(
        system=by_role.get("system") or None,
        input=(Message(role="user", parts=(Text(text=asked),), source=evidence.ref),) if asked and asked not in _NO_WORDS else None,
        output=(Message(role="assistant", parts=(Text(text=said),) if said else (), source=evidence.ref),) if _ANSWER in logged else None,
    )
