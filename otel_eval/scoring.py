"""Runs metrics on conversations. What goes wrong becomes a value here: a report always comes, with one result for each metric.

Metrics of one conversation that ask the judge the same question share its answer. Nothing is asked after the conversation's deadline.
"""

import asyncio
import json
import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, TypeAlias
from uuid import UUID, uuid5

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply, use_sum
from otel_eval.metrics.base import Metric, MetricInput
from otel_eval.model import (
    NO_REFERENCE,
    Conversation,
    Failed,
    FailReason,
    JudgeUse,
    Outcome,
    Reference,
    Report,
    Result,
    Score,
    Skipped,
    SpanRef,
)

_RESULTS = UUID("7d5d2a52-9f5a-5f0e-9a35-0f1c3a0b6d11")
"""Namespace of result ids. Never changes: the ids are how a far side recognises a result that it already has."""
_GRACE_S = 1.0
"""After the deadline a metric may still say why it has no value; then it is stopped."""

Unit: TypeAlias = tuple[Conversation, Reference]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRun:
    """A metric with how it is to be run."""

    metric: Metric
    parameters: Mapping[str, Any] = field(default_factory=dict)
    compat: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How conversations are scored. `secret` keys the fence around untrusted text in prompts."""

    secret: bytes = field(repr=False)
    deadline_s: float = 120.0
    """For one conversation, all metrics together."""
    record_tokens: int = 24_000
    concurrency: int = 16
    """Conversations at a time."""
    sampling_probability: float | None = 1.0
    selected_by: str = "all"
    upstream_probability: float | None = None
    missing_traces: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a conversation that is scored by itself, before the conversation is over: metrics of turns run on these turns alone."""

    key: str
    """What the ids of its results are made from: turns may still get other numbers in the conversation."""
    turns: range
    has_revisions: bool = True
    """Whether each revision has ids of its own; not where the key changes with the content."""


async def score_conversation(
    conversation: Conversation,
    reference: Reference | None,
    metrics: Sequence[MetricRun],
    judge: Judge | None,
    settings: Settings,
    *,
    revision: int = 1,
    part: Part | None = None,
) -> Report:
    """The results of all metrics on one conversation, in the order of the metrics. Never raises for what a metric or a judge does."""
    deadline = time.monotonic() + settings.deadline_s
    shared = None if judge is None else _SharedJudge(judge=judge, deadline=deadline)
    reference = reference or NO_REFERENCE
    given = MetricInput(
        conversation=conversation,
        reference=reference,
        deadline=deadline,
        secret=settings.secret,
        revision=revision,
        record_tokens=settings.record_tokens,
    )
    try:
        runs = [(run, turn) for run in metrics for turn in _turns(run.metric, conversation, part)]
        results = await asyncio.gather(*(_result(run, turn, given, shared, part) for run, turn in runs))
    finally:
        if shared is not None:
            shared.cancel()
    return Report(
        conversation=conversation,
        results=tuple(results),
        sampling_probability=settings.sampling_probability,
        selected_by=settings.selected_by,
        upstream_probability=settings.upstream_probability,
        missing_traces=settings.missing_traces,
        time_ns=time.time_ns(),
        task=reference.task,
        trial=reference.trial,
    )


async def score_conversations(
    units: Iterable[Unit],
    metrics: Sequence[MetricRun] | Callable[[Conversation], Sequence[MetricRun]],
    judge: Judge | None,
    settings: Settings,
) -> AsyncIterator[Report]:
    """Reports in the order of the units, at most `settings.concurrency` conversations at a time; units are taken as they are needed.

    `metrics` are the same for all, or said for each conversation.
    """
    running: deque[asyncio.Task[Report]] = deque()
    runs_of = metrics if callable(metrics) else lambda _: metrics
    tasks = (asyncio.ensure_future(score_conversation(c, r, runs_of(c), judge, settings)) for c, r in units)
    try:
        for task in tasks:
            running.append(task)
            if len(running) >= settings.concurrency:
                yield await running.popleft()
        while running:
            yield await running.popleft()
    finally:
        for task in running:
            task.cancel()


def result_id(
    conversation: Conversation, revision: int, metric: str, version: str, turn: int | None = None, *, key: str | None = None
) -> str:
    """The same unit, revision, metric and version give the same id, on every machine and after every restart."""
    unit = [unit_key(conversation) if key is None else key, revision, metric, version, turn]
    return str(uuid5(_RESULTS, json.dumps(unit, ensure_ascii=True, separators=(",", ":"))))


def unit_key(conversation: Conversation) -> str:
    """The conversation's id or trace; for one that has neither, a hash of its messages: two of those are the same if they say the same."""
    if conversation.key:
        return conversation.key
    return "messages:" + sha256(repr(conversation.messages).encode("utf-8", "surrogatepass")).hexdigest()


def _turns(metric: Metric, conversation: Conversation, part: Part | None) -> Iterator[int | None]:
    if metric.card.level == "turn":
        yield from range(len(conversation.turns)) if part is None else part.turns
    else:
        yield None


