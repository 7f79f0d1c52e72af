"""Files, folders and standard input to batches of spans and log records.

Read are: OTLP protobuf bodies, OTLP/JSON (one object, an array, lines), both forms of the Collector's file exporter, and the exports of
`foreign`, each plain, gzip or zstd. Lines and length-prefixed messages are read one at a time. A broken item costs only itself; a file that
holds nothing we know is an error of that file, kept in the report.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from otel_eval.errors import InputError
from otel_eval.model import Batch
from otel_eval.otlp.chain import chained
from otel_eval.otlp.json_split import values_from_lines
from otel_eval.otlp.json_text import value_from_text
from otel_eval.otlp.records import Record, Signal, batch_from_protobuf, records_from_value
from otel_eval.otlp.tally import Tally
from otel_eval.otlp.unpack import DAMAGE, HEAD_BYTES, TooLarge, is_packed, unpacked_bytes, unpacked_stream

MAX_ITEM_BYTES = 64 * 1024 * 1024
"""OTLP's recommended limit of one request, unpacked."""

STDIN = "-"
_PLACES_TOLD, _NAMES_TOLD = 3, 3
_EMPTY = "empty_file"
_EXPECTED = "OTLP traces or logs, an export of traces, or conversations in JSON"


@dataclass(slots=True, kw_only=True)
class ReadReport:
    """What was read so far. It is filled while `read_paths` is iterated, file by file."""

    files: int = 0
    """Files that held something."""
    items: dict[str, int] = field(default_factory=dict)
    """Read items by kind: `span`, `log_record`, `conversation`."""
    rejected: dict[str, int] = field(default_factory=dict)
    """Items that could not be read, by reason."""
    rejected_at: dict[str, list[str]] = field(default_factory=dict)
    """File and line of the first of them, by reason."""
    oddities: dict[str, int] = field(default_factory=dict)
    """What was read or passed over although it is not as expected, by name."""
    passed_over: list[str] = field(default_factory=list)
    """Files of folders that hold nothing we know."""
    empty: list[str] = field(default_factory=list)
    """Files without anything in them."""
    at: str = ""
    """Where the record stands that was given last."""
    notes: list[str] = field(default_factory=list)
    """Sentences on single files."""
    errors: list[InputError] = field(default_factory=list)
    """One for each path that could not be read or holds nothing we know."""

    def count(self, record: Record) -> None:
        """Count one record, which stands `at`."""
        if isinstance(record, Batch):
            _add(self.items, {"span": len(record.spans), "log_record": len(record.logs)})
            _add(self.rejected, record.rejected)
            for reason in record.rejected:
                self._place(reason, self.at)
            _add(self.oddities, record.notes)
        else:
            _add(self.items, {"conversation": 1})

    def count_tally(self, name: str, tally: Tally) -> None:
        """Count what a whole file had beside its records."""
        _add(self.rejected, tally.rejected)
        _add(self.oddities, tally.notes)
        for reason in tally.rejected:
            for line in tally.lines.get(reason) or [0]:
                self._place(reason, _place(name, tally.word, line))
        if _EMPTY in tally.notes:
            self.empty.append(name)

    def _place(self, reason: str, place: str) -> None:
        places = self.rejected_at.setdefault(reason, [])
        if place not in places and len(places) < _PLACES_TOLD:
            places.append(place)

    def lines(self) -> list[str]:
        """The report in sentences for people, without any content."""
        read = ", ".join(f"{n} {kind.replace('_', ' ')}{'' if n == 1 else 's'}" for kind, n in self.items.items()) or "nothing"
        lines = [f"read {read} from {self.files} file{'' if self.files == 1 else 's'}"]
        lines += [f"rejected {n}: {reason}{self.places_of(reason)}" for reason, n in sorted(self.rejected.items())]
        return lines + self.remarks()

    def places_of(self, reason: str) -> str:
        """Where the first of the rejected items stand, in brackets."""
        places = self.rejected_at.get(reason)
        return f" ({'; '.join(places)}{'; …' if len(places) < self.rejected[reason] else ''})" if places else ""

    def remarks(self) -> list[str]:
        """What else must be known, in sentences: oddities, and files that were not read."""
        lines = [f"noted {n}: {name}" for name, n in sorted(self.oddities.items()) if name != _EMPTY]
        if self.empty:
            lines.append(f"{len(self.empty)} empty: {_some(self.empty)}")
        if self.passed_over:
            lines.append(f"passed over {len(self.passed_over)} without traces or logs: {_some(self.passed_over)}")
        return lines + self.notes + [str(error) for error in self.errors]


