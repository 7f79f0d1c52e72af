"""LiteLLM's OpenTelemetry callback: the calls its messages leave out, and the raw request below each call.

`litellm_request` keeps to the conventions, but the tool calls of an answer stand apart, in `gen_ai.completion.N.function_call.name` /
`.arguments` (N counts the calls), without ids. Its child `raw_gen_ai_request` holds request and response as Python reprs under
`llm.<provider>.<parameter>`.

**Source**: BerriAI/litellm `integrations/opentelemetry.py`, `integrations/arize/_utils.py`, 1.50 to 1.110 (captured).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_definitions_of
from otel_eval.dialects.shapes.calls import call_from_value
from otel_eval.dialects.shapes.indexed import nested_from_indexed
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, StepContent, StepKind, ToolCall

_RAW = re.compile(r"llm\.[\w-]+\.(messages|input|contents|choices|content|output|candidates|tools|system|instructions|id|model)$")
_REQUEST = ("messages", "input", "contents", "system", "instructions")
_RESPONSE = ("choices", "candidates", "output", "content")
_RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class LiteLLM:
    """LiteLLM, as library and as proxy."""

    info = DialectCard(
        name="litellm",
        version=1,
        sentence="LiteLLM's otel callback: gen_ai.completion.N.function_call beside the messages, llm.<provider>.* reprs below.",
        source="BerriAI/litellm integrations/opentelemetry.py 1.50–1.110",
        detects=(
            "litellm.call_id",
            "litellm.provider.model",
            "litellm.trace_id",
            "hidden_params",
            "llm.openai.",
            "llm.anthropic.",
            "llm.gemini.",
        ),
        content=("gen_ai.output.messages", "gen_ai.completion.N.function_call", "llm.<provider>.messages", "llm.<provider>.choices"),
        lacks="Tool calls of an answer have no id without the raw span; a streamed call is a trace of its own.",
        switch="on by default; off by litellm.turn_off_message_logging = True",
        conversation_ids=("metadata.requester_metadata.session_id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names) or any(n.startswith("llm.") and n.endswith(".choices") for n in names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        raw = {m.group(1): v for k, v in a.items() if (m := _RAW.fullmatch(k))} if evidence.span.name == "raw_gen_ai_request" else {}
        if raw:
            return Reading(
                kind=StepKind.INFERENCE,
                response_id=text_or_none(raw.get("id")),
                model=text_or_none(raw.get("model")),
                content=lambda: _raw(evidence, raw),
                alone=True,
            )
        session = text_or_none(a.get("litellm.trace_id"))
        known = session if session is not None and not _RANDOM.fullmatch(session) else None
        calls = any(k.startswith("gen_ai.completion.") and ".function_call." in k for k in a)
        if known is None and not calls:
            return None
        return Reading(conversation_id=known, content=(lambda: _answer(evidence)) if calls else None)


LITELLM = LiteLLM()


def _raw(evidence: Evidence, raw: Mapping[str, Any]) -> StepContent:
    notes = evidence.notes("llm.<provider>")
    opened = {k: value_from_text(v, notes) if isinstance(v, str) else v for k, v in raw.items()}
    given = {k: opened[k] for k in _REQUEST if k in opened}
    answer = next(({k: opened[k]} for k in _RESPONSE if k in opened), None)
    if answer is not None and "content" in answer:
        answer = {"role": "assistant", **answer}
    return StepContent(
        input=messages_from_value(given, "user", notes, evidence.ref) if given else None,
        output=messages_from_value(answer, "assistant", notes, evidence.ref) if answer else None,
        tool_definitions=tool_definitions_of(evidence, opened.get("tools"), notes),
        gaps=tuple(notes.gaps),
    )


def _answer(evidence: Evidence) -> StepContent:
    """The answer with the calls that stand beside it; input is for the conventions' reader."""
    notes = evidence.notes("gen_ai.output.messages")
    found = evidence.messages(evidence.attributes.get("gen_ai.output.messages"), "assistant", notes) or ()
    listed = nested_from_indexed(evidence.attributes, "gen_ai.completion") or ()
    said = next((m for m in found if m.role == "assistant"), None) or _indexed(listed, notes, evidence)
    if said.tool_calls:
        return StepContent(output=found, gaps=tuple(notes.gaps))
    return StepContent(output=(replace(said, parts=(*said.parts, *_calls(listed, notes))),), gaps=tuple(notes.gaps))


def _indexed(listed: Sequence[Any], notes: Notes, evidence: Evidence) -> Message:
    """The words of an answer that older versions wrote indexed too."""
    words = [{"role": "assistant", "content": i["content"]} for i in listed if isinstance(i, Mapping) and i.get("content")]
    found = messages_from_value(words[:1], "assistant", notes, evidence.ref)
    return found[0] if found else Message(role="assistant", source=evidence.ref)


def _calls(listed: Sequence[Any], notes: Notes) -> tuple[ToolCall, ...]:
    calls = [i["function_call"] for i in listed if isinstance(i, Mapping) and isinstance(i.get("function_call"), Mapping)]
    return tuple(call_from_value(c, notes) for c in calls)
