"""What came out of many results, counted: means beside the numbers of those that have no score, by reason."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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

    @property
    def applied(self) -> int:
        """Results of conversations that the metric applies to."""
        return len(self.values) + self.failed.total()

    @property
    def failed_share(self) -> float:
        """The share of them that has no value."""
        return self.failed.total() / self.applied if self.applied else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the rate, where every value is 0 or 1."""
        if not self.values or any(v not in (0.0, 1.0) for v in self.values):
            return None
        return wilson_interval(sum(self.values), len(self.values))


@dataclass(slots=True, kw_only=True)
class Tally:
    """All metrics, in the order they were first seen, categories of checks, and what judging took."""

    metrics: dict[str, MetricTally] = field(default_factory=lambda: defaultdict(MetricTally))
    categories: dict[str, MetricTally] = field(default_factory=lambda: defaultdict(MetricTally))
    conversations: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    unpriced_calls: int = 0

    def add(self, report: Report) -> None:
        """The results of one conversation."""
        self.conversations += 1
        for result in report.results:
            outcome = result.outcome
            if isinstance(outcome, Score):
                self._add_value(result.metric, outcome.value, outcome.details.get("category"))
            elif isinstance(outcome, Skipped):
                self.metrics[result.metric].skipped[outcome.reason.value] += 1
            else:
                self.metrics[result.metric].failed[outcome.error_type.value] += 1
            judge = outcome.judge if isinstance(outcome, Score | Failed) else None
            if judge is not None:
                self._add_use(judge)

    def add_row(self, row: Mapping[str, Any]) -> None:
        """A result of an earlier run, as it stands in a file; what it took is not counted again."""
        if row["outcome"] == "score":
            self._add_value(row["metric"], row["value"], (row.get("details") or {}).get("category"))
        elif row["outcome"] == "skipped":
            self.metrics[row["metric"]].skipped[row["reason"]] += 1
        else:
            self.metrics[row["metric"]].failed[row["error_type"]] += 1

    def _add_value(self, metric: str, value: float, category: Any) -> None:
        self.metrics[metric].values.append(value)
        if category:
            self.categories[str(category)].values.append(value)

    def _add_use(self, use: JudgeUse) -> None:
        self.calls += use.calls
        self.input_tokens += use.input_tokens or 0
        self.output_tokens += use.output_tokens or 0
        if use.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + use.cost_usd
        elif use.kind == "model":
            self.unpriced_calls += use.calls

    @property
    def has_failures(self) -> bool:
        """Whether some metric that applied has no value."""
        return any(tally.failed for tally in self.metrics.values())

    def nothing_scored(self) -> str | None:
        """A sentence where no metric has a value on any conversation, with the reasons; None where there is one."""
        if any(tally.values for tally in self.metrics.values()):
            return None
        skipped, failed = Counter[str](), Counter[str]()
        for tally in self.metrics.values():
            skipped, failed = skipped + tally.skipped, failed + tally.failed
        reasons = f"{_reasons('failed', failed)}{_reasons('skipped', skipped)}".removeprefix("; ")
        return f"nothing was scored: {reasons or 'no metric was run'}"

    def lines(self) -> Iterator[str]:
        """A sentence for each metric and category, then one for the cost."""
        for name, tally in self.metrics.items():
            yield f"{name}: {_mean(tally)}{_reasons('skipped', tally.skipped)}{_reasons('failed', tally.failed)}"
        for name, tally in self.categories.items():
            yield f"category {name}: {_mean(tally)}"
        if self.calls:
            yield f"judge: {self.calls} calls, {self.input_tokens:,} tokens in, {self.output_tokens:,} out{self.cost_text()}"

    def cost_text(self) -> str:
        """The cost so far, where the price of every call is known."""
        return "" if self.cost_usd is None or self.unpriced_calls else f", {self.cost_usd:.4f} USD"


def wilson_interval(successes: float, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a rate. 8 of 10 give 0.490 to 0.943. **Source**: Wilson 1927."""
    p, z2 = successes / n, z * z
    middle, spread = p + z2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return max(0.0, (middle - spread) / (1 + z2 / n)), min(1.0, (middle + spread) / (1 + z2 / n))


def _mean(tally: MetricTally) -> str:
    if tally.mean is None:
        return "no score"
    interval = "" if tally.interval is None else " (95 % {:.2f} to {:.2f})".format(*tally.interval)
    return f"mean {tally.mean:.3f} of {len(tally.values)}{interval}"


def _reasons(word: str, counts: Counter[str]) -> str:
    if not counts:
        return ""
    named = ", ".join(f"{reason} {count}" for reason, count in counts.most_common())
    return f"; {word} {counts.total()} ({named})"
