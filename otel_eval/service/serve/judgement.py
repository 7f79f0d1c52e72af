"""What becomes of a unit before any judge is asked: pure, from the store's row and from what was read.

The order is the one of the outcomes: whose it is, whether anything of an agent is in it, whether all of it came, whether it is understood,
whether anybody's words were recorded; then filters, and sampling last.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from otel_eval.model import Conversation, GapReason, Part, Text, ToolCall, ToolResult, UnitOutcome
from otel_eval.model.sentences import UNIT_SENTENCES
from otel_eval.service.serve.reading import Read
from otel_eval.store import TraceRow

_MOST_NAMES, _LONGEST_NAME = 8, 100
_HIDDEN = frozenset({GapReason.CONTENT_NOT_CAPTURED, GapReason.REDACTED, GapReason.CONTENT_EXTERNAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """An outcome that needs no judge. `reason` is a word to count by, `detail` a sentence."""

    outcome: UnitOutcome
    reason: str = ""
    detail: str = ""


def of_row(row: TraceRow, *, score_fragments: bool, may_be_cut: bool = False) -> Settled | None:
    """What the arrival of a trace alone decides; None where it must be read. `may_be_cut`: replicas came or went while it was under way."""
    if not row.spans and not row.logs and row.own_spans:
        return settled(UnitOutcome.EVALUATOR_OWN)
    if not row.is_genai and not row.is_session:
        return settled(UnitOutcome.NO_GENAI_CONTENT, detail=f"{row.spans} spans and {row.logs} log records came")
    if is_fragment(row) and not score_fragments:
        return settled(UnitOutcome.FRAGMENT, "no_root", f"{row.spans} spans and {row.logs} log records came, and no root that ended")
    if may_be_cut and not score_fragments:
        return settled(UnitOutcome.FRAGMENT, "replicas_changed", "replicas came or went while it was under way")
    return None


def is_fragment(row: TraceRow) -> bool:
    """Whether parts of a complete trace are missing; a session of log records has no root, and an explicit end stands for one."""
    return bool(row.spans or row.logs) and not row.root_ended and not row.is_session and not row.end_marked


def _may_lack_parents(trace: TraceRow) -> bool:
    """A marked end stands for the spans around it, which end after it; and what came long before the first GenAI span was not kept."""
    return trace.end_marked or trace.released


def of_read(read: Read, conversation: Conversation | None, traces: Iterable[TraceRow], *, score_fragments: bool) -> Settled | None:
    """What reading decides; None where there is a conversation with words, and all of it."""
    if read.missing_parents and not score_fragments and not any(_may_lack_parents(trace) for trace in traces):
        return settled(UnitOutcome.FRAGMENT, "no_parent", f"{read.missing_parents} spans that others are inside of never came")
    if conversation is None:
        return settled(UnitOutcome.NOT_UNDERSTOOD, "no_conversation", _what_was_met(read))
    if not conversation.has_content:
        reason = next((gap.reason.value for gap in conversation.gaps if gap.reason in _HIDDEN), "no_words")
        dialects = ", ".join(conversation.dialects) or "unknown"
        return settled(UnitOutcome.CONTENT_NOT_CAPTURED, reason, f"instrumentation: {dialects}")
    return None


def settled(outcome: UnitOutcome, reason: str = "", detail: str = "") -> Settled:
    """The outcome with its sentence, and what is particular to this unit."""
    sentence = UNIT_SENTENCES[outcome]
    return Settled(outcome=outcome, reason=reason, detail=f"{sentence} ({detail})" if detail else sentence)


def _what_was_met(read: Read) -> str:
    report = read.report
    names = ", ".join(name[:_LONGEST_NAME] for name, _ in report.unknown_names.most_common(_MOST_NAMES))
    dialects = ", ".join(f"{name} {count}" for name, count in report.dialects.most_common(_MOST_NAMES))
    met = f"{report.spans} spans; dialects: {dialects or 'none'}"
    return f"{met}; attributes that nobody reads: {names}" if names else met


def content_hash(conversation: Conversation) -> str:
    """The same for the same content: what was said, asked and told, whatever spans it came in."""
    c = conversation
    messages = [(m.role, m.name, [_told(part) for part in m.parts]) for m in c.messages]
    runs = [(r.call_id, r.name, r.is_error) for r in c.tool_runs]
    text = repr((c.system, c.agent, messages, runs, _sorted(dict(c.tools)) if c.tools else ""))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _told(part: Part) -> tuple[Any, ...]:
    """What a part says; the order in which arguments were written does not count."""
    if isinstance(part, Text):
        return ("text", part.text)
    if isinstance(part, ToolResult):
        return ("result", part.call_id, part.name, part.content, part.is_error)
    if isinstance(part, ToolCall):
        return ("call", part.id, part.name, _sorted(part.arguments), part.raw)
    return (repr(part),)


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str) if value else repr(value)


def facts_of(read: Read | None, conversation: Conversation | None, **further: Any) -> dict[str, Any]:
    """What `explain` shows and later revisions need: counts, names and ids, never content."""
    facts: dict[str, Any] = {}
    if read is not None:
        report = read.report
        names = {name[:_LONGEST_NAME]: count for name, count in report.unknown_names.most_common(_MOST_NAMES)}
        facts |= {"spans": report.spans, "kinds": {str(k): n for k, n in report.kinds.items()}, "dialects": dict(report.dialects)}
        if names:
            facts["unknown_names"] = names
    if conversation is not None:
        facts |= _facts_of_conversation(conversation)
    return facts | {name: value for name, value in further.items() if value is not None}


def _facts_of_conversation(conversation: Conversation) -> Mapping[str, Any]:
    gaps: dict[str, int] = {}
    for gap in conversation.gaps:
        gaps[gap.reason.value] = gaps.get(gap.reason.value, 0) + 1
    return {
        "conversation": conversation.id,
        "agent": conversation.agent,
        "messages": len(conversation.messages),
        "turns": len(conversation.turns),
        "tool_calls": len(conversation.tool_calls),
        "traces": len(conversation.trace_ids),
        "joined_by": conversation.joined_by,
        "gaps": gaps,
        "hash": content_hash(conversation),
    }
