"""Gemini's generateContent."""

import json
from collections.abc import Iterator
from typing import Any

from dialects import Reply, words_of


def turn(asked: dict[str, Any]) -> tuple[str, int]:
    """The user's last words, and how often the model has spoken since. What tools gave back has the user's role too, and no text."""
    contents = asked["contents"]
    last = max(place for place, content in enumerate(contents) if content["role"] == "user" and words_of(content["parts"]).strip())
    return words_of(contents[last]["parts"]), sum(content["role"] == "model" for content in contents[last:])


def answer(asked: dict[str, Any], reply: Reply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": call["name"], "args": call["arguments"]}} for call in reply.calls]
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 10, "totalTokenCount": 60},
        "responseId": reply.id,
    }


def events(asked: dict[str, Any], reply: Reply) -> Iterator[str]:
    yield f"data: {json.dumps(answer(asked, reply))}\n\n"
