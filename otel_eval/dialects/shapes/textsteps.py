"""Agents that speak to their model in a text protocol: calls and results stand inside plain texts.

smolagents: `New task:`, `Calling tools:` with a Python list, `Observation:`. DSPy: fields `[[ ## name ## ]]`.

**Source**: huggingface/smolagents `memory.py`, stanfordnlp/dspy `adapters/{chat,json}_adapter.py`, `predict/react.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from otel_eval.dialects.shapes.calls import call_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import json_text, value_from_text
from otel_eval.model import Message, Part, Reasoning, Role, Text, ToolResult

_NEW_TASK, _CALLING, _OBSERVATION = "New task:\n", "Calling tools:\n", "Observation:\n"
_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]\n?")
_MARK = "[[ ## "
_DSPY_END = re.compile(r"\n+Respond with (?:the corresponding output fields?, starting with|a JSON object in the following).*\Z", re.DOTALL)
_QUESTIONS = ("question", "query", "user_request", "user_message", "user_input", "message", "request")  # of several fields, the asking one
_FINISH = "finish"
# A failed tool's observation: the error's message stands behind the traceback and the error's class.
_FAILED = re.compile(r"Execution error in (?:(?:.*\n)*[\w.]+: |.*?: )?((?:.|\n)*)\Z")
_NONE = ("", "None", "null")
_NOT_WORDS = frozenset({"completed", "trajectory", "reasoning", "history"})


def parts_from_protocol(role: Role, text: str, notes: Notes) -> tuple[Part, ...] | None:
    """The parts that a protocol's text stands for; None where it is plain text."""
    if text.startswith(_NEW_TASK) and role == "user":
        return (Text(text=text[len(_NEW_TASK) :]),)
    if text.startswith(_CALLING):
        return _smolagents_calls(text, notes)
    return None


def observation_text(text: str) -> str:
    """A tool's result without smolagents' heading."""
    return text[len(_OBSERVATION) :] if text.startswith(_OBSERVATION) else text


def _smolagents_calls(text: str, notes: Notes) -> tuple[Part, ...] | None:
    value = value_from_text(text[len(_CALLING) :])
    if not isinstance(value, list):
        return None
    return tuple(call_from_value(item, notes) for item in value if isinstance(item, dict)) or None


def is_dspy(message: Message) -> bool:
    """Whether a message is DSPy's fields as text."""
    first = message.parts[0] if message.parts else None
    return type(first) is Text and first.text[: len(_MARK)] == _MARK


def from_dspy(message: Message, notes: Notes, *, as_json: bool = False) -> list[Message]:
    """What DSPy's fields stand for: the question and what was done so far, or thoughts, calls and answers; other messages as they are.

    `as_json`: an answer may be a JSON object of its fields (JSONAdapter). An answer without any value has no parts: DSPy's history knows
    no more than questions and answers.
    """
    text = message.text if len(message.parts) == 1 else None
    fields = _fields_in(text, as_json and message.role == "assistant") if text else None
    if fields is None or message.role not in ("user", "assistant"):
        return [message]
    if message.role == "assistant":
        return [replace(message, parts=_answer(fields, notes))]
    steps = _trajectory(fields, notes)
    return [replace(message, parts=_question(fields)), *(Message(role=r, parts=p, source=message.source) for r, p in steps)]


def _fields_in(text: str, as_json: bool) -> dict[str, str] | None:
    if text.startswith(_MARK):
        pieces = _FIELD.split(_DSPY_END.sub("", text))
        return {name: value.strip() for name, value in zip(pieces[1::2], pieces[2::2], strict=False)}
    value = value_from_text(text) if as_json and text.lstrip().startswith("{") else None
    return {k: v if isinstance(v, str) else json_text(v) for k, v in value.items()} if isinstance(value, dict) else None


def _question(fields: Mapping[str, str]) -> tuple[Part, ...]:
    words = {k: v for k, v in fields.items() if k not in _NOT_WORDS and v}
    asked = next((words[k] for k in _QUESTIONS if k in words), None) or next(iter(words.values()), None)
    return (Text(text=asked),) if asked else ()


def _answer(fields: Mapping[str, str], notes: Notes) -> tuple[Part, ...]:
    if all(v in _NONE for v in fields.values()):
        return ()
    parts: list[Part] = []
    reasoning, thought, name = (fields.get(k, "") for k in ("reasoning", "next_thought", "next_tool_name"))
    if reasoning not in _NONE:
        parts.append(Reasoning(text=reasoning))
    if thought not in _NONE:
        parts.append(Reasoning(text=thought) if name == _FINISH else Text(text=thought))  # the answer follows from another call
    if name not in (*_NONE, _FINISH):
        parts.append(call_from_value({"name": name, "arguments": fields.get("next_tool_args", "")}, notes))
    parts += [Text(text=v) for k, v in fields.items() if k not in _NOT_WORDS and not k.startswith("next_") and v]
    return tuple(parts)


def _trajectory(fields: Mapping[str, str], notes: Notes) -> list[tuple[Role, tuple[Part, ...]]]:
    """What ReAct did so far: thought, tool, arguments and observation, each with its number."""
    out: list[tuple[Role, tuple[Part, ...]]] = []
    for key, name in fields.items():
        number = key.removeprefix("tool_name_")
        if "trajectory" not in fields or number == key or name == _FINISH:
            continue
        thought = fields.get(f"thought_{number}", "")
        call = call_from_value({"name": name, "arguments": fields.get(f"tool_args_{number}", "")}, notes)
        out.append(("assistant", (*((Text(text=thought),) if thought not in _NONE else ()), call)))
        seen = fields.get(f"observation_{number}")
        if seen is not None:
            failed = _FAILED.match(seen)
            out.append(("tool", (ToolResult(name=name, content=failed.group(1) if failed else seen, is_error=True if failed else None),)))
    return out
