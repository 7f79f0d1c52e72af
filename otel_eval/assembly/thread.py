"""One line of talk: the messages of successive model calls, each of which repeats the history before it, put together once.

The reading: the first input, plus every output, plus the new tail of each later input. Where a new tail begins is found by aligning the
input with
what is known, never by looking for equal texts: a user may say the same thing twice. An input that shares nothing is a delta (server-side
state) and all new. **Source**: semconv traps T2, T3, T8, T19; research of real captures.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from otel_eval.assembly.alike import enriched, joined, same_message, same_text, squeezed
from otel_eval.model import GapReason, Message, Opaque, Step, StepKind, Text, ToolCall

_CUT = frozenset({GapReason.TRUNCATED, GapReason.ATTRIBUTES_DROPPED})
_WINDOW = 64  # messages looked ahead when histories differ; longer edits count as a break


@dataclass(slots=True, eq=False)
class Entry:
    """A message of the thread, the start of the model call that brought it, and its trace."""

    message: Message
    time_ns: int
    trace_id: str
    from_output: bool = False
    choices: tuple[Message, ...] = ()
    """Other answers of the same call (`n` > 1)."""
    end_ns: int = 0
    """End of the model call whose output this is."""


class Thread:
    """Messages so far. `feed` model calls in order of time."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.system: str | None = None
        self.gap_reasons: set[GapReason] = set()
        self._raw: tuple[Message, ...] = ()
        self._after_raw = 0
        self._is_delta = False
        self._is_aside = False
        self._is_cut = False
        self._has_failed = False
        """Whether the last call failed and said nothing: the next one may say the same again."""
        self._last_response: str | None = None

    def feed(self, step: Step) -> None:
        """Take in one model call: what is new of its input, then its output."""
        for content in (*step.content.earlier, step.content):
            self._is_aside, self._is_cut = False, any(g.reason in _CUT for g in content.gaps)
            self._note_system(content.system, content.input)
            end = len(self.entries)
            if content.input is not None:
                end = self._take_input(content.input, step)
            outputs = _outputs(content.output or ())
            if outputs and not self._is_aside:
                self._take_output(outputs, end, step)
            self._has_failed = step.is_error and not outputs

    def _note_system(self, system: str | None, given: tuple[Message, ...] | None) -> None:
        if self.system is None:
            self.system = system or next((m.text for m in given or () if m.role == "system" and m.text), None)

    def _take_input(self, raw: tuple[Message, ...], step: Step) -> int:
        """Append what is new; gives the index behind the last entry that this input holds."""
        known = len(self._raw)
        shares = bool(known) and len(raw) >= known and raw[known - 1] is self._raw[-1] and raw[0] is self._raw[0]
        chained = step.previous_response_id is not None and step.previous_response_id == self._last_response
        self._is_delta = self._is_delta or chained
        in_later_run = bool(self.entries) and self.entries[-1].trace_id != step.ref.trace_id
        if shares and len(raw) == known and not self._has_failed and (self._is_delta or in_later_run):
            shares = False  # the same words as a delta, or in a later run, are no repeated history
        start = self._after_raw if shares else 0
        tail = conversational(raw[known:] if shares else raw)
        if not shares:
            start = self._start_of(tail, step)
        self._last_response = step.response_id or self._last_response
        if self._is_delta and not shares and not start and not self._covers(tail):
            end = self._append(tail, step)
        else:
            end = self._align(tail, start, step)
        self._raw, self._after_raw = raw, end
        return end

    def _start_of(self, tail: list[Message], step: Step) -> int:
        """Where an input's history begins: at the thread's beginning, or, where it does not, at its own trace's."""
        entries = self.entries
        if not tail or not entries or same_message(entries[0].message, tail[0]):
            return 0
        own = next((i for i, e in enumerate(entries) if e.trace_id == step.ref.trace_id), 0)
        repeats = len(tail) > 1 and own > 0 and _same_surely(entries[own].message, tail[0])
        return own if repeats else 0

    def _covers(self, tail: list[Message]) -> bool:
        """Whether an input repeats the history rather than only following it: it holds an answer of ours."""
        return any(m.role == "assistant" for m in tail) and bool(tail) and any(same_message(e.message, tail[0]) for e in self.entries[:1])

    def _append(self, messages: list[Message], step: Step) -> int:
        both = bool(messages and self.entries) and self.entries[-1].message.role == messages[0].role == "assistant"
        if both and not _other_ids(self.entries[-1].message, messages[0]):
            self.entries[-1].message = joined(self.entries[-1].message, messages[0])
            messages = messages[1:]
        else:
            while messages and self.entries and self._is_asked_again(messages[0], step):
                messages = messages[1:]
        self.entries.extend(Entry(message=m, time_ns=step.start_ns, trace_id=step.ref.trace_id) for m in messages)
        return len(self.entries)

    def _is_asked_again(self, message: Message, step: Step) -> bool:
        """Whether the same run asks the same thing, or tells the same result, with no answer between: another recording of one call, or a
        retry."""
        last = self.entries[-1]
        if last.trace_id != step.ref.trace_id or last.from_output:
            return False
        if message.role == "user":
            return same_message(last.message, message)
        told = takewhile(lambda e: e.message.role == "tool", reversed(self.entries))
        return message.role == "tool" and any(_same_surely(e.message, message) for e in told)

    def _align(self, tail: list[Message], start: int, step: Step) -> int:
        entries = self.entries
        i, j, matched = 0, start, bool(start) and start == self._after_raw
        while i < len(tail) and j < len(entries):
            told_later = any(m.role == "assistant" and _same_surely(entries[j].message, m) for m in _until_user(tail, i + 1))
            if self._absorb(j, tail[i], after_match=(matched or j == 0) and not told_later):
                i, j, matched = i + 1, j + 1, True
                continue
            several = self._several(j, tail[i])
            if several is not None:
                i, j, matched = i + 1, several, True
                continue
            moved = self._resynced(tail, i, j)
            if moved is None:
                behind = self._place_result(tail[i], step)
                if behind is not None:
                    i, j = i + 1, max(j, behind) + 1
                    continue
                break
            self.gap_reasons.add(GapReason.HISTORY_BREAK)
            i, j, matched = *moved, True
        if i >= len(tail):
            return j if j >= len(entries) or not tail or start else self._heard_again(tail, j, step)
        if j >= len(entries):
            return self._append(tail[i:], step)
        return self._append_after_break(tail, i, j, matched, step)

    def _heard_again(self, tail: list[Message], j: int, step: Step) -> int:
        """An input that is only a beginning of what is known. In the same run it is a retry, or a second recording. In a later trace it is
        a turn of an
        agent without memory that hears the same words again; under another system prompt, an aside (a title, a summary) that is no part of
        the talk. Where the input was cut off, nothing of it is new.
        """
        if self.entries[-1].trace_id == step.ref.trace_id or self._is_cut or tail[-1].role != "user":
            return j
        if self.system is not None and (told := _system_of(step)) is not None and told != self.system:
            self._is_aside = True
            return j
        self._is_delta = True
        return self._append(tail, step)

    def _absorb(self, j: int, message: Message, *, after_match: bool) -> bool:
        """Whether entry j and this message are the same; if so the entry learns from it."""
        entry = self.entries[j]
        if same_message(entry.message, message):
            if entry.message is not message:
                entry.message = enriched(entry.message, self._without_later_calls(j, message))
            return True
        if (
            message.role == "assistant"
            and entry.message.role == "assistant"
            and not entry.message.tool_calls
            and _goes_on(entry.message, message)
        ):
            entry.message = replace(message, source=entry.message.source)
            return True
        for choice in entry.choices:
            if message.role == "assistant" and same_message(choice, message):
                entry.message, entry.choices = choice, ()
                return True
        if (
            message.role == "user"
            and entry.message.role == "user"
            and after_match
            and j == len(self.entries) - 1
            and _wraps(message, entry.message)
        ):
            return True
        # Directly behind known history, an assistant message where our last answer stands is that answer, however the history damaged it.
        is_last = j == len(self.entries) - 1
        if after_match and j and entry.from_output and message.role == "assistant" and is_last and not _other_ids(entry.message, message):
            entry.message = enriched(entry.message, message) if not message.text or not entry.message.text else entry.message
            return True
        return False

    def _without_later_calls(self, j: int, message: Message) -> Message:
        """A history's assistant message without the calls that later answers made (some histories put several answers into one)."""
        known = self.entries[j].message.tool_calls
        if len(message.tool_calls) <= len(known) or not known:
            return message
        later = {c.id for e in self.entries[j + 1 :] for c in e.message.tool_calls if c.id}
        return replace(message, parts=tuple(p for p in message.parts if not (type(p) is ToolCall and p.id in later)))

    def _several(self, j: int, message: Message) -> int | None:
        """Where the history has several of our answers as one text (it keeps no results between them): the index behind the last of
        them."""
        if message.role != "assistant" or message.text is None or message.tool_calls:
            return None
        wanted, told = squeezed(message.text), ""
        for index in range(j, min(j + _WINDOW, len(self.entries))):
            known = self.entries[index].message
            if known.role == "user":
                return None
            told = f"{told} {squeezed(known.text)}".strip() if known.role == "assistant" else told
            if told == wanted:
                return index + 1
            if not wanted.startswith(told):
                return None
        return None

    def _place_result(self, message: Message, step: Step) -> int | None:
        """Put a result that the history tells behind the answer with its call, where it is not known yet; its index, None where it has no
        place."""
        result = message.tool_result
        if result is None or not result.call_id:
            return None
        for index in range(len(self.entries) - 1, max(len(self.entries) - _WINDOW, 0) - 1, -1):
            entry = self.entries[index]
            known = entry.message.tool_result
            if known is not None and known.call_id == result.call_id:
                return None
            if any(c.id == result.call_id for c in entry.message.tool_calls):
                place = index + 1
                while place < len(self.entries) and self.entries[place].message.role == "tool":
                    place += 1
                self.entries.insert(place, Entry(message=message, time_ns=entry.time_ns, trace_id=entry.trace_id))
                return place
        return None

    def _resynced(self, tail: list[Message], i: int, j: int) -> tuple[int, int] | None:
        """Where both go on alike after a difference: one message edited, some left out of the history, or some put into it."""
        entries = self.entries
        for skip in range(1, min(_WINDOW, len(entries) - j)):
            if _same_surely(entries[j + skip].message, tail[i]):
                return i, j + skip
        if (
            i + 1 < len(tail)
            and j + 1 < len(entries)
            and tail[i].role == entries[j].message.role
            and _same_surely(entries[j + 1].message, tail[i + 1])
        ):
            return i + 1, j + 1
        for skip in range(1, min(_WINDOW, len(tail) - i)):
            if _same_surely(entries[j].message, tail[i + skip]):
                return i + skip, j + self._take_steps(tail[i : i + skip], j)
        return None

    def _take_steps(self, told: list[Message], j: int) -> int:
        """Put in what a history knows of a run that its own spans do not show: calls and results before an answer of ours. How many."""
        known = {c.id for e in self.entries for c in e.message.tool_calls if c.id}
        if not all(m.role == "tool" or (m.tool_calls and not any(c.id in known for c in m.tool_calls)) for m in told):
            return 0
        if not any(m.tool_calls for m in told):
            return 0
        at = self.entries[j]
        self.entries[j:j] = [Entry(message=m, time_ns=at.time_ns, trace_id=at.trace_id) for m in told]
        return len(told)

    def _append_after_break(self, tail: list[Message], i: int, j: int, matched: bool, step: Step) -> int:
        """Nothing lines up any more: what stands behind the last message that we know is new."""
        rest = tail[i:]
        if not matched and self.entries:
            self._is_delta = True
        if matched or self._is_cut:
            self.gap_reasons.add(GapReason.HISTORY_BREAK)
            for back in range(len(rest) - 1, -1, -1):
                if any(_same_surely(e.message, rest[back]) for e in self.entries[-_WINDOW:]):
                    rest = rest[back + 1 :]
                    break
        return self._append(rest, step)

    def _take_output(self, outputs: list[Message], end: int, step: Step) -> None:
        first = outputs[0]
        choices: tuple[Message, ...] = ()
        if len(outputs) > 1 and _are_choices(outputs, step):
            choices, outputs = tuple(outputs[1:]), outputs[:1]
        elif len(outputs) > 1:
            outputs = merged_assistants(outputs)
            first = outputs[0]
        if end < len(self.entries) and same_message(self.entries[end].message, first) and not _other_ids(self.entries[end].message, first):
            self.entries[end].message = enriched(self.entries[end].message, first)
            return
        for place, message in enumerate(outputs):
            last = self.entries[-1] if self.entries else None
            if (
                last is not None
                and place == 0
                and last.message.role == "assistant"
                and message.role == "assistant"
                and not last.from_output
            ):
                last.message, last.from_output = joined(last.message, message), True  # a prefilled beginning of this very answer
                continue
            self.entries.append(
                Entry(
                    message=message,
                    time_ns=step.start_ns,
                    trace_id=step.ref.trace_id,
                    from_output=True,
                    choices=choices if place == 0 else (),
                    end_ns=step.end_ns,
                )
            )

    def continues(self, given: tuple[Message, ...]) -> bool:
        """Whether an input begins with this whole thread: then its trace is the next turn of it."""
        messages = conversational(given)
        if not self.entries or len(messages) <= len(self.entries):
            return False
        return all(same_message(e.message, m) for e, m in zip(self.entries, messages, strict=False))


