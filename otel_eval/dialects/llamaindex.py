"""LlamaIndex's own OpenTelemetry integration: spans named after methods, content in span events with flattened attributes.

A model call is a span with `LLMChatStartEvent` and `LLMChatEndEvent` (`messages`, `response.message.*`, `response.raw.*`); a workflow's
step has `llamaindex.step.input_event` and a cut repr of its input, from which a tool run's name and call id can be told. Instrumentation
tags (`instrument_tags({"session.id": …})`) become attributes.

**Source**: run-llama/llama_index `llama-index-observability-otel` 0.7 (captured), `llama_index/core/instrumentation/events`.
"""

import re
from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import count_or_none, tool_definitions_of
from otel_eval.dialects.shapes.calls import arguments_from_value
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, StepContent, StepKind, ToolCall, Usage

_KINDS: Mapping[str, StepKind] = {
    "LLMChatStartEvent": StepKind.INFERENCE,
    "LLMChatEndEvent": StepKind.INFERENCE,
    "LLMCompletionStartEvent": StepKind.INFERENCE,
    "LLMCompletionEndEvent": StepKind.INFERENCE,
    "AgentChatWithStepStartEvent": StepKind.AGENT,
    "AgentChatWithStepEndEvent": StepKind.AGENT,
    "QueryStartEvent": StepKind.WORKFLOW,
    "QueryEndEvent": StepKind.WORKFLOW,
    "RetrievalStartEvent": StepKind.RETRIEVAL,
    "RetrievalEndEvent": StepKind.RETRIEVAL,
    "ReRankStartEvent": StepKind.RETRIEVAL,
    "ReRankEndEvent": StepKind.RETRIEVAL,
    "EmbeddingStartEvent": StepKind.EMBEDDINGS,
    "EmbeddingEndEvent": StepKind.EMBEDDINGS,
}
_TOOL = re.compile(r"ToolCall\(tool_name='([^']+)'")
_TOOL_ID = re.compile(r"tool_id='([^']+)'")
_TOOL_KWARGS = re.compile(r"tool_kwargs=(\{.*\}), tool_id=", re.DOTALL)
_MODELS = ("response.raw.model", "model_dict.model", "model_dict.model_name")
_QUESTIONS = ("user_msg", "query", "query.query_str", "prompt")
_ANSWERS = ("response.response", "response", "response.text")