def _some(names: list[str]) -> str:
    return ", ".join(map(repr, names[:_NAMES_TOLD])) + (", …" if len(names) > _NAMES_TOLD else "")


def _place(name: str, word: str, line: int) -> str:
    """A file and the line or message in it."""
    return f"{name!r}, {word} {line}" if line else repr(name)


def _add(counts: dict[str, int], more: Any) -> None:
    for key, n in more.items():
        if n:
            counts[key] = counts.get(key, 0) + n


def read_paths(
    paths: Iterable[str | Path], *, stdin: BinaryIO | None = None, report: ReadReport | None = None, max_item_bytes: int = MAX_ITEM_BYTES
) -> Iterator[Record]:
    """The records of files, folders (recursive, by name, without hidden files) and `-`, in that order, read as they are asked for.

    A record is a `Batch` of one request, line or file, or a dict: a conversation in JSON, left as it is. Never raises on input: what could
    not be read is in `report`.
    """
    report = ReadReport() if report is None else report
    for path in paths:
        if str(path) == STDIN:
            yield from _read_one("standard input", stdin, report, max_item_bytes, optional=False)
        elif os.path.isdir(path):
            yield from _read_folder(Path(path), report, max_item_bytes)
        else:
            yield from _read_file(Path(path), report, max_item_bytes, optional=False)


def _read_folder(folder: Path, report: ReadReport, max_item_bytes: int) -> Iterator[Record]:
    files_before, empty_before, passed_before = report.files, len(report.empty), len(report.passed_over)
    for path in _files_in(folder):
        yield from _read_file(path, report, max_item_bytes, optional=True)
    if report.files == files_before:
        met = [f"{name!r} is empty" for name in report.empty[empty_before:]]
        met += [f"{name!r} holds nothing known" for name in report.passed_over[passed_before:]]
        some = "; ".join(met[:_NAMES_TOLD]) + ("; …" if len(met) > _NAMES_TOLD else "")
        report.errors.append(InputError(f"{str(folder)!r} holds no file that can be read ({some or 'no file'}): expected {_EXPECTED}"))


