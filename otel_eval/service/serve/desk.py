"""What was read a moment ago and is about to be scored: it need not be read twice. A cache of little, and of nothing that matters."""

from collections import OrderedDict
from dataclasses import dataclass, field

from otel_eval.model import Conversation
from otel_eval.service.serve.reading import Read
from otel_eval.store import TraceRow, Unit

MOST_UNITS, MOST_SPANS = 64, 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OnDesk:
    """A read, the conversation in it that the unit's facts were taken from, and the traces that the unit is made of."""

    read: Read
    conversation: Conversation
    traces: tuple[TraceRow, ...]


@dataclass(slots=True)
class Desk:
    """The latest reads by unit, each with the arrival that it knows."""

    _reads: "OrderedDict[Unit, tuple[float, OnDesk]]" = field(default_factory=OrderedDict)
    _spans: int = 0

    def put(self, unit: Unit, seen_s: float, found: OnDesk) -> None:
        self.take(unit, seen_s)
        self._reads[unit] = seen_s, found
        self._spans += found.read.spans
        while len(self._reads) > MOST_UNITS or (self._spans > MOST_SPANS and len(self._reads) > 1):
            _, (_, oldest) = self._reads.popitem(last=False)
            self._spans -= oldest.read.spans

    def take(self, unit: Unit, seen_s: float) -> OnDesk | None:
        """The read of a unit, if nothing came since; it is gone from here then."""
        found = self._reads.pop(unit, None)
        if found is None:
            return None
        self._spans -= found[1].read.spans
        return found[1] if found[0] >= seen_s else None
