"""The store: one SQLite file is the whole state of a worker. A crash at any moment loses nothing that was acknowledged.

    store = Store(path)                              # path None: in memory
    await asyncio.wrap_future(store.put_request(…))  # on disk: acknowledge
    store.progress.due_traces(store.now_s())         # → bodies_of_traces → … → queues.add, claim, finish
    store.outbox.take("otlp_events")                 # → sent, try_again, bury
    store.close()

Everything may be called from any thread. What writes gives a `concurrent.futures.Future` that is done once it is on disk; it raises
`Overloaded` where trying
again helps (full, locked) and `StoreError` where it does not. What reads answers at once.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Self, TypeVar

from otel_eval.errors import OtelEvalError
from otel_eval.store.access import Access
from otel_eval.store.admin import info
from otel_eval.store.clock import SteadyClock
from otel_eval.store.forget import forget, is_settled
from otel_eval.store.inbox import Inbox
from otel_eval.store.janitor import Janitor
from otel_eval.store.ledger import AmountLike, Books, MakeAmount, StoreLedger
from otel_eval.store.outbox import Outbox
from otel_eval.store.progress import Progress
from otel_eval.store.records import Records
from otel_eval.store.room import Room, StoreLimits
from otel_eval.store.rows import Body, NewRequest, StoreInfo
from otel_eval.store.verdicts import TTL_S, StoreVerdicts
from otel_eval.store.work import Queues
from otel_eval.store.writer import WriterCounts

A = TypeVar("A", bound=AmountLike)


class Store:
    """Opens or makes the store. ConfigError where the file is in use, newer than we are, not ours, damaged or not writable."""

    def __init__(self, path: str | Path | None, *, limits: StoreLimits | None = None, clock: SteadyClock | None = None) -> None:
        self.path = Path(path) if path is not None else None
        self.limits = limits or StoreLimits()
        self.clock = clock or SteadyClock()
        self._room = Room(self.path, self.limits, self.clock)
        self._janitor = Janitor(self._room, self.clock)
        self._access = Access(self.path, self.clock, measure=self._room.measure, tend=self._janitor.tend)
        self._access.write(self._room.measure).result()
        self._inbox = Inbox(self._access, self._room)
        self._books = Books(self._access)
        self.progress = Progress(self._access)
        """When to look at which trace and conversation."""
        self.queues = Queues(self._access)
        """Units that wait for a judge."""
        self.outbox = Outbox(self._access)
        """Payloads that wait for sinks."""
        self.records = Records(self._access)
        """Outcomes and everything `explain` shows."""

    def now_s(self) -> float:
        """The store's time: the one clock for all moments in it."""
        return self.clock.now_s()

    def put_request(self, request: NewRequest) -> "Future[None]":
        """Keep a request: acknowledge it when the future is done. Raises Overloaded at once where there is no room."""
        return self._inbox.put(request)

    def bodies_of_traces(self, trace_ids: Iterable[str]) -> Iterator[Body]:
        """Every request that touches one of these traces, once, in order of arrival; one at a time is in memory."""
        return self._inbox.bodies_of_traces(trace_ids)

    def body_ids_of_traces(self, trace_ids: Iterable[str]) -> list[int]:
        """The numbers of these requests, in order of arrival: who knows what stands in one need not load it."""
        return self._inbox.body_ids_of_traces(trace_ids)

    def body(self, body_id: int) -> Body | None:
        """A request by its number; None where it is gone."""
        return self._inbox.body(body_id)

    def ledger(self, amount: MakeAmount[A], *, run: str = "") -> StoreLedger[A]:
        """The judge's books; `amount` is the class of amounts (`judges.ledger.Amount`). All ledgers of a store count together."""
        return StoreLedger(self._books, amount, run=run)

    def verdicts(self, *, ttl_s: float = TTL_S) -> StoreVerdicts:
        """The judge's cache of verdicts."""
        return StoreVerdicts(self._access, ttl_s=ttl_s)

    def is_settled(self, trace_id: str) -> bool:
        """Whether a trace and its conversations have their outcomes, all that came is in them, and the sinks have what they were to get.

        True for a trace that is not known: it was forgotten.
        """
        return is_settled(self._access, trace_id)

    def forget(self, trace_ids: Iterable[str]) -> "Future[None]":
        """Forget traces with all that stands of them; of their conversations too, where no other trace is left. Counts of outcomes stay."""
        return forget(self._access, trace_ids)

    def settled(self) -> "Future[None]":
        """Done when all that was asked before is on disk."""
        return self._access.write(lambda db: None)

    def info(self) -> StoreInfo:
        """What is in it, counted row by row: for people."""
        with self._access.read() as db:
            return info(db, self._access.place, self.limits, self.clock)

    @property
    def used_bytes(self) -> int:
        """What is used of `max_bytes`, as of the last commit."""
        return self._room.used_bytes

    @property
    def is_full(self) -> bool:
        """Whether new requests are refused."""
        return self._room.is_high

    @property
    def trouble(self) -> OtelEvalError | None:
        """Why the last commit failed; None when it did not: for `/readyz`."""
        return self._access.writer.trouble

    @property
    def counts(self) -> WriterCounts:
        """Commits, pieces of work and faults of this process."""
        return self._access.writer.counts

    @property
    def deleted_bodies(self) -> int:
        return self._janitor.deleted_bodies

    @property
    def expired_units(self) -> int:
        return self._janitor.expired_units

    def close(self) -> None:
        """Commit what is queued and close. What is asked later raises StoreError."""
        self._access.close()

    def abandon(self) -> None:
        """In a child that the process was forked into: leave the file to the parent, and hold no lock that outlives it."""
        self._access.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
