"""Compressed bytes to plain ones: gzip and zstd, told by their magic, always with a limit on what comes out."""

import gzip
import io
import zlib
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

from otel_eval.errors import InputError
from otel_eval.otlp.chain import chained

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
HEAD_BYTES = 4


def _zstd_library() -> Any:
    """The standard library's zstd (Python 3.14), else the package zstandard, else None."""
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return import_module(name)
    return None


_ZSTD_LIBRARY = _zstd_library()

DAMAGE: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error, _ZSTD_LIBRARY.ZstdError if _ZSTD_LIBRARY else EOFError)
"""What reading a damaged stream raises (an OSError: bad gzip data)."""

_ZSTD_PIECE_BYTES = 2048
"""A zstd block of four bytes can hold 128 KiB: so many bytes at a time bound what one step unpacks to 64 MiB."""


class TooLarge(InputError):
    """Unpacked it exceeds the limit."""


def is_packed(head: bytes) -> bool:
    """Whether these first bytes are those of a format that is unpacked here."""
    return head.startswith((_GZIP, _ZSTD))


def unpacked_stream(stream: BinaryIO, head: bytes) -> BinaryIO:
    """The plain bytes of a packed stream, read as they are asked for. `head` are its first bytes, which stay in the stream."""
    if head.startswith(_GZIP):
        return chained(b"", gzip.GzipFile(fileobj=stream))
    return io.BufferedReader(_ZstdStream(stream))


def unpacked_bytes(body: bytes, *, max_bytes: int) -> bytes:
    """`body`, unpacked if it is packed; InputError when it is damaged, TooLarge when more than `max_bytes` come out."""
    if not is_packed(body[:HEAD_BYTES]):
        return body
    try:
        plain = unpacked_stream(io.BytesIO(body), body[:HEAD_BYTES]).read(max_bytes + 1)
    except DAMAGE as error:
        raise InputError(f"{len(body)} packed bytes are damaged: expected whole gzip or zstd data") from error
    if len(plain) > max_bytes:
        raise TooLarge(f"{len(body)} packed bytes are more than {max_bytes} unpacked: raise the limit or send smaller requests")
    return plain


class _ZstdStream(io.RawIOBase):
    """Frame after frame of zstd; EOFError where the last one is cut off."""

    def __init__(self, source: BinaryIO) -> None:
        if _ZSTD_LIBRARY is None:
            raise InputError("zstd data cannot be read without the package zstandard: install it with 'pip install zstandard'")
        self._source = source
        self._frame: Any = None
        self._packed = b""
        self._plain = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain and self._step():
            pass
        size = min(len(buffer), len(self._plain))
        buffer[:size] = self._plain[:size]
        self._plain = self._plain[size:]
        return size

    def _step(self) -> bool:
        """Unpack the next piece; False at the end."""
        piece = self._packed or self._source.read(_ZSTD_PIECE_BYTES)
        if not piece:
            if self._frame is not None:
                raise EOFError("zstd data ends inside a frame")
            return False
        if self._frame is None:
            self._frame = _new_frame()
        self._plain = memoryview(self._frame.decompress(piece))
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return True


def _new_frame() -> Any:
    decompressor = _ZSTD_LIBRARY.ZstdDecompressor()
    return decompressor.decompressobj() if hasattr(decompressor, "decompressobj") else decompressor
