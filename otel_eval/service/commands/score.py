"""`otel-eval score`: conversations of trace files scored, shown, and sent on."""

import asyncio
import os
import secrets
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from otel_eval.errors import ConfigError
from otel_eval.model import Conversation, Failed, Reference, Report
from otel_eval.otlp.endpoint import endpoint_from_env, url_of_signal
from otel_eval.scoring import MetricRun, Settings, score_conversations
from otel_eval.service.convert import Conversion, conversations_from_paths
from otel_eval.service.judge_choice import NOTE, JudgeChoice, judge_from_options
from otel_eval.service.metric_choice import default_names, labels_of, run_from_text, uses_judge
from otel_eval.service.references import NO_REFERENCES, References, references_from_file
from otel_eval.service.tally import Tally
from otel_eval.sinks.base import Sink
from otel_eval.sinks.jsonl import JsonlSink
from otel_eval.sinks.otlp_events import OtlpEventSink
from otel_eval.sinks.table import TableSink

DONE, NOTHING_TO_SCORE = 0, 1
_STOPS_ALL: Final = frozenset({"judge_auth", "judge_quota", "judge_misconfigured"})
"""Reasons of a judge that cannot be asked at all until somebody changes something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done, all of it checked before the first question."""

    units: Sequence[tuple[Conversation, Reference]]
    runs: Sequence[MetricRun]
    judge: JudgeChoice
    sinks: Sequence[Sink]


def run(
    *,
    paths: tuple[Path, ...],
    metrics: tuple[str, ...] = (),
    topics: tuple[str, ...] = (),
    judge: str | None = None,
    judge_model: str | None = None,
    base_url: str | None = None,
    format: str = "table",
    otlp_endpoint: str | None = None,
    references: Path | None = None,
    join_by_history: bool = False,
    **_: Any,
) -> int:
    """Score what is in the paths. 0 when done, 1 when there was no conversation, `ConfigError` when judging cannot work at all."""
    conversion = conversations_from_paths(paths, join_by_history=join_by_history, stdin=sys.stdin.buffer)
    conversion.report.print(sys.stderr)
    if not conversion.conversations:
        _say("there is no conversation in the input; `otel-eval doctor` says what was found")
        return NOTHING_TO_SCORE
    dataset = references_from_file(references) if references else NO_REFERENCES
    units = list(_units(conversion, dataset, topics))
    runs = [run_from_text(name) for name in metrics or default_names(r for _, r in units)]
    labels_of(runs)
    chosen = judge_from_options(judge=judge, model=judge_model, base_url=base_url, environ=os.environ)
    if chosen.kind == "heuristic" and judge is None and uses_judge(runs):
        sys.stderr.write(NOTE + "\n")
    otlp = _otlp_sink(otlp_endpoint) if otlp_endpoint else None
    sinks = [_stdout_sink(format), *([otlp] if otlp else [])]
    tally = asyncio.run(_score(Plan(units=units, runs=runs, judge=chosen, sinks=sinks)))
    for line in [*tally.lines(), *_otlp_lines(otlp)]:
        _say(line)
    return DONE


def _units(conversion: Conversion, dataset: References, topics: tuple[str, ...]) -> Iterator[tuple[Conversation, Reference]]:
    """Each conversation with its reference; topics of the command line where nothing nearer says any."""
    for conversation in conversion.conversations:
        reference, _ = dataset.of(conversation, conversion.beside(conversation))
        yield conversation, replace(reference, topics=topics) if topics and not reference.topics else reference


async def _score(plan: Plan) -> Tally:
    tally, progress = Tally(), _Progress(total=len(plan.units))
    settings = Settings(secret=secrets.token_bytes(32))
    try:
        async for report in score_conversations(plan.units, plan.runs, plan.judge.judge, settings):
            _stop_where_judging_cannot_work(report, tally)
            progress.clear()
            for sink in plan.sinks:
                await sink.write(report)
            tally.add(report)
            progress.show(tally)
    finally:
        progress.clear()
        await plan.judge.close()
    return tally


def _stop_where_judging_cannot_work(report: Report, tally: Tally) -> None:
    """A key that is refused is refused for every conversation: say so at the first one instead of failing all of them."""
    if tally.conversations:
        return
    for result in report.results:
        if isinstance(result.outcome, Failed) and result.outcome.error_type.value in _STOPS_ALL:
            raise ConfigError(result.outcome.detail)


def _stdout_sink(format: str) -> Sink:
    if format == "jsonl":
        return JsonlSink(sys.stdout)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    return TableSink(sys.stdout, width=width)


def _otlp_sink(text: str) -> OtlpEventSink:
    """The sink for an endpoint: a base address, or the whole one of the logs signal; headers and the rest from OTEL_EXPORTER_OTLP_*."""
    url = text if text.rstrip("/").endswith("/v1/logs") else url_of_signal(text, "logs")
    ours = _own_version()
    resource = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "otel-eval", "service.version": ours}
    return OtlpEventSink(replace(endpoint_from_env(os.environ, "logs"), url=url), resource=resource, version=ours)


def _own_version() -> str:
    try:
        return version("otel-eval")
    except PackageNotFoundError:  # run from the source tree without being installed
        return ""


def _otlp_lines(sink: OtlpEventSink | None) -> Iterator[str]:
    if sink is None:
        return
    yield f"sent {sink.sent} results as OTLP events"
    if sink.rejected:
        yield f"the receiver refused {sink.rejected} results for good"


@dataclass(slots=True, kw_only=True)
class _Progress:
    """One line on a terminal that is written over and over; nothing elsewhere."""

    total: int
    _shown: bool = False

    def show(self, tally: Tally) -> None:
        if sys.stderr.isatty() and tally.conversations < self.total:
            sys.stderr.write(f"\rscored {tally.conversations} of {self.total} conversations")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False


def _say(sentence: str) -> None:
    sys.stderr.write(f"otel-eval: {sentence}\n")
