"""`OnlineScorer`: scores an application's conversations inside its process.

    scorer = otel_eval.OnlineScorer()
    tracer_provider.add_span_processor(scorer)
    logger_provider.add_log_record_processor(scorer)     # where an instrumentation puts messages into log events

The application's threads only append to a bounded queue. Everything else takes place in one daemon thread, which is started with the first
span, and anew in a forked child.
"""

import atexit
import logging
import os
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from opentelemetry import metrics, trace
from opentelemetry._logs import LoggerProvider
from opentelemetry.context import Context
from opentelemetry.sdk._logs import LogRecordProcessor, ReadWriteLogRecord
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from otel_eval.api import Asked
from otel_eval.dialects import BUILTIN
from otel_eval.errors import ConfigError
from otel_eval.inprocess.box import Box
from otel_eval.inprocess.engine import Engine, lost_spans
from otel_eval.inprocess.fates import Fate, Fates
from otel_eval.inprocess.gathering import Gatherer
from otel_eval.inprocess.recipe import Configured, Judging, recipe_from
from otel_eval.inprocess.sinks import EventSink, MetricSink, SpanSink
from otel_eval.inprocess.worker import INSIDE, Worker
from otel_eval.model import Report, UnitOutcome
from otel_eval.otlp.receive.keys import Matcher
from otel_eval.quiet import quiet
from otel_eval.service.explain import explanation
from otel_eval.service.serve.building import here
from otel_eval.service.serve.keeping import keys_of_dialects
from otel_eval.sinks.base import OutboxSink
from otel_eval.sinks.result_events import SCOPE_NAME

T = TypeVar("T")

_log = logging.getLogger(__name__)

_MOST_OPEN_ROOTS = 10_000
_SHARE_FOR_END_S = 1.0
"""Of the time for a shutdown, what is kept for closing the store."""


