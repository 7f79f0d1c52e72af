"""A unit that is complete: read, weighed, and either in a queue for scoring or at its outcome.

Everything is written in order; who waits for `settle` knows that it is on disk.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from otel_eval.model import Conversation, UnitOutcome
from otel_eval.sampling import UNKNOWN, Upstream, upstream_from_tracestate
from otel_eval.service.serve.desk import Desk, OnDesk
from otel_eval.service.serve.judgement import Settled, content_hash, facts_of, of_read, settled
from otel_eval.service.serve.plan import Plan, PlannedRun, Selected, select
from otel_eval.service.serve.reading import Read, TraceReader
from otel_eval.store import ConversationRow, Finished, Look, OutcomeRow, Store, TraceRow, Unit, Work
from otel_eval.triage import Suspicion, Triage

Row: TypeAlias = TraceRow | ConversationRow
_OVER = frozenset({UnitOutcome.SAMPLED_OUT, UnitOutcome.NO_GENAI_CONTENT, UnitOutcome.EVALUATOR_OWN, UnitOutcome.FILTERED})
"""Outcomes that late spans do not change: the requests need not be kept."""

NOTHING_NEW = Settled(outcome=UnitOutcome.SCORED, detail="it brought nothing new to what was scored")
ENOUGH = settled(UnitOutcome.FILTERED, "max_revisions", "the conversation went on after `completion.max_revisions` revisions")


@dataclass(slots=True, kw_only=True)
class LookCounts:
    """What was looked at, for instruments."""

    traces: int = 0
    conversations: int = 0
    reads: int = 0
    queued: int = 0
    late_after_release: int = 0
    faults: "Counter[str]" = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class Weigher:
    """`executor` is where reading takes place; `on_work` is told when there is something to score."""

    store: Store
    plan: Plan
    triage: Triage
    reader: TraceReader
    executor: Executor
    desk: Desk
    on_work: Callable[[], None] = lambda: None
    counts: LookCounts = field(default_factory=LookCounts)
    _writes: "list[Future[Any]]" = field(default_factory=list)
    _looks: list[Look] = field(default_factory=list)

    async def settle(self) -> None:
        """Wait until all that was written is on disk."""
        self.flush()
        writes, self._writes = self._writes, []
        await all_written(writes)

    def forget(self) -> None:
        """What a round that failed had still to wait for is nobody's any more."""
        self._writes.clear()
        self._looks.clear()

    def flush(self) -> None:
        """Hand in the looks that were gathered: a round makes hundreds, and one write takes them all."""
        if self._looks:
            looks, self._looks = self._looks, []
            self._writes.append(self.store.progress.look_again(looks))

    def write(self, write: "Callable[[], Future[Any]]") -> "Future[Any]":
        """Begin to write something, after all that was told before; it is waited for."""
        self.flush()
        begun = write()
        self._writes.append(begun)
        return begun

    async def read(self, traces: Sequence[str]) -> Read:
        """What stands in these traces."""
        self.counts.reads += 1
        self.flush()  # reading takes time, and what was decided before must not overtake what others decide meanwhile
        return await asyncio.get_running_loop().run_in_executor(self.executor, self.reader.read, traces)

    def look_again(self, row: Row, due_s: float | None) -> None:
        """When to look at a unit next."""
        self._looks.append(Look(unit=row.unit, seen_s=row.last_s, due_s=due_s))

    def leave(self, row: Row, traces: Sequence[TraceRow] = ()) -> None:
        """All that came of a unit counts as known, without a revision of its own.

        `traces` are those whose requests nobody needs any more, but for late spans.
        """
        release_s = self.store.now_s() + self.plan.late_window_s
        self._looks.append(Look(unit=row.unit, seen_s=row.last_s, due_s=None, is_settled=True))
        self._looks += [Look(unit=t.unit, seen_s=t.last_s, due_s=None, is_settled=True, release_at_s=release_s) for t in traces]

    def leave_with_traces(self, row: ConversationRow, traces: Sequence[TraceRow], verdict: Settled) -> None:
        """A conversation goes without another revision; its traces that have no outcome yet come to this one."""
        parts = [outcome_of_part(row.unit, trace, verdict) for trace in without_outcome(self.store, traces)]
        if parts:
            self.write(lambda: self.store.queues.finish_all(parts))
        self.leave(row, traces)

    def poke(self, conversations: Iterable[str]) -> None:
        """Look at conversations in this round: one of their traces is about to move on."""
        self._looks += poked(self.store, conversations)

    def weigh(
        self, row: Row, runs: Sequence[PlannedRun], read: Read, conversation: Conversation | None, traces: Sequence[TraceRow]
    ) -> None:
        """The outcome of a unit that was read, or its place in a queue. `traces` are the ones it is made of."""
        service = service_of(traces)
        verdict = of_read(read, conversation, traces, score_fragments=self.plan.score_fragments)
        if conversation is None or verdict is not None:
            self.finish(row, verdict or settled(UnitOutcome.NOT_UNDERSTOOD), facts_of(read, conversation, service=service), traces)
            return
        if row.revision and self._says_the_same(row.unit, conversation):
            if isinstance(row, ConversationRow):
                self.leave_with_traces(row, traces, NOTHING_NEW)
            else:
                self.leave(row, () if is_part(row) else traces)
            return
        upstream = upstream_of(row, traces) if self.plan.trusts_tracestate else UNKNOWN
        selected, suspicion = self._selected(row, runs, conversation, service, upstream)
        facts = facts_of(read, conversation, service=service, is_part=is_part(row) or None, **_facts_of_selection(selected, suspicion))
        if selected.groups:
            self.desk.put(row.unit, row.last_s, OnDesk(read=read, conversation=conversation, traces=tuple(traces)))
            self._queue(row, selected, facts)
        elif is_part(row):
            self.leave(row)
        else:
            is_sampled_out = selected.reason == "sampled_out"
            outcome = UnitOutcome.SAMPLED_OUT if is_sampled_out else UnitOutcome.FILTERED
            self.finish(row, settled(outcome, "" if is_sampled_out else selected.reason), facts, traces, probability=selected.probability)

    def _selected(
        self, row: Row, runs: Sequence[PlannedRun], conversation: Conversation, service: str | None, upstream: Upstream
    ) -> tuple[Selected, Suspicion | None]:
        """By filters and rates; then what the rates leave out may be triage: only that is looked at for signs of failure."""
        selected = select(self.plan, runs, conversation, service=service, upstream=upstream)
        if is_part(row):
            return selected, None
        is_rated = selected.reason in ("sampled", "sampled_out")
        kept = {name for group in selected.groups for name in group.names}
        if not is_rated or len(kept) == len(runs):
            self.triage.pass_by(conversation, service)
            if is_rated:
                self.triage.estimated()
            return selected, None
        suspicion = self.triage.look(conversation, service)
        reason = self.triage.reason(suspicion) if self.triage.share else None
        if reason is None:
            return selected, suspicion
        return select(self.plan, runs, conversation, service=service, upstream=upstream, triage_reason=reason), suspicion

    def _queue(self, row: Row, selected: Selected, facts: Mapping[str, Any]) -> None:
        self.counts.queued += 1
        work = Work(
            unit=row.unit,
            revision=row.revision + 1,
            queue=selected.queue,
            seen_s=row.last_s,
            probability=selected.probability,
            selected_by=selected.queue,
            facts=json.dumps(facts, ensure_ascii=False, default=str),
        )
        self.write(lambda: self.store.queues.add([work])).add_done_callback(lambda _: self.on_work())

    def finish(
        self,
        row: Row,
        verdict: Settled,
        facts: Mapping[str, Any],
        traces: Sequence[TraceRow],
        *,
        revision: int | None = None,
        probability: float | None = None,
    ) -> None:
        """Commit an outcome. What late spans may change is kept for a while, and the requests of a turn until its conversation is over."""
        is_over = verdict.outcome in _OVER
        is_needed = isinstance(row, TraceRow) and bool(row.conversations) and not is_over
        done = Finished(
            unit=row.unit,
            revision=row.revision + 1 if revision is None else revision,
            seen_s=row.last_s,
            outcome=verdict.outcome.value,
            reason=verdict.reason,
            detail=verdict.detail,
            probability=probability,
            facts=json.dumps(facts, ensure_ascii=False, default=str),
            release=() if is_needed else tuple(t.trace_id for t in traces),
            release_at_s=None if is_over else self.store.now_s() + self.plan.late_window_s,
        )
        self.write(lambda: finish_with_traces(self.store, done, traces))

    def was(self, unit: Unit, outcome: UnitOutcome) -> bool:
        """Whether a unit has this outcome."""
        known = self.store.records.outcome(unit)
        return known is not None and known.outcome == outcome.value

    def _says_the_same(self, unit: Unit, conversation: Conversation) -> bool:
        """Whether late spans brought nothing new to a unit that was scored."""
        known = self.store.records.outcome(unit)
        if known is None or known.outcome != UnitOutcome.SCORED.value or not known.facts:
            return False
        return bool(json.loads(known.facts).get("hash") == content_hash(conversation))


