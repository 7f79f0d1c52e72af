"""Captures of real instrumentations become the conversations that were held."""

import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.model import Conversation, GapReason
from otel_eval.service.convert import conversations_from_paths
from tests.captures import capture, names
from tests.conversation_compare import difference_of_capture, difference_of_messages
from tests.fakes.wire import shared

ROOT = Path(__file__).parent.parent
CORPUS_SIZE = 65
SILENT = [n for n in names() if any(("tool_spans" in c or "tools_run" in c) and not c["messages"] for c in capture(n).conversations)]


def conversations_of(name: str, folder: Path) -> list[Conversation]:
    return conversations_from_paths([capture(name).write(folder)]).conversations


@pytest.mark.parametrize("name", names())
def test_a_capture_becomes_the_conversations_that_were_held(name: str, tmp_path: Path) -> None:
    """Messages, calls, results, ids and failures are those of the script that the instrumented application ran."""
    got = [messages_from_conversation(c) for c in conversations_of(name, tmp_path)]
    assert difference_of_capture(got, capture(name).expected) is None


@pytest.mark.parametrize("name", SILENT)
def test_a_capture_without_content_tells_which_tools_ran(name: str, tmp_path: Path) -> None:
    """Where words were not recorded, the runs of tools are there with their names, ids and failures, and the gap says what is missing.

    The order is not compared: runs of parallel calls may start in the same millisecond, and no message tells which was asked for first.
    """
    found = conversations_of(name, tmp_path)
    silent = [c for c in capture(name).conversations if not c["messages"]]
    for conversation_id in {c["id"] for c in silent}:  # those without an id are compared together
        runs = [r for c in silent if c["id"] == conversation_id for r in c.get("tool_spans") or c.get("tools_run") or []]
        ids = [r.get("tool_call_id") or r.get("id") for r in runs]
        got = [c for c in found if c.id == conversation_id and not c.messages]
        ran = [(r.name, r.is_error is True, r.call_id if any(ids) else None) for c in got for r in c.tool_runs]
        assert Counter(ran) == Counter((r["name"], r.get("is_error") is True, i) for r, i in zip(runs, ids, strict=True))
        assert all({GapReason.CONTENT_NOT_CAPTURED, GapReason.REDACTED} & {g.reason for g in c.gaps} for c in got)


@pytest.mark.parametrize("name", names())
def test_a_conversation_knows_all_its_traces(name: str, tmp_path: Path) -> None:
    """A conversation of an id is put together from as many traces as carry it, in their order of time."""
    found = {c.id: c for c in conversations_of(name, tmp_path) if c.id is not None and c.sub_agent_of is None}
    for wanted in capture(name).conversations:
        if wanted.get("id") in found and not wanted.get("sub_agent_of"):
            got = found[wanted["id"]]
            assert len(got.trace_ids) == wanted["traces"]
            assert [t.start_ns for t in got.turns] == sorted(t.start_ns for t in got.turns)


def test_the_whole_corpus_is_here() -> None:
    """No capture of the handed corpus is missing from the packed ones."""
    assert len([n for n in names() if n.startswith("corpus/")]) == CORPUS_SIZE


@pytest.mark.shared
def test_the_shared_corpus_passes_the_shared_tool() -> None:
    """The conformance tool, run as a stranger runs it on the command, passes every capture."""
    tool, corpus = shared("tools") / "conformance.py", shared("corpus")
    command = shlex.join([sys.executable, "-c", "from otel_eval.cli import main; main()", "convert", "--format", "messages"])
    run = subprocess.run([sys.executable, tool, corpus, "--command", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout.splitlines()[-1] == f"{len(list(corpus.glob('*/expected.json')))} passed, 0 failed", run.stdout + run.stderr


@pytest.mark.shared
def test_the_packed_corpus_is_the_shared_one() -> None:
    """The packed bodies are those of the shared data, byte for byte."""
    for folder in sorted(shared("corpus").iterdir()):
        packed = capture(folder.name)
        assert {p.name: p.read_bytes() for p in (folder / "requests").iterdir()} == dict(packed.requests), folder.name


CALL = {"id": "c1", "name": "book", "arguments": {"seat": 4}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Book it."},
    {"role": "assistant", "content": "Booking.", "tool_calls": [CALL]},
    {"role": "tool", "content": '{"ok": true}', "tool_call_id": "c1", "name": "book", "is_error": True},
    {"role": "assistant", "content": "Done."},
]


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"content": "Be kind."}),
        (1, {"content": "Book that."}),
        (1, {"role": "assistant"}),
        (2, {"content": None}),
        (2, {"tool_calls": []}),
        (2, {"tool_calls": [CALL, CALL]}),
        (2, {"tool_calls": [CALL | {"name": "cancel"}]}),
        (2, {"tool_calls": [CALL | {"arguments": {"seat": "4"}}]}),
        (2, {"tool_calls": [CALL | {"id": None}]}),
        (3, {"content": '{"ok": false}'}),
        (3, {"tool_call_id": "c2"}),
        (3, {"name": None}),
        (3, {"is_error": None}),
        (4, {"content": "Done. Done."}),
    ],
)
def test_the_comparison_sees_each_difference(place: int, change: dict[str, Any]) -> None:
    """Every field that is compared makes a fault when it differs, in either direction."""
    other = [m | change if i == place else m for i, m in enumerate(TALK)]
    assert difference_of_messages(other, TALK) is not None
    assert difference_of_messages(other[:-1], TALK) is not None


def test_the_comparison_forgives_what_is_no_difference() -> None:
    """White space, an answer in two pieces, null for an empty text, JSON written otherwise and a longer system text are the same."""
    other: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief. You are an agent."},
        {"role": "user", "content": " Book it.\n"},
        {"role": "assistant", "content": "Booking."},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": '{"ok":true}', "tool_call_id": "c1", "name": "book", "is_error": True},
        {"role": "assistant", "content": "Done. "},
    ]
    assert difference_of_messages(other, TALK) is None


@pytest.mark.parametrize(
    ("got", "fault"),
    [
        ([], True),
        ([{"id": "a", "messages": TALK}], False),
        ([{"id": "b", "messages": TALK}], True),
        ([{"id": "a", "messages": TALK}, {"id": "b", "messages": TALK}], True),
        ([{"id": "a", "messages": TALK}, {"id": "b", "messages": TALK, "sub_agent_of": "a"}], False),
        ([{"id": "a", "messages": TALK, "sub_agent_of": "b"}], True),
    ],
)
def test_the_comparison_counts_conversations(got: list[dict[str, Any]], fault: bool) -> None:
    """A conversation that is missing, under another id or too many is a fault; a sub-agent's is none too many."""
    assert (difference_of_capture(got, {"conversations": [{"id": "a", "messages": TALK}]}) is not None) is fault
