"""In line: everything is forwarded as it came; spans of traces that may be scored are held until their results can be added to them.

What passes is forwarded before it is acknowledged, so that a refusal behind reaches the sender. What is held is on disk before it is
acknowledged, and leaves in any case when its time is over: scored or not, after a crash or not. On any trouble spans pass unscored.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import ModuleType

from otel_eval.errors import InputError, OtelEvalError, Overloaded, SinkError
from otel_eval.model import Report, SpanRef
from otel_eval.otlp import splice, splice_json
from otel_eval.otlp.encode import EventOut
from otel_eval.otlp.endpoint import Endpoint, Signal, url_of_signal
from otel_eval.otlp.forward import Forwarder
from otel_eval.otlp.receive.encoding import Encoding
from otel_eval.otlp.receive.envelope import TraceEnvelope
from otel_eval.otlp.receive.inflate import inflated
from otel_eval.otlp.receive.intake import Receive
from otel_eval.otlp.receive.reader import EnvelopeReader
from otel_eval.otlp.status import ACCEPTED, Format, Receipt
from otel_eval.service.serve.plan import Plan, is_left_out
from otel_eval.sinks.result_events import events_from_report
from otel_eval.store import Store, Unit
from otel_eval.telemetry import Meter

SINK = "inline"
"""Under this name the outbox holds spans."""
_TYPES: Mapping[Format, str] = {"protobuf": "application/x-protobuf", "json": "application/json"}
_SPLICES: Mapping[Format, ModuleType] = {"protobuf": splice, "json": splice_json}


class Hop:
    """The receiver behind, by signal."""

    def __init__(self, endpoint: Endpoint) -> None:
        signals: tuple[Signal, ...] = ("traces", "logs", "metrics")
        self._by_signal = {signal: Forwarder(replace(endpoint, url=url_of_signal(endpoint.url, signal))) for signal in signals}

    async def forward(self, signal: Signal, body: bytes, encoding: Encoding) -> None:
        """Pass a body on. SinkError where it is not accepted."""
        content_type = _TYPES[encoding.format]
        await asyncio.to_thread(self._by_signal[signal].forward, body, content_type=content_type, packing=encoding.packing)

    def close(self) -> None:
        for forwarder in self._by_signal.values():
            forwarder.close()


class HeldSpans:
    """The sink that spans leave by when they were held; reports themselves never go there."""

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self.left_bytes = 0

    def payload(self, report: Report) -> bytes | None:
        return None

    async def send(self, payloads: Sequence[bytes]) -> str:
        protobuf = [p for p in payloads if format_of(p) == "protobuf"]
        if protobuf:
            await self.hop.forward("traces", b"".join(protobuf), Encoding(format="protobuf"))
        for payload in payloads:
            if format_of(payload) == "json":
                await self.hop.forward("traces", payload, Encoding(format="json"))
        self.left_bytes += sum(map(len, payloads))
        return ""


def format_of(payload: bytes) -> Format:
    """The format of a plain traces request by its first byte: protobuf begins with a field's tag, JSON with a brace."""
    return "json" if payload[:1] == b"{" else "protobuf"


