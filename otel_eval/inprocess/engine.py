"""What runs in the worker's thread: spans from the application's side of the fence, whole traces into the store, and behind it the same
parts as in `otel-eval serve`."""

import asyncio
import logging
import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from otel_eval.dialects import BUILTIN
from otel_eval.errors import OtelEvalError
from otel_eval.inprocess.bodies import PLAIN, batch_from_body, otlp_bodies, plain_body
from otel_eval.inprocess.box import Box
from otel_eval.inprocess.fates import Fate, Fates
from otel_eval.inprocess.gathering import Gatherer, Waiting, trace_id_of
from otel_eval.inprocess.recipe import Recipe
from otel_eval.inprocess.standing import StandingThreads
from otel_eval.inprocess.values import batch_from_sdk
from otel_eval.model import Report, UnitOutcome
from otel_eval.otlp.receive.envelope import Envelope
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.service.serve.building import books_of
from otel_eval.service.serve.judgement import settled
from otel_eval.service.serve.keeping import Keeper, keys_of_dialects
from otel_eval.service.serve.lifecycle import Parts, parts_of
from otel_eval.service.serve.reading import TraceReader
from otel_eval.service.serve.scorer import set_scoring
from otel_eval.service.serve.weighing import poked
from otel_eval.sinks.base import OutboxSink
from otel_eval.store import Finished, NewRequest, Store

TICK_S = 0.1
"""So often the box is emptied: no span waits longer, and an idle application is woken ten times a second, for microseconds."""
_FLUSH_TICK_S = 0.01
_MOST_AT_ONCE = 5_000
_AGAIN_S, _PATIENCE = 1.0, 30
"""A trace that the store does not take is offered again after a second, so often."""
_MOST_TRACES_AT_ONCE = 64
_KNOWN_TRACES = 4096
_MOST_CONVERSATIONS = 100_000

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Flush:
    """Somebody waits until all that is complete is scored and sent. `closing` takes every conversation for over."""

    done: "Future[None]" = field(default_factory=Future)
    closing: bool = False


