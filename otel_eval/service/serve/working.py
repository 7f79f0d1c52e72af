"""Scores what waits: claims units in turn from two queues, runs their metrics, commits results, outcome and what sinks are to get as one.

A unit whose judge cannot be asked just now goes back to its place and is tried again until the patience is over; what the judge answered
before is in the verdict cache and costs nothing then.
"""

import asyncio
import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any

from otel_eval.judges.base import Judge
from otel_eval.model import Conversation, Failed, FailReason, JudgeUse, Report, Result, Score, UnitOutcome
from otel_eval.scoring import Part, Settings, score_conversation
from otel_eval.service.serve.desk import Desk
from otel_eval.service.serve.judgement import facts_of, of_read, settled
from otel_eval.service.serve.looking import finish_with_traces
from otel_eval.service.serve.plan import Group, Plan
from otel_eval.service.serve.reading import Read, read_traces
from otel_eval.sinks.base import OutboxSink
from otel_eval.sinks.jsonl import object_from_result
from otel_eval.store import Finished, Outgoing, Queue, ResultRow, Store, TraceRow, Work

AGAIN = frozenset(
    {
        FailReason.JUDGE_UNAVAILABLE,
        FailReason.JUDGE_TIMEOUT,
        FailReason.JUDGE_RATE_LIMITED,
        FailReason.JUDGE_QUOTA,
        FailReason.JUDGE_AUTH,
        FailReason.JUDGE_MISCONFIGURED,
    }
)
"""Reasons that lie with the endpoint, not with the conversation."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 30.0
_IDLE_S = 0.5


@dataclass(slots=True, kw_only=True)
class WorkCounts:
    """What was done, for instruments."""

    scored: "Counter[str]" = field(default_factory=Counter)
    """Units by queue."""
    given_back: int = 0
    faults: "Counter[str]" = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class Worker:
    """Claims and scores, `concurrency` units at a time."""

    store: Store
    plan: Plan
    judge: Judge | None
    sinks: Mapping[str, OutboxSink]
    desk: Desk
    executor: Executor
    deadline_s: float = 120.0
    record_tokens: int = 24_000
    concurrency: int = 16
    patience_s: float = 900.0
    on_letters: Callable[[], None] = lambda: None
    on_scored: Callable[[Work, Sequence[Report]], None] = lambda work, reports: None
    counts: WorkCounts = field(default_factory=WorkCounts)
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    held_until: float = 0.0
    """Moment of `time.monotonic` until which nothing is claimed, since the judge cannot be asked."""
    _pause_s: float = _FIRST_PAUSE_S
    _running: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def run(self, stopping: asyncio.Event) -> None:
        """Work until told to stop; then what is begun is finished."""
        try:
            while not stopping.is_set():
                claimed = await self._claim()
                for work in claimed:
                    task = asyncio.create_task(self._guarded(work))
                    self._running.add(task)
                    task.add_done_callback(self._done)
                if not claimed or len(self._running) >= self.concurrency:
                    await self._idle(stopping)
        finally:
            await self._drain()

    async def _claim(self) -> Sequence[Work]:
        free = self.concurrency - len(self._running)
        if free <= 0 or time.monotonic() < self.held_until:
            return ()
        depths = self.store.queues.depths()
        queue = next_queue({q: d.waiting for q, d in depths.items()}, self.counts.scored, self.plan.rules.triage_share)
        if queue is None:
            return ()
        return await asyncio.wrap_future(self.store.queues.claim(queue, limit=1 if queue == "triage" else max(1, free)))

    async def _idle(self, stopping: asyncio.Event) -> None:
        self.wake.clear()
        waits = [asyncio.ensure_future(self.wake.wait()), asyncio.ensure_future(stopping.wait())]
        try:
            await asyncio.wait(waits, timeout=_IDLE_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        self.wake.set()

    async def _drain(self) -> None:
        if self._running:
            await asyncio.wait(set(self._running))

    async def _guarded(self, work: Work) -> None:
        """One unit. What goes wrong in it is counted, and the unit waits again."""
        try:
            await self._score(work)
        except Exception as fault:  # the worker must go on, whatever one unit holds
            self.counts.faults[type(fault).__name__] += 1
            self._hold()
            await asyncio.wrap_future(self.store.queues.give_back([work.unit]))

    async def _score(self, work: Work) -> None:
        traces = self._traces(work)
        read = self.desk.take(work.unit, work.seen_s) or await self._read(traces)
        conversation = _conversation_of(work, read)
        facts: dict[str, Any] = json.loads(work.facts)
        verdict = of_read(read, conversation)
        if conversation is None or verdict is not None:
            verdict = verdict or settled(UnitOutcome.NOT_UNDERSTOOD)
            await self._finish(work, traces, verdict.outcome, verdict.reason, verdict.detail, facts, ())
            return
        facts |= facts_of(read, conversation)
        reports = [await self._report(work, conversation, group, facts) for group in _groups(facts)]
        if self._must_wait(work, reports):
            self.counts.given_back += 1
            await asyncio.wrap_future(self.store.queues.give_back([work.unit]))
            return
        self._pause_s = _FIRST_PAUSE_S
        facts["judge"] = _use_of(reports)
        self.counts.scored[work.queue] += 1
        await self._finish(work, traces, UnitOutcome.SCORED, "", _scored_detail(reports), facts, reports)

    async def _report(self, work: Work, conversation: Conversation, group: Group, facts: Mapping[str, Any]) -> Report:
        runs = [planned.run for planned in self.plan.runs if planned.name in group.names]
        reference, _ = self.plan.references.of(conversation)
        if self.plan.topics and not reference.topics:
            reference = replace(reference, topics=self.plan.topics)
        settings = Settings(
            secret=self.secret,
            deadline_s=self.deadline_s,
            record_tokens=self.record_tokens,
            sampling_probability=group.probability,
            selected_by=group.selected_by,
            upstream_probability=facts.get("upstream_probability"),
        )
        part = _part(work, conversation) if facts.get("is_part") else _whole_chain(work, conversation)
        return await score_conversation(conversation, reference, runs, self.judge, settings, revision=work.revision, part=part)

    def _must_wait(self, work: Work, reports: Iterable[Report]) -> bool:
        """Whether a judge could not be asked, and may be in time."""
        failed = {r.outcome.error_type for report in reports for r in report.results if isinstance(r.outcome, Failed)}
        if not failed & AGAIN:
            return False
        self._hold()
        return self.store.now_s() - work.since_s < self.patience_s

    def _hold(self) -> None:
        """Ask for nothing more for a while, longer each time."""
        now = time.monotonic()
        if now >= self.held_until:
            self.held_until = now + self._pause_s
            self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    async def _finish(
        self,
        work: Work,
        traces: Sequence[TraceRow],
        outcome: UnitOutcome,
        reason: str,
        detail: str,
        facts: Mapping[str, Any],
        reports: Sequence[Report],
    ) -> None:
        is_part = bool(facts.get("is_part"))
        done = Finished(
            unit=work.unit,
            revision=work.revision,
            seen_s=work.seen_s,
            outcome=outcome.value,
            reason=reason,
            detail=detail,
            probability=work.probability,
            selected_by=work.selected_by,
            facts=json.dumps(facts, ensure_ascii=False, default=str),
            results=tuple(_row(report, result) for report in reports for result in report.results),
            outgoing=tuple(self._outgoing(reports)),
            release=() if is_part else tuple(t.trace_id for t in traces),
            release_at_s=self.store.now_s() + self.plan.late_window_s,
        )
        writes: list[Future[Any]] = finish_with_traces(self.store, done, traces)
        for write in writes:
            await asyncio.wrap_future(write)
        self.on_letters()
        if reports:
            self.on_scored(work, reports)

    def _outgoing(self, reports: Sequence[Report]) -> Iterable[Outgoing]:
        for name, sink in self.sinks.items():
            for report in reports:
                payload = sink.payload(report)
                if payload is not None:
                    yield Outgoing(sink=name, payload=payload)

    def _traces(self, work: Work) -> list[TraceRow]:
        """The traces of a unit as they stand, before they are read."""
        ids: Sequence[str] = (work.unit.key,)
        if work.unit.kind == "conversation":
            row = self.store.progress.conversation(work.unit.key)
            ids = row.traces if row is not None else ()
        elif json.loads(work.facts).get("is_part"):
            own = self.store.progress.trace(work.unit.key)
            row = self.store.progress.conversation(own.conversations[0]) if own is not None and own.conversations else None
            ids = row.traces if row is not None else ids
        return [t for t in map(self.store.progress.trace, ids) if t is not None]

    async def _read(self, traces: Sequence[TraceRow]) -> Read:
        ids = [t.trace_id for t in traces]
        return await asyncio.get_running_loop().run_in_executor(self.executor, read_traces, self.store, ids)


def next_queue(waiting: Mapping[Queue, int], scored: Mapping[str, int], share: float) -> Queue | None:
    """The queue to take from: triage while it lags behind its share of what was scored, else the estimate; the other where one is empty."""
    estimate, triage = waiting.get("estimate", 0), waiting.get("triage", 0)
    if not estimate and not triage:
        return None
    if not estimate or not triage:
        return "estimate" if estimate else "triage"
    total = scored.get("estimate", 0) + scored.get("triage", 0)
    return "triage" if scored.get("triage", 0) < share * (total + 1) - 1e-9 else "estimate"


def _conversation_of(work: Work, read: Read) -> Conversation | None:
    if work.unit.kind == "conversation":
        return read.of_id(work.unit.key)
    own = [c for c in read.conversations if work.unit.key in c.trace_ids]
    return next(iter(own), None)


def _groups(facts: Mapping[str, Any]) -> list[Group]:
    return [Group(names=tuple(names), probability=p, selected_by=by) for names, p, by in facts.get("groups", ())]


def _whole_chain(work: Work, conversation: Conversation) -> Part | None:
    """A conversation without id that went on in other traces: its first trace was scored by itself, under the id that both have."""
    if work.unit.kind == "trace" or conversation.id is not None:
        return None
    return Part(key=f"chain:{conversation.key}", turns=range(len(conversation.turns)))


def _part(work: Work, conversation: Conversation) -> Part:
    """The turns of one trace in a conversation that goes on."""
    places = [i for i, turn in enumerate(conversation.turns) if work.unit.key in turn.trace_ids]
    turns = range(places[0], places[-1] + 1) if places else range(0)
    return Part(key=f"trace:{work.unit.key}:{conversation.key}", turns=turns)


def _row(report: Report, result: Result) -> ResultRow:
    told = object_from_result(report, result)
    outcome = told["outcome"]
    reason = str(told.get("reason") or told.get("error_type") or "")
    return ResultRow(
        id=result.id, metric=result.metric, outcome=outcome, reason=reason, data=json.dumps(told, ensure_ascii=False, default=str)
    )


def _use_of(reports: Iterable[Report]) -> dict[str, Any]:
    """What judging took: sums of what is known."""
    uses = [
        r.outcome.judge
        for report in reports
        for r in report.results
        if isinstance(r.outcome, Score | Failed) and isinstance(r.outcome.judge, JudgeUse)
    ]
    costs = [use.cost_usd for use in uses if use.cost_usd is not None]
    return {
        "calls": sum(use.calls for use in uses),
        "input_tokens": sum(use.input_tokens or 0 for use in uses),
        "output_tokens": sum(use.output_tokens or 0 for use in uses),
        "cost_usd": sum(costs) if costs else None,
        "models": sorted({use.model for use in uses if use.model}),
        "kinds": sorted({use.kind for use in uses}),
    }


def _scored_detail(reports: Sequence[Report]) -> str:
    counts = Counter(type(r.outcome).__name__.lower() for report in reports for r in report.results)
    return ", ".join(f"{counts[name]} {word}" for name, word in (("score", "scores"), ("skipped", "skipped"), ("failed", "failed")))
