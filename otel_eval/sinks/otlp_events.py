"""Results to any OTLP receiver, as log events."""

import asyncio
from collections.abc import Sequence

from otel_eval.model import Attributes, Report
from otel_eval.otlp.encode import logs_request_from_events
from otel_eval.otlp.endpoint import Endpoint
from otel_eval.otlp.post import post_otlp
from otel_eval.sinks.result_events import SCOPE_NAME, events_from_report


class OtlpEventSink:
    """Sends the events of a report as one request and waits for the answer. What cannot be sent is a `SinkError`.

    `rejected` counts events that the receiver took and then refused for good (a partial success is never sent again).
    """

    def __init__(self, endpoint: Endpoint, *, resource: Attributes, version: str = "") -> None:
        self._endpoint = endpoint
        self._resource = resource
        self._version = version
        self.sent = 0
        self.rejected = 0
        self.message = ""

    async def write(self, report: Report) -> None:
        body = self.payload(report)
        if body is not None:
            await self._post(body, len(events_from_report(report)), once=False)

    def payload(self, report: Report) -> bytes | None:
        """One request; several joined are one request too, for repeated fields of protobuf add up."""
        events = events_from_report(report)
        if not events:
            return None
        return logs_request_from_events(events, resource=self._resource, scope_name=SCOPE_NAME, scope_version=self._version)

    async def send(self, payloads: Sequence[bytes]) -> str:
        return await self._post(b"".join(payloads), len(payloads), once=True)

    async def _post(self, body: bytes, events: int, *, once: bool) -> str:
        result = await asyncio.to_thread(post_otlp, self._endpoint, "logs", body, once=once)
        self.sent += events - result.rejected
        self.rejected += result.rejected
        self.message = result.message or self.message
        return f"{result.rejected} refused for good: {result.message}" if result.rejected else result.message
