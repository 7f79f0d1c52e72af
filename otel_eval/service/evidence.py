"""Batches gathered: spans once, log records with the spans whose ids they carry, whatever the order and however often they came."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from otel_eval.dialects.session_logs import event_name_of, spans_from_session_logs
from otel_eval.model import Batch, LogRecord, Span


@dataclass(slots=True, kw_only=True)
class Gathered:
    """What came in. `add` batches, then iterate `items`."""

    spans: dict[tuple[str, str], Span] = field(default_factory=dict)
    conflicts: int = 0
    """Spans that came twice with different content; the one that ended later is kept."""
    repeated: int = 0
    loose_logs: int = 0
    """Log records without trace and span id and without the events of a session: nothing to join them by."""
    _session_logs: list[LogRecord] = field(default_factory=list)
    _logs: dict[tuple[str, str], list[tuple[tuple[object, ...], LogRecord]]] = field(default_factory=lambda: defaultdict(list))
    _log_counts: Counter[tuple[object, ...]] = field(default_factory=Counter)

    def add(self, batch: Batch) -> None:
        """Take in one batch."""
        for span in batch.spans:
            key = (span.trace_id, span.span_id)
            known = self.spans.setdefault(key, span)
            if known is not span:
                self._settle(key, known, span)
        if batch.logs:
            self._add_logs(batch.logs)

    def _settle(self, key: tuple[str, str], known: Span, span: Span) -> None:
        if known == span:
            self.repeated += 1
            return
        self.conflicts += 1
        self.spans[key] = max(known, span, key=lambda s: (s.end_ns or 0, len(s.attributes), len(s.events), repr(s)))

    def _add_logs(self, logs: tuple[LogRecord, ...]) -> None:
        """A record that a batch holds n times is kept n times, however many batches repeat it."""
        here: Counter[tuple[object, ...]] = Counter()
        for record in logs:
            if record.trace_id is None or record.span_id is None:
                if event_name_of(record):
                    self._session_logs.append(record)
                else:
                    self.loose_logs += 1
                continue
            key = (record.trace_id, record.span_id)
            same = (*key, record.event_name, record.time_ns, record.observed_ns, repr(record.body), repr(record.attributes))
            here[same] += 1
            if here[same] > self._log_counts[same]:
                self._log_counts[same] += 1
                self._logs[key].append((same, record))
            else:
                self.repeated += 1

    def items(self) -> Iterator[tuple[Span, tuple[LogRecord, ...]]]:
        """Every span with its log records in order of time; records whose span never came stand on an empty span of their ids.

        The events of a session that came as log records without ids (coding agents) follow as the spans of its turns.
        """
        for key, span in self.spans.items():
            yield span, self._records(key)
        for key in self._logs:
            if key not in self.spans:
                records = self._records(key)
                times = [t for r in records if (t := r.time_ns or r.observed_ns)]
                yield Span(trace_id=key[0], span_id=key[1], start_ns=min(times, default=None), end_ns=max(times, default=None)), records
        if self._session_logs:
            joined = (record for listed in self._logs.values() for _, record in listed)
            for span in spans_from_session_logs([*joined, *self._session_logs], self.spans.values()):
                yield span, ()

    def _records(self, key: tuple[str, str]) -> tuple[LogRecord, ...]:
        listed = self._logs.get(key)
        if not listed:
            return ()
        return tuple(r for _, r in sorted(listed, key=lambda f: (f[1].time_ns or f[1].observed_ns or 0, f[1].order)))
