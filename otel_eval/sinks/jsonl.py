"""One JSON object a line for each result: everything that is known of it, for programs and for going on after an interruption."""

import json
from dataclasses import asdict
from typing import Any, TextIO

from otel_eval.errors import SinkError
from otel_eval.model import Conversation, Failed, Outcome, Report, Result, Score, Skipped
from otel_eval.model.characters import whole


class JsonlSink:
    """Writes to an open text stream, and flushes after each report."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    async def write(self, report: Report) -> None:
        try:
            self._stream.write(text_from_report(report))
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise SinkError(f"results could not be written ({error.strerror}); is the disk full?", retryable=False) from error


def text_from_report(report: Report) -> str:
    """The lines of a report, each with its end."""
    lines = [json.dumps(object_from_result(report, result), ensure_ascii=False, default=str) for result in report.results]
    return whole("".join(f"{line}\n" for line in lines))


def object_from_result(report: Report, result: Result) -> dict[str, Any]:
    """A result as a JSON object, flat where people filter: conversation, metric, outcome, value."""
    conversation = report.conversation
    return {
        "conversation": conversation.key or None,
        "task": report.task,
        "trial": report.trial,
        "metric": result.metric,
        **_outcome(conversation, result.outcome),
        "result_id": result.id,
        "revision": result.revision,
        "level": result.level,
        "metric_version": result.metric_version,
        "trace_id": result.anchor.trace_id if result.anchor else None,
        "span_id": result.anchor.span_id if result.anchor else None,
        "sampling_probability": report.sampling_probability,
        "upstream_probability": report.upstream_probability,
        "selected_by": report.selected_by,
        "time_ns": report.time_ns,
        "judge": _judge(result.outcome),
    }


def _outcome(conversation: Conversation, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Skipped):
        return {"outcome": "skipped", "reason": outcome.reason.value, "detail": outcome.detail}
    if isinstance(outcome, Failed):
        return {"outcome": "failed", "error_type": outcome.error_type.value, "detail": outcome.detail}
    return {
        "outcome": "score",
        "value": outcome.value,
        "label": outcome.label,
        "explanation": outcome.explanation,
        "evidence": [_place(conversation, index) for index in outcome.evidence],
        "details": dict(outcome.details),
    }


def _place(conversation: Conversation, index: int) -> dict[str, Any]:
    """A message that a verdict points at, and the span it was read from."""
    source = conversation.messages[index].source if 0 <= index < len(conversation.messages) else None
    return {"message": index} | ({"trace_id": source.trace_id, "span_id": source.span_id} if source else {})


def _judge(outcome: Outcome) -> dict[str, Any] | None:
    judge = outcome.judge if isinstance(outcome, Score | Failed) else None
    return asdict(judge) if judge else None
