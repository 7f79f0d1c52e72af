"""How the scorer is doing: for pages, for the terminal view and for its own metrics."""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from otel_eval.judges.base import Judge
from otel_eval.judges.breaker import BreakerJudge
from otel_eval.model import Failed, Report, Score
from otel_eval.otlp.receive.intake import IntakeCounts
from otel_eval.service.serve.looking import Looker
from otel_eval.service.serve.plan import Plan
from otel_eval.service.serve.rating import use_of
from otel_eval.service.serve.sending import Sender
from otel_eval.service.serve.working import Worker
from otel_eval.store import Store, Work
from otel_eval.telemetry import Meter, Point

MOST_RECENT = 50
REFUSALS_TOLD_S = 60.0
"""At most so often each reason for refusing requests is told in the log: a sender that is set up wrongly tries again and again."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class State:
    """The parts as others may look at them."""

    store: Store
    plan: Plan
    looker: Looker
    worker: Worker
    senders: tuple[Sender, ...]
    judge: Judge | None
    judge_kind: str
    judge_model: str | None = None
    meter: Meter
    version: str = ""
    bound: Mapping[str, str] = field(default_factory=dict)
    """Receivers by name and where they listen; empty before they do."""
    expected: frozenset[str] = frozenset()
    """Receivers that must listen."""
    further: Callable[[], Mapping[str, Any]] = dict
    """What else `/status` tells."""
    measure: Callable[[], None] = lambda: None
    """Sets further instruments, before they are told."""
    is_bound: Callable[[], bool] = lambda: False
    """Whether what must listen does, though no address is known."""
    intake: IntakeCounts | None = None
    """What came in; None where nothing does."""
    stopping: bool = False
    recent: "deque[dict[str, Any]]" = field(default_factory=lambda: deque(maxlen=MOST_RECENT))
    """The latest scored conversations: ids and numbers, newest first."""
    spent: dict[str, float] = field(default_factory=lambda: {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0})
    """What judging took since the start, as far as it is known."""
    began: float = field(default_factory=time.monotonic)
    clock: Callable[[], float] = time.monotonic
    _refusals_told: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By reason: when it was last told in the log, and how many there were then."""

    def refused(self, name: str) -> None:
        """A request was refused, by an error of this class: it is counted, and told where that was not done for a while."""
        self.meter.add("otel_eval.received", 1, {"otel_eval.answer": name})
        if self.intake is None:
            return
        self.intake.refused[name] += 1
        now, times = self.clock(), self.intake.refused[name]
        told_at, told = self._refusals_told.get(name, (float("-inf"), 0))
        if now - told_at >= REFUSALS_TOLD_S:
            self._refusals_told[name] = now, times
            _log.warning("refused %d requests: %s; the answer tells their sender why, /status counts them", times - told, name)

    def missing(self) -> list[str]:
        """Why requests should go elsewhere; empty when ready. A judge that is down is no reason: what comes is kept for it."""
        unbound = () if self.is_bound() else sorted(self.expected - set(self.bound))
        missing = [f"{name} is not listening" for name in unbound]
        if self.stopping:
            missing.append("it is being stopped")
        if self.store.trouble is not None:
            missing.append(str(self.store.trouble))
        elif self.store.is_full:
            missing.append("the store is above its high mark: see store.max_bytes")
        return missing

    def status(self) -> dict[str, Any]:
        """Everything in numbers."""
        now_s = self.store.now_s()
        info = self.store.info()
        return {
            "version": self.version,
            "uptime_s": round(time.monotonic() - self.began, 1),
            "ready": not self.missing(),
            "missing": self.missing(),
            "listening": dict(self.bound),
            "store": {
                "path": info.place,
                "used_bytes": info.used_bytes,
                "max_bytes": info.max_bytes,
                "requests": info.bodies,
                "request_bytes": info.body_bytes,
                "traces": info.traces,
                "conversations": info.conversations,
                "trouble": str(self.store.trouble) if self.store.trouble else None,
            },
            "received": _counts(self.intake) if self.intake is not None else {},
            "queues": {name: _depth(d.waiting, d.oldest_s, now_s) for name, d in info.work.items()},
            "outbox": {name: _depth(d.waiting, d.oldest_s, now_s) for name, d in info.outbox.items()},
            "dead_letters": info.dead_letters,
            "judge": self.judge_state(),
            "spent": dict(self.spent),
            "sinks": {s.name: {"sent": s.sent, "retried": s.retried, "dead": s.dead, "trouble": s.trouble or None} for s in self.senders},
            "scored": dict(self.worker.counts.scored),
            "given_back": self.worker.counts.given_back,
            "looked_at": {name: value for name, value in _counts(self.looker.weigher.counts).items() if name != "faults"},
            "faults": dict(self.looker.weigher.counts.faults + self.worker.counts.faults),
            "metrics": [run.name for run in self.plan.runs],
            "outcomes": self.outcomes(),
            **self.further(),
        }

    def judge_state(self) -> dict[str, Any]:
        """Whether the judge can be asked."""
        breaker = breaker_of(self.judge)
        held_s = max(0.0, self.worker.held_until - time.monotonic())
        return {
            "kind": self.judge_kind,
            "model": self.judge_model,
            "not_asked_since": breaker.reason if breaker is not None else None,
            "held_s": round(held_s, 1),
        }

    def outcomes(self) -> list[dict[str, Any]]:
        return [asdict(count) for count in self.store.records.outcome_counts()]

    def saw(self, work: Work, reports: Sequence[Report]) -> None:
        """Remember a scored unit, and measure its lag."""
        if not reports:
            return
        lag_s = max(0.0, self.store.now_s() - work.seen_s)
        for name, value in use_of(reports).items():
            if name in self.spent and value is not None:
                self.spent[name] += value
        self.meter.record("otel_eval.lag", lag_s, {"otel_eval.unit": work.unit.kind, "otel_eval.selected_by": work.selected_by})
        for report in reports:
            self._remember(report)

    def _remember(self, report: Report) -> None:
        scores = {r.metric: _short(r.outcome) for r in report.results}
        c = report.conversation
        self.recent.appendleft({"conversation": c.key, "agent": c.agent, "at_ns": report.time_ns, "turns": len(c.turns), "scores": scores})

    def points(self) -> dict[str, tuple[Point, ...]]:
        """Own instruments as they stand."""
        self._gauge()
        self.measure()
        return self.meter.points()

    def _gauge(self) -> None:
        meter, now_s = self.meter, self.store.now_s()
        for name in ("otel_eval.units", "otel_eval.outbox.depth", "otel_eval.outbox.age"):
            meter.clear(name)
        for count in self.store.records.outcome_counts():
            told = {"otel_eval.unit": count.kind, "otel_eval.outcome": count.outcome, "otel_eval.reason": count.reason or None}
            meter.set("otel_eval.units", count.units, told)
        for queue, depth in self.store.queues.depths().items():
            meter.set("otel_eval.queue.depth", depth.waiting, {"otel_eval.queue": queue})
            meter.set("otel_eval.queue.age", now_s - depth.oldest_s if depth.oldest_s else 0.0, {"otel_eval.queue": queue})
        for sink, depth in self.store.outbox.depths().items():
            meter.set("otel_eval.outbox.depth", depth.waiting, {"otel_eval.sink": sink})
            meter.set("otel_eval.outbox.age", now_s - depth.oldest_s if depth.oldest_s else 0.0, {"otel_eval.sink": sink})
        for sender in self.senders:
            for word, value in (("sent", sender.sent), ("retried", sender.retried), ("dead", sender.dead)):
                meter.set("otel_eval.sent", value, {"otel_eval.sink": sender.name, "otel_eval.answer": word})
        meter.set("otel_eval.store.used", self.store.used_bytes)
        meter.set("otel_eval.store.commits", self.store.counts.commits)
        meter.set("otel_eval.late", self.looker.weigher.counts.late_after_release)
        if self.intake is not None:
            self._gauge_intake(self.intake)
        for place, faults in self._faults():
            for name, times in faults.items():
                meter.set("otel_eval.faults", times, {"otel_eval.place": place, "error.type": name})

    def _gauge_intake(self, counts: IntakeCounts) -> None:
        meter = self.meter
        for signal, times in counts.requests.items():
            meter.set("otel_eval.received", times, {"otel_eval.signal": signal, "otel_eval.answer": "taken"})
        for signal, items in counts.items.items():
            meter.set("otel_eval.received.items", items, {"otel_eval.signal": signal, "otel_eval.item": "kept"})
            meter.set("otel_eval.received.items", counts.own[signal], {"otel_eval.signal": signal, "otel_eval.item": "evaluator"})
        meter.set("otel_eval.received.items", counts.rejected.total(), {"otel_eval.item": "rejected"})

    def _faults(self) -> Iterator[tuple[str, Mapping[str, int]]]:
        yield "look", self.looker.weigher.counts.faults
        yield "score", self.worker.counts.faults
        yield "store", self.store.counts.faults
        for sender in self.senders:
            yield f"sink {sender.name}", sender.faults


def breaker_of(judge: Any) -> BreakerJudge | None:
    """The breaker in a chain of judges that hold judges."""
    while judge is not None and not isinstance(judge, BreakerJudge):
        judges = getattr(judge, "judges", None)
        judge = judges[0] if judges else getattr(judge, "judge", None)
    return judge


def _short(outcome: Any) -> Any:
    if isinstance(outcome, Score):
        return outcome.value
    return outcome.error_type.value if isinstance(outcome, Failed) else outcome.reason.value


def _counts(counted: Any) -> dict[str, Any]:
    """The fields of counts, counters as plain objects."""
    found = {field.name: getattr(counted, field.name) for field in fields(counted)}
    return {name: dict(value) if isinstance(value, Counter) else value for name, value in found.items()}


def _depth(waiting: int, oldest_s: float | None, now_s: float) -> dict[str, Any]:
    return {"waiting": waiting, "oldest_s": None if oldest_s is None else round(max(0.0, now_s - oldest_s), 1)}
