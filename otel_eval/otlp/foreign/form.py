"""What a foreign form is, and where it puts what it reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from otel_eval.model import Batch, LogRecord, Span
from otel_eval.otlp.otlp_json import BROKEN, Rejected
from otel_eval.otlp.tally import Tally


class Found:
    """The spans and log records read so far, with the counts of what could not be."""

    __slots__ = ("has_read", "logs", "spans", "tally")

    def __init__(self, tally: Tally) -> None:
        self.spans: list[Span] = []
        self.logs: list[LogRecord] = []
        self.tally = tally
        self.has_read = False

    def each(self, items: Any, read: Callable[[Mapping[str, Any], "Found"], None]) -> None:
        """Read each item of a list; a broken one costs only itself (`malformed_span`)."""
        for item in items if isinstance(items, list) else [items]:
            spans, logs = len(self.spans), len(self.logs)
            try:
                read(item, self)
            except BROKEN as fault:
                del self.spans[spans:], self.logs[logs:]
                self.tally.reject(str(fault) if isinstance(fault, Rejected) else "malformed_span")

    def add_logs(self, records: Iterable[LogRecord]) -> None:
        """Add log records, numbered in the order they come."""
        self.logs.extend(replace(record, order=len(self.logs) + i) for i, record in enumerate(records))

    def batches(self) -> Iterator[Batch]:
        """All of it as one batch; none where nothing was read."""
        if self.has_read:
            yield Batch(spans=tuple(self.spans), logs=tuple(self.logs), rejected=self.tally.rejected, notes=self.tally.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form: `speaks` tells whether an object is in it, `read` adds its spans; `speaks` never raises, nor does `read` where it spoke."""

    name: str
    speaks: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], Found], None]
