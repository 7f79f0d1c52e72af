"""`otel-eval score`: conversations of trace files scored, shown, and sent on."""

import asyncio
import io
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from otel_eval.errors import ConfigError, OtelEvalError
from otel_eval.model import Failed, Report
from otel_eval.model.characters import whole
from otel_eval.otlp.endpoint import endpoint_from_env, url_of_signal
from otel_eval.scoring import Settings, score_conversations
from otel_eval.service.convert import Conversion, conversations_from_paths
from otel_eval.service.judge_choice import NOTE
from otel_eval.service.metric_choice import uses_judge
from otel_eval.service.progress import unwatched, watch_for
from otel_eval.service.score.options import Options, Plan, plan_from_conversion, prepared_from_options
from otel_eval.service.score.resume import Earlier, opened
from otel_eval.service.score.summaries import junit_from_rows, markdown_from_rows
from otel_eval.service.score.thresholds import held, refuse_unknown, thresholds_from_texts
from otel_eval.service.tally import Tally
from otel_eval.sinks.base import Sink
from otel_eval.sinks.jsonl import JsonlSink, object_from_result
from otel_eval.sinks.otlp_events import OtlpEventSink
from otel_eval.sinks.table import TableSink

DONE, MISSED, NOTHING_SCORED = 0, 1, 3
_STOPS_ALL: Final = frozenset({"judge_auth", "judge_quota", "judge_misconfigured"})
"""Reasons of a judge that cannot be asked at all until somebody changes something."""


def run(**given: Any) -> int:
    """Score what is in the paths.

    0 when done, 1 for no conversation or a missed threshold, 3 where no metric has a value and some failed; ConfigError when judging cannot
    work at all.
    """
    options = Options(**given)
    thresholds = thresholds_from_texts(options.fail_under)
    otlp = _otlp_sink(options.otlp_endpoint) if options.otlp_endpoint is not None else None
    _refuse_places(options)
    prepared = prepared_from_options(options, os.environ)
    conversion = _converted(options)
    conversion.report.print(sys.stderr)
    if not conversion.conversations:
        _say("there is no conversation in the input; `otel-eval doctor` says what was found")
        return MISSED
    plan = plan_from_conversion(options, prepared, conversion)
    refuse_unknown(thresholds, plan.names)
    for line in plan.remarks(prepared):
        _say(line)
    if plan.judge.kind == "heuristic" and options.judge is None and uses_judge(plan.runs):
        sys.stderr.write(NOTE + "\n")
    with ExitStack() as files:
        work = _work(options, plan, otlp, files)
        asyncio.run(_score(options, plan, work))
    _write_summaries(options, work, thresholds)
    for line in [*work.tally.lines(), *_otlp_lines(otlp)]:
        _say(line)
    if work.unsent is not None:
        raise ConfigError(f"not all results were sent with --otlp: {work.unsent}")
    return _end(work.tally, thresholds, options.max_failed)


def _end(tally: Tally, thresholds: Mapping[str, float], most_failed: float | None) -> int:
    """The exit code, with a sentence for each threshold, where it is not 0, and where nothing has a value."""
    told = list(held(thresholds, most_failed, tally))
    nothing = tally.nothing_scored()
    for line in [*(each.sentence for each in told), *([nothing] if nothing else [])]:
        _say(line)
    if nothing and tally.has_failures:
        return NOTHING_SCORED
    return DONE if all(each.is_met for each in told) else MISSED


def _refuse_places(options: Options) -> None:
    """ConfigError for a file that could not be written at the end."""
    for place in (options.junit, options.markdown, options.out):
        if place is not None and not place.parent.is_dir():
            raise ConfigError(f"{str(place)!r} cannot be written: its folder is not there; make it, or name another place")


def _converted(options: Options) -> Conversion:
    keep = (options.task_key,) if options.task_key else ()
    progress = watch_for(sys.stderr)
    try:
        return conversations_from_paths(
            options.paths, join_by_history=options.join_by_history, stdin=sys.stdin.buffer, keep=keep, watch=progress or unwatched
        )
    finally:
        if progress is not None:
            progress.clear()


