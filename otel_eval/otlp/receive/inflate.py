"""Packed bodies to plain ones within a limit, and plain ones packed where that is cheaper than writing them."""

import zlib
from contextlib import suppress
from importlib import import_module
from typing import Any

from otel_eval.errors import InputError
from otel_eval.otlp.receive.encoding import Packing
from otel_eval.otlp.unpack import TooLarge, unpacked_bytes

_GZIP, _ZLIB, _RAW = 31, 15, -15
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SMALLEST_PACKED_BYTES = 4096
_LEVEL = 1


def inflated(body: bytes, packing: Packing, *, max_bytes: int) -> bytes:
    """The plain body; TooLarge as soon as more than `max_bytes` come out, InputError where it is not what it says."""
    if len(body) > max_bytes:
        raise TooLarge(f"{len(body)} bytes are more than {max_bytes}: send smaller requests")
    if packing == "":
        return body
    if packing == "gzip":
        return _gzip(body, max_bytes)
    if packing == "deflate":
        window = _ZLIB if len(body) > 1 and body[0] & 0x0F == 8 and (body[0] * 256 + body[1]) % 31 == 0 else _RAW
        plain, rest = _stream(body, window, max_bytes)
        if rest:
            raise _damaged(body, "deflate")
        return plain
    if not body.startswith(_ZSTD_MAGIC):
        raise _damaged(body, "zstd")
    return unpacked_bytes(body, max_bytes=max_bytes)


def _gzip(body: bytes, max_bytes: int) -> bytes:
    """One or more members, one behind the other."""
    parts: list[bytes] = []
    size, rest = 0, body
    while rest:
        plain, rest = _stream(rest, _GZIP, max_bytes - size)
        parts.append(plain)
        size += len(plain)
    if not parts:
        raise _damaged(body, "gzip")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _stream(data: bytes, window: int, max_bytes: int) -> tuple[bytes, bytes]:
    """What one stream holds, and what stands behind it. Never more than one byte beyond the limit is unpacked."""
    decompressor = zlib.decompressobj(window)
    name = "gzip" if window == _GZIP else "deflate"
    try:
        plain = decompressor.decompress(data, max_bytes + 1)
    except zlib.error as error:
        raise _damaged(data, name) from error
    if len(plain) > max_bytes:
        del plain  # the error's traceback would hold it
        raise TooLarge(f"{len(data)} packed bytes are more than the limit when unpacked: send smaller requests")
    if not decompressor.eof:
        raise _damaged(data, name)
    return plain, decompressor.unused_data


def _damaged(body: bytes, name: str) -> InputError:
    return InputError(f"{len(body)} bytes are no whole {name} data, as their content encoding says")


def _compressor() -> Any:
    """`compress(bytes)` of zstd at its fastest: of Python 3.14, else of the package zstandard, else None."""
    with suppress(ImportError):
        library = import_module("compression.zstd")
        return lambda data: library.compress(data, _LEVEL)
    with suppress(ImportError):
        return import_module("zstandard").ZstdCompressor(level=_LEVEL).compress
    return None


_COMPRESS = _compressor()


def packed(body: bytes) -> tuple[bytes, Packing]:
    """The body as it is cheapest to keep: with zstd where it is at hand, for it costs less than the writing it saves (`performance.md`
    3)."""
    if _COMPRESS is None or len(body) < _SMALLEST_PACKED_BYTES:
        return body, ""
    return _COMPRESS(body), "zstd"
