"""Results to any OTLP receiver, as log events."""

import asyncio

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
        events = events_from_report(report)
        if not events:
            return
        body = logs_request_from_events(events, resource=self._resource, scope_name=SCOPE_NAME, scope_version=self._version)
        result = await asyncio.to_thread(post_otlp, self._endpoint, "logs", body)
        self.sent += len(events) - result.rejected
        self.rejected += result.rejected
        self.message = result.message or self.message