@dataclass(slots=True, kw_only=True)
class _Work:
    """What has been done so far."""

    sinks: Sequence[Sink]
    otlp: Sink | None = None
    unsent: OtelEvalError | None = None
    """Why results could not be sent; from then on they are shown and kept only."""
    earlier: Earlier
    tally: Tally = field(default_factory=Tally)
    rows: list[dict[str, Any]] | None = None
    """Every result, where a summary needs them."""


def _work(options: Options, plan: Plan, otlp: OtlpEventSink | None, files: ExitStack) -> _Work:
    """Sinks opened, and what earlier runs left in `--out` counted in."""
    sinks: list[Sink] = [_stdout_sink(options.format)]
    work = _Work(sinks=sinks, otlp=otlp, earlier=Earlier(), rows=[] if options.junit or options.markdown else None)
    if options.out is not None:
        work.earlier, stream = opened(options.out)
        files.callback(stream.close)
        sinks.append(JsonlSink(stream))
    for row in work.earlier.done_rows():
        work.tally.add_row(row)
        if work.rows is not None:
            work.rows.append(row)
    if work.earlier.rows:
        _say(f"{len(plan.units) - len(plan.remaining(work.earlier))} of {len(plan.units)} conversations were scored before")
    return work


async def _score(options: Options, plan: Plan, work: _Work) -> None:
    units = plan.remaining(work.earlier)
    settings = Settings(
        secret=secrets.token_bytes(32), concurrency=options.concurrency, deadline_s=plan.deadline_s, record_tokens=plan.record_tokens
    )
    progress = _Progress(total=len(units))
    reports = score_conversations(units, lambda c: work.earlier.missing(c, plan.runs_of(c)), plan.judge.judge, settings)
    try:
        async for report in reports:
            _stop_where_judging_cannot_work(report, work.tally)
            progress.clear()
            for sink in work.sinks:
                await sink.write(report)
            await _send(report, work)
            work.tally.add(report)
            if work.rows is not None:
                work.rows += [object_from_result(report, result) for result in report.results]
            progress.show(work.tally)
    finally:
        progress.clear()
        await plan.judge.close()


async def _send(report: Report, work: _Work) -> None:
    """A receiver that is away costs only the sending: what was scored is shown and kept all the same."""
    if work.otlp is None or work.unsent is not None:
        return
    try:
        await work.otlp.write(report)
    except OtelEvalError as error:
        work.unsent = error


def _stop_where_judging_cannot_work(report: Report, tally: Tally) -> None:
    """A key that is refused is refused for every conversation: say so at the first one instead of failing all of them."""
    if tally.conversations:
        return
    for result in report.results:
        if isinstance(result.outcome, Failed) and result.outcome.error_type.value in _STOPS_ALL:
            raise ConfigError(result.outcome.detail)


def _write_summaries(options: Options, work: _Work, thresholds: dict[str, float]) -> None:
    rows = work.rows or []
    _write(options.junit, lambda: junit_from_rows(rows, thresholds))
    _write(options.markdown, lambda: markdown_from_rows(rows, work.tally))


def _write(path: Path | None, make: Any) -> None:
    if path is None:
        return
    try:
        path.write_text(whole(make()), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _stdout_sink(format: str) -> Sink:
    if format == "jsonl":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8 whatever the terminal's encoding
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
    _begun: float = field(default_factory=time.monotonic)
    _shown: bool = False

    def show(self, tally: Tally) -> None:
        if sys.stderr.isatty() and tally.conversations < self.total:
            sys.stderr.write(f"\r\x1b[K{progress_text(tally, self.total, time.monotonic() - self._begun)}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False


def progress_text(tally: Tally, total: int, took_s: float) -> str:
    """How far it is, what it has cost, and how long it will take at the pace so far."""
    left_s = took_s / max(1, tally.conversations) * (total - tally.conversations)
    left = f"{left_s:.0f} s" if left_s < 120 else f"{left_s / 60:.0f} min"
    return f"scored {tally.conversations} of {total} conversations{tally.cost_text()}, {left} left"


def _say(sentence: str) -> None:
    sys.stderr.write(f"otel-eval: {sentence}\n")
