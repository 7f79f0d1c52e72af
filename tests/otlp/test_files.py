"""Files, folders and standard input."""

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.model import Batch
from otel_eval.otlp import unpack
from otel_eval.otlp.decode import batch_from_logs, batch_from_traces
from otel_eval.otlp.files import ReadReport, read_paths
from tests.fakes.wire import json_logs, json_span, json_traces, line, logs, metrics, shared, span, traces

Pack = Callable[[bytes], bytes]
PACKERS: dict[str, Pack] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}
NAMES = ["span 1", "span 2", "span 3"]
REQUESTS = [json_traces(json_span(number)) for number in (1, 2, 3)]
BODY = traces(*(span(number) for number in (1, 2, 3)))
LINES = b"".join(map(line, REQUESTS))


def prefixed(*messages: bytes) -> bytes:
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


def read(data: bytes | Path | list[Path], **options: Any) -> tuple[list[Any], ReadReport]:
    """What a stream or paths hold, and the report."""
    report = ReadReport()
    paths = ["-"] if isinstance(data, bytes) else data if isinstance(data, list) else [data]
    stdin = io.BytesIO(data) if isinstance(data, bytes) else None
    return list(read_paths(paths, stdin=stdin, report=report, **options)), report


def names(records: list[Any]) -> list[str]:
    return [s.name for record in records if isinstance(record, Batch) for s in record.spans]


ENCODINGS = {
    "a protobuf body": BODY,
    "one JSON object": json.dumps(json_traces(*(json_span(number) for number in (1, 2, 3)))).encode(),
    "one pretty JSON object": json.dumps(json_traces(*(json_span(number) for number in (1, 2, 3))), indent=2).encode(),
    "an array of requests": json.dumps(REQUESTS).encode(),
    "lines": LINES,
    "lines with a byte order mark": b"\xef\xbb\xbf" + LINES,
    "lines with carriage returns": LINES.replace(b"\n", b"\r\n"),
    "lines behind an empty line": b"\n" + LINES,
    "objects without newlines": LINES.replace(b"\n", b""),
    "length-prefixed protobuf": prefixed(traces(span(1)), traces(span(2), span(3))),
    "length-prefixed JSON": prefixed(*(json.dumps(request).encode() for request in REQUESTS)),
    "length-prefixed zstd of protobuf": prefixed(*(PACKERS["zstd"](traces(span(number))) for number in (1, 2, 3))),
    "length-prefixed zstd of JSON": prefixed(*(PACKERS["zstd"](line(request)) for request in REQUESTS)),
    "length-prefixed gzip of protobuf": prefixed(*(PACKERS["gzip"](traces(span(number))) for number in (1, 2, 3))),
}


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_encoding_does_not_matter(encoding: str, pack: str, tmp_path: Path) -> None:
    """The same spans in any encoding, plain or packed, from a file or from standard input, are the same spans in the same order."""
    data = PACKERS[pack](ENCODINGS[encoding])
    file = tmp_path / "any.name"
    file.write_bytes(data)
    for source in (data, file):
        records, report = read(source)
        assert names(records) == NAMES
        assert (report.files, report.items, report.rejected, report.errors) == (1, {"span": 3}, {}, [])


@pytest.mark.parametrize("pack", PACKERS)
def test_frames_written_one_after_the_other_are_one_file(pack: str) -> None:
    """A file of lines packed request by request, as a rotating exporter leaves it, is read to its end."""
    assert names(read(b"".join(PACKERS[pack](line(request)) for request in REQUESTS))[0]) == NAMES


def test_logs_are_told_by_the_name_and_by_their_bytes(tmp_path: Path) -> None:
    """A protobuf file is read as logs when its name says so, and also when only its bytes do."""
    for name in ("0001-logs.pb", "0001-traces.pb"):
        (tmp_path / name).write_bytes(logs("a"))
        assert read(tmp_path / name)[0] == [batch_from_logs(logs("a"))]
    (tmp_path / "my-logs.pb").write_bytes(BODY)
    assert read(tmp_path / "my-logs.pb")[0] == [batch_from_traces(BODY)]


