"""Forms of bodies."""

import gzip
import zlib

import pytest
import zstandard

from otel_eval.errors import InputError
from otel_eval.otlp.receive.encoding import (
    Encoding,
    encoding_from_text,
    format_from_type,
    packing_from_head,
    packing_from_header,
)
from otel_eval.otlp.refusals import WrongType
from tests.fakes.wire import span, traces


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("application/x-protobuf", "protobuf"),
        ("Application/X-Protobuf", "protobuf"),
        ("application/x-protobuf; charset=utf-8", "protobuf"),
        (" application/json ;charset=UTF-8; a=b", "json"),
    ],
)
def test_a_type_is_read_whatever_its_parameters(header: str, expected: str) -> None:
    """Case, blanks and parameters change nothing."""
    assert format_from_type(header) == expected


@pytest.mark.parametrize("header", [None, "", "text/plain", "application/protobuf", "application/jsonp", "json", "x" * 10_000])
def test_another_type_is_refused(header: str | None) -> None:
    """What is not OTLP's type is told, and what is expected; a long header is not repeated whole."""
    with pytest.raises(WrongType, match="application/json") as refusal:
        format_from_type(header)
    assert len(str(refusal.value)) < 300


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ""),
        ("", ""),
        ("identity", ""),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("x-gzip", "gzip"),
        ("deflate", "deflate"),
        ("zlib", "deflate"),
        ("zstd", "zstd"),
    ],
)
def test_a_packing_is_read(header: str | None, expected: str) -> None:
    """Every name that is in use for a packing we read is known."""
    assert packing_from_header(header) == expected


@pytest.mark.parametrize("header", ["snappy", "lz4", "br", "gzip, gzip", "gzip;q=1"])
def test_another_packing_is_refused(header: str) -> None:
    """An unknown packing is told with those that are taken."""
    with pytest.raises(InputError, match="gzip, deflate or zstd"):
        packing_from_header(header)


def test_a_packing_shows_in_the_first_bytes() -> None:
    """Over gRPC the packing is known by the first bytes; a plain request is never taken for a packed one."""
    body = traces(*map(span, range(1, 50)))
    assert packing_from_head(gzip.compress(body)) == "gzip"
    assert [packing_from_head(zlib.compress(body, level)) for level in (0, 1, 6, 9)] == ["deflate"] * 4
    assert packing_from_head(zstandard.compress(body)) == "zstd"
    assert [packing_from_head(plain) for plain in (body, b"", b"\n", b"\x78")] == [""] * 4


def test_an_encoding_is_kept_as_text() -> None:
    """What is written beside a body is read again."""
    for text in ("protobuf", "protobuf+gzip", "json", "json+zstd", "protobuf+deflate"):
        assert str(encoding_from_text(text)) == text
    assert encoding_from_text("json+gzip") == Encoding(format="json", packing="gzip")
