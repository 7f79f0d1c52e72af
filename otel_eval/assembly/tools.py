"""Tool runs joined to the calls that asked for them: by id, else by name and arguments, else by name, in order.

Call ids are scoped to their message: some producers repeat them every turn. A result stands in a later input, on the tool's own span, or
nowhere.
**Source**: semconv traps T6, T7, T9.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from otel_eval.assembly.claims import CallSlot, claim
from otel_eval.assembly.thread import Entry
from otel_eval.model import Message, Step, StepKind, ToolCall, ToolResult
from otel_eval.model.freeze import constructor_of


def join_tools(entries: list[Entry], runs: Sequence[Step]) -> tuple[list[Entry], list[CallSlot]]:
    """The entries with calls, results and runs joined, and the slots. Runs in order of time.

    A run that no message asked for (content off, text protocols) becomes a call of the answer before it. Results stand behind their calls
    in the
    calls' order, whenever they came.
    """
    slots = call_slots(entries)
    loose = claim(slots, runs)
    for slot in slots:
        if slot.run is not None:
            _learn(slot, slot.run)
        _name_result(slot)
    if not entries:  # nothing was said that can be read: runs alone are no messages, they stay in `tool_runs`
        return entries, [_silent_slot(run) for run in loose if run.kind is StepKind.TOOL]
    slots += [_insert(entries, run) for run in loose if run.kind is StepKind.TOOL]
    return _ordered(entries, slots), slots


def call_slots(entries: list[Entry]) -> list[CallSlot]:
    """All calls in order, each with its result among the tool messages before the next calls: by id, else by name and order."""
    slots: list[CallSlot] = []
    waiting: list[CallSlot] = []
    for entry in entries:
        message = entry.message
        calls = message.tool_calls
        if calls:
            waiting = [CallSlot(entry, i, call) for i, call in enumerate(calls)]
            slots.extend(waiting)
        elif message.role == "tool" and message.tool_result is not None:
            slot = _slot_of_result(waiting, message.tool_result)
            if slot is not None:
                slot.result = entry
    return slots


def _slot_of_result(waiting: list[CallSlot], result: ToolResult) -> CallSlot | None:
    free = [s for s in waiting if s.result is None]
    by_id = next((s for s in free if result.call_id and s.call.id == result.call_id), None)
    if by_id is not None:
        return by_id
    by_name = next((s for s in free if result.name and s.call.name == result.name), None)
    return by_name or next((s for s in free if not result.name or not s.call.name), None)


def _learn(slot: CallSlot, run: Step) -> None:
    """Fill call and result with what the run's own span knows."""
    call = better = slot.call
    if call.arguments is None or call.id is None or call.name is None:
        made = run.content.tool_call
        made_arguments = made.arguments if made is not None else None
        better = ToolCall(
            id=call.id or run.tool_call_id,
            name=call.name or run.tool_name,
            arguments=call.arguments if call.arguments is not None else made_arguments,
            raw=call.raw if call.arguments is None and made_arguments is None else None,
        )
        if better != call:
            _replace_call(slot, better)
    told = run.content.tool_result
    is_error = True if run.is_error else told.is_error if told is not None else None
    if slot.result is None:
        if run.kind is not StepKind.TOOL and not is_error:
            return
        content = told.content if told is not None else run.error_message if run.is_error else None
        result = _result(better.id, better.name, content, is_error)
        slot.result = _result_entry(slot.entry, result, run)
        return
    known = slot.result.message.tool_result
    if known is not None:
        content = known.content if told is None or told.content is None or not _is_worse(known, told) else told.content
        failed = is_error if is_error is not None else known.is_error
        if content is not known.content or failed is not known.is_error:
            slot.result.message = replace(slot.result.message, parts=(replace(known, content=content, is_error=failed),))


# What serialisers write where a value lies too deep. **Source**: Mastra `[MaxDepth]`, Node's util.inspect.
_PLACEHOLDERS = ("[MaxDepth]", "[Circular]", "[Object]", "[Array]", "[Truncated]", "[truncated]")


def _is_worse(known: ToolResult, told: ToolResult) -> bool:
    """Whether a message's result is missing, full of placeholders, or several results glued, where the run's own span has it whole."""
    if known.content is None:
        return True
    if any(p in known.content for p in _PLACEHOLDERS) and not any(p in (told.content or "") for p in _PLACEHOLDERS):
        return True
    return known.call_id is None and bool(told.content) and told.content != known.content and (told.content or "") in known.content


