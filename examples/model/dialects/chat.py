"""OpenAI's chat completions."""

import json
import re
from collections.abc import Iterator
from typing import Any

from dialects import Reply, words_of


def turn(asked: dict[str, Any]) -> tuple[str, int]:
    """The user's last words, and how often the model has spoken since."""
    messages = asked["messages"]
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    return words_of(messages[last]["content"]), sum(message["role"] == "assistant" for message in messages[last:])


def answer(asked: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [*_calls(reply)]
    usage = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}
    choice = {"index": 0, "message": message, "finish_reason": _reason(reply)}
    return {**_head(asked, reply), "object": "chat.completion", "choices": [choice], "usage": usage}


def events(asked: dict[str, Any], reply: Reply) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*", reply.text)]
    deltas += [{"tool_calls": [{"index": place, **call}]} for place, call in enumerate(_calls(reply))]
    head = {**_head(asked, reply), "object": "chat.completion.chunk"}
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(reply)}]})
    yield _event({**head, "choices": [], "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}})
    yield "data: [DONE]\n\n"


def _calls(reply: Reply) -> Iterator[dict[str, Any]]:
    for call_id, call in zip(reply.call_ids(), reply.calls, strict=True):
        yield {"id": call_id, "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}


def _reason(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _head(asked: dict[str, Any], reply: Reply) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.id}", "created": 1_700_000_000, "model": asked["model"]}


def _event(told: dict[str, Any]) -> str:
    return f"data: {json.dumps(told)}\n\n"
