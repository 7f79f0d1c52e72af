"""Coding agents tell their runs by log records of a session: those records as spans, one trace a turn.

Claude Code, Codex CLI, Gemini CLI and Qwen Code emit events (`claude_code.user_prompt`, `codex.tool_result`, `gemini_cli.tool_call`, …)
that carry the session's id, often the prompt's id, but no trace and span ids while tracing is off. `spans_from_session_logs` gives each
turn of such a session a trace: a root span that holds the turn's events as span events, and below it a span for each model call and each
tool run. The ids are a hash of session, prompt and time: the same records give the same spans. Trace ids, span ids and the names of the
root spans are ours; the events and their attributes are the producers'.

**Source**: Claude Code 2.1.197, Codex CLI 0.171.0, Gemini CLI 0.40 (captured); QwenLM/qwen-code
`packages/core/src/telemetry/constants.ts`.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from otel_eval.dialects.base import Evidence
from otel_eval.dialects.fields import count_or_none
from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import LogRecord, Scope, Span, SpanEvent

DETAILS = "gen_ai.client.inference.operation.details"
PREFIXES = ("claude_code.", "codex.", "gemini_cli.", "qwen-code.")
_SESSION_KEYS = ("session.id", "conversation.id", "gen_ai.conversation.id")
_PROMPT_KEYS = ("prompt.id", "prompt_id")
_TOOLS = ("tool_result", "tool_call")
_CALLS = ("api_request", "api_response", "api_error", "websocket_request")
_FOLLOWERS = ("api_response", "sse_event", DETAILS)
_TOLD = (
    "assistant_response",
    "api_request_body",
    "api_response_body",
    "system_prompt",
    "compaction",
    "subagent_completed",
    "conversation_finished",
)
_KEPT = frozenset({"user_prompt", "sse_event", *_TOOLS, *_CALLS, *_TOLD})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """An event of a session: its full name, its moment, its attributes."""

    name: str
    time_ns: int
    attributes: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The name without the producer's prefix."""
        return self.name.partition(".")[2] if self.name.startswith(PREFIXES) else self.name


def event_name_of(record: LogRecord) -> str:
    """The event's full name. Claude Code writes it as body (`event.name` lacks the prefix), Codex only as attribute `event.name`."""
    for name in (record.body, record.attributes.get("event.name"), record.event_name):
        if isinstance(name, str) and (name.startswith(PREFIXES) or name == DETAILS):
            return name
    return ""


def moment_of(record: LogRecord) -> int:
    """The record's time; where it is not set the attribute `event.timestamp`, then the time it was observed (Codex)."""
    stated = record.attributes.get("event.timestamp")
    if record.time_ns:
        return record.time_ns
    if isinstance(stated, str):
        try:
            moment = datetime.fromisoformat(stated)
            moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            return round(moment.timestamp() * 1_000_000) * 1_000
        except (ValueError, OverflowError):
            return record.observed_ns or 0
    return record.observed_ns or 0


def session_events(evidence: Evidence) -> list[SessionEvent]:
    """The session events of a span, from its log records and its span events, in order."""
    found: list[SessionEvent] = []
    for record in sorted(evidence.logs, key=_order):
        name = event_name_of(record)
        if name:
            found.append(SessionEvent(name=name, time_ns=moment_of(record), attributes=record.attributes))
    for event in evidence.events:
        if event.name.startswith(PREFIXES) or event.name == DETAILS:
            found.append(SessionEvent(name=event.name, time_ns=event.time_ns or 0, attributes=event.attributes))
    return found


def spans_from_session_logs(logs: Iterable[LogRecord], spans: Iterable[Span] = ()) -> list[Span]:
    """Spans for the session events among log records that carry no trace and span id; what is no session event is passed over.

    Give it all log records, those with ids too: a response without ids (Gemini) becomes a span below that of its request. `spans` are those
    that came beside them: a session whose model calls they tell with their answers is not told a second time. Repeated records count once.
    """
    told = {text_or_none(s.attributes.get("gen_ai.conversation.id")) for s in spans if "gen_ai.output.messages" in s.attributes}
    sessions: dict[str, dict[tuple[object, ...], LogRecord]] = defaultdict(dict)
    for record in logs:
        session = _first(record.attributes, _SESSION_KEYS)
        name = event_name_of(record)
        if session is not None and session not in told and _is_kept(name, record):
            sessions[session].setdefault(_order(record), record)
    return [
        span for session, records in sessions.items() for turn in _turns(list(records.values())) for span in _spans_of_turn(session, turn)
    ]


