"""Which conversations look like failures: rule v2, without a model, from what can be counted.

The score of a conversation is where its length stands among those of its service (0 to 1; only once enough were seen), plus 1 if the last
tool call failed, plus 0.5 each for any failed tool call, any empty result, a user who repeats himself, and an end without an answer. Strong
loops (three or more identical calls, one tool six times in a row) are reasons of their own. No words of apology, refusal or frustration,
and no weights that were learnt elsewhere: they do not carry over.

**Source**: research on 862 runs of τ-bench agents: within a service AUC 0.68, the top fifth holds 1.7 times the base share of failures.
"""

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.signals.talk import UNANSWERED_TURN, USER_REPETITION
from otel_eval.metrics.signals.tools import EMPTY_RESULTS, LAST_CALL_FAILED, LONGEST_TOOL_RUN, REPEATED_CALLS, TOOL_ERROR_RATE
from otel_eval.model import Conversation, Score

LEAST_SEEN = 100
"""So many conversations of a service must have been seen before its lengths say anything."""
WINDOW = 1000
"""So many of the latest count."""
MOST_SERVICES = 500
"""Of so many services lengths are remembered: senders may make up names without end."""

_RULES: Mapping[str, tuple[float, Callable[[MetricInput], bool]]] = {
    "last_call_failed": (1.0, lambda given: _value(LAST_CALL_FAILED.measure(given)) > 0),
    "tool_errors": (0.5, lambda given: _value(TOOL_ERROR_RATE.measure(given)) > 0),
    "empty_results": (0.5, lambda given: _value(EMPTY_RESULTS.measure(given)) > 0),
    "user_repeats": (0.5, lambda given: _value(USER_REPETITION.measure(given)) > 0),
    "unanswered_end": (0.5, lambda given: _value(UNANSWERED_TURN.measure(given)) > 0),
    "repeated_calls": (0.5, lambda given: _value(REPEATED_CALLS.measure(given)) >= 2),
    "long_tool_run": (0.5, lambda given: _value(LONGEST_TOOL_RUN.measure(given)) >= 6),
}
"""Flag → what it adds, and when it is up. Two repetitions are three identical calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """How much a conversation looks like a failure, and why."""

    score: float
    flags: tuple[str, ...] = ()
    length: int = 0
    percentile: float | None = None
    """Where its length stands in its service; None before enough were seen."""


def flags_of(conversation: Conversation) -> tuple[str, ...]:
    """The flags that are up."""
    given = MetricInput(conversation=conversation)
    return tuple(name for name, (_, is_up) in _RULES.items() if is_up(given)) if conversation.messages else ()


def _value(outcome: object) -> float:
    """The value of a signal; what could not be measured raises no flag."""
    return outcome.value if isinstance(outcome, Score) else 0.0


@dataclass(slots=True)
class Rolling:
    """The latest numbers, in order of size too."""

    size: int = WINDOW
    _latest: deque[float] = field(default_factory=deque)
    _sorted: list[float] = field(default_factory=list)

    def add(self, value: float) -> None:
        self._latest.append(value)
        insort(self._sorted, value)
        if len(self._latest) > self.size:
            oldest = self._latest.popleft()
            del self._sorted[bisect_left(self._sorted, oldest)]

    def __len__(self) -> int:
        return len(self._latest)

    def percentile(self, value: float) -> float:
        """Share of the numbers that are smaller, those of the same size counted half; 0.5 where there are none."""
        if not self._sorted:
            return 0.5
        below, upto = bisect_left(self._sorted, value), bisect_right(self._sorted, value)
        return (below + upto) / 2 / len(self._sorted)


@dataclass(slots=True)
class Triage:
    """Looks at one conversation after the other and says which of those that the rate left out are worth a judge's time.

    The share is kept exactly: each conversation judged for the estimate brings credit for `share / (1 - share)` of triage. Among those left
    out the most suspicious are taken: as many as the credit of late allows.
    """

    share: float
    _lengths: "OrderedDict[str, Rolling]" = field(default_factory=OrderedDict)
    _scores: Rolling = field(default_factory=Rolling)
    _credit: float = 0.0
    _estimated: int = 0
    _left_out: int = 0

    def pass_by(self, conversation: Conversation, service: str | None) -> None:
        """One that is judged anyway, or never: only its length counts, for those that come after it."""
        self._lengths_of(service).add(len(conversation.messages))

    def look(self, conversation: Conversation, service: str | None) -> Suspicion:
        """The suspicion of a conversation. Its length counts for those that come after it."""
        length = len(conversation.messages)
        lengths = self._lengths_of(service)
        percentile = lengths.percentile(length) if len(lengths) >= LEAST_SEEN else None
        lengths.add(length)
        flags = flags_of(conversation)
        score = (percentile or 0.0) + sum(_RULES[flag][0] for flag in flags)
        return Suspicion(score=score, flags=flags, length=length, percentile=percentile)

    def _lengths_of(self, service: str | None) -> Rolling:
        """The latest lengths of a service; of the services, those that were seen last."""
        name = service or ""
        lengths = self._lengths.setdefault(name, Rolling())
        self._lengths.move_to_end(name)
        if len(self._lengths) > MOST_SERVICES:
            self._lengths.popitem(last=False)
        return lengths

    def estimated(self) -> None:
        """One more is judged for the estimate."""
        self._estimated += 1
        if self.share < 1.0:
            self._credit = min(self._credit + self.share / (1.0 - self.share), 50.0)

    def reason(self, suspicion: Suspicion) -> str | None:
        """Why one that the rate left out is judged all the same; None where it is not."""
        self._left_out += 1
        rank = self._scores.percentile(suspicion.score)
        self._scores.add(suspicion.score)
        if self._credit < 1.0 or suspicion.score <= 0.0 or not self._is_among_the_worst(rank):
            return None
        self._credit -= 1.0
        return suspicion.flags[0] if suspicion.flags else "length"

    def _is_among_the_worst(self, rank: float) -> bool:
        """Whether a rank is within the share of the left out that there is credit for; at first any suspicion will do."""
        if len(self._scores) < LEAST_SEEN:
            return True
        wanted = self._estimated * self.share / (1.0 - self.share) / max(self._left_out, 1) if self.share < 1.0 else 1.0
        return rank >= 1.0 - wanted