@dataclass(slots=True, kw_only=True)
class Inline:
    """The funnel in front of the funnel. `plan` may change while it runs."""

    inner: Receive
    held: HeldSpans
    store: Store
    plan: Plan
    reader: EnvelopeReader
    meter: Meter
    hold_s: float = 30.0
    max_held_bytes: int = 64 * 1024 * 1024
    max_body_bytes: int = 64 * 1024 * 1024
    _taken_bytes: int = 0
    _at_start_bytes: int = field(init=False)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="otel-eval cut"))

    def __post_init__(self) -> None:
        self._at_start_bytes = self.store.outbox.bytes_of(SINK)

    @property
    def held_bytes(self) -> int:
        return max(0, self._at_start_bytes + self._taken_bytes - self.held.left_bytes)

    async def __call__(self, signal: Signal, body: bytes, encoding: Encoding) -> Receipt:
        """Forward, hold and keep. Overloaded where the receiver behind refuses: the sender has it still."""
        parts = await asyncio.get_running_loop().run_in_executor(self._thread, self._parts, signal, body, encoding)
        passing, held = (body, {}) if parts is None else parts
        if passing:
            is_whole = passing is body
            await self._pass(signal, passing, encoding if is_whole else replace(encoding, packing=""))
        for trace_id, payload in held.items():
            await self._hold(trace_id, payload)
        return await self._keep(signal, body, encoding, held)

    def close(self) -> None:
        """End the thread and the connections."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.held.hop.close()

    def _parts(self, signal: Signal, body: bytes, encoding: Encoding) -> tuple[bytes, dict[str, bytes]] | None:
        """(what passes, what is held by trace); None where all passes as it came."""
        if signal != "traces":
            return None
        try:
            plain = inflated(body, encoding.packing, max_bytes=self.max_body_bytes)
            envelope = self.reader.read(signal, plain, encoding.format)
            cut = _SPLICES[encoding.format]
            held = frozenset(t.trace_id for t in envelope.traces if self._is_held(t, len(plain)))
            if not held:
                return None
            passing = cut.without_traces(plain, held)
            return passing if cut.trace_ids(passing) else b"", {t: cut.with_traces(plain, frozenset({t})) for t in held}
        except InputError:  # who is behind may make something of it, or say what is wrong
            return None

    def _is_held(self, trace: TraceEnvelope, size: int) -> bool:
        """Whether results may still come for a trace, and there is room to wait for them."""
        if not trace.spans or self.held_bytes + size > self.max_held_bytes or not any(run.rate for run in self.plan.runs):
            return False
        row = self.store.progress.trace(trace.trace_id)
        if row is not None and row.scored_s is not None:
            return False
        if not trace.is_genai and not (row is not None and row.is_genai):
            return False
        ids = trace.conversations or (row.conversations if row is not None else ())
        return len(ids) != 1 or not is_left_out(self.plan, self.plan.runs, ids[0])

    async def _pass(self, signal: Signal, body: bytes, encoding: Encoding) -> None:
        try:
            await self.held.hop.forward(signal, body, encoding)
        except SinkError as error:
            self.meter.add("otel_eval.inline", 1, {"otel_eval.answer": "refused"})
            raise Overloaded(f"{error}: send again", retry_after_s=error.retry_after_s or 1.0) from error
        self.meter.add("otel_eval.inline", 1, {"otel_eval.answer": "passed"})

    async def _hold(self, trace_id: str, payload: bytes) -> None:
        """Keep spans for a while; where the store cannot, they pass."""
        unit = Unit(kind="trace", key=trace_id)
        try:
            await asyncio.wrap_future(self.store.outbox.hold(SINK, unit, payload, until_s=self.store.now_s() + self.hold_s))
            self._taken_bytes += len(payload)
            self.meter.add("otel_eval.inline", 1, {"otel_eval.answer": "held"})
        except OtelEvalError:
            await self._pass("traces", payload, Encoding(format=format_of(payload)))

    async def _keep(self, signal: Signal, body: bytes, encoding: Encoding, held: Mapping[str, bytes]) -> Receipt:
        """Hand it to the store. What cannot be kept is forwarded all the same, and its spans need not wait."""
        try:
            return await self.inner(signal, body, encoding)
        except OtelEvalError:
            self.meter.add("otel_eval.inline", 1, {"otel_eval.answer": "unscored"})
            for trace_id in held:
                self.let_go(trace_id)
            return ACCEPTED

    def let_go(self, trace_id: str, reports: Iterable[Report] = ()) -> None:
        """The held spans of a trace leave now, with what was found out about them."""
        events: dict[SpanRef, list[EventOut]] = {}
        for report in reports:
            for event in events_from_report(report):
                if event.trace_id == trace_id and event.span_id is not None:
                    events.setdefault(SpanRef(trace_id=trace_id, span_id=event.span_id), []).append(event)

        def change(payload: bytes) -> bytes:
            try:
                changed: bytes = _SPLICES[format_of(payload)].with_events(payload, events)
                return changed
            except InputError:
                return payload

        self.store.outbox.release(SINK, Unit(kind="trace", key=trace_id), change)