def _are_choices(outputs: list[Message], step: Step) -> bool:
    """Whether several outputs are choices of one call (`n` > 1): all say something. The parts of one answer are text or calls."""
    if not all(m.role == "assistant" and m.text for m in outputs):
        return False
    return all(m.finish_reason for m in outputs) or (step.kind is StepKind.INFERENCE and not any(m.tool_calls for m in outputs))


def _other_ids(a: Message, b: Message) -> bool:
    """Whether both call tools under ids of which none is the same or glued to another: two answers, however alike."""
    ours, theirs = [c.id for c in a.tool_calls if c.id], [c.id for c in b.tool_calls if c.id]
    return bool(ours and theirs) and not any(x in y or y in x for x in ours for y in theirs)


def _system_of(step: Step) -> str | None:
    content = step.content
    return content.system or next((m.text for m in content.input or () if m.role == "system" and m.text), None)


def _goes_on(known: Message, told: Message) -> bool:
    """Whether a history's assistant message is ours with calls that a framework put behind it (LangGraph's supervisor)."""
    return bool(known.text and told.text and told.tool_calls) and squeezed(told.text).startswith(squeezed(known.text))


_WRAPPED_CHARS = 8  # shorter texts stand in longer ones by chance


def _wraps(outer: Message, inner: Message) -> bool:
    """Whether a framework put its own words around a user's message."""
    return bool(outer.text and inner.text) and len(inner.text or "") >= _WRAPPED_CHARS and (inner.text or "").strip() in (outer.text or "")


