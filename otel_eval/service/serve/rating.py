"""One selected unit: read, its metrics run, and everything that came of it committed as one."""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any

from otel_eval.judges.base import Judge
from otel_eval.model import Conversation, Failed, JudgeUse, Report, Result, Score, UnitOutcome
from otel_eval.scoring import Part, Settings, score_conversation
from otel_eval.service.serve.desk import Desk
from otel_eval.service.serve.judgement import Settled, content_hash, facts_of, of_read, settled
from otel_eval.service.serve.plan import Group, Plan
from otel_eval.service.serve.reading import Read, TraceReader
from otel_eval.service.serve.weighing import all_written, finish_with_traces, is_over, poked, so_far
from otel_eval.sinks.base import OutboxSink
from otel_eval.sinks.jsonl import object_from_result
from otel_eval.store import Finished, Outgoing, ResultRow, Store, TraceRow, Unit, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What came of a unit, not committed yet: reports, or an outcome without any."""

    verdict: Settled
    reports: tuple[Report, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    traces: tuple[TraceRow, ...] = ()

    @property
    def failures(self) -> frozenset[str]:
        """Why metrics have no value that apply."""
        outcomes = (result.outcome for report in self.reports for result in report.results)
        return frozenset(outcome.error_type.value for outcome in outcomes if isinstance(outcome, Failed))


@dataclass(slots=True, kw_only=True)
class Rater:
    """Rates units. Plan and judge may change while it runs."""

    store: Store
    plan: Plan
    judge: Judge | None
    sinks: Mapping[str, OutboxSink]
    desk: Desk
    reader: TraceReader
    executor: Executor
    deadline_s: float = 120.0
    record_tokens: int = 24_000
    on_letters: Callable[[], None] = lambda: None
    """Told when there is something in the outbox."""
    on_scored: Callable[[Work, Sequence[Report]], None] = lambda work, reports: None
    is_ours: Callable[[Unit], bool] = lambda unit: True
    """Whether a unit that was rated is still to be committed: it may have become another worker's meanwhile."""
    ids_from_content: bool = False
    """Whether ids of results are made from what was said and not from the number of the revision: who scores the same from the
    beginning, without knowing what another scored before, gives the same ids."""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    async def rate(self, work: Work) -> Rated:
        """Run the metrics that a unit was selected for."""
        told: dict[str, Any] = json.loads(work.facts)
        on_desk = self.desk.take(work.unit, work.seen_s)
        is_known = on_desk is not None and not told.get("is_part")  # nothing came since: the traces are as they were
        traces = on_desk.traces if on_desk is not None and is_known else self._traces(work, told)
        read = on_desk.read if on_desk is not None else await self._read(traces)
        conversation = _conversation_of(work, read)
        verdict = of_read(read, conversation, traces, score_fragments=self.plan.score_fragments)
        if conversation is None or verdict is not None:
            return Rated(verdict=verdict or settled(UnitOutcome.NOT_UNDERSTOOD), facts=told, traces=traces)
        is_told = on_desk is not None and on_desk.conversation is conversation  # then its facts are those that it was selected with
        facts = told if is_told else told | facts_of(read, conversation)
        if missing := self._missing(traces):
            facts["missing_traces"] = missing
        reports = tuple([await self._report(work, conversation, group, facts) for group in _groups(facts)])
        detail = _detail(reports, facts)
        return Rated(
            verdict=Settled(outcome=UnitOutcome.SCORED, detail=detail),
            reports=reports,
            facts=facts | {"judge": use_of(reports)},
            traces=traces,
        )

    async def commit(self, work: Work, rated: Rated) -> None:
        """Outcome, results and what sinks are to get, on disk together; then others are told."""
        if not self.is_ours(work.unit):
            return
        is_part = bool(rated.facts.get("is_part"))
        done = Finished(
            unit=work.unit,
            revision=work.revision,
            seen_s=work.seen_s,
            outcome=rated.verdict.outcome.value,
            reason=rated.verdict.reason,
            detail=rated.verdict.detail,
            probability=work.probability,
            selected_by=work.selected_by,
            facts=json.dumps(rated.facts, ensure_ascii=False, default=str),
            results=tuple(_row(report, result) for report in rated.reports for result in report.results),
            outgoing=tuple(self._outgoing(rated.reports)),
            release=() if is_part else tuple(t.trace_id for t in rated.traces),
            release_at_s=self.store.now_s() + self.plan.late_window_s,
        )
        writes: list[Future[Any]] = []
        if work.unit.kind == "trace" and (own := self.store.progress.trace(work.unit.key)) is not None and own.conversations:
            writes.append(self.store.progress.look_again(poked(self.store, own.conversations)))
        writes.append(finish_with_traces(self.store, done, () if is_part else rated.traces))
        await all_written(writes)
        self.on_letters()
        self.on_scored(work, rated.reports)

    async def _report(self, work: Work, conversation: Conversation, group: Group, facts: Mapping[str, Any]) -> Report:
        runs = [planned.run for planned in self.plan.runs if planned.name in group.names]
        reference, _ = self.plan.references.of(conversation)
        reference = self.plan.topics.added_to(reference, conversation)
        settings = Settings(
            secret=self.secret,
            deadline_s=self.deadline_s,
            record_tokens=self.record_tokens,
            sampling_probability=group.probability,
            selected_by=group.selected_by,
            upstream_probability=facts.get("upstream_probability"),
            missing_traces=facts.get("missing_traces", 0),
        )
        part = _part(work, conversation, is_turn=bool(facts.get("is_part")))
        if self.ids_from_content:
            part = _by_content(part, conversation)
        return await score_conversation(conversation, reference, runs, self.judge, settings, revision=work.revision, part=part)

    def _outgoing(self, reports: Iterable[Report]) -> Iterable[Outgoing]:
        for report in reports:
            for name, sink in self.sinks.items():
                payload = sink.payload(report)
                if payload is not None:
                    yield Outgoing(sink=name, payload=payload)

    def _traces(self, work: Work, facts: Mapping[str, Any]) -> tuple[TraceRow, ...]:
        """The traces of a unit as they stand, before they are read; of a turn, those of its conversation so far."""
        progress = self.store.progress
        if work.unit.kind == "conversation":
            talk = progress.conversation(work.unit.key)
            return tuple(progress.traces(talk.traces if talk is not None else ()))
        own = progress.trace(work.unit.key)
        if own is None:
            return ()
        return so_far(self.store, own) if facts.get("is_part") else (own,)

    def _missing(self, traces: Iterable[TraceRow]) -> int:
        """Traces that are part of the conversation and can no longer be read."""
        return sum(t.released and not is_over(self.store.records.outcome(t.unit)) for t in traces)

    async def _read(self, traces: Sequence[TraceRow]) -> Read:
        ids = [t.trace_id for t in traces]
        return await asyncio.get_running_loop().run_in_executor(self.executor, self.reader.read, ids)