def test_lines_may_mix_signals_and_conversations() -> None:
    """Traces, logs and conversations in one file come in order; metrics are passed over and counted."""
    conversation = {"messages": [{"role": "user", "content": "Hi"}]}
    data = b"".join(
        map(line, [REQUESTS[0], json_logs({"body": {"stringValue": "b"}}), {"resourceMetrics": [{}]}, conversation, REQUESTS[1]])
    )
    records, report = read(data)
    assert [r if isinstance(r, dict) else (len(r.spans), len(r.logs)) for r in records] == [(1, 0), (0, 1), (0, 0), conversation, (1, 0)]
    assert report.items == {"span": 2, "log_record": 1, "conversation": 1}
    assert report.oddities == {"metrics_skipped": 1}


def test_messages_may_mix_signals() -> None:
    """Traces, logs and metrics in one length-prefixed file are told apart."""
    records, report = read(prefixed(traces(span(1)), logs("a"), metrics(), b"", traces(span(2))))
    assert [(len(r.spans), len(r.logs)) for r in records] == [(1, 0), (0, 1), (0, 0), (1, 0)]
    assert report.rejected == {}


def test_folders_are_read_by_name_without_hidden_files(tmp_path: Path) -> None:
    """Files of a folder and of those in it come sorted; hidden ones and unknown ones are passed over without an error."""
    for name, number in (("b/2.jsonl", 2), ("a.json", 1), ("c.pb", 3), (".hidden.json", 9), (".git/x.json", 9)):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(traces(span(number)) if name.endswith("pb") else line(json_traces(json_span(number))))
    (tmp_path / "README.md").write_text("# Notes\n")
    records, report = read(tmp_path)
    assert names(records) == ["span 1", "span 3", "span 2"]
    assert (report.files, report.errors, report.rejected) == (3, [], {})
    assert [Path(name).name for name in report.passed_over] == ["README.md"]
    assert len(report.lines()) == 2


def test_paths_are_read_in_the_given_order(tmp_path: Path) -> None:
    """Files and `-` come as they are asked for."""
    for number in (1, 3):
        (tmp_path / f"{number}.pb").write_bytes(traces(span(number)))
    paths: list[str | Path] = [tmp_path / "3.pb", "-", str(tmp_path / "1.pb")]
    records = list(read_paths(paths, stdin=io.BytesIO(traces(span(2)))))
    assert names(records) == ["span 3", "span 2", "span 1"]


BROKEN_ITEMS = {
    "a cut line": (LINES[:-40] + b"\n" + line(REQUESTS[0]), {"broken_json": 1}, ["span 1", "span 2", "span 1"]),
    "a line of something else": (line(REQUESTS[0]) + b'{"level": "info"}\n' + line(REQUESTS[1]), {"unknown_record": 1}, NAMES[:2]),
    "a span without id": (line(json_traces(json_span(1), json_span(2, spanId="")))[:-1], {"invalid_span_id": 1}, NAMES[:1]),
    "a broken message": (prefixed(traces(span(1)), b"\x0a\xff\xff", traces(span(2))), {"broken_message": 1}, NAMES[:2]),
    "a broken packed message": (prefixed(traces(span(1)), gzip.compress(BODY)[:20], traces(span(2))), {"broken_message": 1}, NAMES[:2]),
    "a cut message": (prefixed(traces(span(1)), traces(span(2)))[:-3], {"cut_off_message": 1}, NAMES[:1]),
    "a cut length": (prefixed(traces(span(1))) + b"\0\0", {"cut_off_message": 1}, NAMES[:1]),
}


@pytest.mark.parametrize("case", BROKEN_ITEMS)
def test_a_broken_item_costs_only_itself(case: str) -> None:
    """What is broken is counted by its reason; what stands around it is read, in order."""
    data, rejected, expected = BROKEN_ITEMS[case]
    records, report = read(data)
    assert names(records) == expected
    assert (report.rejected, report.errors) == (rejected, [])


