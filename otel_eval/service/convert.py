"""Bytes to conversations: files read, spans understood, traces assembled, and a report of what was met on the way."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TextIO

from otel_eval.assembly import AssemblyReport, conversations_from_steps
from otel_eval.dialects import BUILTIN, Dialect, Reader
from otel_eval.errors import InputError
from otel_eval.model import Batch, Conversation, Step, StepKind
from otel_eval.otlp.files import ReadReport, read_paths
from otel_eval.service.evidence import Gathered


@dataclass(slots=True, kw_only=True)
class ConversionReport:
    """What was read, understood and left out."""

    reading: ReadReport = field(default_factory=ReadReport)
    assembly: AssemblyReport = field(default_factory=AssemblyReport)
    spans: int = 0
    logs_without_span: int = 0
    repeated: int = 0
    conflicts: int = 0
    loose_logs: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)
    unknown_names: Counter[str] = field(default_factory=Counter)
    """Attribute names of spans that no dialect understood."""

    def lines(self) -> list[str]:
        """The report in sentences for people, without any content."""
        lines = self.reading.lines()
        if self.conflicts:
            lines.append(f"noted {self.conflicts}: span sent twice with different content; the one that ended later is used")
        if self.assembly.duplicate_traces:
            lines.append(f"left out {self.assembly.duplicate_traces} traces that only repeat model calls of other traces")
        if self.loose_logs:
            lines.append(f"left out {self.loose_logs} log records without trace and span id")
        return lines

    def print(self, stream: TextIO) -> None:
        """Write what a user must know: the lines beyond the first, which only counts what was read."""
        for line in self.lines()[1:]:
            stream.write(f"otel-eval: {line}\n")


@dataclass(slots=True, kw_only=True)
class Conversion:
    """The conversations of some input, and the report."""

    conversations: list[Conversation]
    report: ConversionReport


def conversations_from_paths(
    paths: Iterable[str | Path], *, join_by_history: bool = False, stdin: BinaryIO | None = None, dialects: Sequence[Dialect] = BUILTIN
) -> Conversion:
    """The conversations of files, folders and standard input (`-`). InputError when none of the paths holds anything we know."""
    report = ConversionReport()
    batches = (r for r in read_paths(paths, stdin=stdin, report=report.reading) if isinstance(r, Batch))
    conversion = conversations_from_batches(batches, join_by_history=join_by_history, dialects=dialects, report=report)
    if report.reading.errors and not report.spans:
        raise InputError("; ".join(str(e) for e in report.reading.errors))
    return conversion


def conversations_from_batches(
    batches: Iterable[Batch],
    *,
    join_by_history: bool = False,
    dialects: Sequence[Dialect] = BUILTIN,
    report: ConversionReport | None = None,
) -> Conversion:
    """The conversations of decoded batches. The same for any order and batching of the same items."""
    report = report if report is not None else ConversionReport()
    gathered = Gathered()
    for batch in batches:
        gathered.add(batch)
    reader = Reader(dialects)
    steps: list[Step] = []
    for span, logs in gathered.items():
        step = reader.step(span, logs)
        steps.append(step)
        report.kinds[step.kind] += 1
        report.dialects.update(step.dialects)
        if step.kind is StepKind.OTHER and not step.dialects:
            report.unknown_names.update(list(span.attributes))
    report.spans = len(steps)
    report.repeated, report.conflicts, report.loose_logs = gathered.repeated, gathered.conflicts, gathered.loose_logs
    found = conversations_from_steps(steps, reader.id_keys, join_by_history=join_by_history, report=report.assembly)
    return Conversion(conversations=found, report=report)
