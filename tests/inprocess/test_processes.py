"""`OnlineScorer` in real processes: what ends, forks, hangs or runs full there does not touch the application."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.judge_server import judge_server

ROOT = Path(__file__).parent.parent.parent
LONGEST_S = 90.0
"""After which a process counts as hanging; most take two seconds."""

HEAD = """
import json, os, signal, sys, threading, time
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
from opentelemetry.sdk.trace import TracerProvider
import otel_eval
from otel_eval.judges.settings import JudgeSettings

loggers = LoggerProvider()
loggers.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter(formatter=lambda r: "EVENT " + json.dumps({
    "pid": os.getpid(), "trace": f"{r.log_record.trace_id:032x}", **dict(r.log_record.attributes)}, default=str) + "\\n")))
_logs.set_logger_provider(loggers)
tracers = TracerProvider()
trace.set_tracer_provider(tracers)
tracer = trace.get_tracer("shop")

def attach(**settings):
    scorer = otel_eval.OnlineScorer(**settings)
    tracers.add_span_processor(scorer)
    return scorer

def turn(question, **attributes):
    told = lambda role, text: json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
    with tracer.start_as_current_span("invoke_agent a", attributes={"gen_ai.operation.name": "invoke_agent", **attributes}) as root:
        messages = {"gen_ai.input.messages": told("user", question), "gen_ai.output.messages": told("assistant", "Done")}
        tracer.start_span("chat m", attributes={"gen_ai.operation.name": "chat", **messages}).end()
    return f"{root.get_span_context().trace_id:032x}"

def say(word, **values):
    sys.stdout.write("SAID " + json.dumps({"word": word, "pid": os.getpid(), **values}) + "\\n")
    sys.stdout.flush()
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What a process left."""

    said: Sequence[Mapping[str, Any]]
    events: Sequence[Mapping[str, Any]]
    took_s: float
    errors: str

    def word(self, word: str) -> Mapping[str, Any]:
        return next(line for line in self.said if line["word"] == word)


def run(script: str, folder: Path, *arguments: str, code: int = 0) -> Ended:
    """Run a script to its end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "OPENAI_"))}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", HEAD + script, *arguments],
        env={**clean, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )
    assert done.returncode == code, done.stderr
    lines = {
        name: [json.loads(x.removeprefix(name)) for x in done.stdout.splitlines() if x.startswith(name)] for name in ("SAID ", "EVENT ")
    }
    return Ended(said=lines["SAID "], events=lines["EVENT "], took_s=time.monotonic() - began, errors=done.stderr)


def test_a_short_script_is_scored_at_its_end(tmp_path: Path) -> None:
    """Nobody flushes and the script just ends: its turns are scored, a judged metric among them, and the events are exported."""
    ended = run(
        """
attach(config={"metrics": ["turn_count", "agent_goal_accuracy"]})
say("trace", id=turn("Please book a table for two at eight"))
say("trace", id=turn("hello", **{"gen_ai.conversation.id": "c1"}))
""",
        tmp_path,
    )
    told = {(e["trace"], e["gen_ai.evaluation.name"]) for e in ended.events}
    assert told == {(line["id"], name) for line in ended.said for name in ("turn_count", "agent_goal_accuracy")}