class LlamaIndex:
    """The framework's own exporter."""

    info = DialectCard(
        name="llamaindex",
        version=1,
        sentence="LlamaIndex's own OpenTelemetry integration: span events LLMChatStartEvent, LLMChatEndEvent, llamaindex.step.*.",
        source="run-llama/llama_index llama-index-observability-otel 0.7",
        detects=("llamaindex.", *(f"event:{n}" for n in _KINDS), "event:workflow.output", "event:step.output"),
        content=(
            "event:LLMChatStartEvent messages",
            "event:LLMChatEndEvent response.message.*",
            "event:QueryEndEvent",
            "llamaindex.step.input_summary",
        ),
        lacks="Tool results stand only in the next model call; arguments only where a step's repr was not cut. Before 0.6 no messages.",
        switch="LlamaIndexOpenTelemetry().start_registering()",
        conversation_ids=("llamaindex.session_id", "llamaindex.conversation_id", "llamaindex.thread_id"),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        kind = next((_KINDS[e.name] for e in evidence.events if e.name in _KINDS), None)
        told = _told(evidence)
        if kind is StepKind.INFERENCE:
            return _model_call(evidence, told)
        if kind in (StepKind.AGENT, StepKind.WORKFLOW):
            return Reading(kind=kind, content=lambda: _question(evidence, told))
        if kind is not None:
            return Reading(kind=kind)
        if evidence.attributes.get("llamaindex.step.input_event") == "ToolCall":
            return _tool_run(evidence)
        if any(e.name == "workflow.output" for e in evidence.events):
            return Reading(kind=StepKind.AGENT if "Agent" in evidence.span.name else StepKind.WORKFLOW)
        return Reading(kind=StepKind.WRAPPER) if any(k.startswith("llamaindex.") for k in evidence.attributes) else None


LLAMAINDEX = LlamaIndex()


def _told(evidence: Evidence) -> Mapping[str, Any]:
    """The attributes of a span's start and end events together."""
    merged: dict[str, Any] = {}
    for event in evidence.events:
        if event.name in _KINDS:
            merged.update({k: v for k, v in event.attributes.items() if v != "null"})
    return merged


def _model_call(evidence: Evidence, told: Mapping[str, Any]) -> Reading:
    given = count_or_none(told.get("response.raw.usage.prompt_tokens", told.get("response.additional_kwargs.prompt_tokens")))
    made = count_or_none(told.get("response.raw.usage.completion_tokens", told.get("response.additional_kwargs.completion_tokens")))
    return Reading(
        kind=StepKind.INFERENCE,
        model=next(
            (t for k in ("response.raw.model", "model_dict.model", "model_dict.model_name") if (t := text_or_none(told.get(k)))), None
        ),
        response_id=text_or_none(told.get("response.raw.id")),
        usage=None if given is None and made is None else Usage(input_tokens=given, output_tokens=made),
        content=lambda: _exchange(evidence, told),
    )


def _exchange(evidence: Evidence, told: Mapping[str, Any]) -> StepContent:
    notes = evidence.notes("messages")
    tools = told.get("additional_kwargs.tools")
    given = evidence.messages(told.get("messages", told.get("prompt")), "user", notes, "messages")
    notes.at = "response.message"
    return StepContent(
        input=given,
        output=_answer(evidence, told, notes),
        tool_definitions=tool_definitions_of(evidence, tools, notes) if tools else (),
        gaps=tuple(notes.gaps),
    )


def _answer(evidence: Evidence, told: Mapping[str, Any], notes: Notes) -> tuple[Message, ...] | None:
    """The message of a response, put together from its flattened members; of a completion its text."""
    message: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in told.items():
        name = key.removeprefix("response.message.")
        if name == key:
            continue
        opened = value_from_text(value, notes) if isinstance(value, str) and value[:1] in "[{" else value
        if name.startswith("additional_kwargs."):
            extra[name.removeprefix("additional_kwargs.")] = opened
        else:
            message[name] = opened
    if message:
        return messages_from_value({"role": "assistant", **message, "additional_kwargs": extra}, "assistant", notes, evidence.ref)
    return evidence.messages(told.get("response.text"), "assistant", notes, "response.text")


def _question(evidence: Evidence, told: Mapping[str, Any]) -> StepContent:
    """What an agent or a query engine was asked, and what came back."""
    notes = evidence.notes("query")
    asked = next((told[k] for k in _QUESTIONS if isinstance(told.get(k), str)), None)
    answer = next((told[k] for k in _ANSWERS if isinstance(told.get(k), str)), None)
    return StepContent(
        input=messages_from_value(asked, "user", notes, evidence.ref) if asked else None,
        output=messages_from_value(answer, "assistant", notes, evidence.ref) if answer else None,
        gaps=tuple(notes.gaps),
    )


def _tool_run(evidence: Evidence) -> Reading:
    summary = str(evidence.attributes.get("llamaindex.step.input_summary", ""))
    name, call_id = _TOOL.search(summary), _TOOL_ID.search(summary)
    found = (name.group(1) if name else None, call_id.group(1) if call_id else None)
    return Reading(kind=StepKind.TOOL, tool_name=found[0], tool_call_id=found[1], content=lambda: _tool(evidence, summary, *found))


def _tool(evidence: Evidence, summary: str, name: str | None, call_id: str | None) -> StepContent:
    """The call as far as the repr of a step's input shows it; `{4 keys}` stands for arguments that were left out."""
    notes = evidence.notes("llamaindex.step.input_summary")
    shown = _TOOL_KWARGS.search(summary)
    value = value_from_text(shown.group(1)) if shown else None
    arguments, _ = arguments_from_value(value, notes) if isinstance(value, dict) else (None, None)
    return StepContent(tool_call=ToolCall(id=call_id, name=name, arguments=arguments), gaps=tuple(notes.gaps))
