"""smolagents: its answers are calls of the control tool `final_answer`; what the tool is given is what the agent says.

The spans are OpenInference's or the conventions'; this only folds the control tool into the answer, in outputs and in the history, and
leaves out the messages by which a failed step is told to the model (its tool's span tells the failure).

**Source**: huggingface/smolagents `agents.py`, `memory.py`, 1.10 to 1.26, with openinference-instrumentation-smolagents (captured).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import Dialect, DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.openinference import OPENINFERENCE
from otel_eval.dialects.semconv import SEMCONV
from otel_eval.dialects.shapes.text import json_text
from otel_eval.model import NO_CONTENT, Message, Part, StepContent, StepKind, Text, ToolCall, ToolResult

_CONTROL = "final_answer"
_FAILED_STEP = "Now let's retry: take care not to repeat previous errors!"
_LISTS = ("gen_ai.input.messages", "gen_ai.output.messages")
_NUMBERED = re.compile(r"Call id: (\S+)\n(Observation|Error):\n((?:.|\n)*)\Z")
_ERROR = re.compile(r"\}: [\w.]+: ((?:.|\n)*?)\nYou should only use this tool")  # the error's own words
_ROLES = ("tool-call", "tool-response")  # of smolagents' memory
_LONGEST = max(map(len, _ROLES))
_QUOTED = f'"{_CONTROL}"'
_FIRST_GIVEN, _FIRST_ANSWER = "llm.input_messages.0.message.role", "llm.output_messages.0.message.role"
_INDEXED = ("llm.input_messages.", "llm.output_messages.")


class Smolagents:
    """Hugging Face's agents."""

    info = DialectCard(
        name="smolagents",
        version=1,
        sentence="smolagents: calls of the control tool final_answer are the agent's answer; the rest is OpenInference or the conventions.",
        source="huggingface/smolagents agents.py, memory.py 1.10–1.26",
        detects=("smolagents.", "tool.name", "gen_ai.tool.name", *_LISTS, *_INDEXED),
        content=("llm.output_messages.N", "gen_ai.output.messages"),
        lacks="Tool spans have no call id; results of parallel calls come as one text; a code agent's calls stand inside its code.",
        switch="as the instrumentation's",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        if a.get("tool.name") == _CONTROL or a.get("gen_ai.tool.name") == _CONTROL:
            return Reading(kind=StepKind.WRAPPER, alone=True)
        if not _mentions(a):
            return None
        base: Dialect = SEMCONV if any(k in a for k in _LISTS) else OPENINFERENCE
        reading = base.read(evidence)
        content = reading.content if reading is not None else None
        return Reading(content=lambda: _folded(content() if content else NO_CONTENT), alone=True)


SMOLAGENTS = Smolagents()


def _mentions(a: Mapping[str, Any]) -> bool:
    """Whether messages on the span call the control tool, or have the roles of smolagents' memory."""
    for key in _LISTS:
        told = a.get(key)
        if type(told) is str and _QUOTED in told:
            return True
    if _FIRST_GIVEN not in a and _FIRST_ANSWER not in a:
        return False
    values = [v for v in a.values() if isinstance(v, str) and len(v) <= _LONGEST]
    if not any(v in values for v in (_CONTROL, *_ROLES)):
        return False
    indexed = [(k, v) for k, v in a.items() if k.startswith(_INDEXED)]
    return any((v == _CONTROL and k.endswith(".function.name")) or (v in _ROLES and k.endswith(".message.role")) for k, v in indexed)


def _folded(content: StepContent) -> StepContent:
    given = None if content.input is None else tuple(_without_control(content.input))
    answer = None if content.output is None else tuple(_without_control(content.output))
    return replace(content, input=given, output=answer)


def _without_control(messages: Iterable[Message]) -> Iterable[Message]:
    """Messages with the control tool's argument as words, without its results and the notes of failed steps."""
    said: set[str] = set()
    for message in map(_with_id, messages):
        result = message.tool_result
        if result is not None:
            told = (result.content or "").strip()
            if result.call_id in said or told in said or _FAILED_STEP in told:
                continue
        for call in message.tool_calls:
            if call.name == _CONTROL:
                said |= {t for t in (call.id, _words(call).strip()) if t}
        yield replace(message, parts=tuple(_part(p) for p in message.parts)) if message.tool_calls else message


def _with_id(message: Message) -> Message:
    """A tool message whose text begins with the call's id (to 1.10), which tells failures too; any other as it is."""
    result = message.tool_result
    found = _NUMBERED.match(result.content) if result is not None and result.content else None
    if found is None:
        return message
    call_id, kind, text = found.groups()
    failed = kind == "Error"
    error = _ERROR.search(text) if failed else None
    return replace(
        message, parts=(ToolResult(call_id=call_id, content=error.group(1) if error else text, is_error=True if failed else None),)
    )


def _part(part: Part) -> Part:
    return Text(text=_words(part)) if type(part) is ToolCall and part.name == _CONTROL else part


def _words(call: ToolCall) -> str:
    """What the control tool was given: its one argument as text."""
    values = list((call.arguments or {}).values())
    if len(values) == 1:
        return values[0] if isinstance(values[0], str) else json_text(values[0])
    return json_text(dict(call.arguments or {})) if values else call.raw or ""