def _is_kept(name: str, record: LogRecord) -> bool:
    kind = name.partition(".")[2] if name.startswith(PREFIXES) else ""
    if record.span_id is not None:
        return kind == "api_request"
    if kind == "sse_event":
        return record.attributes.get("event.kind") == "response.completed"
    return kind in _KEPT or (name == DETAILS and "gen_ai.output.messages" in record.attributes)


def _order(record: LogRecord) -> tuple[int, int, bool, str, str]:
    """By time, then by the client's own count; a prompt before what else came in its moment, so that arrival never matters."""
    name = event_name_of(record)
    place = count_or_none(record.attributes.get("event.sequence")) or 0
    return moment_of(record), place, not name.endswith(".user_prompt"), name, repr(sorted(record.attributes.items(), key=str))


def _first(attributes: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((t for k in keys if (t := text_or_none(attributes.get(k)))), None)


def _turns(records: list[LogRecord]) -> list[list[LogRecord]]:
    """Records of a session cut at each prompt; one that names a prompt of its own stands with that prompt, whenever it came."""
    ordered = sorted(records, key=_order)
    starts = [r for r in ordered if event_name_of(r).endswith(".user_prompt")]
    named = [_first(r.attributes, _PROMPT_KEYS) for r in starts]
    turns: list[list[LogRecord]] = [[] for _ in starts] or [[]]
    for record in ordered:
        prompt = _first(record.attributes, _PROMPT_KEYS)
        if prompt is not None and named.count(prompt) == 1:
            turns[named.index(prompt)].append(record)
        else:
            begun = sum(1 for s in starts if _order(s) <= _order(record))
            turns[max(begun - 1, 0)].append(record)
    return [t for t in turns if t]


def _spans_of_turn(session: str, records: list[LogRecord]) -> list[Span]:
    loose = [r for r in records if r.span_id is None]
    groups = _groups(records)
    made = [_below(first, rest) for first, *rest in groups if first.span_id is not None and rest]
    apart = [g for g in groups if g[0].span_id is None]
    if not apart and not any(event_name_of(r).endswith(".user_prompt") for r in loose):
        return made
    first = loose[0]
    producer = next((n.partition(".")[0] for r in loose if (n := event_name_of(r)).startswith(PREFIXES)), "session")
    trace_id = _hashed(16, producer, session, _first(first.attributes, _PROMPT_KEYS) or "", str(moment_of(first)))
    root = _span(trace_id, None, f"{producer}.turn", loose, moment_of(first))
    return [root, *(_span(trace_id, root.span_id, event_name_of(g[0]), g) for g in apart), *made]


def _below(request: LogRecord, answers: list[LogRecord]) -> Span:
    """What answers a request that has ids: a span below the request's own."""
    return _span(request.trace_id or "", request.span_id, event_name_of(answers[0]), answers)


def _groups(records: list[LogRecord]) -> list[list[LogRecord]]:
    """The records of each tool run and of each model call: a response stands with its request, details and token counts with their call."""
    groups: list[list[LogRecord]] = []
    calls: list[list[LogRecord]] = []
    for record in records:
        name = event_name_of(record)
        kind = name if name == DETAILS else name.partition(".")[2]
        follows = calls and kind in _FOLLOWERS and not any(event_name_of(r) == name for r in calls[-1])
        if follows:
            calls[-1].append(record)
        elif kind in (*_TOOLS, *_CALLS, DETAILS):
            groups.append([record])
            if kind not in _TOOLS:
                calls.append(groups[-1])
    return groups


def _span(trace_id: str, parent: str | None, name: str, records: list[LogRecord], start_ns: int | None = None) -> Span:
    events = tuple(SpanEvent(name=event_name_of(r), time_ns=moment_of(r), attributes=r.attributes) for r in records)
    moments = [moment_of(r) for r in records]
    first = records[0]
    began = start_ns if start_ns is not None else moments[0] - duration_ns(first.attributes)
    told = "" if parent is None else repr(sorted(first.attributes.items(), key=str))
    return Span(
        trace_id=trace_id,
        span_id=_hashed(8, trace_id, name, str(moments[0]), told),
        parent_span_id=parent,
        name=name,
        start_ns=min(began, *moments),
        end_ns=max(moments),
        attributes={k: first.attributes[k] for k in _SESSION_KEYS if k in first.attributes},
        events=events,
        scope=Scope(name=first.scope.name, version=first.scope.version, resource=first.scope.resource),
    )


def duration_ns(attributes: Mapping[str, Any]) -> int:
    """What the event says of how long it took; 0 where it says nothing."""
    stated = attributes.get("duration_ms")
    try:
        return max(0, round(float(stated) * 1_000_000)) if isinstance(stated, (int, float, str)) and not isinstance(stated, bool) else 0
    except (ValueError, OverflowError):
        return 0


def _hashed(size: int, *parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()[:size].hex()
