"""The store: accepted requests, units waiting, books, verdicts, outcomes and what waits for sinks, in one SQLite file."""

from otel_eval.store.clock import SteadyClock
from otel_eval.store.progress import Look
from otel_eval.store.room import StoreLimits
from otel_eval.store.rows import (
    Arrival,
    Body,
    ConversationRow,
    Delivery,
    Depth,
    Finished,
    Letter,
    NewRequest,
    OutcomeCount,
    OutcomeRow,
    Outgoing,
    Queue,
    ResultRow,
    StoredResult,
    StoreInfo,
    TraceRow,
    Unit,
    UnitKind,
    UnitRecord,
    Work,
)
from otel_eval.store.store import Store

__all__ = [
    "Arrival",
    "Body",
    "ConversationRow",
    "Delivery",
    "Depth",
    "Finished",
    "Letter",
    "Look",
    "NewRequest",
    "OutcomeCount",
    "OutcomeRow",
    "Outgoing",
    "Queue",
    "ResultRow",
    "SteadyClock",
    "Store",
    "StoreInfo",
    "StoreLimits",
    "StoredResult",
    "TraceRow",
    "Unit",
    "UnitKind",
    "UnitRecord",
    "Work",
]
