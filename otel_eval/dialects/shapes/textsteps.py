"""Agents that speak to their model in a text protocol: calls and results stand inside plain texts.

smolagents: `New task:`, `Calling tools:` with a Python list, `Observation:`. DSPy: fields `[[ ## name ## ]]`. **Source**:
huggingface/smolagents
`memory.py`, stanfordnlp/dspy `adapters/chat_adapter.py`.
"""

import re
from typing import Any

from otel_eval.dialects.shapes.calls import call_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import Part, Reasoning, Role, Text

_NEW_TASK, _CALLING, _OBSERVATION = "New task:\n", "Calling tools:\n", "Observation:\n"
_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]\n?")
_DSPY_END = re.compile(r"\n+Respond with the corresponding output fields?, starting with.*\Z", re.DOTALL)
_NOT_WORDS = frozenset({"completed", "trajectory", "reasoning", "history"})


def parts_from_protocol(role: Role, text: str, notes: Notes) -> tuple[Part, ...] | None:
    """The parts that a protocol's text stands for; None where it is plain text."""
    if text.startswith(_NEW_TASK) and role == "user":
        return (Text(text=text[len(_NEW_TASK) :]),)
    if text.startswith(_CALLING):
        return _smolagents_calls(text, notes)
    if text.startswith("[[ ## "):
        return _dspy(role, text, notes)
    return None


def observation_text(text: str) -> str:
    """A tool's result without smolagents' heading."""
    return text[len(_OBSERVATION) :] if text.startswith(_OBSERVATION) else text


def _smolagents_calls(text: str, notes: Notes) -> tuple[Part, ...] | None:
    value = value_from_text(text[len(_CALLING) :])
    if not isinstance(value, list):
        return None
    return tuple(call_from_value(item, notes) for item in value if isinstance(item, dict)) or None


def _dspy(role: Role, text: str, notes: Notes) -> tuple[Part, ...] | None:
    pieces = _FIELD.split(_DSPY_END.sub("", text))
    fields: dict[str, str] = {name: value.strip() for name, value in zip(pieces[1::2], pieces[2::2], strict=False)}
    if role == "user":
        words = [v for k, v in fields.items() if k not in _NOT_WORDS and v]
        return (Text(text=words[0]),) if words else ()
    parts: list[Part] = []
    if fields.get("reasoning"):
        parts.append(Reasoning(text=fields["reasoning"]))
    if fields.get("next_thought"):
        parts.append(Text(text=fields["next_thought"]))
    name = fields.get("next_tool_name")
    if name and name != "finish":
        made: dict[str, Any] = {"name": name, "arguments": fields.get("next_tool_args", "")}
        parts.append(call_from_value(made, notes))
    parts += [Text(text=v) for k, v in fields.items() if k not in _NOT_WORDS and not k.startswith("next_") and v]
    return tuple(parts)