@dataclass(slots=True, kw_only=True)
class Engine:
    """The gathering and, for one event loop at a time, the parts of a scorer."""

    recipe: Recipe
    box: Box
    fates: Fates
    sinks: Callable[[], dict[str, OutboxSink]]
    on_reports: Callable[[Sequence[Report]], None]
    gatherer: Gatherer
    store: Store | None = None
    trouble: str = ""
    """Why there is no store, or why it took nothing the last time; empty where all is well."""
    flushes: list[Flush] = field(default_factory=list)
    stopping: bool = False
    faults: "Counter[str]" = field(default_factory=Counter)
    handed_over: int = 0
    moving: set[int] = field(default_factory=set)
    """Traces on their way into the store."""
    parts: Parts | None = None
    _wake: asyncio.Event | None = None
    _loop: asyncio.AbstractEventLoop | None = None
    _envelopes: EnvelopeReader = field(default_factory=lambda: EnvelopeReader(keys_of_dialects(BUILTIN)))
    _known: "OrderedDict[int, None]" = field(default_factory=OrderedDict)

    async def run(self, *, within_s: Callable[[], float]) -> None:
        """Work until told to stop; then end in order, in the time that is left."""
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        self.parts = self._parts()
        self.trouble = ""
        self.parts.start()
        while not self.stopping:
            await self._round(self.parts)
            await self._pause(_FLUSH_TICK_S if self.flushes else TICK_S)
        await self.parts.stop(within_s=within_s(), keep_store=self.recipe.is_in_memory)
        self._answer()

    def wake(self) -> None:
        """From any thread: look at once."""
        loop, event = self._loop, self._wake
        if loop is not None and event is not None and not loop.is_closed():
            loop.call_soon_threadsafe(event.set)

    def _parts(self) -> Parts:
        store = self.store = self.store or self.recipe.open_store()
        plan = self.recipe.plan_of_store()
        reader = TraceReader(store, batch_of=batch_from_body, looks_for_parents=False)
        parts = parts_of(
            store, plan, self.recipe.make_judge(books_of(store)), self.sinks(), executor=StandingThreads("otel-eval read", 1), reader=reader
        )
        set_scoring(parts, self.recipe.config)
        parts.worker.rater.on_scored = lambda work, reports: self.on_reports(reports)
        return parts

    async def _pause(self, seconds: float) -> None:
        assert self._wake is not None
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _round(self, parts: Parts) -> None:
        """Empty the box, hand over what is complete, and tell who waits."""
        self.take()
        ready = self.gatherer.ready(time.monotonic(), at_once=bool(self.flushes))
        for start in range(0, len(ready), _MOST_TRACES_AT_ONCE):
            part = ready[start : start + _MOST_TRACES_AT_ONCE]
            await asyncio.gather(*(self._hand_over(parts.store, trace) for trace in part))
        if any(flush.closing for flush in self.flushes) and not self.box.items and not self.gatherer.holds_whole():
            self._close_conversations(parts)
        if self.flushes and self._is_done(parts):
            self._answer()

    def take(self) -> None:
        """What the application left, to its traces."""
        now_s, items = time.monotonic(), self.box.items
        for _ in range(min(len(items), _MOST_AT_ONCE)):
            self.gatherer.take(items[0], now_s)
            items.popleft()  # only now: whoever asks for its trace finds it in one place or the other
        for trace in self.gatherer.beyond():
            self.fates.put(trace.id, Fate(outcome=UnitOutcome.FRAGMENT, reason="buffer_full", detail="`max_pending_bytes` was reached"))

    async def _hand_over(self, store: Store, trace: Waiting) -> None:
        """One trace into the store, or to its fate."""
        self.moving.add(trace.trace_id)
        try:
            await self._move(store, trace)
        finally:
            self.moving.discard(trace.trace_id)

    async def _move(self, store: Store, trace: Waiting) -> None:
        lost = self.box.lost.pop(trace.trace_id, 0)
        if lost:
            self.fates.put(trace.id, lost_spans(lost))
            return
        try:
            requests = self._requests(trace)
            for request in requests:
                await asyncio.wrap_future(store.put_request(request))
            self.trouble = ""
        except OtelEvalError as fault:
            self._not_taken(trace, fault)
            return
        except Exception as fault:  # a span that cannot be read must not keep the others from being scored
            name = type(fault).__name__
            self.faults[name] += 1
            self.fates.put(trace.id, Fate(outcome=UnitOutcome.NOT_UNDERSTOOD, reason="reader_error", detail=f"reading it raised {name}"))
            return
        if requests:
            self._remember(trace.trace_id)
            self.fates.forget(trace.id)
            self.handed_over += 1

    def _requests(self, trace: Waiting) -> list[NewRequest]:
        """What is to be kept of a trace; nothing of one that tells of no agent, unless it is the rest of one that does."""
        batch = batch_from_sdk(trace.spans, trace.logs)
        envelope = self._envelopes.of_batch(batch)
        if not any(t.is_genai or t.own_spans for t in envelope.traces) and trace.trace_id not in self._known:
            self.fates.put(trace.id, Fate(outcome=UnitOutcome.NO_GENAI_CONTENT, detail=f"{len(trace.spans)} spans ended"))
            return []
        if self.recipe.is_in_memory:
            return [self._request("traces", PLAIN, plain_body(batch), envelope, trace)]
        traces, logs = otlp_bodies(trace.spans, trace.logs)
        found = []
        if logs is not None:
            request = self._request("logs", "protobuf", logs, self._envelopes.of_batch(replace(batch, spans=())), trace, root=False)
            found.append(request if traces is None else _not_due(request))
        if traces is not None:
            found.append(self._request("traces", "protobuf", traces, self._envelopes.of_batch(replace(batch, logs=())), trace))
        return found

    def _request(self, signal: str, encoding: str, body: bytes, envelope: Envelope, trace: Waiting, *, root: bool = True) -> NewRequest:
        """`root_ended` is what this process knows: the caller of a span that came from elsewhere is not waited for."""
        assert self.parts is not None
        traces = tuple(replace(t, root_ended=root and trace.root_ended) for t in envelope.traces)
        keeper = Keeper(self.parts.store, self.parts.looker.plan.limits)
        return NewRequest(signal=signal, encoding=encoding, body=body, arrivals=keeper.arrivals(replace(envelope, traces=traces)))

    def _not_taken(self, trace: Waiting, fault: OtelEvalError) -> None:
        """The store is full or in trouble: the trace waits a while for it."""
        self.faults[type(fault).__name__] += 1
        if self.trouble != str(fault):
            self.trouble = str(fault)
            _log.warning("a trace could not be kept for scoring: %s", fault)
        if trace.tries < _PATIENCE:
            self.gatherer.give_back(trace, time.monotonic(), _AGAIN_S)
        else:
            self.fates.put(trace.id, Fate(outcome=UnitOutcome.EXPIRED, reason="store_unavailable", detail=str(fault)))

    def _remember(self, trace_id: int) -> None:
        self._known[trace_id] = None
        self._known.move_to_end(trace_id)
        while len(self._known) > _KNOWN_TRACES:
            self._known.popitem(last=False)

    def _close_conversations(self, parts: Parts) -> None:
        """The process ends and its memory with it: what was said so far is all there will be."""
        weigher = parts.looker.weigher
        if weigher.plan.limits.conversation_idle_s:
            weigher.plan = replace(weigher.plan, limits=replace(weigher.plan.limits, conversation_idle_s=0.0))
            open_ones = [c.id for c in parts.store.progress.due_conversations(math.inf, limit=_MOST_CONVERSATIONS)]
            parts.store.progress.look_again(poked(parts.store, open_ones))

    def _is_done(self, parts: Parts) -> bool:
        """Whether nothing is left of what was complete: not here, not in the store, not on its way to a sink."""
        if self.box.items or self.gatherer.holds_whole():
            return False
        store, closing = parts.store, any(flush.closing for flush in self.flushes)
        due_s = store.progress.next_due_s()
        if due_s is not None and (closing or due_s <= store.now_s()):
            return False
        return store.queues.is_empty and not any(depth.waiting for depth in store.outbox.depths().values())

    def _answer(self) -> None:
        flushes, self.flushes = self.flushes, []
        for flush in flushes:
            if flush.done.set_running_or_notify_cancel():
                flush.done.set_result(None)

    def crashed(self, fault: BaseException) -> None:
        """The loop was torn down by an error that nothing catches: units that were being scored have that as their outcome."""
        name = type(fault).__name__
        self.faults[name] += 1
        if self.store is None:
            return
        if self.parts is not None:
            self.parts.executor.shutdown()
        verdict = settled(UnitOutcome.NOT_UNDERSTOOD, "scorer_error", f"scoring it raised {name}")
        for work in self.store.queues.claimed():
            done = Finished(
                unit=work.unit,
                revision=work.revision,
                seen_s=work.seen_s,
                outcome=verdict.outcome.value,
                reason=verdict.reason,
                detail=verdict.detail,
                facts=work.facts,
            )
            self.store.queues.finish(done).result()

    def is_on_its_way(self, trace_id: int) -> bool:
        """Whether something of a trace has ended and is not in the store yet."""
        if trace_id in self.moving or self.gatherer.get(trace_id) is not None:
            return True
        return any(trace_id_of(item) == trace_id for item in self.box.items.copy())

    def status(self) -> dict[str, Any]:
        """Numbers for people."""
        parts = self.parts
        return {
            "traces_open": len(self.gatherer),
            "pending_bytes": self.gatherer.size_bytes,
            "handed_over": self.handed_over,
            "trouble": self.trouble or None,
            "faults": dict(self.faults + (parts.looker.weigher.counts.faults + parts.worker.counts.faults if parts else Counter())),
            "scored": dict(parts.worker.counts.scored) if parts else {},
            "outcomes": self._outcomes(),
        }

    def _outcomes(self) -> list[dict[str, Any]]:
        """Units by outcome, as far as the store can be asked."""
        if self.store is None:
            return []
        try:
            return [asdict(count) for count in self.store.records.outcome_counts()]
        except OtelEvalError:
            return []


def _not_due(request: NewRequest) -> NewRequest:
    """A request after which nobody looks yet: another one of the same traces is right behind it."""
    return replace(request, arrivals=tuple(replace(a, due_s=None, conversation_due_s=None) for a in request.arrivals))


def lost_spans(count: int) -> Fate:
    """The fate of a trace of which spans were lost: the rest would be judged as if it were all."""
    return Fate(outcome=UnitOutcome.FRAGMENT, reason="queue_full", detail=f"{count} of its spans found `max_queue` reached")
