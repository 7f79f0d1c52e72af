"""Where to send a signal: the standard variables `OTEL_EXPORTER_OTLP_*`.

**Source**: the OpenTelemetry specification, "OpenTelemetry Protocol Exporter": a signal's own variable goes before the common one; the
common endpoint is a base to which `/v1/SIGNAL` is appended, a signal's own is used as it is.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

from otel_eval.errors import ConfigError

Signal: TypeAlias = Literal["traces", "logs", "metrics"]
Protocol: TypeAlias = Literal["http/protobuf", "grpc"]

DEFAULT_BASE, DEFAULT_GRPC = "http://localhost:4318", "http://localhost:4317"
DEFAULT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A whole address with what a request to it needs."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = DEFAULT_TIMEOUT_S
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    compress: bool = True
    protocol: Protocol = "http/protobuf"
    pem: tuple[bytes | None, bytes | None, bytes | None] = field(default=(None, None, None), repr=False)
    """Authority, client's key and client's certificate, for gRPC."""


def endpoint_from_env(environ: Mapping[str, str], signal: Signal) -> Endpoint:
    """The endpoint that the standard variables name, the default one without them. ConfigError names the variable that is wrong."""
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT", "").strip()
    base = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    protocol = _protocol(_of(environ, signal, "PROTOCOL"))
    common = whole_url(base or DEFAULT_GRPC) if protocol == "grpc" else url_of_signal(base or DEFAULT_BASE, signal)
    return Endpoint(
        url=whole_url(own) if own else common,
        protocol=protocol,
        pem=_pem(environ, signal) if protocol == "grpc" else (None, None, None),
        headers=headers_from_text(_of(environ, signal, "HEADERS")),
        timeout_s=_timeout_s(_of(environ, signal, "TIMEOUT")),
        tls=_tls(environ, signal),
        compress=_compress(_of(environ, signal, "COMPRESSION")),
    )


def url_of_signal(base: str, signal: Signal) -> str:
    """The address of a signal under a base: `http://host:4318/otlp` gives `http://host:4318/otlp/v1/logs`."""
    parts = urlsplit(whole_url(base))
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/v1/{signal}"))


def whole_url(url: str) -> str:
    """The address with at least `/` as path; ConfigError unless it is http or https with a host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{_without_secrets(url)!r} is no OTLP/HTTP endpoint: expected http://HOST:4318 or https://HOST:4318")
    return urlunsplit(parts._replace(path=parts.path or "/"))


def headers_from_text(text: str) -> dict[str, str]:
    """Headers written as `key=value,key=value`, values percent-encoded. ConfigError never shows a value."""
    headers = {}
    for pair in filter(None, (item.strip() for item in text.split(","))):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(
                "OTEL_EXPORTER_OTLP_HEADERS has an item without '=': expected key=value,key=value with values percent-encoded"
            )
        headers[key.strip().lower()] = unquote(value.strip())
    return headers


def _of(environ: Mapping[str, str], signal: Signal, what: str) -> str:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_{what}", "").strip()
    return own or environ.get(f"OTEL_EXPORTER_OTLP_{what}", "").strip()


def _timeout_s(text: str) -> float:
    if not text:
        return DEFAULT_TIMEOUT_S
    try:
        milliseconds = float(text)
    except ValueError:
        milliseconds = -1.0
    if not 0 < milliseconds < float("inf"):
        raise ConfigError(f"OTEL_EXPORTER_OTLP_TIMEOUT is {text!r}: expected a number of milliseconds above 0, such as 10000")
    return milliseconds / 1000


def _protocol(text: str) -> Protocol:
    if text == "grpc":
        return "grpc"
    if text not in ("", "http/protobuf", "http/json"):  # who takes JSON there takes protobuf, which every receiver must
        raise ConfigError(f"OTEL_EXPORTER_OTLP_PROTOCOL is {text!r}: expected http/protobuf or grpc")
    return "http/protobuf"


def _compress(text: str) -> bool:
    if text not in ("", "gzip", "none"):
        raise ConfigError(f"OTEL_EXPORTER_OTLP_COMPRESSION is {text!r}: expected gzip or none")
    return text != "none"


def _tls(environ: Mapping[str, str], signal: Signal) -> ssl.SSLContext | None:
    """The context for a private authority or a client certificate; None for the system's own."""
    authority, certificate = _of(environ, signal, "CERTIFICATE"), _of(environ, signal, "CLIENT_CERTIFICATE")
    if not authority and not certificate:
        return None
    try:
        context = ssl.create_default_context(cafile=authority or None)
        if certificate:
            context.load_cert_chain(certificate, _of(environ, signal, "CLIENT_KEY") or None)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"the TLS files of OTEL_EXPORTER_OTLP_*CERTIFICATE cannot be used: {error}") from error
    return context


def _pem(environ: Mapping[str, str], signal: Signal) -> tuple[bytes | None, bytes | None, bytes | None]:
    """The files of TLS as gRPC takes them; None for what is not named."""
    names = (_of(environ, signal, what) for what in ("CERTIFICATE", "CLIENT_KEY", "CLIENT_CERTIFICATE"))
    try:
        authority, key, certificate = (Path(name).read_bytes() if name else None for name in names)
    except OSError as error:
        raise ConfigError(f"the TLS files of OTEL_EXPORTER_OTLP_*CERTIFICATE cannot be used: {error}") from error
    return authority, key, certificate


def _without_secrets(url: str) -> str:
    return url.rpartition("@")[2]
