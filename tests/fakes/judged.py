"""Three conversations judged by a scorer, the first under the ids that `docs/backends.md` uses.

It reached its goal, the second did not, and at the third the judge refused.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from otel_eval.model import Span
from tests.fakes.bench import otlp_json
from tests.fakes.judge_server import completion, judge_server, reached, verdict
from tests.fakes.serving import Server
from tests.fakes.spans import BASE, agent, chat, says, span_id, user

METRIC = "agent_goal_accuracy"
CONVERSATION = "talk-1"
TRACE = "0af7651916cd43dd8448eb211c80319c"
ROOT = span_id(9)
_QUESTIONS = ("Book a table", "Cancel the table", "Say something bad")


def talk(number: int) -> list[Span]:
    """One turn of a conversation of its own, a few seconds ago."""
    own, trace = {"gen_ai.conversation.id": f"talk-{number}"}, int(TRACE, 16) + number - 1
    spans = [
        chat(1, [user(_QUESTIONS[number - 1])], says("I have done it."), own, trace=trace, parent=9, start=0, end=1),
        agent(9, "clerk", own, trace=trace, start=0, end=2),
    ]
    later = time.time_ns() - BASE - 5 * 10**9
    return [replace(s, start_ns=(s.start_ns or 0) + later, end_ns=(s.end_ns or 0) + later) for s in spans]


def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the judge says to each of them."""
    asked = json.dumps(request["messages"])
    if _QUESTIONS[2] in asked:
        return completion(None, refusal="I cannot judge that.")
    told = reached(request)
    if _QUESTIONS[1] not in asked:
        return told
    content = told["json"]["choices"][0]["message"]["content"]
    return verdict(json.loads(content.replace('"reached"', '"not_reached"')))


@contextmanager
def judged(folder: Path, *, send: Callable[[bytes], object] | None = None, **settings: Any) -> Iterator[Server]:
    """A scorer that was sent all three. `send` takes the request instead of the scorer itself."""
    with judge_server([answer]) as judge:
        asks = {"judge__model": "m", "judge__base_url": judge.url, "metrics": [METRIC, "turn_count"]}
        with Server(folder, **{**asks, **settings}) as server:
            body = otlp_json([span for number in (1, 2, 3) for span in talk(number)])
            if send is not None:
                send(body)
            else:
                assert server.post("traces", body, json_body=True) == 200
            yield server
