"""A stream that was begun to be read, whole again."""

import io
from typing import Any, BinaryIO


def chained(head: bytes, rest: BinaryIO | io.BufferedIOBase) -> BinaryIO:
    """`head`, then what is left of `rest`, which is read as it comes: a pipe is not waited for until it is full."""
    return io.BufferedReader(_Chain(head, rest), 1 << 16)


class _Chain(io.RawIOBase):
    """Bytes already read, then the stream they came from."""

    def __init__(self, head: bytes, rest: BinaryIO | io.BufferedIOBase) -> None:
        self._head = memoryview(head)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece: memoryview | bytes = self._head[: len(buffer)] or _some(self._rest, len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _some(stream: BinaryIO | io.BufferedIOBase, size: int) -> bytes:
    read: Any = getattr(stream, "read1", stream.read)
    piece: bytes = read(size)
    return piece