def test_the_end_of_a_script_can_still_look_up_a_host(tmp_path: Path) -> None:
    """At exit Python makes no threads any more: the judge's address is a name, and it is asked all the same."""
    with judge_server([{"status": 401, "json": {"error": {"message": "no"}}}]) as server:
        ended = run(
            """
judge = JudgeSettings(model="m", base_url=sys.argv[1].replace("127.0.0.1", "localhost"))
attach(config={"scoring": {"patience": "0s"}}, metrics=["agent_goal_accuracy"], judge=judge)
turn("Please book a table")
""",
            tmp_path,
            server.url,
        )
    assert [event["error.type"] for event in ended.events] == ["judge_auth"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("place", ["memory", "file"])
def test_forked_workers_score_their_own(tmp_path: Path, place: str) -> None:
    """As a preloading server forks: parent and children each score what they end, once, and flush and end by themselves."""
    ended = run(
        """
scorer = attach(config={"metrics": ["turn_count"]}, store="store.db" if sys.argv[1] == "file" else None)
say("trace", id=turn("before the fork"))
if sys.argv[2] == "running":
    assert scorer.force_flush(20_000)
children = []
for number in range(2):
    pid = os.fork()
    if pid == 0:
        say("trace", id=turn(f"in child {number}"))
        sys.exit(0)
    children.append(pid)
say("trace", id=turn("in the parent"))
for pid in children:
    assert os.waitpid(pid, 0)[1] == 0
""",
        tmp_path,
        place,
        "running",
    )
    assert sorted((e["pid"], e["trace"]) for e in ended.events) == sorted((line["pid"], line["id"]) for line in ended.said)
    assert len({line["pid"] for line in ended.said}) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_in_the_middle_of_work_does_not_stall(tmp_path: Path) -> None:
    """Children that are forked while the thread scores begin with locks of their own."""
    ended = run(
        """
scorer = attach(config={"metrics": ["turn_count"], "completion": {"trace_quiet": "0s"}})
for number in range(8):
    for _ in range(30):
        turn("busy")
    pid = os.fork()
    if pid == 0:
        trace_id = turn("in a child")
        flushed = scorer.force_flush(20_000)
        say("child", ok=flushed and scorer.explain(trace_id)[0]["outcome"] == "scored")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
""",
        tmp_path,
    )
    assert [line["ok"] for line in ended.said if line["word"] == "child"] == [True] * 8


def test_a_hanging_judge_delays_an_end_by_no_more_than_it_may(tmp_path: Path) -> None:
    """The application runs on while the judge hangs, ends with its own exit code when the time is over, and knows what is missing."""
    with judge_server([{"hang": True}]) as server:
        ended = run(
            """
judge = JudgeSettings(model="m", base_url=sys.argv[1], call_timeout_s=3600)
scorer = attach(config={"scoring": {"deadline": "1h"}}, metrics=["agent_goal_accuracy"], judge=judge, exit_timeout_s=1.0)
first = turn("Please book a table")
assert not scorer.force_flush(500)
began = time.perf_counter()
for _ in range(2000):
    turn("more")
say("ran", seconds=time.perf_counter() - began)
began = time.perf_counter()
scorer.shutdown()
say("end", seconds=time.perf_counter() - began, outcome=scorer.explain(first)[0]["outcome"], reason=scorer.explain(first)[0]["reason"])
sys.exit(7)
""",
            tmp_path,
            server.url,
            code=7,
        )
    assert (ended.word("end")["outcome"], ended.word("end")["reason"]) == ("expired", "shutdown")
    assert ended.word("end")["seconds"] < 30


def test_a_thread_that_dies_leaves_the_application_alone(tmp_path: Path) -> None:
    """A metric that kills the thread again and again: the application goes on, and each conversation says what became of it."""
    ended = run(
        """
def deadly(given):
    raise SystemExit(3)

scorer = attach(config={}, metrics=[deadly])
ids = [turn("hello") for _ in range(3)]
scorer.force_flush(20_000)
say("outcomes", of=sorted({(u["outcome"], u["reason"]) for trace_id in ids for u in scorer.explain(trace_id)}))
say("done")
""",
        tmp_path,
    )
    assert ended.word("outcomes")["of"] == [["not_understood", "scorer_error"]]
    assert ended.word("done")


def test_a_full_disk_is_the_scorers_trouble_alone(tmp_path: Path) -> None:
    """A file that may not grow: the application runs and ends as ever, and its traces say that the store took nothing."""
    ended = run(
        """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
scorer = attach(config={"metrics": ["turn_count"], "store": {"path": "store.db", "min_disk": "0"}}, exit_timeout_s=5.0)
ids = [turn("x" * 50_000) for _ in range(40)]
scorer.force_flush(2_000)
say("trouble", text=scorer.status()["trouble"])
scorer.shutdown()
outcomes = sorted({(u["outcome"], u["reason"]) for trace_id in ids for u in scorer.explain(trace_id)})
say("outcomes", of=outcomes, known=all(scorer.explain(i) for i in ids[-5:]))
say("done")
""",
        tmp_path,
    )
    assert "disk" in ended.word("trouble")["text"] or "full" in ended.word("trouble")["text"]
    assert ["expired", "shutdown"] in ended.word("outcomes")["of"]
    assert ended.word("outcomes")["known"]
    assert ended.word("done")


def test_the_scorers_queries_are_not_the_applications(tmp_path: Path) -> None:
    """An instrumentation of SQLite in the application, as any looks at the context before it records, records nothing of the store."""
    ended = run(
        """
import sqlite3
from opentelemetry import context
seen = []
connect = sqlite3.connect

class Watched(sqlite3.Connection):
    def execute(self, *arguments):
        seen.append(bool(context.get_value("suppress_instrumentation")))
        return super().execute(*arguments)

sqlite3.connect = lambda *arguments, **named: connect(*arguments, **{**named, "factory": Watched})
scorer = attach(config={"metrics": ["turn_count"]})
trace_id = turn("hello")
assert scorer.force_flush(20_000)
assert scorer.explain(trace_id)
say("seen", queries=len(seen), silent=all(seen))
""",
        tmp_path,
    )
    assert ended.word("seen")["queries"] > 10
    assert ended.word("seen")["silent"]
