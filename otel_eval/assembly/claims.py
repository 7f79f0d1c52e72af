"""Which call a tool run answers to: by id, else by name and arguments, else by name, each in order of time.

Among calls alike the run takes the first free one of the latest message asked before it began: ids and names repeat from turn to turn, and
an
earlier call may have no run of its own. **Source**: semconv traps T6, T7, T11.
"""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.assembly.thread import Entry
from otel_eval.model import Step, ToolCall

ROUNDING_NS = 2_000_000  # JavaScript SDKs round span starts to milliseconds


@dataclass(slots=True, eq=False)
class CallSlot:
    """A tool call of the thread, its result if it is known, and the tool run that answers to it."""

    entry: Entry
    index: int
    call: ToolCall
    result: Entry | None = None
    run: Step | None = None


@dataclass(slots=True, eq=False)
class _Alike:
    """Calls that a run cannot tell apart, in the order of their messages."""

    slots: list[CallSlot] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    first_free: int = 0

    def add(self, slot: CallSlot) -> None:
        self.slots.append(slot)
        self.times.append(max(slot.entry.time_ns, self.times[-1] if self.times else 0))

    def take(self, run: Step) -> bool:
        """Give the run its call; False where none is free."""
        place = bisect_right(self.times, run.start_ns + ROUNDING_NS) - 1
        while place >= 0 and self.slots[place].run is not None:
            place -= 1
        if place >= 0:
            entry = self.slots[place].entry
            while place and self.slots[place - 1].entry is entry and self.slots[place - 1].run is None:
                place -= 1
        else:
            while self.first_free < len(self.slots) and self.slots[self.first_free].run is not None:
                self.first_free += 1
            place = self.first_free
        if place >= len(self.slots):
            return False
        self.slots[place].run = run
        return True


def claim(slots: Sequence[CallSlot], runs: Sequence[Step]) -> list[Step]:
    """Give each run its call, ids first (a run without id must not take the call of one that has it); the runs left without one."""
    alike: dict[Hashable, _Alike] = defaultdict(_Alike)
    for slot in slots:
        if slot.call.id:
            alike["id", slot.call.id].add(slot)
    left = [run for run in once(runs) if not (run.tool_call_id and _take(alike, ("id", run.tool_call_id), run))]
    if not left:
        return left
    for slot in slots:
        if slot.call.name:
            name = slot.call.name.lower()
            alike["name", name].add(slot)
            alike["arguments", name, _canonical(slot.call.arguments)].add(slot)
    return [run for run in left if not any(_take(alike, key, run) for key in _keys(run))]


def _take(alike: dict[Hashable, _Alike], key: Hashable, run: Step) -> bool:
    return key in alike and alike[key].take(run)


def _keys(run: Step) -> list[Hashable]:
    """Under which keys a run without call id is sought, the surest first."""
    name = (run.tool_name or "").lower()
    keys: list[Hashable] = []
    answered, made = run.content.tool_result, run.content.tool_call
    if answered is not None and answered.call_id:
        keys.append(("id", answered.call_id))
    if made is not None and made.arguments is not None:
        keys += [("arguments", name, _canonical(made.arguments)), ("arguments", name, None)]
    return [*keys, ("name", name)]


def _canonical(arguments: Mapping[str, Any] | None) -> str | None:
    """Arguments as a text that is equal for equal values; None where they are not known."""
    if arguments is None:
        return None
    try:
        return json.dumps(arguments, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return None


def once(runs: Sequence[Step]) -> list[Step]:
    """Without second recordings: the same tool under another parent, inside the same moments, with equal arguments and no id of its own
    (an MCP
    server's span beside its client's)."""
    kept: list[Step] = []
    for run in runs:
        if run.tool_call_id is not None or not any(_is_second(run, k) for k in kept[-_NEAR:]):
            kept.append(run)
    return kept


_NEAR = 8  # runs that can be open at once around a second recording


def _is_second(run: Step, other: Step) -> bool:
    if (run.tool_name or "").lower() != (other.tool_name or "").lower() or run.parent_span_id == other.parent_span_id:
        return False
    if not (other.start_ns - ROUNDING_NS <= run.start_ns and run.end_ns <= other.end_ns + ROUNDING_NS):
        return False
    ours, theirs = run.content.tool_call, other.content.tool_call
    return ours is None or theirs is None or ours.arguments is None or theirs.arguments is None or ours.arguments == theirs.arguments