def _replace_call(slot: CallSlot, call: ToolCall) -> None:
    seen = -1
    parts = []
    for part in slot.entry.message.parts:
        seen += type(part) is ToolCall
        parts.append(call if type(part) is ToolCall and seen == slot.index else part)
    slot.entry.message = replace(slot.entry.message, parts=tuple(parts))
    slot.call = call


def _name_result(slot: CallSlot) -> None:
    """A result takes name and id from its call where it has none."""
    result = slot.result.message.tool_result if slot.result is not None else None
    if slot.result is not None and result is not None and (result.name is None or result.call_id is None):
        named = _result(result.call_id or slot.call.id, result.name or slot.call.name, result.content, result.is_error)
        slot.result.message = _message("tool", (named,), None, None, slot.result.message.source)


_result = constructor_of(ToolResult)
_message = constructor_of(Message)


def _result_entry(after: Entry, result: ToolResult, run: Step) -> Entry:
    return Entry(
        message=_message("tool", (result,), None, None, run.ref), time_ns=max(after.time_ns, run.start_ns), trace_id=run.ref.trace_id
    )


def _insert(entries: list[Entry], run: Step) -> CallSlot:
    """Put a call that no message shows where it happened: into the answer before it, else as an answer of its own."""
    made = run.content.tool_call or ToolCall(id=run.tool_call_id, name=run.tool_name)
    call = replace(made, id=made.id or run.tool_call_id, name=made.name or run.tool_name)
    place = _place_of(entries, run)
    host = _host(entries, place)
    if host is not None and host.from_output and host.message.text is not None and run.start_ns < run.end_ns <= host.end_ns:
        # The model call's span covers the tool run (automatic function calling): the answer came after it.
        place = next(i for i, e in enumerate(entries) if e is host)
        before = entries[place - 1] if place else None
        host = before if before is not None and before.end_ns > run.start_ns and not before.from_output else None
    if host is None:
        host = Entry(message=Message(role="assistant", source=run.ref), time_ns=run.start_ns, trace_id=run.ref.trace_id, end_ns=run.end_ns)
        entries.insert(place, host)
    host.message = replace(host.message, parts=(*host.message.parts, call))
    slot = CallSlot(host, len(host.message.tool_calls) - 1, call, run=run)
    told = run.content.tool_result
    is_error = True if run.is_error else told.is_error if told is not None else None
    content = told.content if told is not None else run.error_message if run.is_error else None
    slot.result = _result_entry(host, ToolResult(call_id=call.id, name=call.name, content=content, is_error=is_error), run)
    return slot


def _silent_slot(run: Step) -> CallSlot:
    made = run.content.tool_call or ToolCall(id=run.tool_call_id, name=run.tool_name)
    call = replace(made, id=made.id or run.tool_call_id, name=made.name or run.tool_name)
    message = Message(role="assistant", parts=(call,), source=run.ref)
    return CallSlot(Entry(message=message, time_ns=run.start_ns, trace_id=run.ref.trace_id), 0, call, run=run)


def _place_of(entries: list[Entry], run: Step) -> int:
    """Behind the last entry that was known when the run began."""
    for index in range(len(entries) - 1, -1, -1):
        if entries[index].time_ns <= run.start_ns:
            return index + 1
    return 0


def _host(entries: list[Entry], place: int) -> Entry | None:
    """The assistant message that a call at this place belongs to: the one before it, tool messages between."""
    for index in range(place - 1, -1, -1):
        if entries[index].message.role == "assistant":
            return entries[index]
        if entries[index].message.role != "tool":
            return None
    return None


def _ordered(entries: list[Entry], slots: list[CallSlot]) -> list[Entry]:
    """Every result behind the message that holds its call, in the order of the calls.

    Where no message tells a result but its run, the same words told as the user's are that result (OpenLLMetry's LangChain, to 0.33).
    """
    by_host: dict[int, list[CallSlot]] = defaultdict(list)
    for slot in slots:
        by_host[id(slot.entry)].append(slot)
    placed = {id(s.result) for s in slots if s.result is not None}
    out: list[Entry] = []
    known = {id(e) for e in entries}
    told: set[str | None] = set()
    for entry in entries:
        if id(entry) in placed or (told and entry.message.role == "user" and entry.message.text in told):
            continue
        out.append(entry)
        results = [s.result for s in sorted(by_host.get(id(entry), ()), key=lambda s: s.index) if s.result is not None]
        out.extend(results)
        told = {r.content for e in results if id(e) not in known and (r := e.message.tool_result) and r.content}
    return out
