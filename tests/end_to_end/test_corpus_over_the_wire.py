"""What arrives over the wire becomes the same conversations as what is read from files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from otel_eval.model import Conversation
from otel_eval.service.convert import conversations_from_paths
from otel_eval.service.serve.judgement import content_hash
from otel_eval.store.admin import export
from tests.captures import capture, names
from tests.fakes.serving import Server, copy_of, settled, until


def test_the_corpus_over_the_wire_is_the_corpus(tmp_path: Path) -> None:
    """Every capture, each under ids of its own, sent to one server: its conversations are those that `convert` reads from the files."""
    made = [copy_of(capture(name), number) for number, name in enumerate(names(), 1)]
    with Server(tmp_path, sinks__jsonl__path=str(tmp_path / "results.jsonl")) as server:
        for copy in made:
            for sent in copy.requests:
                assert server.post(sent.signal, sent.body, json_body=sent.is_json) == 200
        until(lambda: settled(server), 90)
    outcomes = [r for r in export(tmp_path / "store.db") if r["record"] == "outcome"]
    faults = []
    for copy in made:
        for conversation in conversations_from_paths([copy.files(tmp_path / str(copy.number))]).conversations:
            if conversation.sub_agent_of is None and not is_as_read(conversation, outcomes):
                faults.append((copy.source.name, conversation.key))
    assert faults == []


def is_as_read(conversation: Conversation, outcomes: list[dict[str, Any]]) -> bool:
    """Whether one of the units under the conversation's key holds just this; one without words says that there are none."""
    own = [o for o in outcomes if o["key"] == conversation.key]
    if not conversation.has_content:
        return [o["outcome"] for o in own] == ["content_not_captured"]
    return any(o["outcome"] == "scored" and hash_of(o) == content_hash(conversation) for o in own)


def hash_of(outcome: Mapping[str, Any]) -> str | None:
    facts = outcome["facts"] or {}
    found: str | None = facts.get("hash")
    return found
