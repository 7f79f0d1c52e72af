"""A context in which nothing of ours shows up in the telemetry of the program around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Token
from typing import Final

from opentelemetry import context

_SWITCHES: Final = ("suppress_instrumentation", "suppress_http_instrumentation")
"""What instrumentations look for in the context: those of OpenTelemetry, OpenInference and OpenLLMetry."""


def hush() -> "Token[context.Context]":
    """From here on no instrumentation of the host records anything in this context: for a whole thread of ours."""
    inside = context.get_current()
    for switch in _SWITCHES:
        inside = context.set_value(switch, True, inside)
    return context.attach(inside)


@contextmanager
def quiet() -> Iterator[None]:
    """No instrumentation of the host records what happens inside: a judge's call in the judged application's trace would be judged."""
    token = hush()
    try:
        yield
    finally:
        context.detach(token)
