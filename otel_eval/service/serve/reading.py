"""Kept requests back to conversations: only the traces asked for, whatever else the requests hold. Takes time: belongs in a thread."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from otel_eval.dialects.shapes.text import text_or_none
from otel_eval.model import Batch, Conversation, LogRecord, Span, Step
from otel_eval.otlp.receive.envelope import session_trace_id
from otel_eval.otlp.receive.intake import batch_from_kept
from otel_eval.otlp.receive.keys import SESSION_IDS
from otel_eval.service.convert import ConversionReport, conversations_from_batches
from otel_eval.service.serve.chains import CHAINED
from otel_eval.store import Body, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What stands in some traces."""

    conversations: tuple[Conversation, ...]
    """Those that a user had; a sub-agent's only where there is no other."""
    report: ConversionReport = field(default_factory=ConversionReport)
    goes_on_from: tuple[str, ...] = ()
    """Ids of answers that its model calls go on from and that are not in these traces."""

    @property
    def spans(self) -> int:
        return self.report.spans

    def of_id(self, conversation_id: str) -> Conversation | None:
        """The conversation of an id, or the one without id that began in the trace of that id."""
        named = next((c for c in self.conversations if c.id == conversation_id), None)
        return named or next((c for c in self.conversations if c.id is None and c.key == conversation_id), None)

    def ids_of_trace(self, trace_id: str) -> tuple[str, ...]:
        """Ids of the conversations that a trace belongs to."""
        return tuple(dict.fromkeys(c.id for c in self.conversations if c.id is not None and trace_id in c.trace_ids))


def read_traces(store: Store, trace_ids: Sequence[str]) -> Read:
    """The conversations of these traces, from what the store keeps of them."""
    wanted = frozenset(trace_ids)
    report, links = ConversionReport(), _Links()
    batches = _batches(store.bodies_of_traces(trace_ids), wanted)
    found = conversations_from_batches(batches, report=report, on_step=links.see).conversations
    main = [c for c in found if c.sub_agent_of is None]
    return Read(conversations=tuple(main or found), report=report, goes_on_from=links.open())


@dataclass(slots=True)
class _Links:
    """Answers, and the answers that calls go on from."""

    answers: set[str] = field(default_factory=set)
    earlier: dict[str, None] = field(default_factory=dict)

    def see(self, span: Span, step: Step) -> None:
        if step.response_id:
            self.answers.add(step.response_id)
        if step.previous_response_id:
            self.earlier[step.previous_response_id] = None
        for _, name in step.conversation_ids:
            if name.startswith(CHAINED):
                self.earlier[name] = None

    def open(self) -> tuple[str, ...]:
        return tuple(name for name in self.earlier if name not in self.answers)


def _batches(bodies: Iterable[Body], wanted: frozenset[str]) -> Iterator[Batch]:
    for body in bodies:
        batch = batch_from_kept(body.signal, body.encoding, body.data)
        yield Batch(
            spans=tuple(s for s in batch.spans if s.trace_id in wanted),
            logs=tuple(r for r in batch.logs if _trace_of(r) in wanted),
        )


def _trace_of(record: LogRecord) -> str | None:
    """The trace that a log record was counted under: its own, else the one that stands for its session."""
    if record.trace_id is not None:
        return record.trace_id
    session = next((s for key in SESSION_IDS if (s := text_or_none(record.attributes.get(key)))), None)
    return session_trace_id(session) if session is not None else None