@pytest.mark.parametrize("pack", ["gzip", "zstd"])
def test_a_damaged_packed_file_is_read_up_to_the_damage(pack: str) -> None:
    """The requests before the damage are read; that there is damage is told."""
    data = PACKERS[pack](LINES) + PACKERS[pack](os.urandom(3000).hex().encode() + b"\n")[:-20]
    records, report = read(data)
    assert names(records) == NAMES
    assert report.rejected["damaged_file"] == 1
    assert "damaged" in report.notes[0]


@pytest.mark.parametrize(
    "data",
    [
        line(REQUESTS[0]) + line(json_traces(json_span(2, name="x" * 5000))) + line(REQUESTS[2]),
        prefixed(traces(span(1)), traces(span(2, name="x" * 5000)), traces(span(3))),
        prefixed(traces(span(1)), gzip.compress(traces(span(2, name="x" * 5000))), traces(span(3))),
    ],
)
def test_an_item_above_the_limit_costs_only_itself(data: bytes) -> None:
    """A line or message that is too large, also only once unpacked, is counted and passed over."""
    records, report = read(data, max_item_bytes=2000)
    assert names(records) == ["span 1", "span 3"]
    assert report.rejected == {"item_too_large": 1}


def test_a_body_above_the_limit_is_not_read() -> None:
    """A protobuf file that is too large is an error that names it, not a crash."""
    records, report = read(traces(span(1, name="x" * 5000)), max_item_bytes=2000)
    assert records == []
    assert "standard input" in str(report.errors[0])


UNKNOWN = [
    b"hello\n",
    b"\x89PNG\r\n\x1a\n\0\0",
    b'{"a": 1}\n',
    b'{"resourceSpans": [{"sc',
    b"\x0a\x0b\x0c",
    '{"resourceSpans": []}'.encode("utf-16"),
]


@pytest.mark.parametrize("data", UNKNOWN)
def test_a_file_that_is_nothing_we_know_is_one_error(data: bytes, tmp_path: Path) -> None:
    """One clear sentence that names the file and what was expected; other files are read all the same."""
    (tmp_path / "odd.bin").write_bytes(data)
    (tmp_path / "good.pb").write_bytes(BODY)
    records, report = read([tmp_path / "odd.bin", tmp_path / "good.pb"])
    assert names(records) == NAMES
    assert len(report.errors) == 1
    assert "odd.bin" in str(report.errors[0])
    assert "expected" in str(report.errors[0])
    assert report.rejected == {}


@pytest.mark.parametrize("body", [b"", b"\n", b"\n\n \n", b"  \r\n", b"\t"])
def test_an_empty_file_is_no_error(body: bytes) -> None:
    """Nothing in it, or nothing but white space, is nothing read, and noted."""
    records, report = read(body)
    assert records == []
    assert report.errors == []
    assert report.oddities == {"empty_file": 1}


def test_what_cannot_be_opened_is_an_error_of_that_path(tmp_path: Path) -> None:
    """A missing file, a closed standard input and a folder without anything are told, each in a sentence."""
    (tmp_path / "empty").mkdir()
    _, report = read([tmp_path / "missing.json", tmp_path / "empty", Path("-")])
    assert ["No such file" in str(report.errors[0]), "holds no file" in str(report.errors[1])] == [True, True]
    assert "standard input" in str(report.errors[2])


