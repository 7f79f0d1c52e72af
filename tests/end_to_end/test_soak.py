"""Nothing lost, nothing double: many conversations from several clients, a server killed again and again, judge and backend failing.

The short form runs with the other tests; `make soak` (OTEL_EVAL_SOAK=long) runs 2,000 conversations and 20 kills.
"""

import os
import random
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otel_eval.model import Conversation
from otel_eval.service.convert import conversations_from_paths
from otel_eval.service.serve.judgement import content_hash
from otel_eval.store.admin import export
from tests.captures import capture, names
from tests.fakes.clients import Crowd, shuffled
from tests.fakes.judge_server import judge_server, reached
from tests.fakes.otlp_receiver import OtlpReceiver
from tests.fakes.programs import free_port
from tests.fakes.serving import Copy, Server, copies, settled, until

JUDGED = "agent_goal_accuracy"
METRICS = [JUDGED, "tool_error_rate", "unanswered_turn"]
CONCURRENCY = 8


@dataclass(frozen=True)
class Form:
    conversations: int
    kills: int
    clients: int


FORM = Form(2000, 20, 8) if os.environ.get("OTEL_EVAL_SOAK") == "long" else Form(120, 4, 4)


class Judge:
    """Answers, and fails at random; counts the answers it gave."""

    def __init__(self, seed: int) -> None:
        self._luck = random.Random(seed)
        self.answers = 0

    def __call__(self, request: Any) -> Any:
        luck = self._luck.random()
        if luck < 0.05:
            return {"status": 503, "json": {"error": {"message": "overloaded"}}}
        if luck < 0.08:
            return {"status": 200, "reset": True, "json": {}}
        self.answers += 1
        return reached(request)


def killer(server: Server, kills: int, luck: random.Random, crowd: Crowd, done: threading.Event) -> None:
    """Kill the server at random moments of the traffic, and start it again."""
    for _ in range(kills):
        time.sleep(1.0 + luck.random() * 2.5)
        server.kill()
        server.start()
    done.set()


def test_nothing_is_lost_and_nothing_is_double(tmp_path: Path) -> None:
    """Each conversation comes to one outcome with all its content, each result is at the backend under one id, and none is judged anew."""
    luck = random.Random(11)
    sources = [capture(name) for name in names() if name.startswith("corpus/")]
    sources = [s for s in sources if any(c["messages"] for c in s.conversations)]
    made = list(copies(sources, FORM.conversations // 2))
    judge = Judge(3)
    backend_luck = random.Random(5)

    def backend(number: int) -> int:
        return backend_luck.choice([200] * 7 + [503, 429, 0])

    http_port, grpc_port = free_port(), free_port()
    with judge_server([judge]) as judging, OtlpReceiver(answer=backend) as receiver:
        server = Server(
            tmp_path,
            receive__http__endpoint=f"127.0.0.1:{http_port}",
            receive__grpc__endpoint=f"127.0.0.1:{grpc_port}",
            completion__trace_quiet="1s",
            completion__trace_max_age="4s",
            completion__conversation_idle="1500ms",
            completion__max_revisions=50,
            completion__late_window="10m",
            metrics=METRICS,
            judge__model="fake",
            judge__base_url=judging.url,
            scoring__concurrency=CONCURRENCY,
            sinks__otlp_events__endpoint=receiver.url,
        )
        with server:
            crowd = Crowd(http_port, grpc_port, clients=FORM.clients)
            crowd.start(shuffled(made, luck))
            killed = threading.Event()
            thread = threading.Thread(target=killer, args=(server, FORM.kills, luck, crowd, killed), daemon=True)
            thread.start()
            until(lambda: crowd.is_done and killed.is_set(), 60 + FORM.conversations, every_s=0.2)
            until(lambda: settled(server), 60 + FORM.conversations / 4, every_s=0.2)
            assert server.get("/status")[1]["faults"] == {}
    assert crowd.refused == []
    check_outcomes(tmp_path, made)
    check_backend(receiver, tmp_path)
    check_judge(judge, tmp_path)


def check_outcomes(folder: Path, made: list[Copy]) -> None:
    """Every conversation is scored, and what was scored last is all that was sent of it."""
    outcomes = {(r["kind"], r["key"]): r for r in export(folder / "store.db") if r["record"] == "outcome"}
    faults: Counter[str] = Counter()
    for copy in made:
        for conversation in conversations_from_paths([copy.files(folder / str(copy.number))]).conversations:
            if conversation.sub_agent_of is None and conversation.has_content:
                fault = fault_of(conversation, outcomes)
                if fault is not None:
                    faults[f"{copy.source.name} {fault}"] += 1
    assert faults == {}


def fault_of(conversation: Conversation, outcomes: dict[tuple[str, str], Any]) -> str | None:
    found = outcomes.get(("trace" if conversation.id is None else "conversation", conversation.key))
    if found is None:
        return "no outcome"
    if found["outcome"] != "scored":
        return f"{found['outcome']} {found['reason']}"
    return None if found["facts"]["hash"] == content_hash(conversation) else f"other content in revision {found['revision']}"


def check_backend(receiver: OtlpReceiver, folder: Path) -> None:
    """One id for each unit, metric and revision, and every committed result is there."""
    ids: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for record in receiver.records:
        a = record.attributes
        unit = a.get("gen_ai.conversation.id") or record.trace_id
        ids[unit, a["gen_ai.evaluation.name"], a["otel_eval.revision"]].add(a["otel_eval.result.id"])
    assert [key for key, found in ids.items() if len(found) != 1] == []
    committed = {r["id"] for r in export(folder / "store.db") if r["record"] == "result" and r["outcome"] != "skipped"}
    assert {i for found in ids.values() for i in found} == committed


def check_judge(judge: Judge, folder: Path) -> None:
    """The judge answered once for each revision of a unit that it judged, and at most once more for each that was under way at a kill."""
    judged = [r for r in export(folder / "store.db") if r["record"] == "result" and r["metric"] == JUDGED and r["outcome"] == "score"]
    assert judge.answers <= len(judged) + FORM.kills * CONCURRENCY
