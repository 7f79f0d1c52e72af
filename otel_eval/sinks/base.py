"""The seam of a sink: a place where reports go."""

from typing import Protocol, runtime_checkable

from otel_eval.model import Report


@runtime_checkable
class Sink(Protocol):
    """Takes reports, one at a time. Raises `errors.SinkError` when one could not be written; `retryable` says whether trying again helps.

    At least once is promised, not exactly once: a far side knows a result again by its id.
    """

    async def write(self, report: Report) -> None: ...
