"""OpenLIT: what its older versions wrote as `role: text` transcripts, and its own names for calls, tools, agents and workflows.

To 1.33 prompt and completion are span events of generation A, the prompt one transcript; a request with tools has the completion
`Function called with tools`, whatever the model said. 1.34 to 1.37 write the calls of an answer as a Python repr in
`gen_ai.response.tool_calls`. From 1.38 on the conventions, but the ids of Responses calls stand only in `gen_ai.tool.call.id` of the
model call's span.

**Source**: openlit/openlit `sdk/python/src/openlit/semcov/__init__.py`, 1.20, 1.30, 1.34, 1.45 (all captured).
"""

from collections.abc import Mapping
from dataclasses import replace

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.calls import call_from_value
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import GapReason, Message, Part, StepContent, StepKind, Text, ToolCall, ToolResult

_PLACEHOLDER = "Function called with tools"
_KINDS: Mapping[str, StepKind] = {
    "vectordb": StepKind.RETRIEVAL,
    "graph_execution": StepKind.WORKFLOW,
    "user_prompt_processing": StepKind.WRAPPER,
    "tool_coordination": StepKind.WRAPPER,
}
_ASKED = ("gen_ai.workflow.input", "gen_ai.agent.task")
_ANSWERED = ("gen_ai.workflow.output", "gen_ai.agent.actual_output", "gen_ai.agent.finish.output")
_TOOL_INPUTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.args")
_TOOL_OUTPUTS = ("gen_ai.tool.call.result", "gen_ai.tool.output")


class OpenLIT:
    """OpenLIT's SDKs."""

    info = DialectCard(
        name="openlit",
        version=1,
        sentence="OpenLIT: gen_ai.response.tool_calls, gen_ai.tool.input, gen_ai.workflow.*, gen_ai.agent.task beside the conventions.",
        source="openlit/openlit semcov 1.20–1.45",
        detects=(
            "gen_ai.response.tool_calls",
            "gen_ai.tool.args",
            "gen_ai.tool.input",
            "gen_ai.tool.output",
            "gen_ai.endpoint",
            *_ASKED,
            *_ANSWERED,
        ),
        content=("event:gen_ai.content.prompt", "event:gen_ai.content.completion", "gen_ai.response.tool_calls", *_ASKED, *_ANSWERED),
        lacks="To 1.33 no tool calls, and no answer of a request with tools; history without calls in every version; no conversation id.",
        switch="openlit.init(capture_message_content=True) (the default; trace_content=True in old versions)",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        operation = a.get("gen_ai.operation.name")
        if operation == "execute_tool":
            return Reading(content=lambda: _tool(evidence)) if any(k in a for k in (*_TOOL_INPUTS[1:], *_TOOL_OUTPUTS[1:])) else None
        if "gen_ai.response.tool_calls" in a or _completion(evidence) == _PLACEHOLDER:
            return Reading(content=lambda: _answer(evidence))
        if "gen_ai.tool.call.id" in a and "gen_ai.tool.args" in a and operation == "chat":
            return Reading(content=lambda: _with_ids(evidence))
        if any(k in a for k in (*_ASKED, *_ANSWERED)):
            return Reading(content=lambda: _run(evidence))
        kind = _KINDS.get(operation) if isinstance(operation, str) else None
        return Reading(kind=kind) if kind is not None else None


OPENLIT = OpenLIT()


def _completion(evidence: Evidence) -> str | None:
    found = next((e.attributes.get("gen_ai.completion") for e in evidence.events if e.name == "gen_ai.content.completion"), None)
    return found if isinstance(found, str) else None


def _answer(evidence: Evidence) -> StepContent:
    """The answer: its words, unless a placeholder stands for them, and the calls that stand beside."""
    notes = evidence.notes("gen_ai.response.tool_calls")
    stated = evidence.attributes.get("gen_ai.response.tool_calls")
    value = value_from_text(stated, notes) if isinstance(stated, str) else stated
    calls = [call_from_value(c, notes) for c in value if isinstance(c, Mapping)] if isinstance(value, (list, tuple)) else []
    words = _completion(evidence)
    parts: list[Part] = []
    if words == _PLACEHOLDER:
        notes.add(GapReason.CONTENT_NOT_CAPTURED, "event:gen_ai.content.completion")
    elif words and not (words == "None" and calls):
        parts.append(Text(text=words))
    if words is None and not calls:
        return StepContent()
    return StepContent(output=(Message(role="assistant", parts=(*parts, *calls), source=evidence.ref),), gaps=tuple(notes.gaps))


def _with_ids(evidence: Evidence) -> StepContent:
    """The answer's calls under the ids by which their results answer."""
    notes = evidence.notes("gen_ai.output.messages")
    found = evidence.messages(evidence.attributes.get("gen_ai.output.messages"), "assistant", notes) or ()
    stated = str(evidence.attributes["gen_ai.tool.call.id"]).split(",")
    ids = iter([i.strip() for i in stated])
    if not found or len(stated) != sum(len(m.tool_calls) for m in found):
        return StepContent()
    return StepContent(
        output=tuple(replace(m, parts=tuple(replace(p, id=next(ids)) if type(p) is ToolCall else p for p in m.parts)) for m in found),
        gaps=tuple(notes.gaps),
    )


def _run(evidence: Evidence) -> StepContent:
    """What a workflow or an agent was asked and gave back."""
    a = evidence.attributes
    notes = evidence.notes("gen_ai.workflow")
    asked = next((a[k] for k in _ASKED if a.get(k)), None)
    answer = next((a[k] for k in _ANSWERED if a.get(k)), None)
    return StepContent(
        input=evidence.messages(asked, "user", notes), output=evidence.messages(answer, "assistant", notes), gaps=tuple(notes.gaps)
    )


def _tool(evidence: Evidence) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes("gen_ai.tool.input")
    call_id, name = text_or_none(a.get("gen_ai.tool.call.id")), text_or_none(a.get("gen_ai.tool.name"))
    raw = next((a[k] for k in _TOOL_INPUTS if a.get(k) is not None), None)
    out = next((a[k] for k in _TOOL_OUTPUTS if a.get(k) is not None), None)
    call = tool_call_of_span(call_id, name, raw, notes)
    content, is_error = content_of_result(out, Notes()) if out is not None else (None, None)
    return StepContent(
        tool_call=call,
        tool_result=ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None,
        gaps=tuple(notes.gaps),
    )