def _same_surely(a: Message, b: Message) -> bool:
    """The same beyond doubt: with words or call ids in common."""
    if a.role != b.role or not same_message(a, b):
        return False
    if a.role == "tool":
        ours, theirs = a.tool_result, b.tool_result
        return bool(
            ours
            and theirs
            and ((ours.call_id and ours.call_id == theirs.call_id) or (ours.content and same_text(ours.content, theirs.content)))
        )
    return bool(a.text and b.text) or bool(a.tool_calls and b.tool_calls)


def conversational(messages: tuple[Message, ...]) -> list[Message]:
    """Without system messages and quoted transcripts; the assistant messages of one answer as one, a result told twice once."""
    kept = [m for m in messages if m.role != "system" and not is_quoted(m)]
    if len(kept) < 2:
        return kept
    return without_repeated_results(merged_assistants(kept))


def without_repeated_results(messages: list[Message]) -> list[Message]:
    """Some instrumentations tell the results of one round twice, as tool messages and as a user's blocks (botocore)."""
    out: list[Message] = []
    round_ids: set[str] = set()
    for message in messages:
        call_id = message.tool_result.call_id if message.role == "tool" and message.tool_result else None
        if message.role != "tool":
            round_ids.clear()
        elif call_id in round_ids:
            continue
        elif call_id:
            round_ids.add(call_id)
        out.append(message)
    return out


def _until_user(messages: list[Message], start: int) -> Iterator[Message]:
    """The messages from `start` on, up to the user's next word."""
    for message in messages[start:]:
        if message.role == "user":
            return
        yield message


def is_quoted(message: Message) -> bool:
    """A user message that only shows what another agent did."""
    return message.role == "user" and any(type(p) is Opaque and p.type == "quoted_context" for p in message.parts)


def merged_assistants(messages: list[Message]) -> list[Message]:
    """Consecutive assistant messages as one, but an equal text is no second one."""
    out: list[Message] = []
    for message in messages:
        if out and message.role == "assistant" and out[-1].role == "assistant":
            out[-1] = out[-1] if _says_nothing_new(out[-1], message) else joined(out[-1], message)
        else:
            out.append(message)
    return out


def _says_nothing_new(known: Message, message: Message) -> bool:
    return (
        not message.tool_calls
        and (message.text is None or same_text(known.text, message.text))
        and all(type(p) is Text for p in message.parts)
    )


def _outputs(messages: tuple[Message, ...]) -> list[Message]:
    return [m for m in messages if m.role in ("assistant", "tool")]
