"""What arrives into the store: the request as it came, and of each trace in it when it was seen and when to look at it."""

import asyncio
from collections.abc import Sequence

from otel_eval.completion import CompletionLimits
from otel_eval.dialects import Dialect, Reader
from otel_eval.otlp.receive.envelope import Envelope, TraceEnvelope
from otel_eval.otlp.receive.intake import Received
from otel_eval.otlp.receive.keys import EnvelopeKeys
from otel_eval.service.serve.chains import CHAINED
from otel_eval.store import Arrival, NewRequest, Store


class Keeper:
    """Keeps requests. `limits` may change while it runs."""

    def __init__(self, store: Store, limits: CompletionLimits) -> None:
        self._store = store
        self.limits = limits

    async def __call__(self, received: Received) -> None:
        """Done once it is on disk. Overloaded where there is no room, StoreError where the store is in trouble."""
        request = self.request(received)
        if request.arrivals:
            await asyncio.wrap_future(self._store.put_request(request))

    def request(self, received: Received) -> NewRequest:
        """What is to be kept of a request."""
        envelope = received.envelope
        arrivals = self.arrivals(envelope)
        body = received.body if envelope.is_needed else None
        return NewRequest(signal=received.signal, encoding=str(received.encoding), body=body, arrivals=arrivals)

    def arrivals(self, envelope: Envelope) -> tuple[Arrival, ...]:
        """What a request brought for each of its traces, due when it may be complete."""
        return tuple(map(self._arrival, envelope.traces))

    def _arrival(self, trace: TraceEnvelope) -> Arrival:
        """A trace is looked at when it may be complete, whether its root is in this request, came before or is still to come."""
        now_s = self._store.now_s()
        due_s = now_s + min(self.limits.trace_quiet_s, self.limits.trace_max_age_s)
        return Arrival(
            trace_id=trace.trace_id,
            spans=trace.spans,
            logs=trace.logs,
            own_spans=trace.own_spans,
            root_ended=trace.root_ended,
            end_marked=trace.end_marked,
            is_session=trace.is_session,
            is_genai=trace.is_genai,
            has_error=trace.has_error,
            start_ns=trace.start_ns,
            end_ns=trace.end_ns,
            conversations=tuple(c for c in trace.conversations if not c.startswith(CHAINED)),
            id_rank=trace.id_rank,
            service=trace.service,
            trace_state=trace.trace_state,
            due_s=due_s,
            conversation_due_s=due_s,
        )


_TOO_COMMON = frozenset({"chat.id", "event.name", "event.sequence", "session.id", "thread.id"})
"""Names that some dialect looks at and that spans of browsers, servers and threads carry as well: alone they tell nothing of an agent."""


def keys_of_dialects(dialects: Sequence[Dialect]) -> EnvelopeKeys:
    """What to look for in what arrives, as the dialects will read it."""
    ids = tuple(key for key in Reader(dialects).id_keys if not key.startswith("("))
    detected = dict.fromkeys(name for dialect in dialects for name in dialect.info.detects)
    genai = [name for name in detected if name not in _TOO_COMMON and name not in ids]
    return EnvelopeKeys(conversation_ids=ids, genai=(*genai, "gen_ai."))