def so_far(store: Store, trace: TraceRow) -> tuple[TraceRow, ...]:
    """The traces of a turn's conversation up to that turn, by when they began; later turns may have come already."""
    talk = store.progress.conversation(trace.conversations[0]) if trace.conversations else None
    rows = store.progress.traces(talk.traces if talk is not None else ())
    return tuple(t for t in rows if t.trace_id == trace.trace_id or (t.start_ns or 0) <= (trace.start_ns or 0)) or (trace,)


def is_over(outcome: OutcomeRow | None) -> bool:
    """Whether nothing of a trace with this outcome belongs to a conversation."""
    return outcome is not None and outcome.outcome in _OVER


def is_part(row: Row) -> bool:
    """Whether a unit is a turn of a conversation that has an id and may go on."""
    return isinstance(row, TraceRow) and bool(row.conversations)


def service_of(traces: Iterable[TraceRow]) -> str | None:
    return next((t.service for t in traces if t.service), None)


def poked(store: Store, conversations: Iterable[str]) -> list[Look]:
    """Look at conversations now: one of their traces is about to move on.

    This is written before the move, or with it: after a crash between the two the trace moves again, but nothing would look at the
    conversation again.
    """
    now_s = store.now_s()
    return [Look(unit=Unit(kind="conversation", key=key), seen_s=math.inf, due_s=now_s) for key in conversations]


