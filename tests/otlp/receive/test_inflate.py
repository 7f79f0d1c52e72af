"""Unpacking under a limit."""

import gzip
import tracemalloc
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import InputError
from otel_eval.otlp.receive import inflate
from otel_eval.otlp.receive.encoding import Packing
from otel_eval.otlp.receive.inflate import inflated, packed
from otel_eval.otlp.unpack import TooLarge


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


PACKERS = [
    ("", bytes),
    ("gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("zstd", zstandard.compress),
]


@pytest.mark.parametrize(("packing", "pack"), PACKERS)
@given(data=st.binary(max_size=2000))
def test_what_was_packed_comes_out(packing: Packing, pack: object, data: bytes) -> None:
    """Whatever the packing, the plain bytes are the same."""
    assert callable(pack)
    assert inflated(pack(data), packing, max_bytes=10_000) == data


def test_members_of_gzip_follow_each_other() -> None:
    """Several gzip members are one body, under one limit."""
    body = gzip.compress(b"a" * 600) + gzip.compress(b"b" * 600)
    assert inflated(body, "gzip", max_bytes=1200) == b"a" * 600 + b"b" * 600
    with pytest.raises(TooLarge):
        inflated(body, "gzip", max_bytes=1199)


@pytest.mark.parametrize(("packing", "pack"), PACKERS)
def test_the_limit_is_exact(packing: Packing, pack: object) -> None:
    """As much as the limit is taken, a byte more is not."""
    assert callable(pack)
    assert len(inflated(pack(bytes(5000)), packing, max_bytes=5000)) == 5000
    with pytest.raises(TooLarge):
        inflated(pack(bytes(5001)), packing, max_bytes=5000)


@pytest.mark.parametrize(("packing", "pack"), PACKERS[1:])
def test_a_bomb_takes_no_more_than_the_limit(packing: Packing, pack: object) -> None:
    """A small body that unpacks to a ninety megabytes is refused without unpacking them."""
    assert callable(pack)
    bomb = pack(bytes(90_000_000))
    most = 80_000_000 if packing == "zstd" else 8_000_000  # zstd unpacks up to 64 MiB in one step
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            inflated(bomb, packing, max_bytes=1_000_000)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("packing", "body"),
    [
        ("gzip", b""),
        ("gzip", b"plain"),
        ("gzip", gzip.compress(b"x" * 99, mtime=0)[:-5]),
        ("gzip", gzip.compress(b"x" * 99, mtime=0)[:-1] + b"?"),
        ("gzip", gzip.compress(b"x", mtime=0) + b"tail"),
        ("deflate", b""),
        ("deflate", b"plain"),
        ("deflate", zlib.compress(b"x") + b"tail"),
        ("deflate", zlib.compress(b"x" * 99)[:-3]),
        ("zstd", b""),
        ("zstd", b"plain"),
        ("zstd", zstandard.compress(b"x" * 99)[:-3]),
    ],
)
def test_what_is_not_as_it_says_is_refused(packing: Packing, body: bytes) -> None:
    """Cut, damaged or plain bytes under the name of a packing are the sender's fault."""
    with pytest.raises(InputError):
        inflated(body, packing, max_bytes=10_000)


def test_plain_bodies_are_packed_where_that_is_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """With zstd at hand a body of some size is kept packed; a small one, or without it, as it came."""
    body = b"text that repeats " * 1000
    kept, packing = packed(body)
    assert packing == "zstd"
    assert len(kept) < len(body) / 10
    assert inflated(kept, packing, max_bytes=len(body)) == body
    assert packed(b"small") == (b"small", "")
    monkeypatch.setattr(inflate, "_COMPRESS", None)
    assert packed(body) == (body, "")
