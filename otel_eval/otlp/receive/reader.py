"""Bodies to envelopes. The whole body is parsed, so that a damaged one is refused while its sender still has it; nothing is converted."""

from collections.abc import Mapping

from otel_eval.errors import InputError
from otel_eval.model import Batch
from otel_eval.otlp.endpoint import Signal
from otel_eval.otlp.json_text import kind_of, value_from_text
from otel_eval.otlp.otlp_json import batch_from_object
from otel_eval.otlp.receive.envelope import Envelope
from otel_eval.otlp.receive.gathering import Gathering, gathered_traces
from otel_eval.otlp.receive.keys import EnvelopeKeys, Matcher
from otel_eval.otlp.status import Format

_KEYS: Mapping[Signal, tuple[str, str]] = {
    "traces": ("resourceSpans", "resource_spans"),
    "logs": ("resourceLogs", "resource_logs"),
    "metrics": ("resourceMetrics", "resource_metrics"),
}
"""The member of a request, and how those write it who do not keep to OTLP's camel case: refusing them in silence would lose their data."""


class EnvelopeReader:
    """Reads envelopes. Holds only a memo of attribute names met; one reader may serve many requests, one at a time."""

    def __init__(self, keys: EnvelopeKeys | None = None) -> None:
        self._matcher = Matcher(keys or EnvelopeKeys())

    def read(self, signal: Signal, body: bytes, encoding: Format) -> Envelope:
        """The envelope of a plain body of traces or logs. InputError where it is none, TooLarge where it has too many traces."""
        if encoding == "protobuf" and signal == "traces":
            return gathered_traces(body, self._matcher).envelope()
        found = Gathering(self._matcher)
        if encoding == "json":
            found.add_batch(_batch_of(signal, body))
        else:
            found.add_logs(body)
        return found.envelope()

    def of_batch(self, batch: Batch) -> Envelope:
        """The envelope of what is decoded already."""
        found = Gathering(self._matcher)
        found.add_batch(batch)
        return found.envelope()


def _batch_of(signal: Signal, body: bytes) -> Batch:
    """The batch of a JSON body, with only what the signal takes. An object of another signal alone is refused."""
    request = value_from_text(body)
    if not isinstance(request, dict):
        raise InputError(f"expected an OTLP/JSON object, got {kind_of(request)}")
    own = next((name for name in _KEYS[signal] if request.get(name) is not None), None)
    if own is None:
        other = next((name for names in _KEYS.values() for name in names if request.get(name)), None)
        if other is not None:
            raise InputError(f"the request holds {other!r}: it does not belong on the path of {signal}")
        return Batch()
    batch = batch_from_object({own: request[own]})
    broken = batch.rejected.get("malformed_group", 0) + batch.rejected.get("malformed_resource", 0)
    if broken and not batch.spans and not batch.logs:
        raise InputError(f"{own!r} is not as OTLP/JSON has it: expected a list of objects")
    return batch
