"""What became of traces that no store knows of: those lost before it, told from memory."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_eval.model import UnitOutcome
from otel_eval.model.sentences import UNIT_SENTENCES

MOST = 10_000
"""Of the latest traces; counts go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """An outcome with why, in the words of the closed set."""

    outcome: UnitOutcome
    reason: str = ""
    detail: str = ""

    def told(self, trace_id: str) -> dict[str, Any]:
        """The same as `explain` tells of a unit of the store, as far as there is something to tell."""
        sentence = UNIT_SENTENCES[self.outcome]
        return {
            "kind": "trace",
            "id": trace_id,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "detail": f"{sentence} ({self.detail})" if self.detail else sentence,
            "results": [],
        }


class Fates:
    """By trace id. From any thread."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._by_trace: OrderedDict[str, Fate] = OrderedDict()
        self._counts: Counter[tuple[str, str]] = Counter()

    def put(self, trace_id: str, fate: Fate) -> None:
        """The latest counts: a trace that comes twice is counted once for each outcome it had."""
        with self._guard:
            if self._by_trace.pop(trace_id, None) != fate:
                self._counts[fate.outcome.value, fate.reason] += 1
            self._by_trace[trace_id] = fate
            while len(self._by_trace) > MOST:
                self._by_trace.popitem(last=False)

    def forget(self, trace_id: str) -> None:
        """It went on to the store after all."""
        with self._guard:
            self._by_trace.pop(trace_id, None)

    def get(self, trace_id: str) -> Fate | None:
        with self._guard:
            return self._by_trace.get(trace_id)

    def counts(self) -> Mapping[str, int]:
        """Traces by outcome and reason, `fragment.queue_full`, since the start."""
        with self._guard:
            return {".".join(filter(None, key)): count for key, count in sorted(self._counts.items())}
