"""Traces while they are going on: what ended so far, until the last of it has.

Driven by ends alone. A trace is ready once its root in this process has ended (or the application has said that the conversation is over)
and nothing came for a while; one that never ends is taken as it is, one that grows beyond the limits is given up whole: a part of it would
be judged as if it were all.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from opentelemetry.sdk._logs import ReadWriteLogRecord
from opentelemetry.sdk.trace import ReadableSpan

from otel_eval.otlp.receive.keys import END_MARK

Item: TypeAlias = ReadableSpan | ReadWriteLogRecord
_ITEM_BYTES = 500
"""Of a span beside its texts, roughly."""
_MOST_TRACES = 20_000


@dataclass(slots=True, kw_only=True)
class Waiting:
    """What ended of one trace."""

    trace_id: int
    first_s: float
    last_s: float
    spans: list[ReadableSpan] = field(default_factory=list)
    logs: list[ReadWriteLogRecord] = field(default_factory=list)
    root_ended: bool = False
    """Whether a span ended that has no parent in this process."""
    end_marked: bool = False
    size_bytes: int = 0
    tries: int = 0
    """How often the store did not take it."""

    @property
    def id(self) -> str:
        return f"{self.trace_id:032x}"

    @property
    def is_whole(self) -> bool:
        return self.root_ended or self.end_marked


@dataclass(slots=True, kw_only=True)
class Gatherer:
    """Takes what ended and gives out traces. For one thread."""

    quiet_s: float
    max_age_s: float
    max_bytes: int
    size_bytes: int = 0
    _waiting: "OrderedDict[int, Waiting]" = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self._waiting)

    def get(self, trace_id: int) -> Waiting | None:
        return self._waiting.get(trace_id)

    def take(self, item: Item, now_s: float) -> None:
        """Add one to its trace."""
        trace = self._of(trace_id_of(item), now_s)
        trace.last_s = now_s
        size = _size_of(item)
        trace.size_bytes += size
        self.size_bytes += size
        if not isinstance(item, ReadableSpan):
            trace.logs.append(item)
            return
        trace.spans.append(item)
        parent = item.parent
        if parent is None or parent.is_remote:
            trace.root_ended = True
        if item.attributes and item.attributes.get(END_MARK):
            trace.end_marked = True

    def give_back(self, trace: Waiting, now_s: float, again_s: float) -> None:
        """The store did not take it: it waits, and what came meanwhile joins it."""
        trace.tries += 1
        trace.last_s = now_s + again_s - self.quiet_s
        newer = self._waiting.pop(trace.trace_id, None)
        if newer is not None:
            trace.spans += newer.spans
            trace.logs += newer.logs
            trace.root_ended = trace.root_ended or newer.root_ended
            trace.end_marked = trace.end_marked or newer.end_marked
            trace.size_bytes += newer.size_bytes
            self.size_bytes -= newer.size_bytes
        self._waiting[trace.trace_id] = trace
        self.size_bytes += trace.size_bytes

    def ready(self, now_s: float, *, at_once: bool = False) -> list[Waiting]:
        """Traces that are complete, or too old to wait for; gone from here. `at_once` does not wait for silence."""
        found = [t for t in self._waiting.values() if self._is_due(t, now_s, at_once)]
        for trace in found:
            self._remove(trace)
        return found

    def beyond(self) -> Iterator[Waiting]:
        """Traces that the limits have no room for, the oldest first; gone from here."""
        while self._waiting and (self.size_bytes > self.max_bytes or len(self._waiting) > _MOST_TRACES):
            trace = next(iter(self._waiting.values()))
            self._remove(trace)
            yield trace

    def everything(self) -> list[Waiting]:
        """All that waits, complete or not; gone from here."""
        found = list(self._waiting.values())
        self._waiting.clear()
        self.size_bytes = 0
        return found

    def holds_whole(self) -> bool:
        """Whether a complete trace is waiting for silence or for the store."""
        return any(t.is_whole for t in self._waiting.values())

    def _of(self, trace_id: int, now_s: float) -> Waiting:
        trace = self._waiting.get(trace_id)
        if trace is None:
            trace = self._waiting[trace_id] = Waiting(trace_id=trace_id, first_s=now_s, last_s=now_s)
        return trace

    def _is_due(self, trace: Waiting, now_s: float, at_once: bool) -> bool:
        if trace.is_whole and (at_once or now_s - trace.last_s >= self.quiet_s):
            return True
        return now_s - trace.first_s >= self.max_age_s and (not trace.tries or now_s - trace.last_s >= self.quiet_s)

    def _remove(self, trace: Waiting) -> None:
        self._waiting.pop(trace.trace_id, None)
        self.size_bytes -= trace.size_bytes


def trace_id_of(item: Item) -> int:
    trace_id: int = item.context.trace_id if isinstance(item, ReadableSpan) else item.log_record.trace_id
    return trace_id


def _size_of(item: Any) -> int:
    """About how many bytes it keeps in memory: its texts, and something for the rest."""
    if isinstance(item, ReadableSpan):
        size = sum(len(v) for v in (item.attributes or {}).values() if type(v) is str)
        for event in item.events:
            size += _ITEM_BYTES + sum(len(v) for v in (event.attributes or {}).values() if type(v) is str)
        return size + _ITEM_BYTES
    log = item.log_record
    return _ITEM_BYTES + (len(log.body) if isinstance(log.body, str) else 0) + len(str(log.attributes or ""))
