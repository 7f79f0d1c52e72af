"""One conversation from the lines of talk of its traces."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_eval.assembly.alike import same_text
from otel_eval.assembly.claims import CallSlot
from otel_eval.assembly.scopes import Line
from otel_eval.assembly.thread import Entry, Thread
from otel_eval.assembly.tools import join_tools
from otel_eval.assembly.tree import Trace
from otel_eval.model import (
    Conversation,
    Gap,
    GapReason,
    JoinedBy,
    Message,
    SpanRef,
    Step,
    StepContent,
    StepKind,
    ToolCall,
    ToolRun,
    Turn,
    Usage,
)
from otel_eval.model.freeze import constructor_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line of talk and the trace it stands in."""

    trace: Trace
    line: Line


def conversation_from_pieces(conversation_id: str | None, pieces: Sequence[Piece], joined_by: JoinedBy) -> Conversation | None:
    """The conversation of these lines, in order of time; None where they hold neither messages nor calls of model or tool."""
    thread = Thread()
    for piece in pieces:
        _feed(thread, piece)
    tools = [s for p in pieces for s in p.line.tools]
    entries, slots = join_tools(thread.entries, tools)
    calls = [s for p in pieces for s in p.line.calls]
    if not entries and not calls and not tools:
        return None
    messages = tuple(e.message for e in entries)
    lines = [p.line for p in pieces]
    return Conversation(
        id=conversation_id,
        messages=messages,
        turns=_turns(entries, pieces),
        system=thread.system or _system_of_frames(lines),
        agent=next((line.agent for line in lines if line.agent), None),
        agents=tuple(dict.fromkeys(a for line in lines for a in line.agents)),
        tools={d["name"]: d for s in calls for d in s.content.tool_definitions},
        tool_runs=tuple(_tool_run(slot) for slot in slots if slot.run is not None),
        trace_ids=tuple(dict.fromkeys(p.trace.id for p in pieces)),
        spans=tuple(dict.fromkeys(s.ref for line in lines for s in (*line.frames, *line.calls, *line.tools))),
        sub_agent_of=lines[0].sub_agent_of,
        joined_by=joined_by,
        dialects=tuple(dict.fromkeys(d for line in lines for s in (*line.calls, *line.tools, *line.frames) for d in s.dialects)),
        models=tuple(dict.fromkeys(s.model for s in calls if s.model)),
        response_id=next((s.response_id for s in reversed(calls) if s.response_id), None),
        usage=_usage(calls),
        model_calls=len(calls),
        failed_attempts=tuple(s.ref for s in calls if _failed(s)),
        gaps=_gaps(pieces, thread, slots, messages),
        start_ns=min((p.trace.start_ns for p in pieces), default=0),
        end_ns=max((p.trace.end_ns for p in pieces), default=0),
        attributes={k: v for p in pieces for n in p.trace.nodes for k, v in n.step.attributes.items()},
    )


def _system_of_frames(lines: Sequence[Line]) -> str | None:
    """The system prompt that only a run's own span tells (agent-framework), the outermost run's first."""
    for line in lines:
        for frame in line.frames:
            if frame.kind is StepKind.AGENT:
                told = frame.content.system or next((m.text for m in frame.content.input or () if m.role == "system" and m.text), None)
                if told:
                    return told
    return None


def _failed(step: Step) -> bool:
    """A model call that ended in an error and says nothing: a failed attempt, not a turn."""
    return step.is_error and not step.content.output


def _feed(thread: Thread, piece: Piece) -> None:
    """All that one trace says, in order: its model calls, and what only the spans around them carry."""
    before = len(thread.entries)
    if piece.line.calls and all(c.content.input is None for c in piece.line.calls) and any(c.content.output for c in piece.line.calls):
        _feed_question(thread, piece.line.frames)
    for step in piece.line.calls:
        thread.feed(step)
    heard = thread.entries[before:]
    if not any(_has_words(e.message) for e in heard):
        _feed_frames(thread, piece.line.frames, before, piece.line.tools)
    elif not _answered(heard) and piece.line.frames:
        _add_answer(thread, piece.line.frames)


