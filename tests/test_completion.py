"""When traces are complete and conversations over: from what arrived and the clock, and nothing else."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.completion import (
    CompletionLimits,
    ConversationSeen,
    ConversationState,
    TraceSeen,
    TraceState,
    conversation_due,
    may_revise,
    trace_due,
)

LIMITS = CompletionLimits(trace_quiet_s=10, trace_max_age_s=600, conversation_idle_s=900, conversation_max_age_s=86_400, max_revisions=3)
TRACE = TraceSeen(first_s=100, last_s=130, root_ended=True)
TALK = ConversationSeen(first_s=100, last_s=130)
MOMENTS = st.floats(min_value=0, max_value=200_000)


@pytest.mark.parametrize(
    ("seen", "now_s", "state", "at_s"),
    [
        (replace(TRACE, root_ended=False), 139, TraceState.OPEN, 700),
        (TRACE, 139, TraceState.QUIET, 140),
        (TRACE, 140, TraceState.COMPLETE, None),
        (replace(TRACE, root_ended=False), 699, TraceState.OPEN, 700),
        (replace(TRACE, root_ended=False), 700, TraceState.COMPLETE, None),
        (replace(TRACE, last_s=695), 699, TraceState.QUIET, 700),  # one that never falls silent
        (replace(TRACE, scored_s=130, revision=1), 10_000, TraceState.COMPLETE, None),  # all that came is scored
        (replace(TRACE, last_s=150, scored_s=130, revision=1), 155, TraceState.QUIET, 160),  # late spans open it again
        (replace(TRACE, last_s=800, scored_s=130, revision=1, root_ended=False), 729, TraceState.OPEN, 730),
    ],
)
def test_states_of_a_trace(seen: TraceSeen, now_s: float, state: TraceState, at_s: float | None) -> None:
    """Open until the root ends, quiet until nothing came for a while, complete at the latest at its greatest age; late spans open it."""
    due = trace_due(seen, LIMITS, now_s)
    assert (due.state, due.at_s) == (state, at_s)


@pytest.mark.parametrize(
    ("seen", "now_s", "state", "at_s"),
    [
        (TALK, 1029, ConversationState.IDLE, 1030),
        (TALK, 1030, ConversationState.CLOSED, None),
        (replace(TALK, end_marked=True), 130, ConversationState.CLOSED, None),
        (replace(TALK, waiting_traces=1), 5_000, ConversationState.OPEN, 86_500),
        (replace(TALK, end_marked=True, waiting_traces=1), 200, ConversationState.OPEN, 86_500),
        (replace(TALK, waiting_traces=1), 86_500, ConversationState.CLOSED, None),
        (replace(TALK, last_s=86_400), 86_500, ConversationState.CLOSED, None),  # one that never falls silent
        (replace(TALK, scored_s=130, revision=1), 10_000, ConversationState.CLOSED, None),
        (replace(TALK, last_s=2_000, scored_s=130, revision=1), 2_100, ConversationState.IDLE, 2_900),
    ],
)
def test_states_of_a_conversation(seen: ConversationSeen, now_s: float, state: ConversationState, at_s: float | None) -> None:
    """Open while traces of it are, idle until it was silent for long, over at an end mark; at the latest at its greatest age."""
    due = conversation_due(seen, LIMITS, now_s)
    assert (due.state, due.at_s) == (state, at_s)


@given(first_s=MOMENTS, lasted_s=MOMENTS, waited_s=MOMENTS, root_ended=st.booleans())
def test_a_trace_is_complete_at_the_moment_it_was_told(first_s: float, lasted_s: float, waited_s: float, root_ended: bool) -> None:
    """Who looks again when told finds it complete, if nothing came; and it never waits longer than its greatest age."""
    seen = TraceSeen(first_s=first_s, last_s=first_s + lasted_s, root_ended=root_ended)
    due = trace_due(seen, LIMITS, first_s + waited_s)
    if due.at_s is not None:
        assert due.at_s > first_s + waited_s
        assert due.at_s <= first_s + LIMITS.trace_max_age_s
        assert trace_due(seen, LIMITS, due.at_s).state is TraceState.COMPLETE


@given(first_s=MOMENTS, lasted_s=MOMENTS, waited_s=MOMENTS, end_marked=st.booleans(), waiting=st.integers(0, 3))
def test_a_conversation_is_over_at_the_moment_it_was_told(
    first_s: float, lasted_s: float, waited_s: float, end_marked: bool, waiting: int
) -> None:
    """The same of conversations: waiting traces hold one open, and never for longer than its greatest age."""
    seen = ConversationSeen(first_s=first_s, last_s=first_s + lasted_s, end_marked=end_marked, waiting_traces=waiting)
    due = conversation_due(seen, LIMITS, seen.last_s + waited_s)
    if due.at_s is not None:
        assert due.at_s <= first_s + LIMITS.conversation_max_age_s
        assert conversation_due(seen, LIMITS, due.at_s).state is ConversationState.CLOSED


@given(behind_s=st.floats(min_value=0.001, max_value=1e9))
def test_a_clock_before_the_first_arrival_says_nothing(behind_s: float) -> None:
    """With the clock set back behind the first arrival nothing is complete yet, not even at an end mark."""
    assert trace_due(TRACE, LIMITS, TRACE.first_s - behind_s).state is not TraceState.COMPLETE
    marked = replace(TALK, end_marked=True)
    assert conversation_due(marked, LIMITS, marked.first_s - behind_s).state is not ConversationState.CLOSED


@pytest.mark.parametrize(("revision", "may"), [(0, True), (2, True), (3, False)])
def test_how_often_late_content_counts(revision: int, may: bool) -> None:
    """At most `max_revisions` revisions in all."""
    assert may_revise(revision, LIMITS) is may
