"""`OnlineScorer` in an application with opentelemetry-sdk."""

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context, trace
from opentelemetry._logs import LogRecord
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

import otel_eval
from otel_eval.errors import ConfigError
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.settings import JudgeSettings
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Failed, Report, Score, UnitOutcome
from otel_eval.model.sentences import UNIT_SENTENCES
from otel_eval.otlp.receive.keys import END_MARK
from otel_eval.store.admin import find_in_file
from tests.fakes.judge_server import judge_server
from tests.fakes.sdk import Application, chat_attributes

HANGS = [{"hang": True}]
SLOW = {"completion": {"trace_quiet": "1h"}, "metrics": ["turn_count"]}
"""Nothing is taken for complete unless somebody asks."""


@contextmanager
def remote() -> Iterator[str]:
    """A context as the caller of a service hands it over; the trace's id."""
    ids = RandomIdGenerator()
    parent = SpanContext(ids.generate_trace_id(), ids.generate_span_id(), True, TraceFlags(1))
    token = context.attach(set_span_in_context(NonRecordingSpan(parent)))
    try:
        yield f"{parent.trace_id:032x}"
    finally:
        context.detach(token)


def test_a_conversation_is_scored_through_the_applications_providers() -> None:
    """A trace without id, flushed: an event on the judged span, a point with an exemplar, the same result id in all of it."""
    reports: list[Report] = []
    with Application(on_report=reports.append) as app:
        trace_id = app.turn("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        (event,) = app.events()
        (point,) = app.points("otel_eval.score")
        assert app.outcome(trace_id) == ("scored", None)
        (told,) = app.scorer.explain(int(trace_id, 16))
    (result,) = reports[0].results
    assert event.log_record.attributes["otel_eval.result.id"] == result.id == told["results"][0]["id"]
    assert f"{event.log_record.trace_id:032x}" == trace_id == f"{point.exemplars[0].trace_id:032x}"
    assert event.instrumentation_scope.name == "otel_eval"
    assert (point.sum, point.attributes["gen_ai.evaluation.name"]) == (1.0, "turn_count")


def test_a_trace_is_scored_by_itself_once_it_is_quiet() -> None:
    """Without anybody asking, a trace whose root has ended is scored after `completion.trace_quiet`."""
    scored = threading.Event()
    with Application({"completion": {"trace_quiet": "50ms"}, "metrics": ["turn_count"]}, on_report=lambda report: scored.set()) as app:
        app.turn("Book a table", "Done")
        assert scored.wait(20)


def test_turns_are_one_conversation() -> None:
    """Traces of one conversation id are scored together when the process ends, and only then, for nobody said it was over."""
    reports: list[Report] = []
    with Application(on_report=reports.append) as app:
        first = app.turn("Book a table", "For when?", conversation="c1")
        app.turn("For eight", "Done", conversation="c1")
        assert app.scorer.force_flush(10_000)
        assert reports == []
        assert app.outcome("c1")[0] == "pending"
    assert app.outcome(first) == ("scored", None)
    assert [(r.conversation.id, len(r.conversation.turns)) for r in reports] == [("c1", 2)]


def test_a_conversation_that_is_said_to_be_over_is_scored_at_once() -> None:
    """The mark of a conversation's end closes it: a flush scores it in the running process."""
    with Application(SLOW) as app:
        app.turn("Book a table", "Done", conversation="c1", **{END_MARK: True})
        assert app.scorer.force_flush(10_000)
        assert app.outcome("c1") == ("scored", None)


def test_results_stand_on_a_root_that_is_still_recording() -> None:
    """A long-lived root span gets the results of a conversation that ended inside it as span events."""
    with Application(SLOW) as app, app.span("session") as session:
        app.turn("Book a table", "Done", conversation="c1", **{END_MARK: True})
        assert app.scorer.force_flush(10_000)
        assert isinstance(session, trace.Span)
    (root,) = [s for s in app.spans.get_finished_spans() if s.name == "session"]
    assert [(e.name, (e.attributes or {})["gen_ai.evaluation.name"]) for e in root.events] == [("gen_ai.evaluation.result", "turn_count")]


def test_a_service_that_is_called_scores_what_it_sees() -> None:
    """A span with a parent elsewhere is the root of what this process knows; the caller is not waited for."""
    with Application(SLOW) as app:
        with remote() as trace_id:
            assert app.turn("Book a table", "Done") == trace_id
        assert app.scorer.force_flush(10_000)
        assert app.outcome(trace_id) == ("scored", None)


@pytest.mark.parametrize("in_file", [False, True], ids=["memory", "file"])
def test_messages_in_log_events_belong_to_the_conversation(in_file: bool, tmp_path: Path) -> None:
    """Content that an instrumentation puts into log events is read with the spans; other records are not even queued."""
    reports: list[Report] = []
    with Application(SLOW, on_report=reports.append, store=tmp_path / "store.db" if in_file else None) as app:
        logger = app.loggers.get_logger("some.instrumentation")
        plain = {k: v for k, v in chat_attributes("", "").items() if "messages" not in k}
        with app.span("chat m", plain):
            for name, body in (("gen_ai.user.message", "Book a table"), ("gen_ai.choice", "Done")):
                logger.emit(LogRecord(timestamp=time.time_ns(), event_name=name, body={"content": body, "message": {"content": body}}))
            logger.emit(LogRecord(timestamp=time.time_ns(), body="GET /tables 200"))
        assert app.scorer.force_flush(10_000)
        assert app.scorer.status()["outcomes"][0]["units"] == 1
    assert [m.text for m in reports[0].conversation.messages] == ["Book a table", "Done"]
    assert [result.revision for result in reports[0].results] == [1]


def test_what_is_no_agents_goes_into_no_store() -> None:
    """A trace of requests and queries has that as its outcome, and the store never heard of it."""
    with Application(SLOW) as app:
        with app.span("GET /tables") as span, app.span("SELECT"):
            pass
        assert app.scorer.force_flush(10_000)
        assert app.outcome(f"{span.get_span_context().trace_id:032x}") == ("no_genai_content", None)
        assert app.scorer.status()["handed_over"] == 0


class OnlyRecorded(Sampler):
    """Spans are recorded for processors, and exported by none."""

    def should_sample(self, parent_context: Any, trace_id: int, name: str, *rest: Any, **named: Any) -> SamplingResult:
        return SamplingResult(Decision.RECORD_ONLY)

    def get_description(self) -> str:
        return "OnlyRecorded"


def test_a_trace_that_nobody_exports_is_nobodys() -> None:
    """What the application's sampler leaves out is not scored: its backend would not know the spans."""
    with Application(SLOW, sampler=OnlyRecorded()) as app:
        trace_id = app.turn("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        assert app.scorer.explain(trace_id) == []


def test_spans_beyond_the_queue_are_counted_and_their_trace_is_no_longer_judged() -> None:
    """A full queue takes nothing more; a trace that lost a span is a fragment, with the number and what to raise."""
    with Application(SLOW, max_queue=3) as app:
        with app.span("invoke_agent shop", {"gen_ai.operation.name": "invoke_agent"}) as root:
            items = app.scorer._box.items
            held, app.scorer._is_started = list(items), True  # nobody takes out while it fills
            for number in range(5):
                app.chat(f"question {number}", "answer")
        assert (len(held), len(items), app.scorer.status()["dropped"]) == (0, 3, 3)
        app.scorer._worker.start()
        assert app.scorer.force_flush(10_000)
        (told,) = app.scorer.explain(root.get_span_context().trace_id)
    assert (told["outcome"], told["reason"]) == ("fragment", "queue_full")
    assert "3 of its spans" in told["detail"]
    assert told["detail"].startswith(UNIT_SENTENCES[UnitOutcome.FRAGMENT])


def test_memory_has_a_limit() -> None:
    """Traces that together take more than `max_pending_bytes` before they end are given up, the oldest first and each as a whole."""
    with Application(SLOW, max_pending_bytes=20_000) as app, app.span("session") as root:
        for _ in range(3):
            app.chat("x" * 10_000, "answer")
        trace_id = root.get_span_context().trace_id
        app.scorer.force_flush(10_000)
        (told,) = app.scorer.explain(trace_id)
    assert (told["outcome"], told["reason"]) == ("fragment", "buffer_full")


def test_what_never_ended_is_told_at_the_end() -> None:
    """A process that ends before an agent's root does: its trace is a fragment, and says so."""
    with Application(SLOW) as app:
        root = app.tracer.start_span("invoke_agent shop", attributes={"gen_ai.operation.name": "invoke_agent"})
        with trace.use_span(root):
            app.chat("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        trace_id = f"{root.get_span_context().trace_id:032x}"
        assert app.outcome(trace_id) == ("pending", "root")
    assert app.outcome(trace_id) == ("fragment", "no_root")


def test_late_spans_make_another_revision() -> None:
    """What ends after its trace was scored is read together with it, and scored once more."""
    reports: list[Report] = []
    with Application(SLOW, on_report=reports.append) as app:
        with remote() as trace_id:
            app.turn("Book a table", "Done")
            assert app.scorer.force_flush(10_000)
            app.turn("For two", "Changed")
            assert app.scorer.force_flush(10_000)
        (told,) = app.scorer.explain(trace_id)
    assert told["revision"] == 2
    assert [len(r.conversation.turns) for r in reports] == [1, 2]


class TellingJudge:
    """A judge that makes spans of its own with the application's tracer, as an instrumented client would."""

    model = "telling"

    def __init__(self) -> None:
        self.tracer: trace.Tracer | None = None
        self.suppressed: list[Any] = []

    async def ask(self, question: Question) -> Reply:
        assert self.tracer is not None
        self.suppressed.append(context.get_value("suppress_instrumentation"))
        with self.tracer.start_as_current_span("chat judge", attributes=chat_attributes("Did it?", "Yes")):
            raise ValueError("no verdict today")


def test_the_scorers_own_work_is_never_scored() -> None:
    """A judge runs where instrumentations are told to be silent; what it traces all the same is not taken for a conversation."""
    judge = TellingJudge()
    with Application({"completion": {"trace_quiet": "50ms"}}, metrics=["agent_goal_accuracy"], judge=judge) as app:
        judge.tracer = app.tracer
        app.turn("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        assert app.scorer.force_flush(10_000)
        status = app.scorer.status()
    assert judge.suppressed
    assert all(judge.suppressed)
    assert sum(count["units"] for count in status["outcomes"]) == 1
    assert any(span.name == "chat judge" for span in app.spans.get_finished_spans())


def test_a_judge_that_hangs_is_given_up_in_time() -> None:
    """A flush comes back when its time is over and says so; the end of the process too, and the unit's outcome tells why."""
    with judge_server(HANGS) as server:
        judge = JudgeSettings(model="m", base_url=server.url, call_timeout_s=3600)
        app = Application(metrics=["agent_goal_accuracy"], judge=judge)
        trace_id = app.turn("Book a table", "Done")
        began = time.monotonic()
        assert not app.scorer.force_flush(500)
        assert app.outcome(trace_id)[0] == "pending"
        app.scorer.shutdown(1_000)
        assert time.monotonic() - began < 30
        assert app.outcome(trace_id) == ("expired", "shutdown")


def test_a_metric_that_ends_its_thread_takes_nothing_with_it() -> None:
    """SystemExit in a metric tears down the loop: that unit says so, the thread begins again, and the next conversation is scored."""

    def explosive(given: MetricInput) -> float:
        if "boom" in (given.conversation.messages[0].text or ""):
            raise SystemExit(3)
        return 1.0

    with Application(SLOW, metrics=[explosive]) as app:
        first = app.turn("boom", "Done")
        app.scorer.force_flush(5_000)
        second = app.turn("Book a table", "Done")
        assert app.scorer.force_flush(20_000)
        assert app.outcome(first) == ("not_understood", "scorer_error")
        assert app.outcome(second) == ("scored", None)
        assert app.scorer.status()["faults"]["SystemExit"] == 1


def test_a_callback_that_raises_is_counted_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """What the application's own `on_report` raises reaches nobody but the log, by class; the results are sent all the same."""

    def broken(report: Report) -> None:
        raise RuntimeError("no")

    with Application(SLOW, on_report=broken) as app:
        app.turn("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        assert app.scorer.status()["faults"] == {"RuntimeError": 1}
        assert len(app.events()) == 1
        app.turn("Book another table", "Done")
        assert app.scorer.force_flush(10_000)
    told = [record.getMessage() for record in caplog.records if "on_report" in record.getMessage()]
    assert told == ["on_report raised RuntimeError; what it raises later is only counted (`status()`, under faults)"]


def test_nothing_that_a_span_holds_raises_into_the_application() -> None:
    """A processor that is handed something unheard of counts it and returns."""
    with Application(SLOW) as app:
        app.scorer.on_end(None)  # type: ignore[arg-type]  # what no provider does
        app.scorer.on_emit(None)  # type: ignore[arg-type]  # what no provider does
        assert app.scorer.status()["callback_faults"] == 2


def test_what_cannot_work_is_said_before_the_first_span(tmp_path: Path) -> None:
    """A wrong key, an unknown metric and a judge without a model are ConfigErrors of the constructor."""
    mistakes: list[dict[str, Any]] = [{"metrics": ["no_such"]}, {"completoin": {}}, {"judge": {"kind": "openai"}}]
    for wrong in mistakes:
        with pytest.raises(ConfigError):
            otel_eval.OnlineScorer(wrong)
    with pytest.raises(ConfigError):
        otel_eval.OnlineScorer(tmp_path / "missing.yaml")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"config": 5}, "config is a int: expected a Config"),
        ({"metrics": 5}, "metrics is a int"),
        ({"metrics": "turn_count"}, "as in metrics=['turn_count']"),
        ({"judge": "heuristic"}, "judge is a str: expected JudgeSettings"),
        ({"store": 5}, "store is a int"),
        ({"on_report": 5}, "on_report is a int: expected a function"),
    ],
)
def test_a_wrong_type_is_a_sentence(wrong: dict[str, Any], said: str) -> None:
    """What is of no type that could be meant is a ConfigError that says what was expected."""
    with pytest.raises(ConfigError) as error:
        otel_eval.OnlineScorer(**wrong)
    assert said in str(error.value)


def test_a_store_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    """Without its folder the file cannot be made; once it is there, what waited is scored."""
    path = tmp_path / "later" / "store.db"
    with Application(SLOW, store=path) as app:
        trace_id = app.turn("Book a table", "Done")
        assert not app.scorer.force_flush(300)
        assert "later" in app.scorer.status()["trouble"]
        path.parent.mkdir()
        assert app.scorer.force_flush(30_000)
        assert app.outcome(trace_id) == ("scored", None)


def test_a_store_in_a_file_goes_on_in_the_next_process(tmp_path: Path) -> None:
    """What one scorer leaves open, the next one with the file scores; a second one at the same time takes a file of its own."""
    path = tmp_path / "store.db"
    first = Application(SLOW, store=path)
    first.turn("Book a table", "For when?", conversation="c1")
    assert first.scorer.force_flush(10_000)
    with Application(SLOW, store=path) as beside:
        own = beside.turn("Hello", "Hello")
        assert beside.scorer.force_flush(10_000)
    first.scorer.shutdown(10_000)
    assert [unit.outcome_name for unit in find_in_file(tmp_path / "store-2.db", own)] == ["scored"]
    with Application(SLOW, store=path) as later:
        later.turn("For eight", "Done", conversation="c1", **{END_MARK: True})
        assert later.scorer.force_flush(10_000)
        assert later.outcome("c1") == ("scored", None)
        assert [report["value"] for report in later.scorer.explain("c1")[0]["results"]] == [2.0]


def test_results_as_spans_where_that_is_asked_for() -> None:
    """With `sinks.otlp_spans.enabled` each result is a span of the application's tracer, linked to the judged one, and never scored."""
    config = {**SLOW, "sinks": {"otlp_spans": {"enabled": True}}}
    with Application(config) as app:
        trace_id = app.turn("Book a table", "Done")
        assert app.scorer.force_flush(10_000)
        assert app.scorer.force_flush(10_000)
        assert sum(count["units"] for count in app.scorer.status()["outcomes"]) == 1
    (span,) = [s for s in app.spans.get_finished_spans() if s.name == "evaluate turn_count"]
    assert f"{span.links[0].context.trace_id:032x}" == trace_id
    assert span.parent is None


def test_an_application_with_a_loop_of_its_own() -> None:
    """Coroutines trace at the same time; flushing in a thread leaves the loop free, and each task's trace is its own conversation."""

    async def told() -> list[str]:
        async def one(number: int) -> str:
            with app.span("invoke_agent shop", {"gen_ai.operation.name": "invoke_agent"}) as root:
                await asyncio.sleep(0)
                app.chat(f"question {number}", "answer")
            return f"{root.get_span_context().trace_id:032x}"

        ids = await asyncio.gather(*(contextvars.copy_context().run(asyncio.ensure_future, one(n)) for n in range(8)))
        assert await asyncio.to_thread(app.scorer.force_flush, 20_000)
        return ids

    with Application(SLOW) as app:
        ids = asyncio.run(told())
        assert {app.outcome(trace_id)[0] for trace_id in ids} == {"scored"}


def test_verdicts_of_a_model_are_those_of_its_settings() -> None:
    """Judge settings in place of the configuration's: the model is asked, and the result says which."""
    reports: list[Report] = []
    with judge_server([{"status": 500, "json": {"error": {"message": "down"}}}]) as server:
        judge = JudgeSettings(model="m", base_url=server.url)
        config = {**SLOW, "scoring": {"patience": "0s"}}
        with Application(config, metrics=["agent_goal_accuracy"], judge=judge, on_report=reports.append) as app:
            app.turn("Book a table", "Done")
            assert app.scorer.force_flush(20_000)
    outcome = reports[0].results[0].outcome
    assert isinstance(outcome, Failed)
    assert not isinstance(outcome, Score)
    assert outcome.error_type == "judge_unavailable"
