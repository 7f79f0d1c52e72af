"""Whole traces to the topic of conversations: all traces of one come to one partition, whichever partition they were gathered from.

The key is the conversation's id, the trace's where it has none. The pieces of a trace are put together as far as a message may be large;
protobuf requests one behind the other are one request. Of several messages only the last says that the trace is whole, and each is written
only when the broker has the one before it: a part that is refused leaves a fragment, never a trace that looks whole.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from otel_eval.kafka.records import Sending
from otel_eval.otlp.endpoint import Signal
from otel_eval.service.worker.gathering import Held, Piece

SIGNAL, CONVERSATION, WHOLE = "otel_eval.signal", "otel_eval.conversation", "otel_eval.whole"
"""Headers of a message: what it holds, for which conversation, and that with it a trace is there from its root on."""
PACK_BYTES = 1024 * 1024
"""Pieces are put together up to this size; one that is larger goes alone."""


@dataclass(slots=True, kw_only=True)
class Router:
    """`send` writes; `on_routed` is told of each trace once the broker has all of it, or of the error that refused a part for good."""

    topic: str
    send: Callable[[Sending], None]
    on_routed: Callable[[Held, str | None], None]
    in_flight: int = 0
    """Traces that the broker does not have yet."""

    def route(self, held: Held) -> None:
        """Begin to write a trace."""
        self.in_flight += 1
        _Writing(router=self, held=held, rest=list(messages_of(held))).step()

    def finish(self, held: Held, fault: str | None) -> None:
        self.in_flight -= 1
        self.on_routed(held, fault)


@dataclass(slots=True, kw_only=True)
class _Writing:
    """One trace on its way."""

    router: Router
    held: Held
    rest: "list[tuple[bytes, dict[str, bytes], bytes]]" = field(default_factory=list)

    def step(self) -> None:
        """Write the next message, or be done."""
        if not self.rest:
            self.router.finish(self.held, None)
            return
        key, headers, value = self.rest.pop(0)
        self.router.send(Sending(topic=self.router.topic, key=key, value=value, headers=headers, done=self.told))

    def told(self, fault: str | None) -> None:
        if fault is None:
            self.step()
        else:
            self.router.finish(self.held, fault)


def messages_of(held: Held) -> Iterator[tuple[bytes, dict[str, bytes], bytes]]:
    """Key, headers and value of each message for a trace; once for each conversation that it is part of."""
    packs = list(packs_of(held.pieces))
    names: list[str | None] = [*sorted(held.ids)]
    for name in names or [None]:
        for place, (signal, body) in enumerate(packs, 1):
            headers = {SIGNAL: signal.encode()}
            if name is not None:
                headers[CONVERSATION] = name.encode("utf-8", "surrogatepass")
            if held.is_whole and place == len(packs):
                headers[WHOLE] = b"1"
            yield headers.get(CONVERSATION, held.trace_id.encode()), headers, body


def packs_of(pieces: Sequence[Piece]) -> Iterator[tuple[Signal, bytes]]:
    """The pieces put together, those of each signal in their order."""
    for signal in ("logs", "traces"):
        pack: list[bytes] = []
        size = 0
        for body in [piece.body for piece in pieces if piece.signal == signal]:
            if pack and size + len(body) > PACK_BYTES:
                yield signal, b"".join(pack)
                pack, size = [], 0
            pack.append(body)
            size += len(body)
        if pack:
            yield signal, b"".join(pack)
