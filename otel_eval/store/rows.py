"""What goes into the store and comes out of it. Trace ids are hexadecimal text here, as everywhere in `model`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

UnitKind: TypeAlias = Literal["trace", "conversation"]
Queue: TypeAlias = Literal["estimate", "triage"]
QUEUES: tuple[Queue, ...] = ("estimate", "triage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is scored: a trace (its id) or a conversation (its id)."""

    kind: UnitKind
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What one request brought for one trace; repeats are counted like firsts."""

    trace_id: str
    """For a session of log records without trace ids, an id made from the session's (`is_session`)."""
    spans: int = 0
    logs: int = 0
    own_spans: int = 0
    """Spans of an evaluator, beside the others: they open and re-open nothing."""
    root_ended: bool = False
    end_marked: bool = False
    """Whether something said that the conversation is over."""
    is_session: bool = False
    is_genai: bool = False
    has_error: bool = False
    start_ns: int | None = None
    end_ns: int | None = None
    conversations: tuple[str, ...] = ()
    """Ids of the conversations it belongs to, all in the spelling of `id_rank`."""
    id_rank: int = 0
    """How good that spelling is, 0 the best: a better one that comes later takes the place of the ids known so far."""
    service: str | None = None
    trace_state: str | None = None
    due_s: float | None = None
    """When to look at the trace; the earliest of all arrivals counts."""
    conversation_due_s: float | None = None
    """When to look at its conversations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A request to keep: the body as it was received, and what it holds of each trace.

    `body` None keeps nothing but the arrivals (a request in which all is an evaluator's).
    """

    signal: str
    encoding: str
    """Opaque here: whatever the reader of bodies needs to know."""
    body: bytes | None
    arrivals: tuple[Arrival, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A request as it was received."""

    id: int
    received_s: float
    signal: str
    encoding: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """A trace as far as it arrived."""

    trace_id: str
    first_s: float
    last_s: float
    due_s: float | None
    """When to look again; None where only an arrival can change anything, or while it waits for a judge."""
    scored_s: float | None
    """Arrival of the last item that the latest revision knows."""
    revision: int
    release_s: float | None
    released: bool
    """Whether bodies of it were deleted: a new revision would see only a part."""
    root_ended: bool
    end_marked: bool
    is_session: bool
    is_genai: bool
    has_error: bool
    spans: int
    logs: int
    own_spans: int
    start_ns: int | None
    end_ns: int | None
    service: str | None
    trace_state: str | None
    conversations: tuple[str, ...] = ()

    @property
    def unit(self) -> Unit:
        return Unit(kind="trace", key=self.trace_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRow:
    """A conversation as far as it arrived."""

    id: str
    first_s: float
    last_s: float
    due_s: float | None
    scored_s: float | None
    revision: int
    end_marked: bool
    traces: tuple[str, ...] = ()
    waiting_traces: int = 0
    """Its traces of which something is not in a revision of theirs yet."""

    @property
    def unit(self) -> Unit:
        return Unit(kind="conversation", key=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A unit that is selected and waits for a judge, or is with one."""

    unit: Unit
    revision: int
    queue: Queue
    seen_s: float
    """Arrival of the last item that was there when it was selected: later ones make another revision."""
    since_s: float = 0.0
    """Since when it waits: set by the store."""
    probability: float | None = None
    selected_by: str = ""
    facts: str = ""
    """Opaque: what `explain` shows and the scorer needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A metric's result. `outcome` is `score`, `skipped` or `failed`; `data` is the result in JSON, opaque here."""

    id: str
    metric: str
    outcome: str
    data: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What a sink is to get: its payload is written once and sent as it is, however often."""

    sink: str
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """All that becomes of one revision of a unit: committed together or not at all."""

    unit: Unit
    revision: int
    seen_s: float
    """Arrival of the last item that this revision knows; what came later keeps the unit due."""
    outcome: str
    """A value of the closed set of unit outcomes."""
    reason: str = ""
    """A low-cardinality word for why; counted together with the outcome."""
    detail: str = ""
    """A sentence for people: what it means, what to change."""
    probability: float | None = None
    selected_by: str = ""
    facts: str = ""
    """Opaque JSON for `explain`: spans and dialects seen, gaps, judge calls and cost."""
    results: tuple[ResultRow, ...] = ()
    outgoing: tuple[Outgoing, ...] = ()
    release: tuple[str, ...] = ()
    """Traces whose bodies nobody needs from `release_at_s` on (at once without it)."""
    release_at_s: float | None = None
    is_first: bool = False
    """Whether it is written only where the unit has no outcome yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A payload that waits for a sink. `dead` ones wait for a person."""

    id: int
    sink: str
    unit: Unit
    revision: int
    created_s: float
    tries: int
    payload: bytes
    note: str = ""
    dead: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What became of a payload at a sink: `sent`, `waiting` or `dead`."""

    sink: str
    revision: int
    state: str
    at_s: float
    tries: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """What became of a unit."""

    unit: Unit
    revision: int
    at_s: float
    outcome: str
    reason: str
    detail: str
    probability: float | None
    selected_by: str
    facts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """A result as it was committed."""

    id: str
    unit: Unit
    revision: int
    at_s: float
    metric: str
    outcome: str
    reason: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRecord:
    """Everything the store knows of a unit. None and empty where it knows nothing of the kind."""

    unit: Unit
    outcome: OutcomeRow | None = None
    work: Work | None = None
    claimed: bool = False
    trace: TraceRow | None = None
    conversation: ConversationRow | None = None
    results: tuple[StoredResult, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    bodies: int = 0
    """Requests that are kept for it."""

    @property
    def outcome_name(self) -> str:
        """The outcome, `pending` where it has none yet."""
        return self.outcome.outcome if self.outcome else "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCount:
    """How many units came to an outcome for a reason, since the store was made."""

    kind: UnitKind
    outcome: str
    reason: str
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How much waits, and since when the oldest does."""

    waiting: int
    oldest_s: float | None = None
    """The moment, not the age; None where nothing waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """The store for people and dashboards."""

    place: str
    version: int
    used_bytes: int
    free_bytes: int
    """Pages of the file that are free to be used again."""
    max_bytes: int
    bodies: int
    body_bytes: int
    traces: int
    conversations: int
    work: Mapping[str, Depth] = field(default_factory=dict)
    outbox: Mapping[str, Depth] = field(default_factory=dict)
    dead_letters: int = 0
    oldest_body_s: float | None = None
    clock_ahead_s: float = 0.0
