"""A store for tests: time that moves when told, and requests from a few words."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_eval.store import Arrival, Finished, NewRequest, SteadyClock, Store, StoreLimits, Unit

START_S = 1_790_000_000.0


@dataclass(slots=True)
class Time:
    """The machine's clock and its uptime."""

    wall_s: float = START_S
    uptime_s: float = 1000.0

    def pass_s(self, seconds: float) -> None:
        self.wall_s += seconds
        self.uptime_s += seconds

    def clock(self) -> SteadyClock:
        return SteadyClock(wall=lambda: self.wall_s, uptime=lambda: self.uptime_s)


def open_store(path: Path | None, time: Time | None = None, **limits: Any) -> Store:
    """A store on the time given, else on the machine's."""
    clock = time.clock() if time is not None else None
    return Store(path, limits=StoreLimits(**{"min_disk_bytes": 0, **limits}), clock=clock)


def trace_id(number: int) -> str:
    return f"{number:032x}"


def unit(number: int) -> Unit:
    """The unit of trace `number`."""
    return Unit(kind="trace", key=trace_id(number))


def talk(name: str) -> Unit:
    """The unit of a conversation."""
    return Unit(kind="conversation", key=name)


def arrival(number: int = 1, **fields: Any) -> Arrival:
    """A span of trace `number`."""
    return Arrival(**{"trace_id": trace_id(number), "spans": 1, **fields})


def request(*arrivals: Arrival, body: bytes | None = b"body") -> NewRequest:
    return NewRequest(signal="traces", encoding="protobuf", body=body, arrivals=arrivals or (arrival(),))


def put(store: Store, *arrivals: Arrival, body: bytes | None = b"body") -> None:
    """Keep a request, and wait until it is on disk."""
    store.put_request(request(*arrivals, body=body)).result()


def finished(of: Unit, store: Store, *, revision: int = 1, outcome: str = "scored", **fields: Any) -> Finished:
    """A revision that knows all that has come."""
    return Finished(**{"unit": of, "revision": revision, "seen_s": store.now_s() + 1.0, "outcome": outcome, **fields})


def tend(store: Store) -> None:
    """Wait until the store has looked after the house once since now."""
    store.settled().result()
    store.settled().result()


def bodies(store: Store, *numbers: int) -> list[bytes]:
    """The bodies kept for some traces, in order of arrival."""
    return [body.data for body in store.bodies_of_traces([trace_id(n) for n in numbers])]
