"""References in: what a conversation is held against, from a JSON object, from span attributes, or from an evaluation case of ADK.

| kind | member of an object | span attribute (ours) |
|---|---|---|
| desired end state in words | `reference_outcome`, `reference`, `outcome` | `otel_eval.reference.outcome` |
| expected tool calls | `reference_tool_calls`, `expected_tool_calls` | `otel_eval.reference.tool_calls` |
| topics to keep to | `reference_topics`, `topics` | `otel_eval.reference.topics` |
| expected final answer | `reference_response`, `expected_response` | `otel_eval.reference.response` |
| expectations turn by turn | `reference_turns` | `otel_eval.reference.turns` |
| task and trial of pass^k | `task`, `task_id`; `trial`, `trial_id` | `otel_eval.reference.task`, `.trial` |

Tool calls have any of the forms that messages have them in: ours (`name`, `arguments`), ragas' (`name`, `args`), OpenAI's (`function` with
arguments as JSON text). A turn is a list of calls, or an object with `user`, `response` and `tool_calls`. All may also stand in one object
`reference`, by their own names. An attribute is structured or JSON text; topics may be one text.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.adk_in import conversation_from_adk
from otel_eval.exchange.calls import call_from_record
from otel_eval.exchange.record import Record
from otel_eval.model import Gap, GapReason, Reference, ToolCall, Turn, TurnReference

ATTRIBUTES = "otel_eval.reference."
KEY_MEMBERS = ("task", "task_id", "conversation_id", "id", "eval_id", "evalId")
"""Members of a dataset's line that name the conversation or task it belongs to."""

_NAMES: Mapping[str, tuple[str, ...]] = {
    "outcome": ("reference_outcome", "reference", "outcome"),
    "tool_calls": ("reference_tool_calls", "expected_tool_calls"),
    "topics": ("reference_topics", "topics"),
    "response": ("reference_response", "expected_response"),
    "turns": ("reference_turns",),
    "task": ("task", "task_id"),
    "trial": ("trial", "trial_id"),
}


def reference_from_record(record: Mapping[str, Any]) -> Reference:
    """The reference whose members stand in an object, whatever else does; InputError where one is not of its kind."""
    told = Record(record)
    if isinstance(record.get("reference"), Mapping):
        inner = _read(Record(record["reference"], "reference"), {name: (name, *others) for name, others in _NAMES.items()})
        outer = _read(told, {**_NAMES, "outcome": ("reference_outcome", "outcome")})
        return merged_references(inner, outer)
    return _read(told, _NAMES)


def reference_from_attributes(attributes: Mapping[str, Any]) -> tuple[Reference, tuple[Gap, ...]]:
    """The reference in `otel_eval.reference.*`; an attribute that cannot be read is left out and leaves a gap."""
    found: dict[str, Any] = {}
    gaps = []
    for name in _READERS:
        where = f"{ATTRIBUTES}{name}"
        if where not in attributes:
            continue
        try:
            found[name] = _READERS[name](Record({name: _decoded(name, attributes[where])}), name)
        except InputError:
            gaps.append(Gap(reason=GapReason.UNREADABLE, where=where))
    return Reference(**found), tuple(gaps)


def reference_from_adk_case(record: Mapping[str, Any]) -> Reference:
    """The expectations of an evaluation case of ADK: what its conversation says turn by turn."""
    told = conversation_from_adk(record)
    return Reference(task=told.id, turns=tuple(_turn_from_messages(turn) for turn in told.turns))


def merged_references(*references: Reference) -> Reference:
    """One reference out of several: of each kind the first that is there."""
    merged = references[0]
    for other in references[1:]:
        absent = {f.name: getattr(other, f.name) for f in fields(Reference) if getattr(merged, f.name) in (None, {})}
        merged = replace(merged, **absent)
    return merged


def keys_of_record(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The names that a line of a dataset goes by."""
    return tuple(dict.fromkeys(key for name in KEY_MEMBERS if (key := Record(record).text(name))))


def _read(told: Record, names: Mapping[str, tuple[str, ...]]) -> Reference:
    found: dict[str, Any] = {}
    for kind, read in _READERS.items():
        name = next((n for n in names[kind] if told.members.get(n) is not None), None)
        if name is not None:
            found[kind] = read(told, name)
    return Reference(**found, extra=told.mapping("extra") or {})


def _text(told: Record, name: str) -> str | None:
    return told.text(name)


def _topics(told: Record, name: str) -> tuple[str, ...]:
    return told.texts(name)


def _tool_calls(told: Record, name: str) -> tuple[ToolCall, ...]:
    return _calls(told.values(name), told.where(name))


def _calls(values: Sequence[Any], at: str) -> tuple[ToolCall, ...]:
    calls = tuple(call_from_record(Record(value, f"{at}[{place}]"), []) for place, value in enumerate(values))
    if any(call.name is None for call in calls):
        raise InputError(f"{at} has a call without name: expected objects with name and arguments")
    return calls


def _turns(told: Record, name: str) -> tuple[TurnReference, ...]:
    return tuple(_turn(value, f"{told.where(name)}[{place}]") for place, value in enumerate(told.values(name)))


def _turn(value: Any, at: str) -> TurnReference:
    if isinstance(value, list):
        return TurnReference(tool_calls=_calls(value, at))
    told = Record(value, at)
    calls = next((n for n in ("tool_calls", *_NAMES["tool_calls"]) if told.members.get(n) is not None), None)
    return TurnReference(
        user=told.text("user"),
        response=told.text("response", *_NAMES["response"]),
        tool_calls=_tool_calls(told, calls) if calls else None,
    )


def _turn_from_messages(turn: Turn) -> TurnReference:
    said = [m.text for m in turn.messages if m.role == "assistant" and m.text is not None and not m.tool_calls]
    asked = [m.text for m in turn.messages if m.role == "user" and m.text is not None]
    calls = tuple(call for message in turn.messages for call in message.tool_calls)
    return TurnReference(user="\n".join(asked) or None, response=said[-1] if said else None, tool_calls=calls)


_READERS: Mapping[str, Callable[[Record, str], Any]] = {
    "outcome": _text,
    "tool_calls": _tool_calls,
    "topics": _topics,
    "response": _text,
    "turns": _turns,
    "task": _text,
    "trial": _text,
}


def _decoded(name: str, value: Any) -> Any:
    """An attribute's value: structured as it is, or as JSON text; topics may be one plain text."""
    if name not in ("tool_calls", "topics", "turns") or not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return [value] if name == "topics" and value.strip() else value