def test_zstd_without_its_library_is_an_error_that_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zstd file says what to install; the files beside it are read."""
    monkeypatch.setattr(unpack, "_ZSTD_LIBRARY", None)
    (tmp_path / "a.zst").write_bytes(PACKERS["zstd"](LINES))
    (tmp_path / "b.pb").write_bytes(BODY)
    records, report = read(tmp_path)
    assert names(records) == NAMES
    assert "pip install zstandard" in str(report.errors[0])


def test_lines_are_read_when_asked_for() -> None:
    """A request is given before the next line of a pipe is there: nothing waits for the end of the input."""
    from_pipe, to_pipe = os.pipe()
    with os.fdopen(from_pipe, "rb") as stdin, os.fdopen(to_pipe, "wb", buffering=0) as writer:
        records = read_paths(["-"], stdin=stdin)
        for request, name in zip(REQUESTS, NAMES, strict=True):
            writer.write(line(request))
            assert names([next(records)]) == [name]


def test_the_report_tells_everything_without_content() -> None:
    """The lines for the end of a run name counts, reasons and lines, and no text of the telemetry."""
    _, report = read(line(json_traces(json_span(1, name="secret"), json_span(2, spanId=""))) + b'{"secret": 1}\n')
    assert report.lines() == [
        "read 1 span from 1 file",
        "rejected 1: invalid_span_id ('standard input', line 1)",
        "rejected 1: unknown_record ('standard input', line 2)",
    ]


def test_what_is_rejected_is_told_with_file_and_line(tmp_path: Path) -> None:
    """The first three places of each reason, as the path was given: lines, of pretty-printed values their first, or messages."""
    pretty = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [json_span(1, spanId="")]}]}]}, indent=1).encode() + b"\n"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_bytes(line(REQUESTS[0]) + pretty + b'{"no": json}\n' + b"\n" + b"5\n" * 4)
    (tmp_path / "in" / "b.binpb").write_bytes(b"\0\0\0\2{}" + b"\0\0\0\1\xff")
    report = ReadReport()
    list(read_paths([tmp_path / "in"], report=report))
    a = repr(str(tmp_path / "in" / "a.jsonl"))
    bad = pretty.count(b"\n") + 2
    assert report.rejected_at["invalid_span_id"] == [f"{a}, line 2"]
    assert report.rejected_at["broken_json"] == [f"{a}, line {bad}"]
    assert report.rejected_at["unknown_record"] == [f"{a}, line {bad + n}" for n in (2, 3, 4)]
    assert (report.rejected["unknown_record"], report.passed_over) == (4, [str(tmp_path / "in" / "b.binpb")])
    assert f"rejected 4: unknown_record ({a}, line {bad + 2}; {a}, line {bad + 3}; {a}, line {bad + 4}; …)" in report.lines()


def test_files_that_are_empty_or_passed_over_are_named(tmp_path: Path) -> None:
    """Whoever wonders where their traces are sees which files were not read."""
    (tmp_path / "empty.json").touch()
    (tmp_path / "notes.txt").write_text("my notes\n", encoding="utf-8")
    (tmp_path / "traces.json").write_bytes(line(REQUESTS[0]))
    report = ReadReport()
    list(read_paths([tmp_path], report=report))
    assert f"1 empty: {str(tmp_path / 'empty.json')!r}" in report.lines()
    assert f"passed over 1 without traces or logs: {str(tmp_path / 'notes.txt')!r}" in report.lines()


@pytest.mark.parametrize("text", [b"[" * 5000 + b"]" * 5000, b'{"a":\n' * 5000 + b"1" + b"}" * 5000], ids=["one line", "many lines"])
def test_nesting_that_is_too_deep_is_told_as_such(text: bytes) -> None:
    """It is no broken JSON: what is wrong with it is its depth. The next line is read."""
    records, report = read(text + b"\n" + line(REQUESTS[0]))
    assert report.rejected == {"json_nested_too_deep": 1}
    assert names(records) == [NAMES[0]]


@given(st.binary(max_size=120) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_survived(data: bytes) -> None:
    """Whatever a stream holds, nothing is raised."""
    read(data)


def test_the_corpus_in_one_go() -> None:
    """All captures of the corpus are read from their folder, with nothing rejected."""
    records, report = read(shared("corpus"))
    assert (report.files, report.rejected, report.errors) == (266, {}, [])
    assert report.items == {"span": 1689, "log_record": 376}
    assert all(isinstance(record, Batch) for record in records)
