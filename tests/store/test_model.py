"""The store against a model of it: any course of requests, looks, claims, revisions, releases and restarts."""

import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from otel_eval.store import Finished, Look, Outgoing, Store, Work
from tests.fakes.stores import Time, arrival, open_store, put, tend, trace_id, unit

NUMBERS = st.integers(1, 4)
NAMES = st.sampled_from([(), ("a",), ("b",), ("a", "b")])


@dataclass
class Trace:
    """What the model knows of a trace. `seen` counts arrivals, as the store counts time."""

    arrived: int = 0
    known: int = 0
    due: bool = False
    bodies: list[bytes] = field(default_factory=list)
    in_queue: bool = False
    claimed: bool = False
    claim_knows: int = 0
    seen_s: float = 0.0
    revision: int = 0
    outcome: str | None = None
    rank: int | None = None
    ids: set[str] = field(default_factory=set)


class StoreAgainstModel(RuleBasedStateMachine):
    """Every rule does the same to the store and to the model; every invariant reads both."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.time = Time()
        self.traces: dict[int, Trace] = defaultdict(Trace)
        self.letters: list[bytes] = []
        self.counter = 0
        self.open()

    def open(self) -> None:
        self.store: Store = open_store(self.folder / "store.db", self.time, max_age_s=1e9)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def last_s(self, number: int) -> float:
        row = self.store.progress.trace(trace_id(number))
        assert row is not None
        return row.last_s

    @rule(numbers=st.sets(NUMBERS, min_size=1, max_size=3), names=NAMES, rank=st.integers(0, 2))
    def receive(self, numbers: set[int], names: tuple[str, ...], rank: int) -> None:
        self.counter += 1
        body = b"%d" % self.counter
        put(self.store, *(arrival(n, conversations=names, id_rank=rank, due_s=self.store.now_s()) for n in numbers), body=body)
        for number in numbers:
            trace = self.traces[number]
            trace.arrived += 1
            trace.due = True
            trace.bodies.append(body)
            if names and (trace.rank is None or rank <= trace.rank):
                trace.ids = set(names) if trace.rank is None or rank < trace.rank else trace.ids | set(names)
                trace.rank = rank

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def select(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.due()))
        trace = self.traces[number]
        self.store.queues.add([Work(unit=unit(number), revision=trace.revision + 1, queue="estimate", seen_s=self.last_s(number))]).result()
        trace.in_queue, trace.due = True, False

    @precondition(lambda self: self.due())
    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(self.due()))
        self.store.progress.look_again([Look(unit=unit(number), seen_s=self.last_s(number), due_s=None, is_settled=True)]).result()
        self.traces[number].due, self.traces[number].known = False, self.traces[number].arrived

    @rule()
    def claim(self) -> None:
        for work in self.store.queues.claim("estimate", limit=1).result():
            trace = self.traces[int(work.unit.key, 16)]
            assert trace.in_queue
            assert not trace.claimed
            trace.claimed, trace.claim_knows, trace.seen_s = True, trace.arrived, work.seen_s

    @precondition(lambda self: any(t.claimed for t in self.traces.values()))
    @rule(data=st.data(), release=st.booleans())
    def finish(self, data: st.DataObject, release: bool) -> None:
        number = data.draw(st.sampled_from([n for n, t in self.traces.items() if t.claimed]))
        trace = self.traces[number]
        newest = trace.claim_knows == trace.arrived
        payload = b"%d/%d" % (number, trace.revision + 1)
        done = Finished(
            unit=unit(number),
            revision=trace.revision + 1,
            seen_s=trace.seen_s,
            outcome="scored",
            outgoing=(Outgoing(sink="far", payload=payload),),
            release=(trace_id(number),) if release else (),
        )
        assert self.store.queues.finish(done).result() is True
        assert self.store.queues.finish(done).result() is False
        trace.revision += 1
        trace.outcome, trace.in_queue, trace.claimed = "scored", False, False
        trace.known = trace.claim_knows
        trace.due = not newest
        self.letters.append(payload)
        if release and newest:
            self.time.pass_s(2)
            tend(self.store)
            trace.bodies = []

    @rule(refuse=st.booleans())
    def send(self, refuse: bool) -> None:
        taken = self.store.outbox.take("far", limit=2)
        heads = list({p.partition(b"/")[0]: p for p in reversed(self.letters)}.values())
        assert {letter.payload for letter in taken} <= set(heads)
        if refuse:
            self.store.outbox.try_again(taken, at_s=self.store.now_s()).result()
        else:
            self.store.outbox.sent(taken).result()
            self.letters = [p for p in self.letters if p not in {letter.payload for letter in taken}]

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.open()
        for trace in self.traces.values():
            trace.claimed = False

    @rule(seconds=st.sampled_from([0.5, 2.0, 20.0]))
    def wait(self, seconds: float) -> None:
        self.time.pass_s(seconds)
        tend(self.store)

    def due(self) -> list[int]:
        """Traces that are due and not in the queue."""
        return sorted(n for n, t in self.traces.items() if t.due and not t.in_queue)

    @invariant()
    def they_agree(self) -> None:
        if not hasattr(self, "store"):
            return
        assert sorted(int(r.trace_id, 16) for r in self.store.progress.due_traces(self.store.now_s())) == self.due()
        for number, trace in self.traces.items():
            row = self.store.progress.trace(trace_id(number))
            assert row is not None
            assert (row.spans, row.revision, set(row.conversations)) == (trace.arrived, trace.revision, trace.ids)
            assert [b.data for b in self.store.bodies_of_traces([trace_id(number)])] == trace.bodies
            outcome = self.store.records.outcome(unit(number))
            assert (outcome.outcome if outcome else None) == trace.outcome
        for name in ("a", "b"):
            members = {n for n, t in self.traces.items() if name in t.ids}
            row_ = self.store.progress.conversation(name)
            assert ({int(t, 16) for t in row_.traces} if row_ else set()) == members
            if row_:
                assert row_.waiting_traces == sum(self.traces[n].known < self.traces[n].arrived for n in members)
        assert sum(c.units for c in self.store.records.outcome_counts()) == sum(t.outcome is not None for t in self.traces.values())
        assert sum(d.waiting for d in self.store.outbox.depths().values()) == len(self.letters)


TestStoreAgainstModel = StoreAgainstModel.TestCase
TestStoreAgainstModel.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