def _feed_question(thread: Thread, frames: Sequence[Step]) -> None:
    """No model call tells its input: take that of the span around them that tells most."""
    asked = [f for f in frames if any(m.role == "user" and m.text for m in f.content.input or ())]
    if asked:
        thread.feed(_only_input(max(asked, key=lambda f: len(f.content.input or ()))))


def _only_input(frame: Step) -> Step:
    content = StepContent(system=frame.content.system, input=frame.content.input)
    return replace(frame, read_content=lambda: content, _content=None)


def _has_words(message: Message) -> bool:
    return message.text is not None or message.tool_result is not None


def _answered(entries: list[Entry]) -> bool:
    return bool(entries) and entries[-1].message.role == "assistant" and entries[-1].message.text is not None


def _feed_frames(thread: Thread, frames: Sequence[Step], before: int, tools: Sequence[Step]) -> None:
    """No model call carries words: take the outermost span around them that has some."""
    for frame in frames:
        content = frame.content
        words = [m for m in (*(content.input or ()), *(content.output or ())) if m.text and m.role in ("user", "assistant")]
        if words and _is_talk(content.input or (), content.output or ()):
            skeleton = thread.entries[before:]
            del thread.entries[before:]
            if any(m.role == "user" for m in content.output or ()):
                thread.feed(_only_input(frame))
                thread.feed(_whole_run(frame))
            else:
                thread.feed(_only_input(frame))
                for answer in _answers_of_run(content.output or (), tools):
                    thread.feed(_only_output(frame, answer))
            if len(thread.entries) == before:
                thread.entries.extend(skeleton)
            return


def _answers_of_run(output: tuple[Message, ...], tools: Sequence[Step]) -> list[tuple[Message, ...]]:
    """A run's output cut into the answers of its model calls: a new one begins behind calls, unless the next call ran beside them."""
    spans: dict[str | None, Step] = {t.tool_call_id: t for t in tools if t.tool_call_id}
    groups: list[list[Message]] = []
    for message in output:
        last = groups[-1][-1] if groups else None
        apart = last is not None and last.tool_calls and message.role == "assistant" and not _ran_beside(last, message, spans)
        if last is None or apart:
            groups.append([])
        groups[-1].append(message)
    return [tuple(g) for g in groups]


def _ran_beside(first: Message, second: Message, spans: dict[str | None, Step]) -> bool:
    """Whether the second message's first call began before the first message's last call ended; by the spans of both."""
    if not second.tool_calls:
        return False
    a, b = spans.get(first.tool_calls[-1].id), spans.get(second.tool_calls[0].id)
    return a is None or b is None or b.start_ns < a.end_ns


def _only_output(frame: Step, answer: tuple[Message, ...]) -> Step:
    content = StepContent(output=answer)
    return replace(frame, read_content=lambda: content, _content=None)


def _whole_run(frame: Step) -> Step:
    """A run whose output is the whole exchange (an agent's state): all but the last answer as history."""
    told = frame.content.output or ()
    cut = len(told) - 1 if told[-1].role == "assistant" else len(told)
    content = StepContent(input=told[:cut], output=told[cut:])
    return replace(frame, read_content=lambda: content, _content=None)


def _is_talk(given: Sequence[Message], answer: Sequence[Message]) -> bool:
    return any(m.role == "user" and m.text for m in given) or any(m.role == "assistant" and m.text for m in answer)


def _add_answer(thread: Thread, frames: Sequence[Step]) -> None:
    """The final answer that only the run's span holds (its last model call was not recorded, or without output)."""
    known = [e.message.text for e in thread.entries if e.message.role == "assistant" and e.message.text]
    for frame in frames:
        if frame.is_error:
            continue
        last = next((m for m in reversed(frame.content.output or ()) if m.role == "assistant" and m.text), None)
        if last is None:
            continue
        if not any(same_text(t, last.text) for t in known):
            answer = Message(role="assistant", parts=tuple(p for p in last.parts if type(p) is not ToolCall), source=frame.ref)
            thread.entries.append(Entry(message=answer, time_ns=frame.end_ns, trace_id=frame.ref.trace_id, from_output=True))
        return


