"""One OTLP request over HTTP, or over gRPC where that is asked for, by the rules for clients.

**Source**: the OTLP specification 1.11, "OTLP/HTTP": only 429, 502, 503 and 504 and a lost connection are tried again, after what
`Retry-After` says or else after exponentially growing pauses; a partial success is a success that is never sent again; redirects are not
followed, since that would make a POST a GET.
"""

import email.utils
import gzip
import http.client
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_eval.errors import SinkError
from otel_eval.otlp.endpoint import Endpoint, Signal, whole_url

RETRYABLE = frozenset({429, 502, 503, 504})
MAX_RESPONSE_BYTES = 4 * 1024 * 1024
"""The specification's limit of a response."""
FIRST_PAUSE_S, LAST_PAUSE_S = 1.0, 30.0

_RESPONSES: Mapping[str, Any] = {
    "traces": (ExportTraceServiceResponse, "rejected_spans"),
    "logs": (ExportLogsServiceResponse, "rejected_log_records"),
    "metrics": (ExportMetricsServiceResponse, "rejected_data_points"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResult:
    """An accepted request: how many of its items the far side refused for good, and what it says about that."""

    rejected: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time for the pauses between tries; replaced in tests."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


def post_otlp(
    endpoint: Endpoint | str,
    signal: Signal,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    *,
    clock: Clock | None = None,
    once: bool = False,
) -> PostResult:
    """Send a protobuf body and wait for the answer, within `timeout_s` over all tries; `once` leaves trying again to the caller.

    `endpoint` is an Endpoint or a whole address; headers come on top of its own, a timeout takes the place of its own. SinkError when the
    body was not accepted: `retryable` says whether the same bytes may be sent later, `retry_after_s` when.
    """
    to = Endpoint(url=whole_url(endpoint)) if isinstance(endpoint, str) else endpoint
    request = _request(to, body, headers or {})
    clock = clock or Clock()
    deadline = clock.now() + (to.timeout_s if timeout_s is None else timeout_s)
    pause = FIRST_PAUSE_S
    while True:
        try:
            left_s = max(deadline - clock.now(), 0.001)
            if to.protocol == "grpc":
                answer = import_module("otel_eval.otlp.post_grpc").answer_of_grpc(to, signal, body, headers or {}, left_s)
                return _result(signal, "application/x-protobuf", answer)
            return _result(signal, *_once(to, request, left_s, clock))
        except SinkError as error:
            wait = error.retry_after_s if error.retry_after_s is not None else pause * (0.5 + clock.jitter() / 2)
            if once or not error.retryable or clock.now() + wait >= deadline:
                raise
            clock.sleep(wait)
            pause = min(pause * 2, LAST_PAUSE_S)


def _request(endpoint: Endpoint, body: bytes, headers: Mapping[str, str]) -> urllib.request.Request:
    all_headers = {"User-Agent": "otel-eval", **endpoint.headers, **headers, "Content-Type": "application/x-protobuf"}
    if endpoint.compress:
        all_headers["Content-Encoding"] = "gzip"
        body = gzip.compress(body, compresslevel=1)
    return urllib.request.Request(whole_url(endpoint.url), data=body, headers=all_headers, method="POST")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Refuse: the redirect's own status is then the answer."""


def _once(endpoint: Endpoint, request: urllib.request.Request, timeout_s: float, clock: Clock) -> tuple[str, bytes]:
    """The content type and the body of a good answer."""
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=endpoint.tls))
    try:
        with opener.open(request, timeout=timeout_s) as response:
            return response.headers.get_content_type(), response.read(MAX_RESPONSE_BYTES)
    except urllib.error.HTTPError as error:
        error.close()
        raise _refusal(error.code, _retry_after_s(error.headers.get("Retry-After"), clock)) from None
    except ValueError as error:
        raise SinkError(
            f"the request to {_where(endpoint)} cannot be made: {type(error).__name__}, check its headers", retryable=False
        ) from None
    except (OSError, http.client.HTTPException) as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        raise SinkError(
            f"{_where(endpoint)} cannot be reached ({type(cause).__name__}): expected an OTLP/HTTP receiver", retryable=True
        ) from None


def _refusal(status: int, retry_after_s: float | None) -> SinkError:
    retryable = status in RETRYABLE
    advice = "it may be sent again" if retryable else "it will not be sent again; check the endpoint and its headers"
    return SinkError(
        f"the OTLP receiver answered {status}: {advice}", retryable=retryable, retry_after_s=retry_after_s if retryable else None
    )


def _retry_after_s(text: str | None, clock: Clock) -> float | None:
    """Seconds from `Retry-After`, which is a number or a date; None where it is neither."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(email.utils.parsedate_to_datetime(text).timestamp() - clock.wall(), 0.0)
    except (ValueError, TypeError):
        return None


def _result(signal: Signal, content_type: str, body: bytes) -> PostResult:
    """The partial success in an answer. An answer that cannot be read was a 200 all the same."""
    message, count = _RESPONSES[signal]
    if content_type != "application/x-protobuf":
        return PostResult()
    try:
        partial = message.FromString(body).partial_success
    except DecodeError:
        return PostResult()
    return PostResult(rejected=getattr(partial, count), message=partial.error_message)


def _where(endpoint: Endpoint) -> str:
    """Host and port of the endpoint: a path or a query may hold keys."""
    return repr(endpoint.url.partition("://")[2].partition("/")[0].rpartition("@")[2])
