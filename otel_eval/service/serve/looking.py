"""Looks at what is due: is it complete, what is in it, is it selected? What is to be scored goes into a queue, all else has its outcome.

A round takes some of what is due, oldest first, and is over when all of it is on disk.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from otel_eval.completion import ConversationSeen, ConversationState, TraceSeen, TraceState, conversation_due, may_revise, trace_due
from otel_eval.model import Conversation, UnitOutcome
from otel_eval.sampling import UNKNOWN, Upstream, upstream_from_tracestate
from otel_eval.service.serve.chains import Chains
from otel_eval.service.serve.desk import Desk
from otel_eval.service.serve.judgement import Settled, content_hash, facts_of, is_fragment, of_read, of_row, settled
from otel_eval.service.serve.plan import Plan, PlannedRun, Selected, is_left_out, select
from otel_eval.service.serve.reading import Read, read_traces
from otel_eval.store import ConversationRow, Finished, Look, Store, TraceRow, Unit, Work
from otel_eval.triage import Suspicion, Triage

AT_ONCE = 50
"""Units looked at in one round: what is read in a round holds up what becomes due meanwhile."""


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
class Looker:
    """Makes rounds. `executor` is where reading takes place; `on_work` is told when there is something to score."""

    store: Store
    plan: Plan
    triage: Triage
    executor: Executor
    desk: Desk
    chains: Chains
    on_work: Callable[[], None] = lambda: None
    on_trace_over: Callable[[str], None] = lambda trace_id: None
    """Told of each complete trace that is not to be scored by itself."""
    counts: LookCounts = field(default_factory=LookCounts)
    _writes: "list[Future[Any]]" = field(default_factory=list)
    _pokes: set[str] = field(default_factory=set)

    async def round(self) -> int:
        """Look at what is due; how many units that were."""
        now_s = self.store.now_s()
        traces = self.store.progress.due_traces(now_s, limit=AT_ONCE)
        for row in traces:
            await self._guarded(self._trace(row, now_s), row.unit, row.last_s)
        await self._settle_writes()
        conversations = self.store.progress.due_conversations(now_s, limit=AT_ONCE)  # now: their traces have moved on
        for talk in conversations:
            await self._guarded(self._conversation(talk, now_s), talk.unit, talk.last_s)
        await self._settle_writes()
        return len(traces) + len(conversations)

    async def _guarded(self, work: Any, unit: Unit, seen_s: float) -> None:
        """A unit that cannot be read at all stands in nobody's way."""
        try:
            await work
        except Exception as fault:  # a reader's: it is this unit's own failure, and counted by its class
            name = type(fault).__name__
            self.counts.faults[name] += 1
            revision = self._revision(unit) + 1
            verdict = settled(UnitOutcome.NOT_UNDERSTOOD, "reader_error", f"reading it raised {name}")
            self._finish(unit, revision, seen_s, verdict, {})

    async def _settle_writes(self) -> None:
        writes, self._writes = self._writes, []
        for write in writes:
            await asyncio.wrap_future(write)
        pokes, self._pokes = self._pokes, set()
        for key in pokes:
            self._poke(key)
        if self._writes:
            await self._settle_writes()

    # traces

    async def _trace(self, row: TraceRow, now_s: float) -> None:
        self.counts.traces += 1
        seen = TraceSeen(
            first_s=row.first_s, last_s=row.last_s, root_ended=not is_fragment(row), scored_s=row.scored_s, revision=row.revision
        )
        due = trace_due(seen, self.plan.limits, now_s)
        if due.state is not TraceState.COMPLETE:
            self._look(row.unit, row.last_s, due.at_s)
            return
        self._pokes.update(row.conversations)
        if self._is_known(row.scored_s, row.last_s) or (row.revision and not may_revise(row.revision, self.plan.limits)):
            self._look(row.unit, row.last_s, None, settle=True)
        elif row.released and not self._was(row.unit, UnitOutcome.NO_GENAI_CONTENT):
            self.counts.late_after_release += 1
            self._look(row.unit, row.last_s, None, settle=True)
        else:
            queued = self.counts.queued
            await self._complete_trace(row)
            if self.counts.queued != queued:
                return
        self.on_trace_over(row.trace_id)

    async def _complete_trace(self, row: TraceRow) -> None:
        verdict = of_row(row, score_fragments=self.plan.score_fragments) or self._left_out_by_id(row)
        if verdict is not None:
            self._finish(
                row.unit, row.revision + 1, row.last_s, verdict, facts_of(None, None, service=row.service), release=(row.trace_id,)
            )
            return
        if row.conversations and not self.plan.trace_runs:
            self._look(row.unit, row.last_s, None, settle=True)
            return
        if row.conversations:
            await self._trace_of_conversation(row)
            return
        read = await self._read((row.trace_id,))
        ids = read.ids_of_trace(row.trace_id)
        if ids:
            await self._found_ids(row, ids)
            return
        head = self.chains.head(read.goes_on_from)
        own = next(iter(read.conversations), None)
        self.chains.remember(own.response_id if own is not None else None, head or row.trace_id)
        if head is not None and head != row.trace_id:
            await self._found_chain(row, head)
            return
        await self._weigh(row.unit, row, self.plan.runs, read, next(iter(read.conversations), None), traces=(row,))

    async def _found_ids(self, row: TraceRow, ids: Sequence[str]) -> None:
        """Only reading found which conversations a trace belongs to: from now on it is one of theirs."""
        await asyncio.wrap_future(self.store.progress.set_conversations(row.trace_id, ids, due_s=self.store.now_s()))
        self._pokes.update(ids)
        fresh = self.store.progress.trace(row.trace_id)
        if fresh is not None and fresh.last_s == row.last_s:
            await self._complete_trace(fresh)

    async def _found_chain(self, row: TraceRow, head: str) -> None:
        """A trace goes on from an answer in another one, which is a turn of the same conversation from now on."""
        first = self.store.progress.trace(head) if is_trace_id(head) else None
        if first is not None and head not in first.conversations:
            await asyncio.wrap_future(self.store.progress.set_conversations(head, (head,), due_s=self.store.now_s()))
        await self._found_ids(row, (head,))

    async def _trace_of_conversation(self, row: TraceRow) -> None:
        """A turn of a conversation that goes on: metrics that run at traces, on the conversation so far."""
        talk = self.store.progress.conversation(row.conversations[0])
        traces = talk.traces if talk is not None else (row.trace_id,)
        read = await self._read(traces)
        conversation = read.of_id(row.conversations[0])
        await self._weigh(row.unit, row, self.plan.trace_runs, read, conversation, traces=())

    def _left_out_by_id(self, row: TraceRow) -> Settled | None:
        """The trace of a conversation that the rate leaves out need not be read."""
        if len(row.conversations) != 1 or not self.plan.decides_by_id or self.plan.rules.services:
            return None
        return settled(UnitOutcome.SAMPLED_OUT) if is_left_out(self.plan, self.plan.runs, row.conversations[0]) else None

    # conversations

    def _poke(self, key: str) -> None:
        """Look anew at when a conversation is due: one of its traces has moved on."""
        row = self.store.progress.conversation(key)
        if row is None:
            return
        due = conversation_due(_seen(row), self.plan.limits, self.store.now_s())
        at_s = self.store.now_s() if due.state is ConversationState.CLOSED and not self._is_known(row.scored_s, row.last_s) else due.at_s
        self._look(row.unit, row.last_s, at_s)

    async def _conversation(self, row: ConversationRow, now_s: float) -> None:
        self.counts.conversations += 1
        due = conversation_due(_seen(row), self.plan.limits, now_s)
        if due.state is not ConversationState.CLOSED:
            self._look(row.unit, row.last_s, due.at_s)
        elif self._is_known(row.scored_s, row.last_s) or (row.revision and not may_revise(row.revision, self.plan.limits)):
            self._look(row.unit, row.last_s, None, settle=True)
        else:
            await self._close(row)

    async def _close(self, row: ConversationRow) -> None:
        traces = [t for t in map(self.store.progress.trace, row.traces) if t is not None]
        if not traces:
            self._look(row.unit, row.last_s, None, settle=True)
            return
        service = next((t.service for t in traces if t.service), None)
        if self.plan.decides_by_id and not self.plan.rules.services and is_left_out(self.plan, self.plan.runs, row.id):
            verdict = settled(UnitOutcome.SAMPLED_OUT)
            self._finish(
                row.unit, row.revision + 1, row.last_s, verdict, facts_of(None, None, service=service), traces=traces, release=row.traces
            )
            return
        whole = await self._verdict_of_traces(row, traces)
        if whole is not None:
            self._finish(
                row.unit, row.revision + 1, row.last_s, whole, facts_of(None, None, service=service), traces=traces, release=row.traces
            )
            return
        read = await self._read(row.traces)
        conversation = read.of_id(row.id)
        if conversation is None and await self._relinked(row, read):
            return
        await self._weigh(row.unit, row, self.plan.closing_runs, read, conversation, traces=traces)

    async def _verdict_of_traces(self, row: ConversationRow, traces: Sequence[TraceRow]) -> Settled | None:
        """The outcome of a conversation none of whose traces is to be read."""
        verdicts = [of_row(trace, score_fragments=self.plan.score_fragments) for trace in traces]
        return verdicts[-1] if all(v is not None for v in verdicts) else None

    async def _relinked(self, row: ConversationRow, read: Read) -> bool:
        """Reading found other ids than arrival did: the traces move to their conversations. Whether any did."""
        moved = {trace: ids for trace in row.traces if (ids := read.ids_of_trace(trace))}
        for trace, ids in moved.items():
            self._writes.append(self.store.progress.set_conversations(trace, ids, due_s=self.store.now_s()))
            self._pokes.update(ids)
        return bool(moved)

    # both

    async def _weigh(
        self,
        unit: Unit,
        row: TraceRow | ConversationRow,
        runs: Sequence[PlannedRun],
        read: Read,
        conversation: Conversation | None,
        *,
        traces: Sequence[TraceRow],
    ) -> None:
        """The outcome of a unit that was read, or its place in a queue."""
        is_part = unit.kind == "trace" and bool(row.conversations) if isinstance(row, TraceRow) else False
        trace_rows = [row] if isinstance(row, TraceRow) else list(traces)
        service = next((t.service for t in trace_rows if t.service), None)
        verdict = of_read(read, conversation)
        if conversation is None or verdict is not None:
            facts = facts_of(read, conversation, service=service)
            self._finish(unit, row.revision + 1, row.last_s, verdict or settled(UnitOutcome.NOT_UNDERSTOOD), facts, traces=trace_rows)
            return
        if self._says_the_same(unit, conversation):
            self._look(unit, row.last_s, None, settle=True)
            return
        suspicion = None if is_part else self.triage.look(conversation, service)
        selected = self._selected(runs, conversation, service, _upstream(row), suspicion)
        facts = facts_of(read, conversation, service=service, is_part=is_part or None, **_facts_of_selection(selected, suspicion))
        if selected.groups:
            self.desk.put(unit, row.last_s, read)
            self._queue(unit, row, selected, facts)
            return
        kind = UnitOutcome.SAMPLED_OUT if selected.reason == "sampled_out" else UnitOutcome.FILTERED
        if is_part:
            self._look(unit, row.last_s, None, settle=True)
            return
        release = tuple(t.trace_id for t in trace_rows)
        verdict = settled(kind, "" if kind is UnitOutcome.SAMPLED_OUT else selected.reason)
        self._finish(unit, row.revision + 1, row.last_s, verdict, facts, traces=trace_rows, release=release, selected=selected)

    def _selected(
        self,
        runs: Sequence[PlannedRun],
        conversation: Conversation,
        service: str | None,
        upstream: Upstream,
        suspicion: Suspicion | None,
    ) -> Selected:
        selected = select(self.plan, runs, conversation, service=service, upstream=upstream)
        if suspicion is None:
            return selected
        names = {name for group in selected.groups for name in group.names}
        is_whole = len(names) == len(runs) or selected.reason not in ("sampled_out", "sampled")
        if selected.groups and selected.queue == "estimate" and is_whole:
            self.triage.estimated()
        if is_whole or not self.triage.share:
            return selected
        reason = self.triage.reason(suspicion)
        if reason is None:
            return selected
        return select(self.plan, runs, conversation, service=service, upstream=upstream, triage_reason=reason)

    def _queue(self, unit: Unit, row: TraceRow | ConversationRow, selected: Selected, facts: dict[str, Any]) -> None:
        self.counts.queued += 1
        work = Work(
            unit=unit,
            revision=row.revision + 1,
            queue=selected.queue,
            seen_s=row.last_s,
            probability=selected.probability,
            selected_by=selected.queue,
            facts=json.dumps(facts, ensure_ascii=False, default=str),
        )
        added = self.store.queues.add([work])
        self._writes.append(added)
        added.add_done_callback(lambda _: self.on_work())

    def _finish(
        self,
        unit: Unit,
        revision: int,
        seen_s: float,
        verdict: Settled,
        facts: dict[str, Any],
        *,
        traces: Sequence[TraceRow] = (),
        release: Sequence[str] = (),
        selected: Selected | None = None,
    ) -> None:
        """Commit an outcome. What is released goes at once; all else is kept for late spans."""
        is_final = verdict.outcome in (
            UnitOutcome.SAMPLED_OUT,
            UnitOutcome.NO_GENAI_CONTENT,
            UnitOutcome.EVALUATOR_OWN,
            UnitOutcome.FILTERED,
        )
        kept = tuple(release) or tuple(t.trace_id for t in traces) or ((unit.key,) if unit.kind == "trace" else ())
        done = Finished(
            unit=unit,
            revision=revision,
            seen_s=seen_s,
            outcome=verdict.outcome.value,
            reason=verdict.reason,
            detail=verdict.detail,
            probability=selected.probability if selected is not None else None,
            facts=json.dumps(facts, ensure_ascii=False, default=str),
            release=kept,
            release_at_s=None if is_final else self.store.now_s() + self.plan.late_window_s,
        )
        self._writes += finish_with_traces(self.store, done, traces)

    async def _read(self, traces: Sequence[str]) -> Read:
        self.counts.reads += 1
        return await asyncio.get_running_loop().run_in_executor(self.executor, read_traces, self.store, traces)

    def _look(self, unit: Unit, seen_s: float, due_s: float | None, *, settle: bool = False) -> None:
        self._writes.append(self.store.progress.look_again([Look(unit=unit, seen_s=seen_s, due_s=due_s, is_settled=settle)]))

    def _is_known(self, scored_s: float | None, last_s: float) -> bool:
        return scored_s is not None and last_s <= scored_s

    def _was(self, unit: Unit, outcome: UnitOutcome) -> bool:
        known = self.store.records.outcome(unit)
        return known is not None and known.outcome == outcome.value

    def _revision(self, unit: Unit) -> int:
        known = self.store.records.outcome(unit)
        return known.revision if known is not None else 0

    def _says_the_same(self, unit: Unit, conversation: Conversation) -> bool:
        """Whether late spans brought nothing new to a unit that was scored."""
        known = self.store.records.outcome(unit)
        if known is None or known.outcome != UnitOutcome.SCORED.value or not known.facts:
            return False
        return bool(json.loads(known.facts).get("hash") == content_hash(conversation))


