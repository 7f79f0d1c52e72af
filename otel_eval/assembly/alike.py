"""When two messages are the same message, one of them perhaps recorded worse."""

import json
from collections.abc import Iterable
from dataclasses import replace

from otel_eval.model import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult


def squeezed(text: str | None) -> str:
    """Text without differences in white space."""
    return " ".join(text.split()) if text else ""


def same_text(a: str | None, b: str | None) -> bool:
    """Equal but for white space, or equal as JSON."""
    if a == b:
        return True
    if a is None or b is None:
        return False
    if squeezed(a) == squeezed(b):
        return True
    if a[:1] in "[{" and b[:1] in "[{":
        try:
            return bool(json.loads(a) == json.loads(b))
        except (ValueError, RecursionError):
            return False
    return False


def same_message(a: Message, b: Message) -> bool:
    """Whether b can be a repetition of a in a later history."""
    if a is b:
        return True
    if a.role != b.role:
        return False
    if a.role == "tool":
        return same_result(a.tool_result, b.tool_result)
    if a.role == "assistant":
        return same_assistant(a, b)
    if a.text is None or b.text is None:
        return a.text == b.text and len(a.parts) == len(b.parts)
    return same_text(a.text, b.text)


def same_result(a: ToolResult | None, b: ToolResult | None) -> bool:
    """By call id where both have one, else by content; a missing content says nothing against it."""
    if a is None or b is None:
        return a is b
    if a.call_id and b.call_id:
        return a.call_id == b.call_id
    if a.name and b.name and a.name != b.name:
        return False
    return a.content is None or b.content is None or same_text(a.content, b.content)


def same_assistant(a: Message, b: Message) -> bool:
    """By calls where both have some, else by text; either may have lost the other half."""
    ours, theirs = a.tool_calls, b.tool_calls
    if ours and theirs:
        return same_calls(ours, theirs)
    if a.text is not None and b.text is not None:
        return same_text(a.text, b.text)
    return not ours and not theirs and a.text == b.text


def same_calls(ours: tuple[ToolCall, ...], theirs: tuple[ToolCall, ...]) -> bool:
    """Any id in common; without ids, the same names in order."""
    known = {c.id for c in ours if c.id}
    if known and any(c.id in known for c in theirs):
        return True
    if known and all(c.id for c in theirs) and any(c.arguments != d.arguments for c, d in zip(ours, theirs, strict=False)):
        return False
    return [c.name for c in ours] == [c.name for c in theirs]


def same_answer(a: Iterable[Message], b: Iterable[Message]) -> bool:
    """Whether two outputs say the same: text, and names of the calls."""
    return _gist(a) == _gist(b)


def _gist(messages: Iterable[Message]) -> tuple[str, tuple[str | None, ...]]:
    listed = list(messages)
    return squeezed(" ".join(m.text or "" for m in listed)), tuple(c.name for m in listed for c in m.tool_calls)


def joined(first: Message, second: Message) -> Message:
    """Two assistant messages of one model answer as one: parts in order, an equal text or call once."""
    return replace(
        first,
        parts=(*first.parts, *(p for p in second.parts if not (type(p) is ToolCall and _has_call(first.parts, p)))),
        name=first.name or second.name,
        finish_reason=second.finish_reason or first.finish_reason,
    )


def _has_call(parts: tuple[Part, ...], call: ToolCall) -> bool:
    return bool(call.id) and any(type(p) is ToolCall and p.id == call.id for p in parts)


def enriched(known: Message, later: Message) -> Message:
    """What two recordings of one message tell together; `known` wins where both say something."""
    if known is later:
        return known
    if known.role == "tool":
        ours, theirs = known.tool_result, later.tool_result
        if ours is None or theirs is None or ours == theirs:
            return known
        return replace(known, parts=(_both_results(ours, theirs),))
    if known.role != "assistant":
        return known if known.parts or not later.parts else replace(known, parts=later.parts)
    return _enriched_assistant(known, later)


def _both_results(a: ToolResult, b: ToolResult) -> ToolResult:
    return ToolResult(
        call_id=a.call_id or b.call_id,
        name=a.name or b.name,
        content=a.content if a.content is not None else b.content,
        is_error=a.is_error if a.is_error is not None else b.is_error,
    )


def _enriched_assistant(known: Message, later: Message) -> Message:
    ours = known.tool_calls
    calls = better_calls(ours, later.tool_calls)
    if calls is ours and (known.text is not None or later.text is None):
        return known
    texts = [p for p in known.parts if type(p) in (Text, Reasoning, Opaque) or type(p) not in (ToolCall,)]
    if known.text is None and later.text is not None:
        texts = [*(p for p in texts if type(p) is not Text), *(p for p in later.parts if type(p) is Text)]
    return replace(known, parts=(*texts, *calls), name=known.name or later.name)


def better_calls(ours: tuple[ToolCall, ...], theirs: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls of one answer from its output and from the history: the history's where the output is broken (streamed calls glued into
    one, dropped, unreadable arguments), else the output's with what the history adds."""
    if not theirs:
        return ours
    if not ours or len(theirs) > len(ours):
        return theirs
    if len(theirs) < len(ours) or all(c.id and c.name and c.arguments is not None for c in ours):
        return ours
    return tuple(
        ToolCall(
            id=a.id or b.id,
            name=a.name or b.name,
            arguments=a.arguments if a.arguments is not None else b.arguments,
            raw=a.raw if a.arguments is None and b.arguments is None else None,
        )
        for a, b in zip(ours, theirs, strict=True)
    )
