"""The seam of a dialect: its card, what it is given, what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from otel_eval.dialects.memo import Memo
from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import LogRecord, Message, Role, Span, SpanEvent, SpanRef, StepContent, StepKind, Usage
from otel_eval.model.freeze import constructor_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectCard:
    """What a dialect is: `docs/dialects.md` is made from it."""

    name: str
    version: int
    sentence: str
    """What it reads, in one sentence."""
    source: str
    """Where the names come from: convention or package and version."""
    detects: tuple[str, ...]
    """Attribute names, prefixes (ending in `.`) or event names (`event:NAME`) that tell it."""
    content: tuple[str, ...]
    """Where content stands."""
    lacks: str = ""
    """What it cannot carry, or carries damaged."""
    switch: str = ""
    """How content is switched on where it is off by default; "" where it always is on."""
    conversation_ids: tuple[str, ...] = ()
    """Attributes that carry the conversation's id, best first."""
    stability: str = "stable"


@dataclass(slots=True, kw_only=True)
class Reading:
    """What one dialect makes of one span; None where it says nothing. The first dialect that says something wins, field by field."""

    kind: StepKind | None = None
    agent_name: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    response_id: str | None = None
    previous_response_id: str | None = None
    model: str | None = None
    provider: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Usage | None = None
    is_error: bool | None = None
    conversation_id: str | None = None
    """Only for ids that do not stand in an attribute of their own (inside a JSON value)."""
    content: Callable[[], StepContent] | None = None
    alone: bool = False
    """No other dialect is asked for content: what they would read is known to be worse."""


_span_ref = constructor_of(SpanRef)


class Evidence:
    """A span with all that was said of it, as dialects read it: attributes, span events and the log records that carry its ids."""

    __slots__ = ("attributes", "kind", "logs", "memo", "ref", "span")

    def __init__(self, span: Span, logs: tuple[LogRecord, ...] = (), memo: Memo | None = None) -> None:
        self.span = span
        self.logs = logs
        self.attributes: Mapping[str, Any] = span.attributes
        self.memo = memo or Memo()
        self.ref: SpanRef = _span_ref(span.trace_id, span.span_id)
        self.kind: StepKind | None = None
        """What all dialects together made of the span: set before content is asked for."""

    @property
    def events(self) -> tuple[SpanEvent, ...]:
        return self.span.events

    def notes(self, at: str = "") -> Notes:
        return Notes(self.ref, at)

    def messages(self, value: Any, role: Role, notes: Notes, at: str = "") -> tuple[Message, ...] | None:
        """The messages of an attribute's value; None where there is no value."""
        if value is None or value in ("", "null"):
            return None
        notes.at = at or notes.at
        if isinstance(value, str) and role != "assistant":  # answers are not repeated at the beginning of later ones
            own = self.attributes.get("gen_ai.conversation.id")
            return self.memo.messages(value, role, notes, notes.source, own if type(own) is str else self.span.trace_id)
        return messages_from_value(value, role, notes, notes.source)


class Dialect(Protocol):
    """Reads one span. Pure: the same span gives the same reading; it never raises on any input."""

    @property
    def info(self) -> DialectCard:
        """Its card."""
        ...

    def speaks(self, names: frozenset[str]) -> bool:
        """Whether a span with these attribute names (and `event:NAME` for its events and log records) may be this dialect's."""
        ...

    def read(self, evidence: Evidence) -> Reading | None:
        """What it makes of the span; None where nothing."""
        ...


def speaks_by_card(info: DialectCard, names: frozenset[str]) -> bool:
    """Detection by the card's names and prefixes."""
    prefixes = tuple(n for n in info.detects if n.endswith("."))
    return not names.isdisjoint(info.detects) or (bool(prefixes) and any(k.startswith(prefixes) for k in names))
