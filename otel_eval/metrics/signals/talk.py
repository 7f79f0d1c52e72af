"""Signals of the talk: an unanswered user, a user who repeats himself, a refusal."""

import unicodedata
from collections.abc import Iterator, Sequence

from otel_eval.judges.heuristic.language import language_of
from otel_eval.judges.heuristic.phrases import LANGUAGES, phrases_of
from otel_eval.metrics.base import MetricInput
from otel_eval.metrics.signals.signal import OURS, Signal, count, count_card, flag, flag_card, not_captured, undefined
from otel_eval.model import GapReason, Message, Outcome

SAME_FROM = 0.7
"""Share of pieces of two or three letters in common from which one message repeats the other."""
SHORTEST_CHARS = 8
"""Shorter messages ("yes", "thank you") repeat without meaning anything."""
LONGEST_CHARS = 2000
MOST_MESSAGES = 100
"""Bounds of the comparison of each user message with each earlier one."""

_NO_WORDS = frozenset({GapReason.CONTENT_NOT_CAPTURED, GapReason.REDACTED, GapReason.CONTENT_EXTERNAL})


def _unanswered_turn(given: MetricInput) -> Outcome:
    messages = given.messages
    asked = [i for i, m in enumerate(messages) if m.role == "user"]
    if not asked:
        return undefined("the user said nothing")
    after = messages[asked[-1] + 1 :]
    if _words_hidden(given, after):
        return not_captured("the words of the agent were not recorded")
    answered = bool(after) and after[-1].role == "assistant" and after[-1].text is not None and not after[-1].tool_calls
    words = "the agent answered the user's last message" if answered else "the user's last message has no answer in words"
    return flag(given, not answered, words, [len(messages) - 1])


def _user_repetition(given: MetricInput) -> Outcome:
    said = [(i, m.text) for i, m in enumerate(given.messages) if m.role == "user"]
    if not said:
        return undefined("the user said nothing")
    if all(text is None for _, text in said):
        return not_captured("the words of the user were not recorded")
    earlier: list[frozenset[str]] = []
    repeating = []
    for index, text in said[-MOST_MESSAGES:]:
        pieces = _pieces(text or "")
        if pieces and any(_overlap(pieces, other) >= SAME_FROM for other in earlier):
            repeating.append(index)
        earlier.append(pieces)
    return count(given, len(repeating), f"{len(repeating)} of {len(said)} user messages repeat an earlier one", repeating)


def _refusal(given: MetricInput) -> Outcome:
    said = [(i, m.text) for i, m in enumerate(given.messages) if m.role == "assistant" and m.text]
    if not said:
        hidden = _words_hidden(given, given.messages)
        return not_captured("the words of the agent were not recorded") if hidden else undefined("the agent said nothing")
    language = language_of(text for _, text in said)
    if language is None:
        return undefined(f"the language is none of {', '.join(LANGUAGES)}, or not clear")
    refused = [index for index, text in said if phrases_of(language).refusal.search(text)]
    words = f"{len(refused)} of {len(said)} messages of the agent refuse something"
    return flag(given, bool(refused), words, refused, language=language, messages=len(refused))


def _words_hidden(given: MetricInput, messages: Sequence[Message]) -> bool:
    """Whether the agent may have said something that was not recorded."""
    silent = any(m.role == "assistant" and m.text is None and not m.tool_calls for m in messages)
    return silent and any(gap.reason in _NO_WORDS for gap in given.conversation.gaps)


def _pieces(text: str) -> frozenset[str]:
    """All runs of three letters or digits, of two in East Asian scripts; none for a message too short to tell."""
    letters = "".join(_letters(text[:LONGEST_CHARS]))
    wide = 0 if letters.isascii() else sum(unicodedata.east_asian_width(c) == "W" for c in letters)
    if len(letters) + wide < SHORTEST_CHARS:  # a wide character says as much as two
        return frozenset()
    size = 2 if wide * 2 > len(letters) else 3
    return frozenset(letters[i : i + size] for i in range(len(letters) - size + 1))


def _letters(text: str) -> Iterator[str]:
    return (c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if second else 0.0


UNANSWERED_TURN = Signal(
    measure=_unanswered_turn,
    card=flag_card(
        "unanswered_turn",
        "Whether the conversation ends without words from the agent after the user's last message.",
        "the last message is a tool call: 1",
        f"{OURS}: 1.25",
    ),
)
USER_REPETITION = Signal(
    measure=_user_repetition,
    card=count_card(
        "user_repetition",
        "User messages that say nearly the same as an earlier one, in any language.",
        "'cancel my order 5' and later 'Cancel my order 5!': 1",
        source=f"{OURS}: 1.05",
    ),
)
REFUSAL = Signal(
    measure=_refusal,
    card=flag_card(
        "refusal",
        "Whether the agent says that it cannot or may not do something, in one of seven languages.",
        "'I'm unable to refund this fare.': 1",
        f"{OURS}: 0.9 (a refusal is often the right answer)",
    ),
)
