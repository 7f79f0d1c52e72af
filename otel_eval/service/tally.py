"""What came out of many results, counted: means beside the numbers of those that have no score, by reason."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from otel_eval.model import Failed, JudgeUse, Report, Score, Skipped


@dataclass(slots=True, kw_only=True)
class MetricTally:
    """One metric over many conversations."""

    values: list[float] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    @property
    def mean(self) -> float | None:
        return sum(self.values) / len(self.values) if self.values else None


@dataclass(slots=True, kw_only=True)
class Tally:
    """All metrics, in the order they were first seen, and what judging took."""

    metrics: dict[str, MetricTally] = field(default_factory=lambda: defaultdict(MetricTally))
    conversations: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    def add(self, report: Report) -> None:
        self.conversations += 1
        for result in report.results:
            tally, outcome = self.metrics[result.metric], result.outcome
            if isinstance(outcome, Score):
                tally.values.append(outcome.value)
            elif isinstance(outcome, Skipped):
                tally.skipped[outcome.reason.value] += 1
            else:
                tally.failed[outcome.error_type.value] += 1
            judge = outcome.judge if isinstance(outcome, Score | Failed) else None
            if judge is not None:
                self._add_use(judge)

    def _add_use(self, use: JudgeUse) -> None:
        self.calls += use.calls
        self.input_tokens += use.input_tokens or 0
        self.output_tokens += use.output_tokens or 0
        if use.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + use.cost_usd

    def lines(self) -> Iterator[str]:
        """A sentence for each metric, then one for the cost."""
        for name, tally in self.metrics.items():
            yield f"{name}: {_mean(tally)}{_reasons('skipped', tally.skipped)}{_reasons('failed', tally.failed)}"
        if self.calls:
            cost = "" if self.cost_usd is None else f", {self.cost_usd:.4f} USD"
            yield f"judge: {self.calls} calls, {self.input_tokens:,} tokens in, {self.output_tokens:,} out{cost}"


def _mean(tally: MetricTally) -> str:
    return "no score" if tally.mean is None else f"mean {tally.mean:.3f} of {len(tally.values)}"


def _reasons(word: str, counts: Counter[str]) -> str:
    if not counts:
        return ""
    named = ", ".join(f"{reason} {count}" for reason, count in counts.most_common())
    return f"; {word} {counts.total()} ({named})"
