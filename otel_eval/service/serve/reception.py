"""Where a scorer listens, to whom, and what stands behind it in line; from the configuration."""

from collections.abc import Mapping
from pathlib import Path

from otel_eval.errors import ConfigError
from otel_eval.otlp.endpoint import Endpoint, endpoint_from_env, headers_from_text, whole_url
from otel_eval.otlp.receive.settings import ReceiveSettings, Tls, bind_from_text
from otel_eval.service.config import Config, ReceiveConfig
from otel_eval.service.judge_config import secret_text
from otel_eval.service.serve.building import refuse_circle
from otel_eval.service.serve.files import most_connections
from otel_eval.service.serve.inline import Hop


def receive_settings(config: Config) -> ReceiveSettings:
    """Where to listen and to whom. ConfigError for addresses and files that cannot be used."""
    r = config.receive
    if not r.http.enabled and not r.grpc.enabled:
        raise ConfigError("receive.http.enabled and receive.grpc.enabled are both false: nothing would ever come in")
    _refuse_one_port(r)
    token = secret_text(r.token, r.token_file, "receive.token_file")
    return ReceiveSettings(
        http=bind_from_text(r.http.endpoint) if r.http.enabled else None,
        grpc=bind_from_text(r.grpc.endpoint) if r.grpc.enabled else None,
        tokens=(token,) if token else (),
        tls=_tls(r),
        max_body_bytes=r.max_body,
        max_held_bytes=r.max_held,
        max_connections=most_connections(),
    )


def _refuse_one_port(r: ReceiveConfig) -> None:
    """ConfigError where both receivers would listen at one address."""
    http, grpc = bind_from_text(r.http.endpoint), bind_from_text(r.grpc.endpoint)
    if r.http.enabled and r.grpc.enabled and http == grpc and http.port:
        raise ConfigError(f"receive.http.endpoint and receive.grpc.endpoint are both {r.http.endpoint}: give each a port of its own")


def _tls(r: ReceiveConfig) -> Tls | None:
    if r.tls.certificate_file is None:
        return None
    if r.tls.key_file is None:
        raise ConfigError("receive.tls.certificate_file is set and receive.tls.key_file is not: name the key's file")
    authority = Path(r.tls.client_ca_file) if r.tls.client_ca_file else None
    tls = Tls(certificate=Path(r.tls.certificate_file), key=Path(r.tls.key_file), client_ca=authority)
    tls.context()
    return tls


def hop_from_config(config: Config, environ: Mapping[str, str]) -> Hop | None:
    """The receiver behind: its base address, with headers of its own; None where nothing is forwarded."""
    i = config.inline
    if i.endpoint is None:
        return None
    headers = secret_text(i.headers, i.headers_file, "inline.headers_file")
    endpoint = Endpoint(
        url=whole_url(i.endpoint),
        headers=headers_from_text(headers) if headers else {},
        timeout_s=i.timeout,
        tls=endpoint_from_env({k: v for k, v in environ.items() if k.endswith(("CERTIFICATE", "CLIENT_KEY"))}, "traces").tls,
        compress=False,
    )
    refuse_circle(endpoint, config, "inline.endpoint")
    return Hop(endpoint)
