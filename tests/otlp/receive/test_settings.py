"""Where a receiver listens, and who may send."""

from pathlib import Path

import pytest

from otel_eval.errors import ConfigError
from otel_eval.otlp.receive.bearer import Bearer
from otel_eval.otlp.receive.settings import Bind, ReceiveSettings, Tls, bind_from_text
from otel_eval.otlp.refusals import Unauthorized

TLS = Path(__file__).parents[2] / "data" / "tls"


@pytest.mark.parametrize(
    ("text", "bind", "is_wide"),
    [
        ("127.0.0.1:4318", Bind(host="127.0.0.1", port=4318), False),
        ("localhost:0", Bind(host="localhost", port=0), False),
        ("[::1]:4317", Bind(host="::1", port=4317), False),
        (":4318", Bind(host="0.0.0.0", port=4318), True),
        ("0.0.0.0:4318", Bind(host="0.0.0.0", port=4318), True),
        ("[::]:4318", Bind(host="::", port=4318), True),
        ("10.1.2.3:4318", Bind(host="10.1.2.3", port=4318), True),
        ("collector.internal:4318", Bind(host="collector.internal", port=4318), True),
    ],
)
def test_an_address_is_read(text: str, bind: Bind, is_wide: bool) -> None:
    """Host and port, and whether others can reach it; written out it is the same."""
    assert bind_from_text(text) == bind
    assert bind.is_wide == is_wide
    assert bind_from_text(str(bind)) == bind


@pytest.mark.parametrize("text", ["", "4318", "localhost", "localhost:", "localhost:http", "::1:4318", "h:70000", "h:-1"])
def test_what_is_no_address_is_told(text: str) -> None:
    """What cannot be listened on is refused at the start, with an example."""
    with pytest.raises(ConfigError, match="HOST:PORT"):
        bind_from_text(text)


WIDE = Bind(host="0.0.0.0", port=4318)
TLS_WITH_CLIENTS = Tls(certificate=TLS / "server.pem", key=TLS / "server.key", client_ca=TLS / "ca.pem")


def test_an_open_door_is_told() -> None:
    """A port that others reach without token or client certificate brings a warning; otherwise there is none."""
    assert ReceiveSettings().warnings == []
    warnings = ReceiveSettings(http=WIDE).warnings
    assert len(warnings) == 1
    assert "0.0.0.0:4318" in warnings[0]
    assert "token" in warnings[0]
    assert ReceiveSettings(http=WIDE, tokens=("t",)).warnings == []
    assert ReceiveSettings(grpc=WIDE, tls=TLS_WITH_CLIENTS).warnings == []
    assert len(ReceiveSettings(grpc=WIDE, tls=Tls(certificate=TLS / "server.pem", key=TLS / "server.key")).warnings) == 1


def test_settings_do_not_show_tokens() -> None:
    """A token stands in no text that the settings are written out as."""
    assert "secret" not in repr(ReceiveSettings(tokens=("secret",)))


@pytest.mark.parametrize(
    "files", [("none.pem", "server.key"), ("server.pem", "none.key"), ("ca.pem", "server.key"), ("README.md", "server.key")]
)
def test_tls_files_that_do_not_fit_are_told(files: tuple[str, str]) -> None:
    """Missing, foreign and mismatched files are refused at the start, for HTTP and for gRPC."""
    tls = Tls(certificate=TLS / files[0], key=TLS / files[1])
    for use in (tls.context, tls.pem):
        with pytest.raises(ConfigError, match="TLS"):
            use()


@pytest.mark.parametrize("header", [b"Bearer one", b"bearer two", b"BEARER  two "])
def test_any_of_the_tokens_opens(header: bytes) -> None:
    """While a token is being replaced both the old and the new one open; the scheme is read in any case."""
    Bearer(("one", "two")).check(header)


@pytest.mark.parametrize(
    "header", [None, b"", b"Bearer", b"Bearer ", b"Bearer three", b"Bearer One", b"Basic one", b"one", b"Bearer one two"]
)
def test_anything_else_does_not(header: bytes | None) -> None:
    """Without a token, with another one, or under another scheme nobody gets in, and no token is told."""
    with pytest.raises(Unauthorized) as refusal:
        Bearer(("one", "two")).check(header)
    assert "one" not in str(refusal.value)
    Bearer(()).check(header)
