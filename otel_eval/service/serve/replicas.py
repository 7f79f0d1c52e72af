"""Other replicas of otel-eval behind the same load balancer, and which traces a change of them may have cut in two.

A load balancer sends a trace to one replica, until a replica comes or goes: then some traces go on elsewhere. Neither part need show it (a
root may have all the spans here that it has a name for), so every trace that was under way at such a moment counts as cut: the price of a
change is the scores of some seconds' traces, on all replicas.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

LOOK_EVERY_S = 5.0
"""As often as the Collector's resolver for DNS looks."""
_LATE_S = 2 * LOOK_EVERY_S
"""So long after a change it may be seen, here or by the load balancer."""
_UNSENT_S = 30.0
"""So long after its end a span may still be on its way: exporters send every 5 s, a Collector's queue waits when told to."""
_REMEMBERED_S = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Replicas:
    """Moments at which traces may have come from another replica or gone to one. Beginning to run is one."""

    name: str
    """HOST or HOST:PORT that stands for all of them, the one that the load balancer's resolver asks for."""
    now_s: Callable[[], float]
    changes: list[float] = field(default_factory=list)
    _addresses: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self.changes.append(self.now_s())

    def may_have_cut(self, start_ns: int | None, end_ns: int | None) -> bool:
        """Whether a trace of these times was under way when replicas came or went."""
        if start_ns is None or end_ns is None:
            return True
        return any(start_ns / 1e9 < at_s + _LATE_S and end_ns / 1e9 + _UNSENT_S > at_s - _LATE_S for at_s in self.changes)

    def see(self, addresses: Iterable[str]) -> None:
        """What the name stands for now."""
        found, now_s = frozenset(addresses), self.now_s()
        if self._addresses is not None and found != self._addresses:
            self.changes = [at_s for at_s in self.changes if now_s - at_s < _REMEMBERED_S] + [now_s]
            _log.info("replicas: %d are now %d; traces that are under way count as fragments", len(self._addresses), len(found))
        self._addresses = found

    async def watch(self, stopping: asyncio.Event) -> None:
        """Look what the name stands for until the end. A name that cannot be resolved is no change: the load balancer keeps what it had."""
        host = self.name.rpartition(":")[0] or self.name
        loop = asyncio.get_running_loop()
        while not stopping.is_set():
            try:
                found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
                self.see(str(address[0]) for *_, address in found)
            except (OSError, UnicodeError) as error:
                _log.warning("completion.replicas: %r cannot be resolved (%s)", host, type(error).__name__)
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await stopping.wait()
            except TimeoutError:
                continue
