"""Whether conversations are those that a capture's `expected.json` describes.

The rules of the shared conformance tool, in our own words:

- consecutive assistant messages count as one; null and "" are the same content; white space around it (in answers: any) does not matter;
- of system messages only the first is compared: one text must contain the other;
- tool calls: the same in order, name, and arguments as JSON; a result is equal as JSON where both sides are JSON, else as text;
- ids are the expected ones; `is_error` is true exactly where expected;
- what `expected.json` lists as absent is not compared (`is_error:earlier_turns` stands under `is_error`);
- conversations are matched by id, those without by content; one too many is a fault, sub-agents' apart.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

Object: TypeAlias = Mapping[str, Any]
Check: TypeAlias = Callable[[Object, Object, frozenset[str]], str | None]


def difference_of_capture(got: Sequence[Object], expected: Object) -> str | None:
    """The first fault of these conversations (objects of the `messages` form), None where all is as expected."""
    absent = frozenset(str(name).split(":")[0] for name in expected.get("absent", ()))
    left = [c for c in got if any(m["role"] != "system" for m in c["messages"])]
    for wanted in expected["conversations"]:
        if not wanted["messages"]:
            continue
        fault = _take(wanted, left, absent)
        if fault is not None:
            return f"{wanted.get('id')!r}: {fault}"
    extra = [c.get("id") for c in left if not c.get("sub_agent_of")]
    return f"conversations that nobody had: {extra}" if extra and not expected.get("other_traces") else None


def _take(wanted: Object, left: list[Object], absent: frozenset[str]) -> str | None:
    """Remove the conversation that is the wanted one; else say what is wrong."""
    is_sub = bool(wanted.get("sub_agent_of"))
    pool = [c for c in left if bool(c.get("sub_agent_of")) == is_sub]
    if wanted.get("id") is not None and not is_sub:
        named = [c for c in pool if c.get("id") == wanted["id"]]
        if not named and "conversation_id" not in absent:
            return f"no conversation of this id among {[c.get('id') for c in pool]}"
        pool = named or pool
    faults = [difference_of_messages(c["messages"], wanted["messages"], absent) for c in pool]
    if None not in faults:
        return faults[0] if faults else "no conversation left"
    found = pool[faults.index(None)]
    left[:] = [c for c in left if c is not found]
    return None


def difference_of_messages(got: Iterable[Object], wanted: Iterable[Object], absent: frozenset[str] = frozenset()) -> str | None:
    """The first fault of one conversation's messages, None where they are as wanted."""
    (our_system, ours), (their_system, theirs) = _normal(got), _normal(wanted)
    if their_system and "system" not in absent and not _contains(our_system, their_system):
        return f"system message {our_system[:60]!r} against {their_system[:60]!r}"
    for place, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        fault = next((f for check in CHECKS if (f := check(a, b, absent))), None)
        if fault is not None:
            return f"message {place} ({b['role']}): {fault}"
    if len(ours) != len(theirs):
        return f"messages {[m['role'] for m in ours]} against {[m['role'] for m in theirs]}"
    return None


def _normal(messages: Iterable[Object]) -> tuple[str, list[dict[str, Any]]]:
    """(first system text, the other messages with each answer as one)."""
    systems: list[str] = []
    out: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system":
            systems.append(_squeezed(message.get("content")))
        elif message["role"] == "assistant" and out and out[-1]["role"] == "assistant":
            last = out[-1]
            last["content"] = "\n".join(t for t in (_text(last.get("content")), _text(message.get("content"))) if t)
            last["tool_calls"] = [*(last.get("tool_calls") or ()), *(message.get("tool_calls") or ())]
        else:
            out.append(dict(message))
    return (systems[0] if systems else ""), out


def _role(got: Object, wanted: Object, absent: frozenset[str]) -> str | None:
    return None if got["role"] == wanted["role"] else f"role {got['role']!r}"


def _content(got: Object, wanted: Object, absent: frozenset[str]) -> str | None:
    read = _squeezed if wanted["role"] == "assistant" else _text
    ours, theirs = read(got.get("content")), read(wanted.get("content"))
    if "content" in absent or ours == theirs or _same_json(ours, theirs):
        return None
    return f"content {ours[:80]!r} against {theirs[:80]!r}"


def _calls(got: Object, wanted: Object, absent: frozenset[str]) -> str | None:
    ours, theirs = got.get("tool_calls") or [], wanted.get("tool_calls") or []
    if [c.get("name") for c in ours] != [c.get("name") for c in theirs]:
        return f"calls {[c.get('name') for c in ours]} against {[c.get('name') for c in theirs]}"
    for a, b in zip(ours, theirs, strict=True):
        if "tool_arguments" not in absent and b.get("arguments") is not None and a.get("arguments") != b["arguments"]:
            return f"arguments of {b['name']}: {a.get('arguments')!r} against {b['arguments']!r}"
        if b.get("id") and not absent & {"tool_call_id", "tool_call_id_join", "tool_calls.id"} and a.get("id") != b["id"]:
            return f"call id {a.get('id')!r} against {b['id']!r}"
    return None


def _result(got: Object, wanted: Object, absent: frozenset[str]) -> str | None:
    if wanted["role"] != "tool":
        return None
    for key, hidden in (("tool_call_id", {"tool_call_id", "tool_call_id_join"}), ("name", {"tool_name"})):
        if wanted.get(key) and not absent & hidden and got.get(key) != wanted[key]:
            return f"{key} {got.get(key)!r} against {wanted[key]!r}"
    if "is_error" not in absent and bool(got.get("is_error")) != bool(wanted.get("is_error")):
        return f"is_error {got.get('is_error')!r} against {wanted.get('is_error')!r}"
    return None


CHECKS: tuple[Check, ...] = (_role, _content, _calls, _result)


def _text(value: Any) -> str:
    """Content as text without white space around it; structured content as JSON."""
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _squeezed(value: Any) -> str:
    return " ".join(_text(value).split())


def _same_json(a: str, b: str) -> bool:
    try:
        return bool(json.loads(a) == json.loads(b))
    except ValueError:
        return False


def _contains(a: str, b: str) -> bool:
    return bool(a) and (a in b or b in a)
