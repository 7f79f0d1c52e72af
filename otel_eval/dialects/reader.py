"""One span to one step: every dialect that speaks is asked, the most specific first, and the first answer wins field by field."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from otel_eval.dialects.base import Dialect, Evidence, Reading
from otel_eval.dialects.memo import Memo
from otel_eval.dialects.shapes.text import unquoted
from otel_eval.model import (
    NO_USAGE,
    STATUS_ERROR,
    Gap,
    GapReason,
    LogRecord,
    Span,
    Step,
    StepContent,
    StepKind,
    ToolCall,
    ToolResult,
)

_INCOMPLETE = frozenset({GapReason.TRUNCATED, GapReason.ATTRIBUTES_DROPPED, GapReason.REDACTED})
_SEEN_NAMES = 100_000  # in all sets of attribute names that are remembered, some 10 MB; real traffic has some dozen sets of some dozens
_INSIDE_JSON = "(inside a JSON attribute)"
_KEPT_ATTRIBUTES = ("otel_eval.", "test.", "user.id", "enduser.")


class Reader:
    """Reads spans to steps. Holds only memos: which dialects speak for a set of names, and the message texts decoded last."""

    def __init__(self, dialects: Sequence[Dialect], *, keep: Iterable[str] = ()) -> None:
        """`keep` are names of span or resource attributes that stay on steps, beside those that always do."""
        self._dialects = tuple(dialects)
        self._keep = frozenset(keep)
        self.id_keys = (*dict.fromkeys(k for d in ordered_by_id(self._dialects) for k in d.info.conversation_ids), _INSIDE_JSON)
        """Attributes that carry a conversation id, best spelling first."""
        self._speakers: dict[Any, tuple[tuple[Dialect, ...], tuple[str, ...], tuple[str, ...]]] = {}
        self._seen_names = 0
        self._memo = Memo()

    def forget(self) -> None:
        """Let go of the texts decoded last: what is read next has nothing to do with what was read before."""
        self._memo = Memo()

    def step(self, span: Span, logs: tuple[LogRecord, ...] = ()) -> Step:
        """The step of a span and the log records that carry its ids."""
        evidence = Evidence(span, logs, self._memo)
        speakers, id_keys, kept = self._for_names(span, logs)
        readings: list[tuple[str, Reading]] = []
        alone = False
        for dialect in speakers:
            reading = dialect.read(evidence)
            if reading is not None:
                readings.append((dialect.info.name, reading))
                alone = alone or reading.alone
        return self._step(evidence, readings, id_keys, kept, alone)

    def _for_names(self, span: Span, logs: tuple[LogRecord, ...]) -> tuple[tuple[Dialect, ...], tuple[str, ...], tuple[str, ...]]:
        key: Any = tuple(span.attributes)
        if span.events or logs:
            events = {f"event:{e.name}" for e in span.events} | {f"event:{r.event_name}" for r in logs}
            inner = {k for e in span.events for k in e.attributes} | {k for r in logs for k in r.attributes}
            key = (key, frozenset(events), frozenset(inner))
            names = frozenset(span.attributes) | events | inner
        else:
            names = frozenset(key)
        known = self._speakers.get(key)
        if known is None:
            speakers = tuple(d for d in self._dialects if d.speaks(names))
            kept = tuple(k for k in span.attributes if k.startswith(_KEPT_ATTRIBUTES) or k in self._keep)
            known = (speakers, tuple(k for k in self.id_keys if k in names), kept)
            self._remember(key, known, len(names))
        return known

    def _remember(self, key: Any, known: "tuple[tuple[Dialect, ...], tuple[str, ...], tuple[str, ...]]", names: int) -> None:
        """What a set of names says; within a limit, for senders may make up names without end."""
        self._seen_names += names
        if self._seen_names > _SEEN_NAMES:
            self._speakers.clear()
            self._seen_names = names
        if names <= _SEEN_NAMES // 10:
            self._speakers[key] = known

    def _step(
        self,
        evidence: Evidence,
        readings: list[tuple[str, Reading]],
        id_keys: tuple[str, ...],
        kept: tuple[str, ...],
        alone: bool,
    ) -> Step:
        span, logs = evidence.span, evidence.logs
        merged = readings[0][1] if len(readings) == 1 else _merged([r for _, r in readings])
        kind = merged.kind or StepKind.OTHER
        evidence.kind = merged.kind
        is_error = span.status_code == STATUS_ERROR or bool(merged.is_error)
        if kind is StepKind.TOOL and not is_error:
            is_error = any(e.name == "exception" for e in span.events) or bool(span.attributes.get("error.type"))
        error_type, message = _error_of(span) if is_error else (None, None)
        ids = _conversation_ids(span, logs, id_keys) if id_keys else ()
        if merged.conversation_id:
            ids = (*ids, (_INSIDE_JSON, merged.conversation_id))
        return Step(
            kind=kind,
            ref=evidence.ref,
            parent_span_id=span.parent_span_id,
            name=span.name,
            start_ns=span.start_ns or span.end_ns or 0,
            end_ns=span.end_ns or span.start_ns or 0,
            dialects=tuple(n for n, _ in readings),
            conversation_ids=ids,
            agent_name=merged.agent_name,
            tool_name=merged.tool_name,
            tool_call_id=merged.tool_call_id,
            response_id=merged.response_id,
            previous_response_id=merged.previous_response_id,
            model=merged.model,
            provider=merged.provider,
            finish_reasons=merged.finish_reasons,
            usage=merged.usage or NO_USAGE,
            is_error=is_error,
            error_type=error_type,
            error_message=message,
            attributes=self._attributes(span, kept),
            read_content=_content_reader(span, kind, [r.content for _, r in readings if r.content is not None and (r.alone or not alone)]),
        )

    def _attributes(self, span: Span, kept: tuple[str, ...]) -> dict[str, Any]:
        """What stays on the step: of the resource only what is asked for by name, and the span's own goes before it."""
        resource = span.scope.resource
        of_resource = {k: resource[k] for k in self._keep if k in resource} if self._keep else {}
        return of_resource | {k: span.attributes[k] for k in kept}


