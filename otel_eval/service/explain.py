"""What became of a unit and why, from the store's record: as an object for programs, and in sentences for people. No content in either."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from otel_eval.completion import CompletionLimits
from otel_eval.model import GapReason, UnitOutcome
from otel_eval.model.sentences import GAP_SENTENCES, UNIT_SENTENCES
from otel_eval.store import ConversationRow, StoredResult, TraceRow, UnitRecord

_ID_SHOWN = 8


def explanation(record: UnitRecord, limits: CompletionLimits, now_s: float) -> dict[str, Any]:
    """Everything known of a unit: outcome, why, when and what is next, what was read, results, deliveries."""
    outcome = record.outcome
    facts = _facts(outcome.facts if outcome is not None else record.work.facts if record.work is not None else "")
    return {
        "kind": record.unit.kind,
        "id": record.unit.key,
        "outcome": record.outcome_name,
        "reason": outcome.reason if outcome is not None else _waits_for(record, limits),
        "detail": outcome.detail if outcome is not None else UNIT_SENTENCES[UnitOutcome.PENDING],
        "at": _moment(outcome.at_s) if outcome is not None else None,
        "revision": outcome.revision if outcome is not None else 0,
        "next": _next(record, limits),
        "probability": _first(outcome.probability if outcome is not None else None, record.work.probability if record.work else None),
        "selected_by": (outcome.selected_by if outcome is not None else record.work.selected_by if record.work else "") or None,
        "facts": facts,
        "arrived": _arrived(record),
        "requests_kept": record.bodies,
        "results": [_result(result) for result in record.results],
        "deliveries": [
            {"sink": d.sink, "revision": d.revision, "state": d.state, "at": _moment(d.at_s), "tries": d.tries, "note": d.note or None}
            for d in record.deliveries
        ],
        "seen_ago_s": _ago(record, now_s),
    }


def _facts(text: str) -> dict[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _ago(record: UnitRecord, now_s: float) -> float | None:
    row = record.trace or record.conversation
    return None if row is None else round(max(0.0, now_s - row.last_s), 3)


def _arrived(record: UnitRecord) -> dict[str, Any]:
    row = record.trace or record.conversation
    if row is None:
        return {}
    told: dict[str, Any] = {"first": _moment(row.first_s), "last": _moment(row.last_s)}
    if isinstance(row, ConversationRow):
        return told | {"traces": list(row.traces), "traces_waiting": row.waiting_traces, "end_marked": row.end_marked}
    return told | {
        "spans": row.spans,
        "log_records": row.logs,
        "evaluator_spans": row.own_spans,
        "root_ended": row.root_ended,
        "service": row.service,
        "conversations": list(row.conversations),
    }


def _waits_for(record: UnitRecord, limits: CompletionLimits) -> str:
    """What a unit without outcome waits for, in a word."""
    if record.work is not None:
        return "scoring" if record.claimed else f"queue_{record.work.queue}"
    if record.trace is not None:
        return _trace_waits_for(record.trace)
    if record.conversation is not None and record.conversation.waiting_traces:
        return "traces"
    return "silence"


def _trace_waits_for(row: TraceRow) -> str:
    if row.scored_s is not None and row.last_s <= row.scored_s:
        return "conversation"
    return "silence" if row.root_ended else "root"


def _next(record: UnitRecord, limits: CompletionLimits) -> str | None:
    """What happens next, in a sentence; None where nothing does unless more arrives."""
    if record.work is not None:
        since = _moment(record.work.since_s)
        return (
            f"it is being scored; selected at {since}" if record.claimed else f"it waits in the queue {record.work.queue!r} since {since}"
        )
    row = record.trace or record.conversation
    if row is None or row.due_s is None:
        is_part = record.trace is not None and record.outcome is None and bool(record.trace.conversations)
        return f"it is a part of conversation {record.trace.conversations[0]!r}" if is_part and record.trace is not None else None
    due = _moment(row.due_s)
    if isinstance(row, ConversationRow):
        if row.waiting_traces:
            return f"{row.waiting_traces} of its {len(row.traces)} traces are not complete; it is looked at again by {due}"
        return f"it is over at {due} if nothing arrives (completion.conversation_idle, {limits.conversation_idle_s:g} s)"
    if row.root_ended:
        return f"its root has ended; it is complete at {due} if nothing arrives (completion.trace_quiet, {limits.trace_quiet_s:g} s)"
    return f"its root has not come; it is taken as it is at {due} (completion.trace_max_age, {limits.trace_max_age_s:g} s)"


def _result(result: StoredResult) -> dict[str, Any]:
    """A result without its words: an explanation may repeat what was said."""
    told = _facts(result.data)
    kept = ("value", "label", "metric_version", "trace_id", "span_id", "sampling_probability", "selected_by", "judge", "level")
    shown = {name: told[name] for name in kept if told.get(name) is not None}
    return {
        "id": result.id,
        "metric": result.metric,
        "revision": result.revision,
        "outcome": result.outcome,
        "reason": result.reason or None,
        "detail": told.get("detail") or None,
        "at": _moment(result.at_s),
        **shown,
    }


def lines_of(told: Mapping[str, Any]) -> Iterator[str]:
    """An explanation for people."""
    revision = f" (revision {told['revision']})" if told["revision"] > 1 else ""
    reason = f", {told['reason']}" if told["reason"] else ""
    yield f"{told['kind']} {told['id']}: {told['outcome']}{reason}{revision}{' at ' + told['at'] if told['at'] else ''}"
    yield f"  {told['detail']}"
    if told["next"]:
        yield f"  next: {told['next']}"
    yield from (f"  {line}" for line in (*_selection_lines(told), *_reading_lines(told), *_gap_lines(told)))
    for result in told["results"]:
        yield f"  {_result_line(result)}"
    for d in told["deliveries"]:
        again = f", {d['tries']} tries" if d["tries"] > 1 or d["state"] != "sent" else ""
        yield f"  {d['sink']}: revision {d['revision']} {d['state']} {d['at']}{again}{': ' + d['note'] if d['note'] else ''}"


def _selection_lines(told: Mapping[str, Any]) -> Iterator[str]:
    facts = told["facts"]
    if told["selected_by"]:
        why = f" for {facts['selected_for']}" if facts.get("selected_for") not in (None, "sampled") else ""
        yield f"selected by {told['selected_by']}{why}, probability {_number(told['probability'])}"
    elif told["probability"] is not None:
        yield f"probability {_number(told['probability'])}"
    suspicion = facts.get("suspicion") or {}
    if suspicion.get("flags"):
        yield f"looks like a failure: {', '.join(suspicion['flags'])}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"


def _reading_lines(told: Mapping[str, Any]) -> Iterator[str]:
    facts, arrived = told["facts"], told["arrived"]
    if arrived.get("spans") is not None:
        root = "root ended" if arrived["root_ended"] else "no root yet"
        yield f"arrived: {arrived['spans']} spans, {arrived['log_records']} log records, {root}, service {arrived['service'] or 'unknown'}"
    elif arrived.get("traces") is not None:
        yield f"arrived: {len(arrived['traces'])} traces: {', '.join(arrived['traces'][:3])}{' …' if len(arrived['traces']) > 3 else ''}"
    if "spans" in facts:
        dialects = ", ".join(f"{name} {count}" for name, count in facts.get("dialects", {}).items()) or "none"
        yield f"read: {facts['spans']} spans; dialects: {dialects}"
    if facts.get("unknown_names"):
        yield f"attributes that nobody reads: {', '.join(facts['unknown_names'])}"
    if "messages" in facts:
        agent = f", agent {facts['agent']}" if facts.get("agent") else ""
        yield f"holds: {facts['messages']} messages, {facts['turns']} turns, {facts['tool_calls']} tool calls{agent}"
    judge = facts.get("judge") or {}
    if judge.get("calls"):
        cost = f", {judge['cost_usd']:.6f} USD" if judge.get("cost_usd") is not None else ""
        tokens = f"{judge['input_tokens']} tokens in, {judge['output_tokens']} out"
        yield f"judge: {', '.join(judge['models']) or ', '.join(judge['kinds'])}: {judge['calls']} calls, {tokens}{cost}"


def _gap_lines(told: Mapping[str, Any]) -> Iterator[str]:
    for name, count in (told["facts"].get("gaps") or {}).items():
        yield f"missing: {name} ({count}): {GAP_SENTENCES[GapReason(name)]}"


def _result_line(result: Mapping[str, Any]) -> str:
    said = f"{result['value']:g} {result.get('label') or ''}".rstrip() if result["outcome"] == "score" else str(result["outcome"])
    reason = f": {result['reason']}" if result["reason"] else ""
    detail = f" ({result['detail']})" if result["detail"] else ""
    return f"{result['metric']}: {said}{reason}{detail}; revision {result['revision']}, result {result['id']}"
