"""A scorer inside the application comes to the results of `otel-eval serve`, on captures of many instrumentations."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otel_eval.judges import builtin_judge
from otel_eval.judges.settings import JudgeSettings
from otel_eval.model import Failed, Report, Score, Skipped
from otel_eval.otlp.receive.encoding import Encoding
from tests.captures import batch_of, capture, names
from tests.fakes.bench import Bench
from tests.fakes.sdk import Application, log_records, readable_spans
from tests.fakes.serving import Copy, copy_of

METRICS = [
    "agent_goal_accuracy",
    "turn_count",
    "tool_error_rate",
    "repeated_calls",
    "unanswered_turn",
    "user_repetition",
    "tool_call_count",
]
COMPLETION = {"trace_quiet": "1h", "trace_max_age": "2h", "conversation_idle": "1h"}
MANY = [name for place, name in enumerate(names()) if name.startswith("corpus/") or place % 3 == 0]
"""The whole corpus, and enough of the further captures: all of them take twice as long and say the same."""
SOME = names()[::10]
"""Enough for a store in a file: what differs there is only how bodies are written."""


def is_from_inside(copy: Copy) -> bool:
    """Not log records of a command line's session without a trace, nor a piece of a trace: inside an application there is neither."""
    found = [batch for _, batch in batches(copy)]
    spans = {(s.trace_id, s.span_id) for batch in found for s in batch.spans}
    parents = {(s.trace_id, s.parent_span_id) for batch in found for s in batch.spans if s.parent_span_id}
    return parents <= spans and all(r.trace_id is not None for batch in found for r in batch.logs)


def copies_of(chosen: Sequence[str]) -> list[Copy]:
    made = [copy_of(capture(name), number) for number, name in enumerate(chosen, 1)]
    return [copy for copy in made if is_from_inside(copy)]


def batches(copy: Copy) -> list[Any]:
    return [(sent, batch_of(f"{sent.signal}.{'json' if sent.is_json else 'pb'}", sent.body)) for sent in copy.requests]


async def serve(copies: Sequence[Copy]) -> list[Report]:
    """What `serve` makes of the requests."""
    bench = Bench(
        judge=builtin_judge("heuristic", JudgeSettings()),
        metrics=METRICS,
        completion__trace_quiet="10s",
        completion__trace_max_age="60s",
        store__max_bytes="1GiB",
    )
    for copy in copies:
        for sent in copy.requests:
            await bench.intake(sent.signal, sent.body, Encoding(format="json" if sent.is_json else "protobuf"))  # type: ignore[arg-type]  # a signal
    for _ in range(3):
        await bench.after(200)
    bench.close()
    return bench.sink.reports


def inside(copies: Sequence[Copy], store: Path | None) -> list[Report]:
    """What the scorer makes of the same spans and log records."""
    reports: list[Report] = []
    config = {"metrics": METRICS, "completion": COMPLETION, "store": {"max_bytes": "1GiB"}}
    if store is not None:
        config["completion"] = {**COMPLETION, "conversation_idle": "0s"}
    with Application(config, on_report=reports.append, store=store, max_queue=1_000_000, max_pending_bytes=2**30) as app:
        for copy in copies:
            for _, batch in batches(copy):
                for record in log_records(batch.logs):
                    app.scorer.on_emit(record)
                for span in readable_spans(batch.spans):
                    app.scorer.on_end(span)
        app.scorer.shutdown(120_000)
        assert app.scorer.status()["faults"] == {}
    return reports


def told(reports: Sequence[Report]) -> dict[str, Any]:
    """Results by id: what each says, and of which spans. `revision` is not part of it: it counts how often the same was looked at."""
    found = {}
    for report in reports:
        for result in report.results:
            found[result.id] = (
                result.metric,
                report.conversation.key,
                result.level,
                said(result.outcome),
                result.anchor,
                report.selected_by,
            )
    return found


def scored_twice(reports: Sequence[Report]) -> set[str]:
    """Conversations joined by the ids of answers alone. Whether the first trace is scored by itself before the next one names it is a
    matter of moments, in `serve` as well."""
    return {key for key, times in Counter(r.conversation.key for r in reports).items() if times > 1}


def said(outcome: Score | Skipped | Failed) -> Any:
    if isinstance(outcome, Score):
        return replace(outcome, judge=None) if outcome.judge is None else outcome
    return (type(outcome).__name__, outcome.error_type if isinstance(outcome, Failed) else outcome.reason)


@pytest.mark.parametrize(("chosen", "in_file"), [(MANY, False), (SOME, True)], ids=["memory", "file"])
def test_the_same_conversations_get_the_same_results(chosen: Sequence[str], in_file: bool, tmp_path: Path) -> None:
    """Captures as SDK spans and log records: the same result ids with the same values, labels, explanations and evidence."""
    copies = copies_of(chosen)
    served = asyncio.run(serve(copies))
    scored = inside(copies, tmp_path / "store.db" if in_file else None)
    twice = scored_twice(served) | scored_twice(scored)
    wanted, got = (told([r for r in reports if r.conversation.key not in twice]) for reports in (served, scored))
    assert len(wanted) > len(chosen) * len(METRICS) / 2
    assert {k: v for k, v in got.items() if wanted.get(k) != v} == {}
    assert set(wanted) - set(got) == set()
    assert {r.conversation.key for r in served} == {r.conversation.key for r in scored}
