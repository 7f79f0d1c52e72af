"""Strands Agents: what its own tracer wrote before it kept to the conventions, and the names it still adds to them.

0.1.0 to 0.1.7: the whole history as Bedrock messages in the attributes `gen_ai.prompt` / `gen_ai.completion`, tool runs as `tool.name`,
`tool.id`, `tool.parameters`, `tool.result`, `tool.status`, a span for each event loop cycle that repeats them. From 0.1.8 on events of
generation B, from 1.10 by choice of C, which `semconv` reads; `event_loop.*`, `agent.tools` and `invoke_swarm` / `invoke_graph` stay.

**Source**: strands-agents/sdk-python `telemetry/tracer.py`, 0.1.0 to 1.40.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, usage_from
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.text import text_or_none, unquoted
from otel_eval.model import Message, Role, StepContent, StepKind, ToolResult

_REPLACED = "<replaced>"  # what the serialiser writes for an object that is no JSON (the agent's result in 0.1.0)


class Strands:
    """The SDK of AWS."""

    info = DialectCard(
        name="strands",
        version=1,
        sentence="Strands Agents 0.1: gen_ai.prompt, gen_ai.completion with Bedrock blocks, tool.parameters, tool.result, event_loop.*.",
        source="strands-agents/sdk-python telemetry/tracer.py 0.1.0–1.40",
        detects=(
            "event_loop.cycle_id",
            "system_prompt",
            "tool.status",
            "tool.id",
            "agent.tools",
            "gen_ai.agent.tools",
            "gen_ai.event.start_time",
        ),
        content=("gen_ai.prompt", "gen_ai.completion", "tool.parameters", "tool.result"),
        lacks="The system prompt stands only on the run's span, as `system_prompt`; the result of a run is `<replaced>` in 0.1.0.",
        switch="always on",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        if "openinference.span.kind" in a:
            return None  # OpenInference writes some of these names too
        kind = _kind(a)
        if kind is StepKind.TOOL:
            return Reading(
                kind=kind,
                tool_name=text_or_none(a.get("tool.name")),
                tool_call_id=text_or_none(a.get("tool.id")),
                is_error=True if a.get("tool.status") == "error" else None,
                content=lambda: _tool(evidence),
                alone=True,
            )
        if kind is StepKind.WRAPPER:
            return Reading(kind=kind, alone=True)  # a cycle repeats what its model call and tools say
        if "gen_ai.operation.name" in a and "system_prompt" in a:
            return Reading(kind=kind, content=lambda: StepContent(system=text_or_none(a.get("system_prompt"))))
        if kind is None or "gen_ai.prompt" not in a:
            return Reading(kind=kind, is_error=True if a.get("tool.status") == "error" else None) if kind or "tool.status" in a else None
        return Reading(
            kind=kind,
            agent_name=text_or_none(a.get("agent.name")) if kind is StepKind.AGENT else None,
            model=text_or_none(a.get("gen_ai.request.model")),
            usage=usage_from(a) if kind is StepKind.INFERENCE else None,
            content=lambda: _content(evidence, kind),
            alone=True,
        )


STRANDS = Strands()


def _kind(a: Mapping[str, Any]) -> StepKind | None:
    if "event_loop.cycle_id" in a:
        return StepKind.WRAPPER
    operation = a.get("gen_ai.operation.name")
    if isinstance(operation, str):
        return StepKind.WORKFLOW if operation in ("invoke_swarm", "invoke_graph") else None
    if "tool.parameters" in a or ("tool.id" in a and "tool.name" in a and "gen_ai.event.start_time" in a):
        return StepKind.TOOL
    if "gen_ai.event.start_time" not in a or "gen_ai.prompt" not in a:
        return None
    return StepKind.AGENT if "agent.tools" in a or "gen_ai.agent.tools" in a or "system_prompt" in a else StepKind.INFERENCE


def _content(evidence: Evidence, kind: StepKind) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes()

    def messages(key: str, role: Role) -> tuple[Message, ...] | None:
        value = a.get(key)
        said = isinstance(value, str) and unquoted(value) != _REPLACED
        return evidence.messages(value, role, notes, key) if said else None

    given, answer = messages("gen_ai.prompt", "user"), messages("gen_ai.completion", "assistant")
    system = text_or_none(a.get("system_prompt")) if kind is StepKind.AGENT else None
    return StepContent(system=system, input=given, output=answer, gaps=tuple(notes.gaps))


def _tool(evidence: Evidence) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes("tool.parameters")
    call_id, name = text_or_none(a.get("tool.id")), text_or_none(a.get("tool.name"))
    call = tool_call_of_span(call_id, name, a.get("tool.parameters"), notes)
    notes.at = "tool.result"
    content, _ = content_of_result(a["tool.result"], notes) if a.get("tool.result") is not None else (None, None)
    failed = a.get("tool.status") == "error" or None
    result = ToolResult(call_id=call_id, name=name, content=content, is_error=failed) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))
