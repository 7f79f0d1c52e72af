"""The standard variables of OTLP exporters."""

from pathlib import Path

import pytest

from otel_eval.errors import ConfigError
from otel_eval.otlp.endpoint import Endpoint, endpoint_from_env, headers_from_text, url_of_signal

COMMON, OWN = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"

URLS = [
    ({}, "http://localhost:4318/v1/logs"),
    ({COMMON: ""}, "http://localhost:4318/v1/logs"),
    ({COMMON: "http://collector:4318"}, "http://collector:4318/v1/logs"),
    ({COMMON: "http://collector:4318/"}, "http://collector:4318/v1/logs"),
    ({COMMON: "https://host/otlp"}, "https://host/otlp/v1/logs"),
    ({COMMON: "https://host/otlp/?key=1"}, "https://host/otlp/v1/logs?key=1"),
    ({OWN: "http://logs:9/insert"}, "http://logs:9/insert"),
    ({OWN: "http://logs:9"}, "http://logs:9/"),
    ({OWN: "http://logs:9/v1/logs/", COMMON: "http://collector:4318"}, "http://logs:9/v1/logs/"),
    ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces/"}, "http://localhost:4318/v1/logs"),
]


@pytest.mark.parametrize(("environ", "url"), URLS)
def test_the_common_endpoint_is_a_base_and_the_own_one_is_whole(environ: dict[str, str], url: str) -> None:
    """`/v1/logs` is appended to the common endpoint; a signal's own is used as it is and goes first."""
    assert endpoint_from_env(environ, "logs").url == url


def test_traces_have_their_own_path() -> None:
    """The appended path names the signal."""
    assert url_of_signal("http://h", "traces") == "http://h/v1/traces"


def test_headers_are_percent_decoded() -> None:
    """Pairs are separated by commas, blanks around them do not count, values are percent-encoded; a signal's own headers go first."""
    assert headers_from_text(" Authorization=Basic%20dXNlcg==, x-a = b ,") == {"authorization": "Basic dXNlcg==", "x-a": "b"}
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "b=2"}
    assert endpoint_from_env(environ, "logs").headers == {"b": "2"}
    assert endpoint_from_env(environ, "traces").headers == {"a": "1"}


def test_timeout_is_in_milliseconds_and_compression_may_be_off() -> None:
    """The defaults are ten seconds and gzip."""
    assert (endpoint_from_env({}, "logs").timeout_s, endpoint_from_env({}, "logs").compress) == (10.0, True)
    environ = {"OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION": "none"}
    assert (endpoint_from_env(environ, "logs").timeout_s, endpoint_from_env(environ, "logs").compress) == (2.5, False)


WRONG = [
    ({COMMON: "collector:4317"}, "endpoint"),
    ({OWN: "ftp://host/"}, "endpoint"),
    ({COMMON: "http://"}, "endpoint"),
    ({"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "HEADERS"),
    ({"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "TIMEOUT"),
    ({"OTEL_EXPORTER_OTLP_TIMEOUT": "0"}, "TIMEOUT"),
    ({"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"}, "COMPRESSION"),
    ({"OTEL_EXPORTER_OTLP_CERTIFICATE": "missing.pem"}, "CERTIFICATE"),
]


@pytest.mark.parametrize(("environ", "named"), WRONG)
def test_a_wrong_variable_is_a_configuration_error(environ: dict[str, str], named: str) -> None:
    """The error names what is wrong and never shows a secret."""
    with pytest.raises(ConfigError, match=named) as caught:
        endpoint_from_env(environ, "logs")
    assert "secret" not in str(caught.value)


def test_a_private_authority_makes_a_context(tmp_path: Path) -> None:
    """A certificate file that is no certificate is a configuration error, not a crash."""
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    with pytest.raises(ConfigError, match="CERTIFICATE"):
        endpoint_from_env({"OTEL_EXPORTER_OTLP_CERTIFICATE": str(file)}, "logs")


def test_secrets_are_not_shown() -> None:
    """Neither the repr of an endpoint nor an error about it shows headers or a password."""
    assert "key" not in repr(Endpoint(url="http://h/", headers={"authorization": "key"}))
    with pytest.raises(ConfigError) as caught:
        endpoint_from_env({COMMON: "ftp://user:password@host"}, "logs")
    assert "password" not in str(caught.value)
