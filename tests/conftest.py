"""The same ground under every test: a clean environment, no network but loopback, no hurry for generated examples."""

import os
import socket
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import settings

# No deadline: on a busy machine it fails by luck. In CI the same examples in every run, so that a failure there is never by luck either.
settings.register_profile("house", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("house")

SET_BY_US = {"OTEL_EVAL_SHARED", "OTEL_EVAL_CACHE", "OTEL_EVAL_BACKENDS"}
SET_BY_OTHERS = ("OTEL_", "OPENAI_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSLKEYLOGFILE")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer's shell says about exporters, judges and proxies reaches no test."""
    for name in os.environ:
        if name.upper().startswith(SET_BY_OTHERS) and name not in SET_BY_US:
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that would talk to another machine fails."""
    connect = socket.socket.connect

    def connect_to_loopback(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise AssertionError(f"a test tried to reach {address[0]!r}; only loopback is allowed")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect_to_loopback)


def is_loopback(host: str) -> bool:
    return host == "localhost" or ip_address(host).is_loopback