class OnlineScorer(SpanProcessor, LogRecordProcessor):
    """A span processor and a log record processor for the providers of opentelemetry-sdk.

    `config` is that of `otel-eval serve` (a `Config`, a mapping, a file's path; None looks where `serve` does). `metrics` and `judge` are
    what `otel_eval.score` takes, in place of the configuration's. `store` is a file's path; without one everything is in memory and ends
    with the process. Providers are the global ones unless given. `on_report` is called with each `Report`, in the scorer's thread.
    ConfigError for whatever cannot work; after that nothing is ever raised into the application.
    """

    def __init__(
        self,
        config: Configured = None,
        *,
        metrics: Sequence[Asked] | None = None,
        judge: Judging = None,
        store: str | os.PathLike[str] | None = None,
        tracer_provider: trace.TracerProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        meter_provider: "metrics.MeterProvider | None" = None,
        on_report: Callable[[Report], Any] | None = None,
        max_queue: int = 8192,
        max_pending_bytes: int = 64 * 2**20,
        exit_timeout_s: float = 30.0,
    ) -> None:
        if on_report is not None and not callable(on_report):
            raise ConfigError(f"on_report is a {type(on_report).__name__}: expected a function that takes a Report")
        with quiet():
            self._recipe = recipe_from(config, metrics=metrics, judge=judge, store=store)
        self._providers = tracer_provider, logger_provider, meter_provider
        self._on_report = on_report
        self._max_queue, self._max_pending_bytes, self.exit_timeout_s = max_queue, max_pending_bytes, exit_timeout_s
        self._matcher = Matcher(keys_of_dialects(BUILTIN))
        self._begin()
        _at_exit(self)
        _at_fork(self)

    def _begin(self) -> None:
        """Everything that belongs to one process."""
        self._pid = os.getpid()
        self._is_shut = False
        self._faults = 0
        self._is_callback_told = False
        self._box, self._fates = Box(self._max_queue), Fates()
        self._roots: dict[int, weakref.ref[Span]] = {}
        limits = self._recipe.plan.limits
        gatherer = Gatherer(quiet_s=limits.trace_quiet_s, max_age_s=limits.trace_max_age_s, max_bytes=self._max_pending_bytes)
        engine = Engine(
            recipe=self._recipe,
            box=self._box,
            fates=self._fates,
            sinks=self._sinks,
            on_reports=self._tell,
            gatherer=gatherer,
        )
        self._worker = Worker(engine)
        self._is_started = False

    # what the application's threads do

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Remember a root: if it is still recording when its trace is scored, the results are added to it."""
        parent = span.parent
        if parent is not None and not parent.is_remote:
            return
        if not INSIDE.get() and span.context is not None and len(self._roots) < _MOST_OPEN_ROOTS:
            self._roots[span.context.trace_id] = weakref.ref(span)

    def on_end(self, span: ReadableSpan) -> None:
        """Put the span into the queue; count it where there is no room."""
        try:
            context, parent = span.context, span.parent
            if context is None or INSIDE.get():
                return
            if parent is None or parent.is_remote:
                self._roots.pop(context.trace_id, None)
            if context.trace_flags & 1:
                self._put(span, context.trace_id)
        except Exception:  # a scorer's fault is not the application's: it is counted
            self._faults += 1

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Put a log record into the queue that tells of a conversation."""
        try:
            record = log_record.log_record
            if record.trace_id and not INSIDE.get() and self._tells(log_record):
                self._put(log_record, record.trace_id)
        except Exception:  # a scorer's fault is not the application's: it is counted
            self._faults += 1

    def _put(self, item: Any, trace_id: int) -> None:
        box = self._box
        if self._is_shut or len(box.items) >= box.most:
            box.lose(trace_id)
            return
        box.items.append(item)
        if not self._is_started:
            self._start()

    def _tells(self, log_record: ReadWriteLogRecord) -> bool:
        """Whether a record is about GenAI, by its name, its attributes' names or its logger."""
        record, scope, matcher = log_record.log_record, log_record.instrumentation_scope, self._matcher
        name = scope.name if scope is not None else ""
        if name == SCOPE_NAME:
            return False
        if record.event_name and matcher.tells_genai_event(record.event_name):
            return True
        if name in matcher.log_scopes or (type(record.body) is str and matcher.tells_genai_event(record.body)):
            return True
        attributes = record.attributes or {}
        return matcher.shape(tuple(attributes)).is_genai or matcher.tells_genai_event(str(attributes.get("event.name", "")))

    def _start(self) -> None:
        self._worker.start()
        self._is_started = True

    # what the application asks for

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Score what is complete, at once; whether all of it was scored and sent in time.

        Complete are traces whose root has ended, and conversations that are over. Called where the scorer is at work it does nothing.
        """
        return self._guarded(lambda: self._flush(timeout_millis / 1000, closing=False), False)

    def shutdown(self, timeout_millis: int | None = None) -> None:
        """Score what is complete and end. In memory every conversation is over then; in a file it waits for the next start."""
        timeout_s = self.exit_timeout_s if timeout_millis is None else timeout_millis / 1000
        self._guarded(lambda: self._shutdown(timeout_s), None)

    def explain(self, any_id: str | int) -> list[dict[str, Any]]:
        """What became of a trace, a conversation or a result, and why: the same as `otel-eval explain ID --json` tells.

        Empty where the id is unknown.
        """
        name = f"{any_id:032x}" if isinstance(any_id, int) else any_id
        return self._guarded(lambda: self._explained(name), [])

    def status(self) -> dict[str, Any]:
        """How it is doing, in numbers."""
        told: dict[str, Any] = self._guarded(self._worker.engine.status, {})
        return {
            "queued": len(self._box.items),
            "dropped": self._box.dropped,
            "lost_traces": dict(self._fates.counts()),
            "callback_faults": self._faults,
            "running": self._worker.is_alive,
            **told,
        }

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        if INSIDE.get():
            return otherwise
        try:
            with quiet():
                return work()
        except Exception:  # a scorer's fault is not the application's: it is counted
            self._faults += 1
            return otherwise

    def _flush(self, timeout_s: float, *, closing: bool) -> bool:
        if self._is_shut or not self._is_started:
            return True
        return self._worker.flush(timeout_s, closing=closing)

    def _shutdown(self, timeout_s: float) -> None:
        if self._is_shut:
            return
        end = time.monotonic() + timeout_s
        if self._is_started:
            self._flush(timeout_s - min(_SHARE_FOR_END_S, timeout_s / 4), closing=self._recipe.is_in_memory)
        self._is_shut = True
        self._worker.end(end - time.monotonic())
        self._account_for_rest()

    def _account_for_rest(self) -> None:
        """What is not in a store when the process ends has that as its outcome."""
        engine = self._worker.engine
        engine.take()
        for trace_ in engine.gatherer.everything():
            if trace_.is_whole:
                self._fates.put(trace_.id, Fate(outcome=UnitOutcome.EXPIRED, reason="shutdown", detail=engine.trouble))
            else:
                self._fates.put(trace_.id, Fate(outcome=UnitOutcome.FRAGMENT, reason="no_root", detail="the process ended before its root"))

    def _explained(self, name: str) -> list[dict[str, Any]]:
        """From the store, else from what was lost before it, else from what is still going on."""
        engine = self._worker.engine
        store = engine.store
        records = store.records.find(name) if store is not None and (self._recipe.is_in_memory or not self._is_shut) else []
        told = [explanation(record, self._recipe.plan.limits, store.now_s()) for record in records] if store is not None else []
        if self._is_shut and self._recipe.is_in_memory:
            told = [{**unit, **_GIVEN_UP} if unit["outcome"] == UnitOutcome.PENDING.value else unit for unit in told]
        return told or self._told_without_store(name)

    def _told_without_store(self, name: str) -> list[dict[str, Any]]:
        number = _trace_number(name)
        if number is None:
            return []
        engine, fate = self._worker.engine, self._fates.get(name.lower())
        lost, waiting = self._box.lost.get(number), engine.gatherer.get(number)
        if fate is None and lost:
            fate = Fate(outcome=UnitOutcome.EXPIRED, reason="shutdown") if self._is_shut else lost_spans(lost)
        if fate is None and engine.is_on_its_way(number):
            is_open = waiting is not None and not waiting.is_whole
            reason = "root" if is_open else "silence" if waiting is not None else "scorer"
            fate = Fate(outcome=UnitOutcome.PENDING, reason=reason, detail=engine.trouble)
        return [fate.told(name.lower())] if fate is not None else []

    # what the worker is given

    def _sinks(self) -> dict[str, OutboxSink]:
        tracers, loggers, meters = self._providers
        version = here({}, self._recipe.config).version
        s = self._recipe.config.sinks
        found: dict[str, OutboxSink] = {}
        if s.otlp_events.enabled is not False:
            found["events"] = EventSink(loggers, version=version, recording=self._recording)
        if s.otlp_metrics.enabled is not False:
            found["metrics"] = MetricSink(meters, version=version)
        if s.otlp_spans.enabled and s.otlp_spans.endpoint is None:
            found["spans"] = SpanSink(tracers, version=version, inside=s.otlp_spans.inside)
        return {**found, **self._recipe.further_sinks()}

    def _recording(self, trace_id: str) -> Span | None:
        """The root span of a trace, while it is recording."""
        reference = self._roots.get(int(trace_id, 16)) if trace_id else None
        span = reference() if reference is not None else None
        return span if span is not None and span.is_recording() else None

    def _tell(self, reports: Sequence[Report]) -> None:
        if self._on_report is None:
            return
        for report in reports:
            try:
                self._on_report(report)
            except Exception as fault:  # the call of the application's own function
                self._worker.engine.faults[type(fault).__name__] += 1
                self._say_once(type(fault).__name__)

    def _say_once(self, name: str) -> None:
        """What the application's function raised, by class alone: its message may hold words of the conversation."""
        if not self._is_callback_told:
            self._is_callback_told = True
            _log.warning("on_report raised %s; what it raises later is only counted (`status()`, under faults)", name)

    def _forked(self) -> None:
        """In a forked child: the parent's spans, thread and store stay the parent's."""
        store = self._worker.engine.store
        was_shut = self._is_shut
        self._left_behind = self._worker  # what is not closed must not be collected either: SQLite would close it
        if store is not None:
            store.abandon()
        self._begin()
        self._is_shut = was_shut
        _at_exit(self)


_GIVEN_UP = {
    "outcome": UnitOutcome.EXPIRED.value,
    "reason": "shutdown",
    "detail": "The process ended before it was scored: give `shutdown` more time, or name a `store`.",
    "next": None,
}


def _trace_number(name: str) -> int | None:
    try:
        return int(name, 16) if len(name) == 32 else None
    except ValueError:
        return None


def _at_exit(scorer: OnlineScorer) -> None:
    """End it before the providers end, whose own handlers were registered earlier; a scorer that is gone needs nothing."""
    reference = weakref.ref(scorer)

    def end() -> None:
        found = reference()
        if found is not None and found._pid == os.getpid():
            found.shutdown()

    atexit.register(end)


def _at_fork(scorer: OnlineScorer) -> None:
    reference = weakref.ref(scorer)

    def begin_anew() -> None:
        found = reference()
        if found is not None:
            found._forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=begin_anew)
