"""The seams of a sink: a place where reports go."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from otel_eval.model import Report


@runtime_checkable
class Sink(Protocol):
    """Takes reports, one at a time. Raises `errors.SinkError` when one could not be written; `retryable` says whether trying again helps.

    At least once is promised, not exactly once: a far side knows a result again by its id.
    """

    async def write(self, report: Report) -> None: ...


@runtime_checkable
class OutboxSink(Protocol):
    """A sink that an outbox feeds: what it is to get is made once, kept on disk, and sent as it is until the far side has it."""

    def payload(self, report: Report) -> bytes | None:
        """What of a report is to be sent; None where it says nothing to this far side."""

    async def send(self, payloads: Sequence[bytes]) -> str:
        """Send these as one; what the far side remarked, never content.

        Raises `errors.SinkError` when none of them arrived for sure; `retryable` says whether trying again helps.
        """
