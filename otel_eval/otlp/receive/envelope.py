"""What must be known of a request before it is acknowledged, and no more: that it can be read, and for each trace when, whose, and
whether it is ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEnvelope:
    """What a request brought for one trace, or for one session of log records without trace ids."""

    trace_id: str
    """For a session an id made from the session's: `session_trace_id`."""
    is_session: bool = False
    spans: int = 0
    logs: int = 0
    own_spans: int = 0
    root_ended: bool = False
    """Whether a span without a parent is there: spans are sent when they end."""
    end_marked: bool = False
    is_genai: bool = False
    has_error: bool = False
    start_ns: int | None = None
    end_ns: int | None = None
    conversations: tuple[str, ...] = ()
    """The ids in the best spelling that occurs, sorted."""
    id_rank: int = 0
    """Place of that spelling in `EnvelopeKeys.conversation_ids`."""
    service: str | None = None
    trace_state: str | None = None
    """The root's, else any span's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a request holds."""

    traces: tuple[TraceEnvelope, ...] = ()
    spans: int = 0
    """Good ones, an evaluator's among them."""
    logs: int = 0
    own_spans: int = 0
    own_logs: int = 0
    idle_logs: int = 0
    """Log records that tell nothing of a conversation: without GenAI content, or without any id to join them by."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Items that are invalid, by reason."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Oddities of what was taken all the same."""

    @property
    def is_needed(self) -> bool:
        """Whether anything in it can ever be scored: if not, the body need not be kept."""
        return any(trace.spans or trace.logs for trace in self.traces)


def session_trace_id(session: str) -> str:
    """The id that stands in a trace id's place for a session of log records without trace ids."""
    return sha256(f"session\x1f{session}".encode("utf-8", "surrogatepass")).digest()[:16].hex()
