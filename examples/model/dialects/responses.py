"""OpenAI's responses."""

import json
from collections.abc import Iterator
from typing import Any

from dialects import Reply, words_of

USAGE = {
    "input_tokens": 50,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 60,
}


def turn(asked: dict[str, Any]) -> tuple[str, int]:
    """The user's last words, and how often the model has spoken since."""
    items = asked["input"]
    if isinstance(items, str):
        return items, 0
    last = max(place for place, item in enumerate(items) if item.get("role") == "user")
    return words_of(items[last]["content"]), sum(map(_is_spoken, items[last:]))


def _is_spoken(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") == "function_call"


def answer(asked: dict[str, Any], reply: Reply, *, status: str = "completed") -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": asked["model"],
        "status": status,
        "output": [*_items(reply)] if done else [],
        "usage": USAGE if done else None,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": asked.get("tools", []),
    }


def events(asked: dict[str, Any], reply: Reply) -> Iterator[str]:
    told: list[dict[str, Any]] = [{"type": "response.created", "response": answer(asked, reply, status="in_progress")}]
    for place, item in enumerate(_items(reply)):
        told.append({"type": "response.output_item.added", "output_index": place, "item": {**item, **_EMPTY[item["type"]]}})
        told += [{"output_index": place, "item_id": item["id"], **part} for part in _parts(item)]
        told.append({"type": "response.output_item.done", "output_index": place, "item": item})
    told.append({"type": "response.completed", "response": answer(asked, reply)})
    for number, event in enumerate(told):
        yield f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n"


_EMPTY: dict[str, dict[str, Any]] = {
    "message": {"status": "in_progress", "content": []},
    "function_call": {"status": "in_progress", "arguments": ""},
}


def _items(reply: Reply) -> Iterator[dict[str, Any]]:
    """A message, or a function call each."""
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        yield {"type": "message", "id": f"msg_{reply.id}", "role": "assistant", "status": "completed", "content": content}
    for call_id, call in zip(reply.call_ids(), reply.calls, strict=True):
        named = {"call_id": call_id, "name": call["name"], "arguments": json.dumps(call["arguments"])}
        yield {"type": "function_call", "id": f"fc_{call_id}", "status": "completed", **named}


def _parts(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if item["type"] == "function_call":
        yield {"type": "response.function_call_arguments.delta", "delta": item["arguments"]}
        yield {"type": "response.function_call_arguments.done", "arguments": item["arguments"], "name": item["name"]}
        return
    (part,) = item["content"]
    yield {"type": "response.content_part.added", "content_index": 0, "part": {**part, "text": ""}}
    yield {"type": "response.output_text.delta", "content_index": 0, "delta": part["text"], "logprobs": []}
    yield {"type": "response.output_text.done", "content_index": 0, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", "content_index": 0, "part": part}