def finish_with_traces(store: Store, done: Finished, traces: Iterable[TraceRow]) -> "list[Future[Any]]":
    """Commit an outcome, and before it the same for each of the unit's traces that has none: a trace has what its conversation came to."""
    writes: list[Future[Any]] = []
    for trace in traces:
        if trace.unit == done.unit or store.records.outcome(trace.unit) is not None:
            continue
        detail = f"as a part of conversation {done.unit.key!r}: {done.detail}"
        part = Finished(
            unit=trace.unit,
            revision=trace.revision + 1,
            seen_s=trace.last_s,
            outcome=done.outcome,
            reason=done.reason,
            detail=detail,
            probability=done.probability,
            selected_by=done.selected_by,
        )
        writes.append(store.queues.finish(part))
    return [*writes, store.queues.finish(done)]


def is_trace_id(text: str) -> bool:
    """Whether a conversation's key is the trace that it began in, for want of an id."""
    return len(text) == 32 and all(c in "0123456789abcdef" for c in text)


def _seen(row: ConversationRow) -> ConversationSeen:
    return ConversationSeen(
        first_s=row.first_s,
        last_s=row.last_s,
        end_marked=row.end_marked,
        waiting_traces=row.waiting_traces,
        scored_s=row.scored_s,
        revision=row.revision,
    )


def _upstream(row: TraceRow | ConversationRow) -> Upstream:
    return upstream_from_tracestate(row.trace_state) if isinstance(row, TraceRow) and row.trace_state else UNKNOWN


def _facts_of_selection(selected: Selected, suspicion: Suspicion | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"groups": [[list(g.names), g.probability, g.selected_by] for g in selected.groups]}
    if selected.upstream_probability is not None:
        facts["upstream_probability"] = selected.upstream_probability
    if selected.reason and selected.groups:
        facts["selected_for"] = selected.reason
    if suspicion is not None:
        facts["suspicion"] = {"score": round(suspicion.score, 3), "flags": list(suspicion.flags)}
    return facts
