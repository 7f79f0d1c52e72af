"""Bytes to conversations: files read, spans understood, traces assembled, and a report of what was met on the way."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from otel_eval.assembly import AssemblyReport, conversations_from_steps
from otel_eval.dialects import BUILTIN, Dialect, Reader
from otel_eval.errors import InputError
from otel_eval.exchange.records import conversation_from_record, records_within
from otel_eval.model import Batch, Conversation, Span, Step, StepKind
from otel_eval.otlp.files import ReadReport, read_paths
from otel_eval.otlp.records import Record
from otel_eval.service.evidence import Gathered
from otel_eval.service.progress import Watch, unwatched

_SENTENCES_KEPT = 3


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
    unreadable: int = 0
    """Conversations in JSON that are not as their form has it."""
    faults: list[str] = field(default_factory=list)
    """What is wrong with the first of them."""
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
        if self.unreadable:
            lines.append(f"left out {self.unreadable} conversations in JSON: {'; '.join(self.faults)}")
        return lines

    def print(self, stream: TextIO) -> None:
        """Write what a user must know: the lines beyond the first, which only counts what was read."""
        for line in self.lines()[1:]:
            stream.write(f"otel-eval: {line}\n")


@dataclass(slots=True, kw_only=True)
class Conversion:
    """The conversations of some input, and the report."""

    conversations: list[Conversation]
    """Those read from spans, by start, then those given in JSON, in the order of the input."""
    report: ConversionReport
    _records: dict[int, Mapping[str, Any]] = field(default_factory=dict)

    def beside(self, conversation: Conversation) -> Mapping[str, Any] | None:
        """The object that a conversation given in JSON was read from: what else stands in it may be its reference."""
        return self._records.get(id(conversation))


def conversations_from_paths(
    paths: Iterable[str | Path],
    *,
    join_by_history: bool = False,
    stdin: BinaryIO | None = None,
    dialects: Sequence[Dialect] = BUILTIN,
    watch: Watch = unwatched,
    on_step: Callable[[Span, Step], None] | None = None,
    keep: Iterable[str] = (),
) -> Conversion:
    """The conversations of files, folders and standard input (`-`), from spans and from JSON.

    `keep` names span and resource attributes that stay on conversations beside those that always do. InputError, in one sentence, when
    none of the paths holds anything we know.
    """
    report = ConversionReport()
    given = Conversion(conversations=[], report=report)
    records = watch(read_paths(paths, stdin=stdin, report=report.reading), "reading")
    conversion = conversations_from_batches(
        _batches(records, given),
        join_by_history=join_by_history,
        dialects=dialects,
        report=report,
        watch=watch,
        on_step=on_step,
        reader=Reader(dialects, keep=keep),
    )
    if not report.spans and not given.conversations:
        _refuse_nothing(report)
    given.conversations[:0] = conversion.conversations
    return given


def _batches(records: Iterable[Record], given: Conversion) -> Iterator[Batch]:
    """The batches among records; conversations in JSON are put aside."""
    number = 0
    for record in records:
        if isinstance(record, Batch):
            yield record
            continue
        for each in records_within(record):
            number += 1
            _put_aside(each, number, given)


def _put_aside(record: Mapping[str, Any], number: int, given: Conversion) -> None:
    """The conversation of a JSON object to those given; one that is not as its form has it is counted and its fault told."""
    try:
        conversation = conversation_from_record(record)
    except InputError as error:
        given.report.unreadable += 1
        if len(given.report.faults) < _SENTENCES_KEPT:
            given.report.faults.append(f"conversation {number} ({given.report.reading.at}): {error}")
        return
    given.conversations.append(conversation)
    given._records[id(conversation)] = record


def _refuse_nothing(report: ConversionReport) -> None:
    """InputError where there is a fault and nothing was read in spite of it."""
    faults = [*(str(e) for e in report.reading.errors), *report.faults]
    if faults:
        more = len(report.reading.errors) + report.unreadable - 1
        raise InputError(f"{faults[0]} (and {more} more)" if more else faults[0])


def conversations_from_batches(
    batches: Iterable[Batch],
    *,
    join_by_history: bool = False,
    dialects: Sequence[Dialect] = BUILTIN,
    report: ConversionReport | None = None,
    watch: Watch = unwatched,
    on_step: Callable[[Span, Step], None] | None = None,
    reader: Reader | None = None,
) -> Conversion:
    """The conversations of decoded batches. The same for any order and batching of the same items.

    `on_step` is told each span with the step it was understood as. `reader` is one of these dialects that was used before: who converts
    again and again saves making it.
    """
    report = report if report is not None else ConversionReport()
    gathered = Gathered()
    for batch in batches:
        gathered.add(batch)
    reader = reader if reader is not None else Reader(dialects)
    steps: list[Step] = []
    for span, logs in watch(gathered.items(), "understanding spans"):
        step = reader.step(span, logs)
        steps.append(step)
        if on_step is not None:
            on_step(span, step)
        report.kinds[step.kind] += 1
        report.dialects.update(step.dialects)
        if step.kind is StepKind.OTHER and not step.dialects:
            report.unknown_names.update(list(span.attributes))
    report.spans = len(steps)
    report.repeated, report.conflicts, report.loose_logs = gathered.repeated, gathered.conflicts, gathered.loose_logs
    found = conversations_from_steps(steps, reader.id_keys, join_by_history=join_by_history, report=report.assembly)
    return Conversion(conversations=found, report=report)
