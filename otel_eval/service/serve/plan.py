"""What is to be run on which unit, and with what probability: pure, from the configuration and what a conversation is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from otel_eval.completion import CompletionLimits
from otel_eval.model import Conversation
from otel_eval.sampling import UNKNOWN, Decision, Rules, Upstream, decide, is_kept, randomness_of
from otel_eval.scoring import MetricRun
from otel_eval.service.references import NO_REFERENCES, References
from otel_eval.service.topics import NO_TOPICS, Topics
from otel_eval.store import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A metric with when it runs, on what share, and whether on what only looks like a failure."""

    run: MetricRun
    rate: float = 1.0
    at_trace: bool = False
    triage: bool = True

    @property
    def name(self) -> str:
        return self.run.metric.card.name

    @property
    def asks_judge(self) -> bool:
        return "judge" in self.run.metric.card.needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that decides what becomes of a unit. `rules.rate` is the rate of metrics without one of their own."""

    runs: Sequence[PlannedRun]
    rules: Rules = field(default_factory=Rules)
    limits: CompletionLimits = field(default_factory=CompletionLimits)
    references: References = NO_REFERENCES
    topics: Topics = NO_TOPICS
    late_window_s: float = 3600.0
    score_fragments: bool = False
    trusts_tracestate: bool = True
    """Whether a threshold in a tracestate is the probability of what came before us."""

    @property
    def trace_runs(self) -> tuple[PlannedRun, ...]:
        """What runs at each trace of a conversation that goes on."""
        return tuple(run for run in self.runs if run.at_trace)

    @property
    def closing_runs(self) -> tuple[PlannedRun, ...]:
        """What runs once a conversation is over."""
        return tuple(run for run in self.runs if not run.at_trace)

    @property
    def decides_by_id(self) -> bool:
        """Whether a conversation's id alone says that it is left out, so that it need not be read."""
        r = self.rules
        reads = r.agents or r.services or r.attributes or r.min_turns or r.only_errors or r.always_keep or r.triage_share > 0
        return not reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Metrics that run on a unit with one probability; a report each."""

    names: tuple[str, ...]
    probability: float | None
    selected_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What selection came to: the groups to run, or none and the reason why."""

    groups: tuple[Group, ...] = ()
    queue: Queue = "estimate"
    reason: str = ""
    probability: float | None = None
    upstream_probability: float | None = None


def is_left_out(plan: Plan, runs: Iterable[PlannedRun], conversation_id: str) -> bool:
    """Whether every metric's rate leaves a conversation out, as far as its id says."""
    randomness = randomness_of(conversation_id, "", plan.rules.salt)
    return not any(is_kept(randomness, run.rate) for run in runs)


def select(
    plan: Plan,
    runs: Sequence[PlannedRun],
    conversation: Conversation,
    *,
    service: str | None = None,
    upstream: Upstream = UNKNOWN,
    triage_reason: str | None = None,
) -> Selected:
    """Which metrics run on a unit. Metrics of different rates keep subsets of each other; what no rate keeps may be triage."""
    if not runs:
        return Selected(reason="no_metrics")
    decisions = {rate: _decide(plan, rate, conversation, service, upstream) for rate in sorted({run.rate for run in runs}, reverse=True)}
    widest = next(iter(decisions.values()))
    if widest.queue is None and widest.reason != "sampled_out":
        return Selected(reason=widest.reason, upstream_probability=widest.upstream_probability)
    groups = [_group(runs, rate, decision) for rate, decision in decisions.items() if decision.queue is not None]
    kept = {name for group in groups for name in group.names}
    left = tuple(run.name for run in runs if run.name not in kept and run.triage)
    if triage_reason is not None and left:
        groups.append(Group(names=left, probability=1.0, selected_by="triage"))
    if not groups:
        return Selected(reason="sampled_out", probability=widest.probability, upstream_probability=widest.upstream_probability)
    is_triage = any(group.selected_by == "triage" for group in groups)
    return Selected(
        groups=tuple(groups),
        queue="triage" if is_triage else "estimate",
        reason=triage_reason if is_triage and triage_reason is not None else widest.reason,
        probability=groups[-1].probability,
        upstream_probability=widest.upstream_probability,
    )


def _decide(plan: Plan, rate: float, conversation: Conversation, service: str | None, upstream: Upstream) -> Decision:
    return decide(conversation, replace(plan.rules, rate=rate), service=service, upstream=upstream)


def _group(runs: Sequence[PlannedRun], rate: float, decision: Decision) -> Group:
    names = tuple(run.name for run in runs if run.rate == rate and (run.triage or decision.queue != "triage"))
    return Group(names=names, probability=decision.probability, selected_by=decision.queue or "")
