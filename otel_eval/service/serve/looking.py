"""Looks at what is due: is it complete, does it have to be read, which conversation is it part of?

A round takes some of what is due, oldest first, and is over when all that came of it is on disk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from otel_eval.completion import ConversationSeen, ConversationState, TraceSeen, TraceState, conversation_due, may_revise, trace_due
from otel_eval.errors import Overloaded, StoreError
from otel_eval.model import UnitOutcome
from otel_eval.service.serve.chains import Chains
from otel_eval.service.serve.judgement import Settled, facts_of, is_fragment, of_row, settled
from otel_eval.service.serve.plan import Plan, is_left_out
from otel_eval.service.serve.reading import Read
from otel_eval.service.serve.replicas import Replicas
from otel_eval.service.serve.weighing import ENOUGH, Row, Weigher, service_of, so_far
from otel_eval.store import ConversationRow, Store, TraceRow

AT_ONCE = 50
"""Units looked at in one round: what is read in a round holds up what becomes due meanwhile."""


@dataclass(slots=True, kw_only=True)
class Looker:
    """Makes rounds."""

    weigher: Weigher
    chains: Chains
    replicas: Replicas | None = None
    on_trace_over: Callable[[str], None] = lambda trace_id: None
    """Told of each complete trace that is not to be scored by itself."""

    belongs_elsewhere: Callable[[str, Sequence[str]], bool] = lambda trace_id, ids: False
    """Told of a trace in which reading found ids of conversations; whether another takes care of it from here on."""

    @property
    def store(self) -> Store:
        return self.weigher.store

    @property
    def plan(self) -> Plan:
        return self.weigher.plan

    async def round(self) -> int:
        """Look at what is due; how many units that were."""
        self.weigher.forget()
        now_s = self.store.now_s()
        traces = self.store.progress.due_traces(now_s, limit=AT_ONCE)
        for row in traces:
            await self._guarded(row, self._trace(row, now_s))
        await self.weigher.settle()
        conversations = self.store.progress.due_conversations(self.store.now_s(), limit=AT_ONCE)  # now: their traces have moved on
        for talk in conversations:
            await self._guarded(talk, self._conversation(talk, now_s))
        await self.weigher.settle()
        return len(traces) + len(conversations)

    async def _guarded(self, row: Row, work: Awaitable[None]) -> None:
        """A unit that cannot be read stands in nobody's way. What is the store's trouble is not the unit's."""
        try:
            await work
        except (Overloaded, StoreError):
            raise
        except Exception as fault:  # a reader's: it is this unit's own failure, and counted by its class
            name = type(fault).__name__
            self.weigher.counts.faults[name] += 1
            verdict = settled(UnitOutcome.NOT_UNDERSTOOD, "reader_error", f"reading it raised {name}")
            self.weigher.finish(row, verdict, {}, (row,) if isinstance(row, TraceRow) else ())

    async def _trace(self, row: TraceRow, now_s: float) -> None:
        weigher = self.weigher
        weigher.counts.traces += 1
        due = trace_due(_trace_seen(row), self.plan.limits, now_s)
        if due.state is not TraceState.COMPLETE:
            weigher.look_again(row, due.at_s)
            return
        weigher.poke(row.conversations)
        queued = weigher.counts.queued
        if self._is_told(row):
            weigher.leave(row, () if row.conversations else (row,))
        elif row.released and not weigher.was(row.unit, UnitOutcome.NO_GENAI_CONTENT):
            weigher.counts.late_after_release += 1
            weigher.leave(row, () if row.conversations else (row,))
        else:
            await self._complete_trace(row)
        if weigher.counts.queued == queued:
            self.on_trace_over(row.trace_id)

    async def _complete_trace(self, row: TraceRow) -> None:
        verdict = self._of_row(row) or self._left_out_by_id(row.conversations)
        if verdict is not None:
            self.weigher.finish(row, verdict, facts_of(None, None, service=row.service), (row,))
        elif not row.conversations:
            await self._trace_without_id(row)
        elif self.plan.trace_runs:
            await self._turn(row)
        else:
            self.weigher.leave(row)

    async def _trace_without_id(self, row: TraceRow) -> None:
        """It is a conversation of its own, unless reading finds an id, or an earlier answer that it goes on from."""
        read = await self.weigher.read((row.trace_id,))
        ids = read.ids_of_trace(row.trace_id)
        conversation = next(iter(read.conversations), None)
        head = self.chains.head(read.goes_on_from)
        if ids and self.belongs_elsewhere(row.trace_id, ids):
            self.weigher.look_again(row, None)
        elif ids:
            await self._found_ids(row, ids)
        elif head is not None and head != row.trace_id:
            self.chains.remember(conversation.response_id if conversation is not None else None, head)
            await self._found_chain(row, head)
        else:
            self.chains.remember(conversation.response_id if conversation is not None else None, row.trace_id)
            self.weigher.weigh(row, self.plan.runs, read, conversation, (row,))

    async def _found_ids(self, row: TraceRow, ids: Sequence[str]) -> None:
        """From now on a trace is part of these conversations."""
        await asyncio.wrap_future(self._move(row.trace_id, ids))
        fresh = self.store.progress.trace(row.trace_id)
        if fresh is not None and fresh.last_s == row.last_s:
            await self._complete_trace(fresh)

    async def _found_chain(self, row: TraceRow, head: str) -> None:
        """A trace goes on from an answer in another one: both are turns of one conversation, which goes by the first one's id."""
        first = self.store.progress.trace(head) if is_trace_id(head) else None
        if first is not None and head not in first.conversations:
            await asyncio.wrap_future(self._move(head, (head,)))
        await self._found_ids(row, (head,))

    async def _turn(self, row: TraceRow) -> None:
        """A turn of a conversation that goes on: metrics that run at traces, on the conversation so far."""
        earlier = so_far(self.store, row)
        cut = self._cut(earlier)
        if cut is not None:
            self.weigher.finish(row, cut, facts_of(None, None, service=row.service), (row,))
            return
        read = await self.weigher.read([t.trace_id for t in earlier])
        self.weigher.weigh(row, self.plan.trace_runs, read, read.of_id(row.conversations[0]), (row,))

    def _left_out_by_id(self, conversations: Sequence[str]) -> Settled | None:
        """What the rate leaves out by the id alone need not be read."""
        if len(conversations) != 1 or not self.plan.decides_by_id:
            return None
        return settled(UnitOutcome.SAMPLED_OUT) if is_left_out(self.plan, self.plan.runs, conversations[0]) else None

    async def _conversation(self, row: ConversationRow, now_s: float) -> None:
        weigher = self.weigher
        weigher.counts.conversations += 1
        due = conversation_due(_conversation_seen(row), self.plan.limits, now_s)
        if due.state is not ConversationState.CLOSED:
            weigher.look_again(row, due.at_s)
            return
        traces = self.store.progress.traces(row.traces)
        if self._is_told(row) or not traces:
            weigher.leave_with_traces(row, traces, ENOUGH)
        else:
            await self._close(row, traces)

    async def _close(self, row: ConversationRow, traces: Sequence[TraceRow]) -> None:
        """A conversation is over, for now."""
        verdict = self._left_out_by_id((row.id,)) or self._verdict_of_traces(traces)
        if verdict is not None:
            self.weigher.finish(row, verdict, facts_of(None, None, service=service_of(traces)), traces)
            return
        read = await self.weigher.read(row.traces)
        conversation = read.of_id(row.id)
        if conversation is None and self._relinked(row, read):
            return
        self.weigher.weigh(row, self.plan.closing_runs, read, conversation, traces)

    def _verdict_of_traces(self, traces: Sequence[TraceRow]) -> Settled | None:
        """The outcome of a conversation none of whose traces is to be read, or one of which may be half of one."""
        verdicts = [self._of_row(trace) for trace in traces]
        return self._cut(traces) or (verdicts[-1] if all(v is not None for v in verdicts) else None)

    def _cut(self, traces: Sequence[TraceRow]) -> Settled | None:
        """The verdict on the first trace that replicas may have cut in two."""
        verdicts = (self._of_row(trace) for trace in traces)
        return next((v for v in verdicts if v is not None and v.reason == "replicas_changed"), None)

    def _of_row(self, row: TraceRow) -> Settled | None:
        may_be_cut = self.replicas is not None and self.replicas.may_have_cut(row.start_ns, row.end_ns)
        return of_row(row, score_fragments=self.plan.score_fragments, may_be_cut=may_be_cut)

    def _relinked(self, row: ConversationRow, read: Read) -> bool:
        """Reading found other ids than arrival did: the traces move to their conversations. Whether any did."""
        moved = {trace: ids for trace in row.traces if (ids := read.ids_of_trace(trace))}
        for trace, ids in moved.items():
            self._move(trace, ids)
        return bool(moved)

    def _move(self, trace_id: str, conversations: Sequence[str]) -> "Future[None]":
        """Hang a trace on these conversations, which are looked at at once."""
        return self.weigher.write(lambda: self.store.progress.set_conversations(trace_id, conversations, due_s=self.store.now_s()))

    def _is_told(self, row: Row) -> bool:
        """Whether all that came is in a revision, or there were enough of them."""
        is_known = row.scored_s is not None and row.last_s <= row.scored_s
        return is_known or (row.revision > 0 and not may_revise(row.revision, self.plan.limits))


def is_trace_id(text: str) -> bool:
    """Whether a conversation's key is the trace that it began in, for want of an id."""
    return len(text) == 32 and all(c in "0123456789abcdef" for c in text)


def _trace_seen(row: TraceRow) -> TraceSeen:
    return TraceSeen(first_s=row.first_s, last_s=row.last_s, root_ended=not is_fragment(row), scored_s=row.scored_s, revision=row.revision)


def _conversation_seen(row: ConversationRow) -> ConversationSeen:
    return ConversationSeen(
        first_s=row.first_s,
        last_s=row.last_s,
        end_marked=row.end_marked,
        waiting_traces=row.waiting_traces,
        scored_s=row.scored_s,
        revision=row.revision,
    )