def _conversation_of(work: Work, read: Read) -> Conversation | None:
    if work.unit.kind == "conversation":
        return read.of_id(work.unit.key)
    return next((c for c in read.conversations if work.unit.key in c.trace_ids), None)


def _groups(facts: Mapping[str, Any]) -> list[Group]:
    return [Group(names=tuple(names), probability=p, selected_by=by) for names, p, by in facts.get("groups", ())]


def _part(work: Work, conversation: Conversation, *, is_turn: bool) -> Part | None:
    """What is scored, where that is not a conversation as a whole under its own id.

    A turn is one trace of a conversation that goes on. A conversation without an id that went on in other traces has its first trace's id,
    under which that one was scored by itself: its own results go by another.
    """
    if is_turn:
        places = [i for i, turn in enumerate(conversation.turns) if work.unit.key in turn.trace_ids]
        return Part(key=f"trace:{work.unit.key}:{conversation.key}", turns=range(places[0], places[-1] + 1) if places else range(0))
    if work.unit.kind == "conversation" and conversation.id is None:
        return Part(key=f"chain:{conversation.key}", turns=range(len(conversation.turns)))
    return None


def _by_content(part: Part | None, conversation: Conversation) -> Part:
    """The part that a unit is, or the conversation as a whole, under an id made from its content."""
    place = part or Part(key=conversation.key, turns=range(len(conversation.turns)))
    return replace(place, key=f"{place.key}:{content_hash(conversation)}", has_revisions=False)


def _row(report: Report, result: Result) -> ResultRow:
    told = object_from_result(report, result)
    return ResultRow(
        id=result.id,
        metric=result.metric,
        outcome=told["outcome"],
        reason=str(told.get("reason") or told.get("error_type") or ""),
        data=json.dumps(told, ensure_ascii=False, default=str),
    )


def use_of(reports: Iterable[Report]) -> dict[str, Any]:
    """What judging took: sums of what is known."""
    outcomes = [r.outcome for report in reports for r in report.results]
    uses = [o.judge for o in outcomes if isinstance(o, Score | Failed) and isinstance(o.judge, JudgeUse)]
    costs = [use.cost_usd for use in uses if use.cost_usd is not None]
    return {
        "calls": sum(use.calls for use in uses),
        "input_tokens": sum(use.input_tokens or 0 for use in uses),
        "output_tokens": sum(use.output_tokens or 0 for use in uses),
        "cost_usd": sum(costs) if costs else None,
        "models": sorted({use.model for use in uses if use.model}),
        "kinds": sorted({use.kind for use in uses}),
    }


def _detail(reports: Sequence[Report], facts: Mapping[str, Any]) -> str:
    missing = facts.get("missing_traces", 0)
    said = f"; {missing} earlier traces were no longer kept (`completion.late_window`)" if missing else ""
    return _counted(reports) + said


def _counted(reports: Sequence[Report]) -> str:
    counts = Counter(type(r.outcome).__name__.lower() for report in reports for r in report.results)
    return ", ".join(f"{counts[name]} {word}" for name, word in (("score", "scores"), ("skipped", "skipped"), ("failed", "failed")))
