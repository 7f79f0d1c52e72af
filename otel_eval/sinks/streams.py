"""Results from an outbox to a file of JSON lines, and to the console."""

import asyncio
import io
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

from otel_eval.errors import ConfigError, SinkError
from otel_eval.model import Report
from otel_eval.sinks.jsonl import text_from_report
from otel_eval.sinks.table import TableSink

_LONGEST_LINE_BYTES = 1024 * 1024


class FileSink:
    """Appends one JSON object a line; what is said to be sent is on disk. The file may be moved away meanwhile: a new one is begun.

    What is no file of a disk (`/dev/stdout`) is written to and no more.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("ab") as file:
                is_on_disk = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            if is_on_disk:
                with path.open("a+b") as file:
                    _end_last_line(file)
        except OSError as error:
            raise ConfigError(f"sinks.jsonl.path {str(path)!r} cannot be written: {error.strerror}") from error

    def payload(self, report: Report) -> bytes | None:
        return text_from_report(report).encode("utf-8", "replace") or None

    async def send(self, payloads: Sequence[bytes]) -> str:
        await asyncio.to_thread(self._append, b"".join(payloads))
        return ""

    def _append(self, data: bytes) -> None:
        """All of it or nothing: a piece of a line would spoil the next one."""
        try:
            with self._path.open("ab") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    file.write(data)
                    return
                size = file.seek(0, os.SEEK_END)
                try:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(size)
                    raise
        except OSError as error:
            raise SinkError(f"{str(self._path)!r} cannot be written ({error.strerror}): is the disk full?", retryable=True) from error


def _end_last_line(file: BinaryIO) -> None:
    """Take away the piece of a line that a crash left at the end; it was not said to be sent. A whole line only gets its end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_LINE_BYTES))
    piece = file.read().rpartition(b"\n")[2]
    if not piece:
        return
    try:
        json.loads(piece)
        file.write(b"\n")
    except ValueError:
        file.truncate(size - len(piece))


class ConsoleSink:
    """Writes a table's rows. A console that is gone takes nothing any more, and nothing is kept for it."""

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        self._stream, self._width = stream, width

    def payload(self, report: Report) -> bytes | None:
        rows = io.StringIO()
        TableSink(rows, width=self._width, head=False).put(report)
        return rows.getvalue().encode("utf-8", "replace") or None

    async def send(self, payloads: Sequence[bytes]) -> str:
        try:
            for payload in payloads:
                self._stream.write(payload.decode("utf-8"))
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise SinkError(f"the console is gone ({type(error).__name__})", retryable=False) from error
        return ""
