"""OpenLLMetry / Traceloop: indexed `gen_ai.prompt.N` / `gen_ai.completion.N`, and `traceloop.entity.*` of decorators and frameworks.

**Source**: traceloop/openllmetry, opentelemetry-semantic-conventions-ai 0.4–0.5; older `llm.prompts.N` of 0.1x; kagent and LiteLLM write
the
indexed names too. From 0.5x the instrumentations write the conventions' own names, which `semconv` reads.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.indexed import nested_from_indexed
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, Role, StepContent, StepKind, ToolResult

_KINDS: Mapping[str, StepKind] = {
    "workflow": StepKind.WORKFLOW,
    "agent": StepKind.AGENT,
    "task": StepKind.WRAPPER,
    "tool": StepKind.TOOL,
}
_PROMPTS = ("gen_ai.prompt", "llm.prompts", "gen_ai.request.messages")
_COMPLETIONS = ("gen_ai.completion", "llm.completions")


class OpenLLMetry:
    """Traceloop's SDK and instrumentations."""

    info = DialectCard(
        name="openllmetry",
        version=1,
        sentence="OpenLLMetry / Traceloop: gen_ai.prompt.N, gen_ai.completion.N, traceloop.entity.input / output, association properties.",
        source="traceloop/openllmetry, opentelemetry-semantic-conventions-ai",
        detects=("gen_ai.prompt.", "gen_ai.completion.", "llm.prompts.", "llm.completions.", "traceloop.", "llm.request.type"),
        content=("gen_ai.prompt.N", "gen_ai.completion.N", "traceloop.entity.input", "traceloop.entity.output", "llm.request.functions.N"),
        lacks=(
            "Responses API: ids of call and result do not join; events mode has no call ids on tool messages; CrewAI "
            "tool failures leave no mark."
        ),
        switch="on by default; off by TRACELOOP_TRACE_CONTENT=false",
        conversation_ids=(
            "traceloop.association.properties.conversation_id",
            "traceloop.association.properties.thread_id",
            "traceloop.association.properties.session_id",
            "traceloop.association.properties.sessionId",
            "traceloop.association.properties.threadId",
            "traceloop.association.properties.conversationId",
            "traceloop.association.properties.chat_id",
        ),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = _KINDS.get(str(a.get("traceloop.span.kind", "")).lower())
        indexed = any(k.startswith(("gen_ai.prompt.", "gen_ai.completion.", "llm.prompts.", "llm.completions.")) for k in a)
        if kind is None and (indexed or str(a.get("llm.request.type", "")) in ("chat", "completion")):
            kind = StepKind.INFERENCE
        if kind is None and str(a.get("llm.request.type", "")) in ("embedding", "rerank"):
            kind = StepKind.EMBEDDINGS
        if kind is None and "traceloop.entity.name" not in a and "traceloop.entity.input" not in a and not indexed:
            return None
        name = text_or_none(a.get("traceloop.entity.name"))
        return Reading(
            kind=kind or StepKind.WRAPPER,
            agent_name=name if kind is StepKind.AGENT else None,
            tool_name=name if kind is StepKind.TOOL else None,
            response_id=text_or_none(a.get("gen_ai.response.id")),
            model=text_or_none(a.get("gen_ai.response.model")) or text_or_none(a.get("gen_ai.request.model")),
            provider=text_or_none(a.get("gen_ai.system")),
            usage=usage_from(a),
            conversation_id=_thread(a) if kind is StepKind.WORKFLOW else None,
            content=(lambda: _content(evidence, kind)),
        )


def _thread(a: Mapping[str, Any]) -> str | None:
    """The id in the configuration that LangChain was run with: before association properties it stands in the workflow's input only.

    **Source**: opentelemetry-instrumentation-langchain 0.33 (captured); the order is OpenInference's.
    """
    raw = a.get("traceloop.entity.input")
    if not isinstance(raw, str) or '"metadata"' not in raw:
        return None
    value = value_from_text(raw)
    metadata = value.get("metadata") if isinstance(value, Mapping) else None
    if not isinstance(metadata, Mapping):
        return None
    return next((t for k in ("session_id", "conversation_id", "thread_id") if (t := text_or_none(metadata.get(k)))), None)


def _content(evidence: Evidence, kind: StepKind | None) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes()
    if kind is StepKind.TOOL:
        return _tool(evidence, notes)
    given = _indexed(evidence, _PROMPTS, "user", notes)
    answer = _indexed(evidence, _COMPLETIONS, "assistant", notes)
    if given is None and answer is None:
        given = evidence.messages(a.get("traceloop.entity.input"), "user", notes, "traceloop.entity.input")
        answer = evidence.messages(a.get("traceloop.entity.output"), "assistant", notes, "traceloop.entity.output")
    functions = nested_from_indexed(a, "llm.request.functions")
    definitions = tool_definitions_of(evidence, functions, notes) if functions else ()
    return StepContent(input=given, output=answer, tool_definitions=definitions, gaps=tuple(notes.gaps))


def _indexed(evidence: Evidence, prefixes: tuple[str, ...], role: Role, notes: Notes) -> tuple[Message, ...] | None:
    for prefix in prefixes:
        notes.at = prefix
        listed = nested_from_indexed(evidence.attributes, prefix, notes)
        if listed is not None:
            return messages_from_value([_message(m, role, notes) for m in listed], role, notes, notes.source)
    return None


def _message(item: Any, role: Role, notes: Notes) -> Any:
    """An indexed message; content that is the JSON text of blocks is opened, a tool's stays text."""
    if not isinstance(item, Mapping):
        return item
    out = dict(item)
    if "content" not in out and isinstance(out.get("user"), str):  # completion models: `gen_ai.prompt.N.user` (watsonx, Replicate, …)
        out = {"role": "user", "content": out["user"]}
    out.setdefault("role", role)
    content = out.get("content")
    if content == '""':  # the empty text as JSON (0.33)
        out["content"] = None
    if isinstance(content, str) and content[:2] in ("[{", '{"') and out["role"] != "tool":
        value = value_from_text(content, notes)
        if isinstance(value, list) and all(isinstance(b, Mapping) and ("type" in b or "text" in b) for b in value):
            out["content"] = value
    return out


def _tool(evidence: Evidence, notes: Notes) -> StepContent:
    a = evidence.attributes
    name = text_or_none(a.get("traceloop.entity.name"))
    notes.at = "traceloop.entity.input"
    call = tool_call_of_span(None, name, a.get("traceloop.entity.input"), notes)
    notes.at = "traceloop.entity.output"
    out = a.get("traceloop.entity.output")
    content, is_error = content_of_result(out, notes) if out is not None else (None, None)
    result = ToolResult(name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


OPENLLMETRY = OpenLLMetry()
