"""Where a receiver listens, to whom, and how much it takes."""

import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from otel_eval.errors import ConfigError

MAX_BODY_BYTES = 64 * 1024 * 1024
"""The specification's recommendation since OTLP 1.11: content and media make large requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bind:
    """An address to listen on. Port 0 takes any free one."""

    host: str = "127.0.0.1"
    port: int

    @property
    def is_wide(self) -> bool:
        """Whether others than this machine can reach it."""
        if self.host == "localhost":
            return False
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return True

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def bind_from_text(text: str) -> Bind:
    """The address of `HOST:PORT`, `[IPV6]:PORT` or `:PORT`, which is every address of this machine. ConfigError for anything else."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if not colon or not port.isdecimal() or int(port) > 65_535 or (":" in host and not text.startswith("[")):
        raise ConfigError(f"{text!r} is no address to listen on: expected HOST:PORT such as 127.0.0.1:4318 or [::1]:4318")
    return Bind(host=host or "0.0.0.0", port=int(port))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Files in PEM. With `client_ca`, clients must show a certificate of it."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def context(self) -> ssl.SSLContext:
        """For the HTTP server; ConfigError where the files cannot be used."""
        try:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.client_ca) if self.client_ca else None)
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"the TLS files cannot be used ({error}): expected a certificate, its key and an authority in PEM") from error
        if self.client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def pem(self) -> tuple[bytes, bytes, bytes | None]:
        """Certificate, key and authority, for gRPC; the files are checked as for HTTP, for gRPC itself says nothing."""
        self.context()
        return self.certificate.read_bytes(), self.key.read_bytes(), self.client_ca.read_bytes() if self.client_ca else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveSettings:
    """What a receiver takes. `http` or `grpc` None: that port is off."""

    http: Bind | None = Bind(port=4318)
    grpc: Bind | None = Bind(port=4317)
    tokens: tuple[str, ...] = field(default=(), repr=False)
    """Bearer tokens, any of which opens; several while one is being replaced. Empty: everyone may send."""
    tls: Tls | None = None
    max_body_bytes: int = MAX_BODY_BYTES
    """Before and after decompression."""
    max_held_bytes: int = 192 * 1024 * 1024
    """Of all bodies that are being received or wait for their acknowledgement, as they came; more wait, then are told to come later."""
    max_calls: int = 64
    """Requests of either transport that are looked after at once."""
    max_connections: int = 1_000
    """Of the HTTP port."""
    patience_s: float = 4.0
    """How long a request waits for its turn before it is told to come later: exporters give up after 10 s."""
    head_timeout_s: float = 15.0
    """For the head of an HTTP request, and for a gRPC call to send its message."""
    body_timeout_s: float = 20.0
    """For a body of no size; a larger one has longer, by `min_bytes_per_s`."""
    min_bytes_per_s: int = 64 * 1024
    keep_timeout_s: float = 30.0
    """For parsing and keeping: a disk that takes longer is in trouble."""

    @property
    def warnings(self) -> list[str]:
        """What an operator should know: ports that others can reach without a token or a client certificate."""
        if self.tokens or (self.tls is not None and self.tls.client_ca is not None):
            return []
        wide = [str(bind) for bind in (self.http, self.grpc) if bind is not None and bind.is_wide]
        return [
            f"{' and '.join(wide)} can be reached from other machines, and anyone there may send: set a bearer token or client certificates"
        ] * bool(wide)