def ordered_by_id(dialects: Sequence[Dialect]) -> list[Dialect]:
    """The conventions' own spelling before any other, then in the given order."""
    return sorted(dialects, key=lambda d: "gen_ai.conversation.id" not in d.info.conversation_ids)


_FIELDS = tuple(f for f in Reading.__dataclass_fields__ if f not in ("content", "alone"))


def _merged(readings: list[Reading]) -> Reading:
    """The first answer to each field."""
    out = Reading()
    for reading in reversed(readings):
        for name in _FIELDS:
            value = getattr(reading, name)
            if value is not None and value != ():
                setattr(out, name, value)
    return out


_NO_ID = frozenset({"null", "none", "undefined", "nil", "n/a", "unknown"})  # what producers write for a missing id


def _conversation_ids(span: Span, logs: tuple[LogRecord, ...], keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for key in keys:
        value = span.attributes.get(key)
        for record in logs:
            value = value if value not in (None, "") else record.attributes.get(key)
        if isinstance(value, str):
            value = (unquoted(value) if value[:1] == '"' else value).strip()
            if value and value.lower() not in _NO_ID:
                found.append((key, value))
        elif isinstance(value, int) and not isinstance(value, bool):
            found.append((key, str(value)))
    return tuple(found)


def _error_of(span: Span) -> tuple[str | None, str | None]:
    """(type, message) of a failure: `error.type`, else the exception event, else the status."""
    kind, message = span.attributes.get("error.type"), span.status_message or None
    for event in span.events:
        if event.name == "exception":
            kind = kind or event.attributes.get("exception.type")
            text = event.attributes.get("exception.message")
            message = text if isinstance(text, str) and text else message
    return (kind if isinstance(kind, str) else None), message


def _content_reader(span: Span, kind: StepKind, sources: list[Callable[[], StepContent]]) -> Callable[[], StepContent] | None:
    if not sources:
        return None

    def read() -> StepContent:
        content = sources[0]() if len(sources) == 1 else _overlaid(sources)
        if kind is StepKind.INFERENCE and content.input is None and content.output is None:
            return _without_content(span, content)
        return content

    return read


def _without_content(span: Span, content: StepContent) -> StepContent:
    dropped = span.dropped_attributes_count or span.dropped_events_count
    reason = GapReason.ATTRIBUTES_DROPPED if dropped else GapReason.CONTENT_NOT_CAPTURED
    gap = Gap(reason=reason, where="messages", source=span.ref)
    return StepContent(
        system=content.system, tool_definitions=content.tool_definitions, gaps=content.gaps if gap in content.gaps else (*content.gaps, gap)
    )


def _overlaid(sources: list[Callable[[], StepContent]]) -> StepContent:
    """The first complete answer to each field, else the first at all; later sources are asked only while something is missing."""
    read: list[StepContent] = []
    chosen: dict[str, tuple[StepContent, Any]] = {}
    wanted = ("system", "input", "output", "tool_call", "tool_result", "tool_definitions")
    for source in sources:
        content = source()
        read.append(content)
        damaged = any(g.reason in _INCOMPLETE for g in content.gaps)
        for name in wanted:
            value = getattr(content, name)
            if value is None or value == ():
                continue
            known = chosen.get(name)
            if known is not None and name in _MADE_WHOLE:
                chosen[name] = (known[0], _MADE_WHOLE[name](known[1], value))
            elif known is None or (
                not damaged and any(g.reason in _INCOMPLETE for g in known[0].gaps) and len_of(value) >= len_of(known[1])
            ):
                chosen[name] = (content, value)
        if _settled(chosen):
            break
    used = [c for c in read if any(c is k for k, _ in chosen.values())] or read
    return StepContent(
        **{name: value for name, (_, value) in chosen.items()},
        earlier=next((c.earlier for c in used if c.earlier), ()),
        gaps=tuple(dict.fromkeys(g for c in used for g in c.gaps)),
    )


def _whole_call(known: ToolCall, other: ToolCall) -> ToolCall:
    """A call with what only another recording of it says."""
    has_arguments = known.arguments is not None
    return ToolCall(
        id=known.id or other.id,
        name=known.name or other.name,
        arguments=known.arguments if has_arguments else other.arguments,
        raw=known.raw if has_arguments else None if other.arguments is not None else known.raw or other.raw,
    )


def _whole_result(known: ToolResult, other: ToolResult) -> ToolResult:
    """A result with what only another recording of it says."""
    return ToolResult(
        call_id=known.call_id or other.call_id,
        name=known.name or other.name,
        content=known.content if known.content is not None else other.content,
        is_error=known.is_error if known.is_error is not None else other.is_error,
    )


_MADE_WHOLE: Mapping[str, Callable[[Any, Any], Any]] = {"tool_call": _whole_call, "tool_result": _whole_result}


def len_of(value: Any) -> int:
    """Messages in a list; 1 for anything else."""
    return len(value) if isinstance(value, tuple) else 1


def _settled(chosen: dict[str, tuple[StepContent, Any]]) -> bool:
    """Whether input and output (or call and result) are there and whole."""
    call = chosen["tool_call"][1] if "tool_call" in chosen else None
    ran = call is not None and call.arguments is not None and call.name is not None and "tool_result" in chosen
    have = ran or ("input" in chosen and "output" in chosen)
    return have and not any(g.reason in _INCOMPLETE for c, _ in chosen.values() for g in c.gaps)
