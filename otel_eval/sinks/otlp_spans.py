"""Results as spans `evaluate METRIC` to any OTLP receiver, for backends that show no log events.

A span is linked to the judged one. It stands in a trace of its own, made from the result's id, or by choice inside the judged trace. The
same result gives the same span again. Attributes are those of the result event; there is no convention for evaluation spans yet.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256

from otel_eval.model import Attributes, Failed, Report, Result, Skipped
from otel_eval.otlp.encode_spans import SpanOut, traces_request_from_spans
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.otlp.post import post_otlp
from otel_eval.sinks.result_events import SCOPE_NAME, attributes_of_result


class OtlpSpanSink:
    """Sends a span for each score and each failure. `inside` puts it below the judged span."""

    def __init__(self, endpoint: Endpoint, *, resource: Attributes, version: str = "", inside: bool = False) -> None:
        self._endpoint, self._resource, self._version, self._inside = endpoint, resource, version, inside

    def payload(self, report: Report) -> bytes | None:
        """One request; several joined are one request too."""
        spans = [_span(report, result, self._inside) for result in report.results if not isinstance(result.outcome, Skipped)]
        if not spans:
            return None
        return traces_request_from_spans(spans, resource=self._resource, scope_name=SCOPE_NAME, scope_version=self._version)

    async def send(self, payloads: Sequence[bytes]) -> str:
        result = await asyncio.to_thread(post_otlp, self._endpoint, "traces", b"".join(payloads), once=True)
        return f"{result.rejected} refused for good: {result.message}" if result.rejected else result.message


def _span(report: Report, result: Result, inside: bool) -> SpanOut:
    digest = sha256(result.id.encode()).hexdigest()
    anchor = result.anchor
    is_inside = inside and anchor is not None
    return SpanOut(
        trace_id=anchor.trace_id if is_inside and anchor is not None else digest[:32],
        span_id=digest[32:48],
        parent_span_id=anchor.span_id if is_inside and anchor is not None else "",
        name=f"evaluate {result.metric}",
        start_ns=report.time_ns,
        end_ns=report.time_ns,
        links=(anchor,) if anchor is not None else (),
        attributes=attributes_of_result(report, result),
        error=result.outcome.error_type.value if isinstance(result.outcome, Failed) else None,
    )