def _turns(entries: Sequence[Entry], pieces: Sequence[Piece]) -> tuple[Turn, ...]:
    """The messages cut before each user message that follows something else; where no user is heard, a turn a trace."""
    roots = {p.trace.id: p for p in pieces}
    if not any(e.message.role == "user" for e in entries):
        by_trace: dict[str, list[Entry]] = {t: [] for t in roots}
        for entry in entries:
            by_trace.setdefault(entry.trace_id, []).append(entry)
        return tuple(_turn(group, (t,), roots) for t, group in by_trace.items())
    groups: list[list[Entry]] = []
    for entry in entries:
        if not groups or (entry.message.role == "user" and groups[-1][-1].message.role != "user"):
            groups.append([])
        groups[-1].append(entry)
    return tuple(_turn(group, tuple(dict.fromkeys(e.trace_id for e in group)), roots) for group in groups)


def _turn(entries: list[Entry], trace_ids: tuple[str, ...], pieces: dict[str, Piece]) -> Turn:
    own = [pieces[t] for t in trace_ids if t in pieces]
    root = own[-1].line.root if own else None
    return Turn(
        messages=tuple(e.message for e in entries),
        trace_ids=trace_ids,
        root=root.ref if root is not None else None,
        start_ns=min((p.trace.start_ns for p in own), default=0),
        end_ns=max((p.trace.end_ns for p in own), default=0),
    )


_run = constructor_of(ToolRun)


def _tool_run(slot: CallSlot) -> ToolRun:
    run = slot.run
    assert run is not None  # the caller asks only for slots with a run
    told = run.content.tool_result
    result = slot.result.message.tool_result if slot.result is not None else told
    is_error = True if run.is_error else told.is_error if told is not None else None
    call = slot.call
    return _run(call.id, call.name, run.ref, call, result, is_error, run.error_type, run.start_ns, run.end_ns)


def _usage(calls: Sequence[Step]) -> Usage:
    given = [s.usage.input_tokens for s in calls if s.usage.input_tokens is not None]
    made = [s.usage.output_tokens for s in calls if s.usage.output_tokens is not None]
    return Usage(input_tokens=sum(given) if given else None, output_tokens=sum(made) if made else None)


_NO_WORDS = frozenset({GapReason.CONTENT_NOT_CAPTURED, GapReason.CONTENT_EXTERNAL, GapReason.REDACTED, GapReason.UNREADABLE})


def _gaps(pieces: Sequence[Piece], thread: Thread, slots: Sequence[CallSlot], messages: Sequence[Message]) -> tuple[Gap, ...]:
    """All gaps, one of a kind and place; those of a source that a better one made good are gone with it."""
    found: dict[tuple[GapReason, str], Gap] = {}

    def add(gap: Gap) -> None:
        found.setdefault((gap.reason, gap.where), gap)

    for piece in pieces:
        for gap in piece.trace.gaps:
            add(gap)
        for step in (*piece.line.calls, *piece.line.tools):
            if not _failed(step):
                for gap in step.content.gaps:
                    add(gap)
    for reason in sorted(thread.gap_reasons):
        add(Gap(reason=reason, where="gen_ai.input.messages"))
    if not any(m.text is not None or m.tool_result is not None for m in messages) and not any(r in _NO_WORDS for r, _ in found):
        add(Gap(reason=GapReason.CONTENT_NOT_CAPTURED, where="messages"))
    last = messages[-1] if messages else None
    for slot in slots:
        result = slot.result.message.tool_result if slot.result is not None else None
        if (result is None or result.content is None) and last is not None and slot.entry.message is not last:
            add(Gap(reason=GapReason.RESULT_NOT_RECORDED, where=slot.call.name or "tool", source=_source(slot)))
    return tuple(found.values())


def _source(slot: CallSlot) -> SpanRef | None:
    return slot.run.ref if slot.run is not None else slot.entry.message.source