async def _result(run: MetricRun, turn: int | None, given: MetricInput, shared: "_SharedJudge | None", part: Part | None = None) -> Result:
    card, conversation = run.metric.card, given.conversation
    meter = None if shared is None else _Meter(judge=shared)
    own = replace(given, judge=meter, parameters=run.parameters, compat=run.compat, turn=turn)
    outcome = _checked(run.metric, await _outcome(run.metric, own))
    if isinstance(outcome, Failed) and meter is not None and meter.use is not None:
        outcome = replace(outcome, judge=meter.use)
    return Result(
        id=_id_of_result(given, card.name, card.version, turn, part),
        metric=card.name,
        metric_version=card.version,
        outcome=outcome,
        level=card.level,
        revision=given.revision,
        anchor=_anchor(conversation, turn),
    )


def _id_of_result(given: MetricInput, name: str, version: str, turn: int | None, part: Part | None) -> str:
    if part is None:
        return result_id(given.conversation, given.revision, name, version, turn)
    place = None if turn is None else turn - part.turns.start
    return result_id(given.conversation, given.revision if part.has_revisions else 0, name, version, place, key=part.key)


async def _outcome(metric: Metric, given: MetricInput) -> Outcome:
    """What the metric says; its exceptions as values."""
    limit = asyncio.timeout(_GRACE_S + (given.deadline or 0.0) - time.monotonic())
    try:
        async with limit:
            return await metric.score(given)
    except JudgeError as error:
        use = error.use if isinstance(error.use, JudgeUse) else None
        return Failed(error_type=_reason(error.reason), detail=str(error), judge=use)
    except Exception as error:  # a plug-in's: whatever it raises is its own failure and nobody else's
        if limit.expired():
            return Failed(error_type=FailReason.DEADLINE, detail="the metric was not done when the time for the conversation was over")
        return Failed(error_type=FailReason.METRIC_ERROR, detail=f"the metric raised {type(error).__name__}")


def _reason(reason: str) -> FailReason:
    try:
        return FailReason(reason)
    except ValueError:
        return FailReason.METRIC_ERROR


def _checked(metric: Metric, outcome: Any) -> Outcome:
    """The outcome, if it keeps the contract: a finite number within the card's range, or no value with a reason."""
    if isinstance(outcome, Skipped | Failed):
        return outcome
    if not isinstance(outcome, Score):
        kind = type(outcome).__name__
        return Failed(error_type=FailReason.METRIC_ERROR, detail=f"the metric gave a {kind}; expected Score, Skipped or Failed")
    value, (low, high) = float(outcome.value), metric.card.range
    if not math.isfinite(value) or not low <= value <= high:
        detail = f"the metric gave {value}, which is outside the range of its card, {low} to {high}"
        return Failed(error_type=FailReason.METRIC_ERROR, detail=detail, judge=outcome.judge)
    return outcome


def _anchor(conversation: Conversation, turn: int | None) -> SpanRef | None:
    """The root of the judged turn; of a conversation, the last turn's that has one, else its last span."""
    if turn is not None:
        return conversation.turns[turn].root
    roots = [t.root for t in conversation.turns if t.root is not None]
    return roots[-1] if roots else conversation.spans[-1] if conversation.spans else None


@dataclass(slots=True, kw_only=True)
class _SharedJudge:
    """The judge of one conversation: each question is asked once, and none after the deadline. The first asker carries the cost."""

    judge: Judge
    deadline: float
    _asked: dict[Hashable, asyncio.Task[Reply]] = field(default_factory=dict)

    async def ask(self, question: Question) -> Reply:
        key = (question.name, question.preamble, question.record, question.ask, question.output_tokens, question.repair, question.sample)
        if key in self._asked:
            return await self._again(key)
        if time.monotonic() >= self.deadline:
            raise JudgeError("deadline", "the time for this conversation was over before the judge could be asked")
        self._asked[key] = asyncio.ensure_future(self.judge.ask(replace(question, deadline=self.deadline)))
        return await asyncio.shield(self._asked[key])

    async def _again(self, key: Hashable) -> Reply:
        try:
            reply = await asyncio.shield(self._asked[key])
        except JudgeError as error:
            raise JudgeError(error.reason, str(error), retry_after_s=error.retry_after_s, limit_tokens=error.limit_tokens) from None
        free = replace(reply.use, calls=0, cached=True, input_tokens=0, output_tokens=0, cost_usd=0.0)
        return replace(reply, use=free)

    def cancel(self) -> None:
        """Stop what is still being asked: nobody waits for it any more."""
        for task in self._asked.values():
            task.cancel()


@dataclass(slots=True, kw_only=True)
class _Meter:
    """Adds up what one metric's questions took, so that a metric that fails half-way still shows its cost."""

    judge: Judge
    use: JudgeUse | None = None

    async def ask(self, question: Question) -> Reply:
        try:
            reply = await self.judge.ask(question)
        except JudgeError as error:
            if isinstance(error.use, JudgeUse):
                self.use = use_sum(self.use, error.use)
            raise
        self.use = use_sum(self.use, reply.use)
        return reply
