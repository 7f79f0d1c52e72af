"""Compressed bytes, with a limit."""

import contextlib
import gzip
import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import InputError
from otel_eval.otlp import unpack
from otel_eval.otlp.unpack import TooLarge, is_packed, unpacked_bytes, unpacked_stream

PACKERS = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("name", PACKERS)
def test_packed_bytes_come_back(name: str) -> None:
    """Bytes packed in one or in several members or frames come back, whole and piece by piece."""
    pack = PACKERS[name]
    plain = bytes(range(256)) * 4000
    packed = pack(plain) + pack(b"") + pack(b"end")
    assert is_packed(packed)
    assert unpacked_bytes(packed, max_bytes=2 * len(plain)) == plain + b"end"
    stream = unpacked_stream(io.BytesIO(packed), packed[:4])
    assert stream.read(3) + stream.read() == plain + b"end"


def test_plain_bytes_stay() -> None:
    """What has no magic is given back as it is, whatever its size."""
    assert unpacked_bytes(b"plain", max_bytes=1) == b"plain"


@pytest.mark.parametrize("name", PACKERS)
def test_too_much_is_refused(name: str) -> None:
    """A small body that unpacks to more than the limit is refused; exactly the limit is not."""
    packed = PACKERS[name](bytes(100_000))
    assert len(packed) < 1000
    assert len(unpacked_bytes(packed, max_bytes=100_000)) == 100_000
    with pytest.raises(TooLarge, match="99999"):
        unpacked_bytes(packed, max_bytes=99_999)


@pytest.mark.parametrize("name", PACKERS)
def test_damage_is_an_input_error(name: str) -> None:
    """Bytes that are cut off or changed raise InputError, never less data than was packed."""
    packed = PACKERS[name](b"some text, some text" * 100)
    for damaged in (packed[:-5], packed[:12], packed[:10] + b"\xff\xff\xff\xff" + packed[14:]):
        with pytest.raises(InputError, match="damaged"):
            unpacked_bytes(damaged, max_bytes=10_000)


@given(st.sampled_from([b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]), st.binary(max_size=60))
def test_any_bytes_behind_the_magic_are_survived(magic: bytes, noise: bytes) -> None:
    """Nothing but InputError is ever raised."""
    with contextlib.suppress(InputError):
        assert len(unpacked_bytes(magic + noise, max_bytes=1000)) <= 1000


def test_without_zstandard_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no zstd library is there, zstd data is an InputError with the command that helps, and gzip is read all the same."""
    monkeypatch.setattr(unpack, "_ZSTD_LIBRARY", None)
    with pytest.raises(InputError, match="pip install zstandard"):
        unpacked_bytes(PACKERS["zstd"](b"x"), max_bytes=10)
    assert unpacked_bytes(PACKERS["gzip"](b"x"), max_bytes=10) == b"x"
