"""Cuts a conversation into what the user asked for, and keeps the facts that the rules look at."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from otel_eval.judges.heuristic.phrases import Phrases
from otel_eval.model import Conversation, Message

_LETTERS_AND_DIGITS = re.compile(r"[^\W_]")
_LAST_CHARS = 200
_QUESTION = re.compile(r"[?？؟]\s*[\"'”)*_]*\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One request of the user's and all that followed until the next one."""

    request: int
    """Index of the message that asks."""
    users: tuple[int, ...]
    """Indices of the user's messages in it, the request first."""
    agents: tuple[int, ...]
    """Indices of the agent's messages with words."""
    calls: tuple[tuple[int, str], ...]
    """Index and tool name of each call."""
    results: tuple[tuple[int, str, bool | None], ...]
    """Index, tool name and failure (None: nothing known) of each result."""


def passages_from_conversation(conversation: Conversation, phrases: Phrases, failed: Mapping[int, bool | None]) -> list[Passage]:
    """The passages in order; what the agent does before the user's first request belongs to none."""
    starts = _request_indices(conversation.messages, phrases)
    return [_passage(conversation, start, end, failed) for start, end in pairwise([*starts, len(conversation.messages)])]


def text_of(message: Message) -> str:
    """The words of a message with typographic apostrophes made plain."""
    return (message.text or "").replace("’", "'")


def is_smalltalk(text: str, phrases: Phrases) -> bool:
    """Whether nothing is left of a text once greetings, thanks and yes or no are taken out."""
    return not _LETTERS_AND_DIGITS.search(phrases.smalltalk.sub(" ", text))


def _request_indices(messages: Sequence[Message], phrases: Phrases) -> list[int]:
    """Indices of the user messages that open a matter: the first with one, and each that turns to another or follows a closed one."""
    starts: list[int] = []
    for index, message in enumerate(messages):
        text = text_of(message)
        if message.role != "user" or not text.strip() or is_smalltalk(text, phrases):
            continue
        if not starts or _opens(messages, index, text, phrases):
            starts.append(index)
    return starts


def _opens(messages: Sequence[Message], index: int, text: str, phrases: Phrases) -> bool:
    """Whether a user message, not the first, turns to another matter: it says so, or it asks after the last one was closed."""
    if phrases.unsettled.search(text) or _is_farewell(messages, index, text, phrases):
        return False
    said = next((text_of(m) for m in reversed(messages[:index]) if m.role == "assistant" and m.text), "")
    if phrases.anything_else.search(said[-_LAST_CHARS:]):
        return True
    open_question = bool(_QUESTION.search(said) or phrases.asks.search(said))
    return not open_question and bool(_QUESTION.search(text) or phrases.further.search(text) or not _is_long(said))


def _is_farewell(messages: Sequence[Message], index: int, text: str, phrases: Phrases) -> bool:
    """Thanks or "that was all", and the agent has nothing more to do after it."""
    acts_after = any(m.role == "assistant" and m.tool_calls for m in messages[index:])
    return not acts_after and bool(phrases.thanks.search(text) or phrases.settled.search(text))


def _is_long(text: str) -> bool:
    return len(text) > _LAST_CHARS


def _passage(conversation: Conversation, start: int, end: int, failed: Mapping[int, bool | None]) -> Passage:
    messages = conversation.messages
    span = range(start, end)
    names = {c.id: c.name for c in conversation.tool_calls if c.id}
    calls = [(i, c.name or "") for i in span for c in messages[i].tool_calls]
    results: list[tuple[int, str, bool | None]] = []
    for i in span:
        result: Any = messages[i].tool_result
        if result:
            results.append((i, result.name or names.get(result.call_id) or _called_before(calls, i), failed.get(i)))
    return Passage(
        request=start,
        users=tuple(i for i in span if messages[i].role == "user" and messages[i].text),
        agents=tuple(i for i in span if messages[i].role == "assistant" and messages[i].text),
        calls=tuple(calls),
        results=tuple(results),
    )


def _called_before(calls: Sequence[tuple[int, str]], index: int) -> str:
    return next((name for at, name in reversed(calls) if at < index), "")
