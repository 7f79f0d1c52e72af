"""Platforms that put every span into one envelope: a type, an input, an output. What differs between them is a table of names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, unquoted, value_from_text
from otel_eval.model import Message, Role, StepContent, StepKind, ToolResult, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Attribute names of an envelope, each a list of alternatives, best first."""

    type: tuple[str, ...]
    input: tuple[str, ...]
    output: tuple[str, ...]
    tool_name: tuple[str, ...] = ()
    tool_call_id: tuple[str, ...] = ()
    tool_input: tuple[str, ...] = ()
    tool_output: tuple[str, ...] = ()
    agent_name: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    response_id: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    usage: tuple[str, ...] = ()
    """JSON attributes {input, output}: tokens."""
    result_member: str | None = None
    """The one member of an object that the exporter puts around a tool's plain result."""
    metadata: tuple[str, ...] = ()
    """JSON attributes in which a conversation id may stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A dialect made of a card, the names, and which type is which kind (compared in lower case)."""

    info: DialectCard
    names: Names
    kinds: Mapping[str, StepKind]
    otherwise: StepKind | None = StepKind.WRAPPER
    """The kind of a span with one of the names but no known type; None: not this dialect's."""
    span_name_is_tool: bool = True
    span_name_is_agent: bool = True
    error_values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Attributes whose value tells of a failure."""

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = self.kind_of(evidence)
        if kind is None:
            return None
        tool_name = _first_text(a, self.names.tool_name) or (evidence.span.name if self.span_name_is_tool else None)
        agent_name = _first_text(a, self.names.agent_name) or (evidence.span.name if self.span_name_is_agent else None)
        return Reading(
            kind=kind,
            tool_name=(tool_name or None) if kind is StepKind.TOOL else None,
            tool_call_id=_first_text(a, self.names.tool_call_id) if kind is StepKind.TOOL else None,
            agent_name=(agent_name or None) if kind is StepKind.AGENT else None,
            model=_first_text(a, self.names.model),
            response_id=_first_text(a, self.names.response_id) if kind is StepKind.INFERENCE else None,
            usage=(usage_from(a) or _usage_in(a, self.names.usage)) if kind is StepKind.INFERENCE else None,
            is_error=any(str(a.get(k, "")).lower() in values for k, values in self.error_values.items()) or None,
            conversation_id=_id_in_metadata(a, self.names.metadata),
            content=(lambda: self._content(evidence, kind)),
        )

    def kind_of(self, evidence: Evidence) -> StepKind | None:
        """The kind by the type attributes; `otherwise` where there is only an input or output."""
        a = evidence.attributes
        for name in self.names.type:
            found = self.kinds.get(_plain(a.get(name)).lower())
            if found is not None:
                return found
        return self.otherwise if any(n in a for n in (*self.names.type, *self.names.input, *self.names.output)) else None

    def _content(self, evidence: Evidence, kind: StepKind) -> StepContent:
        notes = evidence.notes()
        kind = evidence.kind or kind
        if kind is StepKind.TOOL:
            return self._tool(evidence, notes)
        given = self._messages(evidence, self.names.input, "user", notes)
        answer = self._messages(evidence, self.names.output, "assistant", notes)
        system = _first_text(evidence.attributes, self.names.system) if kind is StepKind.INFERENCE else None
        return StepContent(
            system=system, input=given, output=answer, tool_definitions=self._definitions(evidence, notes), gaps=tuple(notes.gaps)
        )

    def _messages(self, evidence: Evidence, names: tuple[str, ...], role: Role, notes: Notes) -> tuple[Message, ...] | None:
        for name in names:
            value = evidence.attributes.get(name)
            if value is not None:
                found = evidence.messages(value, role, notes, name)
                if found:
                    return found
        return None

    def _definitions(self, evidence: Evidence, notes: Notes) -> tuple[Mapping[str, Any], ...]:
        a = evidence.attributes
        for name in self.names.definitions:
            if a.get(name) is not None:
                notes.at = name
                return tool_definitions_of(evidence, a[name], notes)
        for name in self.names.input:
            raw = a.get(name)
            if isinstance(raw, str) and '"tools"' in raw:
                value = value_from_text(raw)
                if isinstance(value, Mapping) and value.get("tools"):
                    return tool_definitions_of(evidence, value["tools"], Notes())
            elif isinstance(raw, str) and '"type": "function"' in raw:
                value = value_from_text(raw)
                if isinstance(value, list):  # LangChain's callback lists the tools among the messages
                    listed = [m["content"] for m in value if isinstance(m, Mapping) and isinstance(m.get("content"), Mapping)]
                    return tool_definitions_of(evidence, [c for c in listed if c.get("type") == "function"], Notes())
        return ()

    def _tool(self, evidence: Evidence, notes: Notes) -> StepContent:
        a = evidence.attributes
        call_id = _first_text(a, self.names.tool_call_id)
        name = _first_text(a, self.names.tool_name) or (evidence.span.name if self.span_name_is_tool else None) or None
        raw = _first(a, (*self.names.tool_input, *self.names.input), notes)
        call = tool_call_of_span(call_id, name, unquoted(raw) if isinstance(raw, str) and raw[:1] == '"' else raw, notes)
        out = _unwrapped(_first(a, (*self.names.tool_output, *self.names.output), notes), self.names.result_member)
        content, is_error = content_of_result(out, notes) if out is not None else (None, None)
        return StepContent(
            tool_call=call,
            tool_result=ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None,
            gaps=tuple(notes.gaps),
        )


def _unwrapped(out: Any, member: str | None) -> Any:
    """A result without the exporter's own object around it."""
    if member is None or not isinstance(out, str) or not out.startswith('{"' + member + '"'):
        return out
    value = value_from_text(out)
    return value[member] if isinstance(value, dict) and set(value) == {member} and isinstance(value[member], str) else out


def _first(a: Mapping[str, Any], names: tuple[str, ...], notes: Notes) -> Any:
    for name in names:
        if a.get(name) is not None:
            notes.at = name
            return a[name]
    return None


def _plain(value: Any) -> str:
    """A text attribute; some platforms write every attribute as JSON, so texts come quoted."""
    if not isinstance(value, str):
        return ""
    return unquoted(value) if value[:1] == '"' else value


def _usage_in(a: Mapping[str, Any], names: tuple[str, ...]) -> Usage | None:
    """Tokens of a JSON attribute {input, output}."""
    for name in names:
        raw = a.get(name)
        value = value_from_text(raw) if isinstance(raw, str) else raw
        if isinstance(value, Mapping):
            return usage_from({f"gen_ai.usage.{side}_tokens": value[side] for side in ("input", "output") if side in value})
    return None


def _first_text(a: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((t for n in names if (t := text_or_none(_plain(a.get(n))))), None)


def _id_in_metadata(a: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = a.get(name)
        data = value_from_text(value) if isinstance(value, str) else value
        if isinstance(data, Mapping):
            for key in ("conversation_id", "thread_id", "session_id", "threadId", "sessionId", "conversationId"):
                found = text_or_none(data.get(key))
                if found:
                    return found
    return None
