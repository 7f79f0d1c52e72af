"""Results as `gen_ai.evaluation.result` events.

**Source**: OpenTelemetry semantic conventions for GenAI, `gen_ai.evaluation.result` (v1.38 to v1.41 and the GenAI repository). Standard are
the names under `gen_ai.` and `error.type`; ours are under `otel_eval.`. The event hangs on the root span of the judged turn. A skipped
metric makes no event: nothing was evaluated and nothing failed.
"""

from collections.abc import Iterator
from typing import Any

from otel_eval.model import Conversation, Failed, JudgeUse, Report, Result, Score, Skipped
from otel_eval.otlp.encode import SEVERITY_INFO, EventOut

EVENT_NAME = "gen_ai.evaluation.result"
SCOPE_NAME = "otel_eval"
"""Marks what is ours: such records are never scored."""

_SEVERITY_WARN = 13
_EXPLANATION_CHARS = 2000
_MOST_SPAN_IDS = 32


def events_from_report(report: Report) -> list[EventOut]:
    """One event for each score and each failure, in order."""
    return [_event(report, result) for result in report.results if not isinstance(result.outcome, Skipped)]


def _event(report: Report, result: Result) -> EventOut:
    failed = isinstance(result.outcome, Failed)
    return EventOut(
        name=EVENT_NAME,
        time_ns=report.time_ns,
        trace_id=result.anchor.trace_id if result.anchor else None,
        span_id=result.anchor.span_id if result.anchor else None,
        attributes=attributes_of_result(report, result),
        body=_body(result),
        severity_number=_SEVERITY_WARN if failed else SEVERITY_INFO,
    )


def _body(result: Result) -> str:
    """What a log viewer shows: metric, value and label, or the reason; never content."""
    if isinstance(result.outcome, Score):
        return f"{result.metric} {result.outcome.value:g} {result.outcome.label or ''}".rstrip()
    return f"{result.metric} failed: {result.outcome.error_type.value}" if isinstance(result.outcome, Failed) else result.metric


def attributes_of_result(report: Report, result: Result) -> dict[str, Any]:
    """Everything a backend gets to know of a result, by attribute name."""
    return {name: value for name, value in _attributes(report, result) if value is not None}


def _attributes(report: Report, result: Result) -> Iterator[tuple[str, Any]]:
    conversation, outcome = report.conversation, result.outcome
    yield "gen_ai.evaluation.name", result.metric
    if isinstance(outcome, Score):
        yield from _score(conversation, outcome)
    elif isinstance(outcome, Failed):
        yield "error.type", outcome.error_type.value
    yield "gen_ai.response.id", conversation.response_id
    yield "gen_ai.conversation.id", conversation.id
    yield "gen_ai.agent.name", conversation.agent
    yield "otel_eval.result.id", result.id
    yield "otel_eval.revision", result.revision
    yield "otel_eval.level", result.level
    yield "otel_eval.metric.version", result.metric_version
    yield "otel_eval.selected_by", report.selected_by
    if report.sampling_probability is not None:
        yield "otel_eval.sampling.probability", float(report.sampling_probability)
        yield "otel_eval.sampling.upstream", "unknown" if report.upstream_probability is None else "tracestate"
    if report.missing_traces:
        yield "otel_eval.missing_traces", report.missing_traces
    if report.upstream_probability is not None:
        yield "otel_eval.sampling.upstream_probability", float(report.upstream_probability)
    judge = outcome.judge if isinstance(outcome, Score | Failed) else None
    if judge is not None:
        yield from _judge(judge)


def _score(conversation: Conversation, score: Score) -> Iterator[tuple[str, Any]]:
    yield "gen_ai.evaluation.score.value", float(score.value)
    yield "gen_ai.evaluation.score.label", score.label
    yield "gen_ai.evaluation.explanation", score.explanation[:_EXPLANATION_CHARS] if score.explanation else None
    yield "otel_eval.truncated", True if score.details.get("truncated") else None
    spans = evidence_span_ids(conversation, score)
    yield "otel_eval.evidence.span_ids", spans[:_MOST_SPAN_IDS] or None
    yield "otel_eval.evidence.count", len(spans) if len(spans) > _MOST_SPAN_IDS else None


def evidence_span_ids(conversation: Conversation, score: Score) -> list[str]:
    """Ids of the spans that the cited messages were read from, each once, in the order of the messages."""
    sources = [conversation.messages[i].source for i in score.evidence if 0 <= i < len(conversation.messages)]
    return list(dict.fromkeys(s.span_id for s in sources if s is not None))


def _judge(judge: JudgeUse) -> Iterator[tuple[str, Any]]:
    yield "otel_eval.judge.kind", judge.kind
    yield "otel_eval.judge.model", judge.model
    yield "otel_eval.prompt.name", judge.prompt
    yield "otel_eval.prompt.hash", judge.prompt_hash
    yield "otel_eval.judge.cached", True if judge.cached else None
    yield "otel_eval.judge.input_tokens", judge.input_tokens
    yield "otel_eval.judge.output_tokens", judge.output_tokens
    yield "otel_eval.judge.cost_usd", None if judge.cost_usd is None else float(judge.cost_usd)