def _files_in(folder: Path) -> Iterator[Path]:
    """All regular files that are not hidden, nor in a hidden folder, sorted by path."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(where, name) for name in sorted(names) if not name.startswith(".") and os.path.isfile(Path(where, name)))


def _read_file(path: Path, report: ReadReport, max_item_bytes: int, *, optional: bool) -> Iterator[Record]:
    try:
        stream = path.open("rb")
    except OSError as error:
        report.errors.append(InputError(f"{str(path)!r} cannot be read: {error.strerror}"))
        return
    with stream:
        yield from _read_one(str(path), stream, report, max_item_bytes, optional=optional)


def _read_one(name: str, stream: BinaryIO | None, report: ReadReport, max_item_bytes: int, *, optional: bool) -> Iterator[Record]:
    """The records of one stream. What holds nothing we know is an error, or only a note where the file was not asked for by name."""
    if stream is None:
        report.errors.append(InputError(f"{name} is not connected: expected a stream of OTLP data"))
        return
    tally = Tally()
    known = False
    try:
        for record in _records(stream, Path(name).name, tally, max_item_bytes):
            if not known:
                known = True
                report.files += 1
            report.at = _place(name, tally.word, tally.line)
            report.count(record)
            yield record
    except InputError as error:
        report.errors.append(InputError(f"{name!r}: {error}"))
        return
    except DAMAGE as error:
        report.notes.append(f"{name!r} is read up to where it is damaged: {error}")
        tally.reject("damaged_file")
    if known or tally.notes:
        report.count_tally(name, tally)
    elif optional:
        report.passed_over.append(name)
    else:
        report.errors.append(InputError(_unknown(name, tally)))


def _unknown(name: str, tally: Tally) -> str:
    faults = ", ".join(f"{reason}{_in_lines(tally, reason)}" for reason in sorted(tally.rejected)) or "no item"
    return f"{name!r} holds nothing that can be read ({faults}): expected {_EXPECTED}"


def _in_lines(tally: Tally, reason: str) -> str:
    lines = tally.lines.get(reason)
    return f" in {tally.word} {', '.join(map(str, lines))}" if lines else ""


def _records(stream: BinaryIO, name: str, tally: Tally, max_bytes: int) -> Iterator[Record]:
    """The records of a stream, by its first bytes: packed, length-prefixed messages, one protobuf body, or JSON text."""
    signal: Signal = "logs" if "logs" in name.lower() else "traces"
    head, stream = _peeked(stream)
    if is_packed(head):
        head, stream = _peeked(unpacked_stream(stream, head))
    if not head:
        tally.note(_EMPTY)
    elif head[0] <= 8:  # no text and no protobuf tag of a request begins so, a length below 144 MiB does
        yield from _records_of_messages(stream, signal, tally, max_bytes)
    elif head[0] == 0x0A:  # the tag of a request's first field, and a newline
        yield from _records_of_body(stream, signal, tally, max_bytes)
    elif b"\0" in head:
        raise InputError("is neither protobuf nor UTF-8 text: expected OTLP traces or logs (a text in UTF-16 must be saved as UTF-8)")
    else:
        yield from _records_of_text(stream, tally, max_bytes)


def _records_of_messages(stream: BinaryIO, signal: Signal, tally: Tally, max_bytes: int) -> Iterator[Record]:
    """The Collector's file exporter with `format: proto` or `compression: zstd`: four bytes of length, big-endian, then a message."""
    tally.word = "message"
    while prefix := stream.read(4):
        tally.line += 1
        size = int.from_bytes(prefix, "big")
        if size > max_bytes:
            tally.reject("item_too_large")
            _skip(stream, size)
            continue
        message = stream.read(size)
        if len(prefix) < 4 or len(message) < size:
            tally.reject("cut_off_message")
            return
        try:
            yield from _records_of_message(unpacked_bytes(message, max_bytes=max_bytes), signal, tally)
        except TooLarge:
            tally.reject("item_too_large")
        except InputError:
            tally.reject("broken_message")


def _records_of_message(message: bytes, signal: Signal, tally: Tally) -> Iterator[Record]:
    if message.startswith(b"{"):
        yield from records_from_value(value_from_text(message), tally)
    elif message:
        yield batch_from_protobuf(message, signal)


def _records_of_body(stream: BinaryIO, signal: Signal, tally: Tally, max_bytes: int) -> Iterator[Record]:
    """One protobuf body, or a text that begins with an empty line."""
    body = stream.read(max_bytes + 1)
    if len(body) <= max_bytes and not body.strip(b" \t\r\n"):
        tally.note(_EMPTY)
        return
    if len(body) <= max_bytes:
        try:
            yield batch_from_protobuf(body, signal)
            return
        except InputError:
            if not body.lstrip().startswith((b"{", b"[")):
                raise
    yield from _records_of_text(chained(body, stream), tally, max_bytes)


def _records_of_text(stream: BinaryIO, tally: Tally, max_bytes: int) -> Iterator[Record]:
    is_empty = True
    for value in values_from_lines(stream, tally, max_bytes=max_bytes):
        is_empty = False
        yield from records_from_value(value, tally)
    if is_empty and not tally.rejected:
        tally.note(_EMPTY)


def _skip(stream: BinaryIO, size: int) -> None:
    while size > 0 and (piece := stream.read(min(size, 1 << 20))):
        size -= len(piece)


def _peeked(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """The first bytes of a stream without its UTF-8 byte order mark, and the stream with them still to come."""
    head = stream.read(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")
    return head, chained(head, stream)
