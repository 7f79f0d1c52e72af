"""When a trace is complete and a conversation closed: a declared state machine over what has arrived, with the clock passed in.

    trace          open ──root ended──▶ quiet ──trace_quiet without spans──▶ complete ──spans come──▶ quiet (revision n + 1)
                     └────────────────── trace_max_age ──────────────────────────▲
    conversation   open ──its traces complete──▶ idle ──conversation_idle, end mark or conversation_max_age──▶ closed ──turns come──▶ open

Driven by arrival and by ends of spans, never by their start times: spans are exported when they end, children first, a long agent's root
minutes
later. **Source**: semconv trap T13; field bugs A18, C4, C7, C11.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionLimits:
    """How long to wait, in seconds."""

    trace_quiet_s: float = 10.0
    """Without new spans after the root's end; longer than the 5 s batch delay of exporters."""
    trace_max_age_s: float = 600.0
    """After which a trace without a root, or one that never falls silent, is taken as it is."""
    conversation_idle_s: float = 900.0
    conversation_max_age_s: float = 86_400.0
    """After which a conversation that never goes idle is scored all the same; again after each further such time."""
    max_revisions: int = 3
    """How often late content may bring a new score; 1: never again."""


class TraceState(StrEnum):
    """Where a trace stands."""

    OPEN = "open"
    QUIET = "quiet"
    COMPLETE = "complete"


class ConversationState(StrEnum):
    """Where a conversation stands."""

    OPEN = "open"
    IDLE = "idle"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSeen:
    """What is known of a trace's arrival, in seconds of one clock."""

    first_s: float
    last_s: float
    root_ended: bool
    scored_s: float | None = None
    """Arrival of the last span that the latest revision knows; None before the first."""
    revision: int = 0
    """Revisions made so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSeen:
    """What is known of a conversation's arrival, in seconds of one clock."""

    first_s: float
    last_s: float
    end_marked: bool = False
    waiting_traces: int = 0
    """Its traces that are not complete."""
    scored_s: float | None = None
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A state, and when to look again if nothing arrives; None where only an arrival can change it."""

    state: TraceState | ConversationState
    at_s: float | None


def trace_due(seen: TraceSeen, limits: CompletionLimits, now_s: float) -> Due:
    """The state of a trace now. COMPLETE means: make revision `seen.revision + 1` of it, unless all that came is scored already."""
    if seen.scored_s is not None and seen.last_s <= seen.scored_s:
        return Due(state=TraceState.COMPLETE, at_s=None)
    began_s = seen.first_s if seen.scored_s is None else max(seen.first_s, seen.scored_s)
    quiet_s = seen.last_s + limits.trace_quiet_s
    oldest_s = began_s + limits.trace_max_age_s
    due_s = min(quiet_s, oldest_s) if seen.root_ended else oldest_s
    if _reached(due_s, now_s, seen.first_s):
        return Due(state=TraceState.COMPLETE, at_s=None)
    return Due(state=TraceState.QUIET if seen.root_ended else TraceState.OPEN, at_s=due_s)


def conversation_due(seen: ConversationSeen, limits: CompletionLimits, now_s: float) -> Due:
    """The state of a conversation now. CLOSED means: score it as a whole, unless all that came is scored already."""
    if seen.scored_s is not None and seen.last_s <= seen.scored_s:
        return Due(state=ConversationState.CLOSED, at_s=None)
    began_s = seen.first_s if seen.scored_s is None else seen.scored_s
    oldest_s = began_s + limits.conversation_max_age_s
    if seen.waiting_traces and not _reached(oldest_s, now_s, seen.first_s):
        return Due(state=ConversationState.OPEN, at_s=oldest_s)
    due_s = seen.last_s if seen.end_marked else min(seen.last_s + limits.conversation_idle_s, oldest_s)
    if _reached(due_s, now_s, seen.first_s):
        return Due(state=ConversationState.CLOSED, at_s=None)
    return Due(state=ConversationState.IDLE, at_s=due_s)


def may_revise(revision: int, limits: CompletionLimits) -> bool:
    """Whether content that comes after `revision` revisions may bring one more."""
    return revision < limits.max_revisions


def _reached(due_s: float, now_s: float, first_s: float) -> bool:
    """Whether a time has come. A clock that was set back before the first arrival says nothing about waiting: then it has not come."""
    return now_s >= due_s and now_s >= first_s
