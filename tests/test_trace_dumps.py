"""Trace dumps of agent frameworks, as other projects keep them, hold what a careful reader of the file finds.

`tests/data/dumps/expected.json` says for each file what that is: read by hand and compared; where it says less than the file, `README.md`
beside it says why. Some files are packed there, the others are read from the shared data.
"""

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from otel_eval.errors import InputError
from otel_eval.model import Conversation
from otel_eval.service.convert import conversations_from_paths
from tests.fakes.wire import shared

PACKED = Path(__file__).parent / "data" / "dumps"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((PACKED / "expected.json").read_text(encoding="utf-8"))
LONG = 100
"""Characters from which on a text is pinned by its hash."""
NO_TRACES = {"eval_set_helm.json", "evalset_k8s_2026-02-20.json", "capture-results.json"}
"""Expectations and a table of contents among the files."""


def found(name: str) -> Path:
    """The file, packed or in the shared data."""
    for packed in (PACKED / name, PACKED / f"{name}.gz"):
        if packed.is_file():
            return packed
    return shared("data/otel_traces") / name


def pinned(text: str | None) -> str | None:
    """A short text as it is, a long one by its hash; white space does not count."""
    plain = " ".join((text or "").split())
    return plain or None if len(plain) <= LONG else f"sha256:{hashlib.sha256(plain.encode()).hexdigest()[:16]}"


def pins(conversation: Conversation) -> dict[str, Any]:
    """What is compared of a conversation."""
    calls = [[c.id, c.name, json.dumps(c.arguments, ensure_ascii=False)] for c in conversation.tool_calls]
    results = list(conversation.tool_results) or [r.result for r in conversation.tool_runs if r.result is not None]
    told = {
        "id": conversation.id,
        "sub_agent": conversation.sub_agent_of is not None,
        "agent": conversation.agent,
        "system": pinned(conversation.system),
        "users": [pinned(m.text) for m in conversation.messages if m.role == "user"],
        "answers": [pinned(m.text) for m in conversation.messages if m.role == "assistant" and m.text],
        "calls": calls,
        "results": [pinned(r.content) for r in results],
    }
    return {key: value for key, value in told.items() if value}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_dump_holds_what_a_reader_finds(name: str) -> None:
    """User texts, answers, tool calls with ids and arguments, results in their order: none missing, none doubled, none invented."""
    got = [pins(c) for c in conversations_from_paths([found(name)]).conversations]
    assert got == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_word_stands_in_the_file(name: str) -> None:
    """Texts of user, agent and tools are the file's own, however deep it wraps and encodes them."""
    path = found(name)
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    words = "\n".join(" ".join(text.split()) for text in _texts(json.loads(raw)))
    for conversation in conversations_from_paths([path]).conversations:
        for message in conversation.messages:
            result = message.tool_result
            told = " ".join(((result.content if result else message.text) or "").split())
            assert told in words


def _texts(value: Any) -> Iterator[str]:
    """All texts inside a value, those inside JSON texts too."""
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "[", '"'):
            try:
                yield from _texts(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def test_every_dump_is_pinned() -> None:
    """No file of the shared data that holds spans goes unread."""
    folder = shared("data/otel_traces")
    names = {p.relative_to(folder).as_posix() for p in folder.rglob("*.json") if not p.name.endswith(".chatml.json")}
    assert {n for n in names if Path(n).name not in NO_TRACES} == set(EXPECTED)


def test_a_file_without_spans_is_refused_in_a_sentence() -> None:
    """A table of contents beside the dumps is no trace; the error says what was expected."""
    with pytest.raises(InputError, match="expected OTLP traces or logs"):
        conversations_from_paths([shared("data/otel_traces") / "openinference_vercel_fixtures" / "capture-results.json"])


@pytest.mark.parametrize("name", [n for n in EXPECTED if n.startswith("langfuse_framework_traces/")])
def test_another_project_s_reading_finds_nothing_more(name: str) -> None:
    """Words and calls that Langfuse's own adapters read from an observation stand in our conversation."""
    theirs = json.loads((shared("data/otel_traces") / name.replace(".trace.", ".chatml.")).read_text(encoding="utf-8"))
    ours = conversations_from_paths([found(name)]).conversations
    texts = {pinned(m.text) for c in ours for m in c.messages} | {pinned(c.system) for c in ours}
    calls = {(c.id, c.name) for conversation in ours for c in conversation.tool_calls}
    for message in _messages(theirs):
        assert {(c["id"], c["name"]) for c in message.get("tool_calls") or ()} <= calls
        content = message.get("content")
        if isinstance(content, str) and message.get("role") in ("system", "user", "assistant", "model"):
            assert pinned(content) is None or pinned(content) in texts


def _messages(readings: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for reading in readings.values():
        for side in reading.values():
            if side.get("success"):
                yield from side["data"]
