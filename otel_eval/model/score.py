"""Verdicts, and the ways in which there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from otel_eval.model.conversation import Conversation
from otel_eval.model.span import SpanRef, no_attributes


class UnitOutcome(StrEnum):
    """What became of a trace or conversation as a whole; every one that was seen comes to exactly one."""

    PENDING = "pending"
    SCORED = "scored"
    SAMPLED_OUT = "sampled_out"
    FILTERED = "filtered"
    NO_GENAI_CONTENT = "no_genai_content"
    CONTENT_NOT_CAPTURED = "content_not_captured"
    NOT_UNDERSTOOD = "not_understood"
    FRAGMENT = "fragment"
    EVALUATOR_OWN = "evaluator_own"
    EXPIRED = "expired"


class SkipReason(StrEnum):
    """Why a metric did not apply; no fault of anybody."""

    NEEDS_MISSING = "needs_missing"
    UNDEFINED = "undefined"
    NOTHING_TO_JUDGE = "nothing_to_judge"
    CONTENT_NOT_CAPTURED = "content_not_captured"
    TRUNCATED = "truncated"


class FailReason(StrEnum):
    """Why a metric that applied has no value; the values of `error.type` on the result event."""

    BUDGET_EXHAUSTED = "budget_exhausted"
    DEADLINE = "deadline"
    CONVERSATION_TOO_LONG = "conversation_too_long"
    DISAGREEMENT = "disagreement"
    CANNOT_TELL = "cannot_tell"
    METRIC_ERROR = "metric_error"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    JUDGE_TIMEOUT = "judge_timeout"
    JUDGE_RATE_LIMITED = "judge_rate_limited"
    JUDGE_QUOTA = "judge_quota"
    JUDGE_AUTH = "judge_auth"
    JUDGE_MISCONFIGURED = "judge_misconfigured"
    JUDGE_FILTERED = "judge_filtered"
    JUDGE_REFUSED = "judge_refused"
    JUDGE_TRUNCATED = "judge_truncated"
    JUDGE_INPUT_TRUNCATED = "judge_input_truncated"
    REPLY_EMPTY = "reply_empty"
    REPLY_UNPARSABLE = "reply_unparsable"
    REPLY_CONFLICT = "reply_conflict"
    REPLY_SCHEMA = "reply_schema"
    REPLY_INCOMPLETE = "reply_incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeUse:
    """Who judged and what it took. Costs are None where the price is unknown, never 0."""

    kind: str
    """`model`, `heuristic` or `none`."""
    model: str | None = None
    prompt: str | None = None
    """Name and version, `agent_goal_accuracy.v1`."""
    prompt_hash: str | None = None
    calls: int = 0
    cached: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value with its reasons. `evidence` are indices of the conversation's messages."""

    value: float
    label: str | None = None
    explanation: str | None = None
    evidence: tuple[int, ...] = ()
    details: Mapping[str, Any] = field(default_factory=no_attributes)
    judge: JudgeUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The metric does not apply. `detail` says what is missing and what to do."""

    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The metric applies and has no value: a doubt is never a 0."""

    error_type: FailReason
    detail: str = ""
    judge: JudgeUse | None = None


Outcome: TypeAlias = Score | Skipped | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One metric on one unit."""

    id: str
    """Deterministic: the same unit, revision, metric and version give the same id."""
    metric: str
    metric_version: str
    outcome: Outcome
    level: str = "conversation"
    revision: int = 1
    anchor: SpanRef | None = None
    """The span the result is hung on: root of the judged turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results of one conversation, with what sinks need to write them. Sinks get this one argument, so that it can grow."""

    conversation: Conversation
    results: tuple[Result, ...]
    sampling_probability: float | None = 1.0
    """Our own inclusion probability; None where it is unknown."""
    selected_by: str = "all"
    missing_traces: int = 0
    """Earlier traces of the conversation whose requests were no longer kept: it may have begun before what was judged."""
    upstream_probability: float | None = None
    """The probability with which its traces were kept before us, as their tracestate says it; None where it says nothing."""
    time_ns: int = 0
    """When the scores were made."""
    task: str | None = None
    """Key under which repeated trials of one task are grouped (pass^k), where the reference names one."""
    trial: str | None = None
    """Which of them this is, where the reference says so."""