def finish_with_traces(store: Store, done: Finished, traces: Sequence[TraceRow]) -> "Future[Any]":
    """Commit an outcome, and before it the same for each of the unit's traces that has none: a trace has what its conversation came to."""
    verdict = Settled(outcome=UnitOutcome(done.outcome), reason=done.reason, detail=done.detail)
    others = [trace for trace in traces if trace.unit != done.unit]
    parts = [
        replace(outcome_of_part(done.unit, trace, verdict), probability=done.probability, selected_by=done.selected_by, is_first=True)
        for trace in others
    ]
    return store.queues.finish_all([*parts, done])


async def all_written(writes: "Sequence[Future[Any]]") -> None:
    """Wait until all of these are on disk; what one of them raised. They end in the order in which they were begun."""
    if writes:
        (last,), _ = await asyncio.wait([asyncio.wrap_future(writes[-1])])
        last.exception()  # told below, where an earlier one may have raised something too
        for write in writes:
            write.result()


def without_outcome(store: Store, traces: Sequence[TraceRow]) -> list[TraceRow]:
    known = store.records.with_outcome([trace.unit for trace in traces])
    return [trace for trace in traces if trace.unit not in known]


def outcome_of_part(conversation: Unit, trace: TraceRow, verdict: Settled) -> Finished:
    """A trace comes to what its conversation came to."""
    return Finished(
        unit=trace.unit,
        revision=trace.revision + 1,
        seen_s=trace.last_s,
        outcome=verdict.outcome.value,
        reason=verdict.reason,
        detail=f"as a part of conversation {conversation.key!r}: {verdict.detail}",
    )


def upstream_of(row: Row, traces: Sequence[TraceRow]) -> Upstream:
    """How a unit was sampled before us; of a conversation whose traces were kept or not one by one, nobody knows."""
    parts = (row,) if isinstance(row, TraceRow) else traces
    said = {upstream_from_tracestate(part.trace_state or "") for part in parts}
    if len(parts) == 1:
        return next(iter(said))
    return Upstream(threshold=0) if {part.threshold for part in said} == {0} else UNKNOWN


def _facts_of_selection(selected: Selected, suspicion: Suspicion | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"groups": [[list(g.names), g.probability, g.selected_by] for g in selected.groups]}
    if selected.upstream_probability is not None:
        facts["upstream_probability"] = selected.upstream_probability
    if selected.reason and selected.groups:
        facts["selected_for"] = selected.reason
    if suspicion is not None:
        facts["suspicion"] = {"score": round(suspicion.score, 3), "flags": list(suspicion.flags)}
    return facts
