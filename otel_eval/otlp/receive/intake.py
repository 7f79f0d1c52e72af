"""The funnel of both transports: a body is unpacked, parsed and looked over, handed to whoever keeps it, and only then is there a
receipt."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from otel_eval.errors import Overloaded
from otel_eval.model import Batch
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.otlp_json import batch_from_json
from otel_eval.otlp.receive.encoding import Encoding, encoding_from_text
from otel_eval.otlp.receive.envelope import Envelope
from otel_eval.otlp.receive.inflate import inflated, packed
from otel_eval.otlp.receive.keys import EnvelopeKeys
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.otlp.status import ACCEPTED, Receipt

_INLINE_BYTES = 16 * 1024
"""A plain body of this size is read in a millisecond: handing it to the thread would cost as much."""
_MOST_REASONS = 8


class Receive(Protocol):
    """The funnel, as transports see it. Raises what `status` has an answer for."""

    async def __call__(self, signal: Signal, body: bytes, encoding: Encoding) -> Receipt: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request to keep. `body` is as it came, or packed by us; `plain` is the same unpacked."""

    signal: Signal
    encoding: Encoding
    body: bytes
    envelope: Envelope
    plain_bytes: int = 0


Keep: TypeAlias = Callable[[Received], Awaitable[None]]
"""Keeps a request; done once it may be acknowledged. Raises Overloaded or StoreError where it cannot."""


@dataclass(slots=True, kw_only=True)
class IntakeCounts:
    """What came, for instruments: by signal, or by reason."""

    requests: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    """As they came, still packed."""
    items: Counter[str] = field(default_factory=Counter)
    """Good spans and log records, all of them."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Invalid items by reason."""
    own: Counter[str] = field(default_factory=Counter)
    """An evaluator's own spans and records, which are not scored."""
    idle_logs: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    """Whole requests that were refused, by class of the error; the transports count here too."""


class Intake:
    """Reads one body at a time in a thread of its own, so that memory is bounded and the loop stays free; then `keep` has it.

    Metrics are dropped with success. Where all is an evaluator's own, `keep` is still told, and may drop the body.
    """

    def __init__(
        self, keep: Keep, *, keys: EnvelopeKeys | None = None, max_body_bytes: int, keep_timeout_s: float = 30.0, pack: bool = True
    ) -> None:
        self._keep, self._reader = keep, EnvelopeReader(keys)
        self._max_body_bytes, self._timeout_s, self._pack = max_body_bytes, keep_timeout_s, pack
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="otel-eval parse")
        self.counts = IntakeCounts()

    async def __call__(self, signal: Signal, body: bytes, encoding: Encoding) -> Receipt:
        """Take a request in. InputError, TooLarge, Overloaded or StoreError where that cannot be."""
        self.counts.requests[signal] += 1
        self.counts.bytes[signal] += len(body)
        if signal == "metrics":
            return ACCEPTED
        try:
            async with asyncio.timeout(self._timeout_s):
                received = await self._read(signal, body, encoding)
                await self._keep(received)
        except TimeoutError:
            raise Overloaded(f"the request was not kept within {self._timeout_s:g} s: the disk is slow or in trouble") from None
        self._count(signal, received.envelope)
        return receipt_from_rejected(received.envelope.rejected)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _read(self, signal: Signal, body: bytes, encoding: Encoding) -> Received:
        if encoding.packing == "" and len(body) <= _INLINE_BYTES:
            return self._received(signal, body, encoding)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._received, signal, body, encoding)

    def _received(self, signal: Signal, body: bytes, encoding: Encoding) -> Received:
        plain = inflated(body, encoding.packing, max_bytes=self._max_body_bytes)
        envelope = self._reader.read(signal, plain, encoding.format)
        if self._pack and encoding.packing == "" and envelope.is_needed:
            body, packing = packed(body)
            encoding = replace(encoding, packing=packing)
        return Received(signal=signal, encoding=encoding, body=body, envelope=envelope, plain_bytes=len(plain))

    def _count(self, signal: Signal, envelope: Envelope) -> None:
        counts = self.counts
        counts.items[signal] += envelope.spans + envelope.logs
        counts.own[signal] += envelope.own_spans + envelope.own_logs
        counts.idle_logs += envelope.idle_logs
        counts.rejected.update(envelope.rejected)
        counts.notes.update(envelope.notes)


def receipt_from_rejected(rejected: Mapping[str, int]) -> Receipt:
    """What a sender is told of invalid items: how many, and what is wrong with them. They must not be sent again."""
    if not rejected:
        return ACCEPTED
    most = sorted(rejected.items(), key=lambda found: (-found[1], found[0]))[:_MOST_REASONS]
    told = ", ".join(f"{count} {reason}" for reason, count in most)
    return Receipt(rejected=sum(rejected.values()), message=f"rejected for good: {told}; the others were taken")


def batch_from_kept(signal: str, encoding: str, body: bytes, *, max_bytes: int = 2**31) -> Batch:
    """The batch of a request that was kept, with only what its signal takes: the same items that its envelope counted."""
    form, plain = plain_from_kept(encoding, body, max_bytes=max_bytes)
    if form == "protobuf":
        return batch_from_traces(plain) if signal == "traces" else batch_from_logs(plain)
    batch = batch_from_json(plain)
    return replace(batch, logs=()) if signal == "traces" else replace(batch, spans=())


def plain_from_kept(encoding: str, body: bytes, *, max_bytes: int = 2**31) -> tuple[str, bytes]:
    """(encoding, body) of a request that was kept, without its packing."""
    form, _, packing = encoding.partition("+")
    return (form, inflated(body, encoding_from_text(encoding).packing, max_bytes=max_bytes)) if packing else (encoding, body)
