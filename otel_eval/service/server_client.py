"""A running server asked over HTTP: one JSON page at a time."""

import json
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from otel_eval.errors import ConfigError
from otel_eval.otlp.endpoint import endpoint_from_env
from otel_eval.service.config import Config
from otel_eval.service.judge_config import secret_text

_TIMEOUT_S = 10.0
_TLS_FILES = (
    "name its authority in OTEL_EXPORTER_OTLP_CERTIFICATE, and a certificate of your own, where it asks for one, in "
    "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY"
)


class ServerGone(ConfigError):
    """Nobody answers at the address."""


def server_url(named: str | None, config: Config) -> str:
    """The address that was named, else the one that the configuration listens on."""
    if named is not None:
        parts = urlsplit(named)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{named!r} is no address of a server: expected http://HOST:4318")
        return named.rstrip("/")
    host, _, port = config.receive.http.endpoint.rpartition(":")
    scheme = "https" if config.receive.tls.certificate_file else "http"
    return f"{scheme}://{'localhost' if host in ('', '0.0.0.0', '[::]') else host}:{port}"


def page(url: str, config: Config, *path: str) -> tuple[int, Mapping[str, Any]]:
    """Status and object of a page. ServerGone where nobody answers, ConfigError where the answer is no JSON or TLS does not come about.

    An authority and a client certificate for TLS are taken from OTEL_EXPORTER_OTLP_CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY.
    """
    request = urllib.request.Request("/".join([url, *(quote(part, safe="") for part in path)]))
    token = secret_text(config.receive.token, config.receive.token_file, "receive.token_file")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S, context=_tls()) as response:
            return response.status, _object(response.read(), url)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _object(error.read(), url)
    except OSError as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLError):
            raise ConfigError(f"no TLS with {url} ({reason.reason}): {_TLS_FILES}") from error
        raise ServerGone(f"no server answers at {url}: start one with `otel-eval serve`, or name it with --server") from error


def _tls() -> ssl.SSLContext | None:
    files = {name: value for name, value in os.environ.items() if name.endswith(("CERTIFICATE", "CLIENT_KEY"))}
    return endpoint_from_env(files, "traces").tls


def _object(body: bytes, url: str) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ConfigError(f"what answers at {url} is no otel-eval: expected the HTTP endpoint of `otel-eval serve`")
    return found
