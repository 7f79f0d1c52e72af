"""Reads a judge's text: exactly one JSON object and nothing else, or the closed reason why not.

Never the first or the last of several objects, never a brace closed for the judge: whoever wrote the judged conversation may have put a
verdict into it that the judge quotes (research: crewAI, Opik, promptfoo and ragas each had a parser that such a text could beat).
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from otel_eval.errors import JudgeError
from otel_eval.judges.check import answer_from_value
from otel_eval.judges.form import Form

EMPTY, UNPARSABLE, CONFLICT, REFUSED = "reply_empty", "reply_unparsable", "reply_conflict", "judge_refused"

_MOST_BYTES, _DEEPEST = 64_000, 6
_THINKING = re.compile(r"<think>.*?</think>\s*", re.DOTALL)
_SPACE = re.compile(r"\s+")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?\s*```", re.DOTALL)
_REFUSAL = re.compile(
    r"(i'?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|i can(?:'|no)t|i cannot|i'?m (?:not able|unable)|i won'?t|as an ai\b)"
    r"[^{}]{0,400}$",
    re.IGNORECASE | re.DOTALL,
)
_DECLINES = re.compile(
    r"\b(can(?:'|no)t|cannot|unable|not able|won'?t|will not|refuse|decline|not comfortable)\b[^{}]{0,80}"
    r"\b(help|assist|evaluat\w*|judge|review\w*|comply|continue|provide|answer|engage|do that|request|content|this)\b",
    re.IGNORECASE,
)


def answer_from_text(form: Form, text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The checked answer and what was dropped from it. Raises `JudgeError`: `reply_empty`, `_unparsable`, `_conflict`, `_schema`, …"""
    return answer_from_value(form, value_from_text(text))


def value_from_text(text: str) -> Any:
    """The one JSON object that the text is, after one closed thinking block at the start and one fence around everything."""
    bare = _bare(text)
    if not bare:
        raise JudgeError(EMPTY, "the judge's reply is empty")
    if len(bare.encode("utf-8", "surrogatepass")) > _MOST_BYTES:
        raise JudgeError(UNPARSABLE, f"the judge's reply is longer than {_MOST_BYTES} bytes")
    try:
        value = json.loads(bare, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _unreadable(bare) from None
    if not isinstance(value, dict):
        raise JudgeError(UNPARSABLE, "the judge's reply is JSON, but not an object")
    if _depth(value) > _DEEPEST:
        raise JudgeError(UNPARSABLE, f"the judge's reply is nested more than {_DEEPEST} levels deep")
    return value


def repeats_record(text: str, record: str) -> bool:
    """Whether the reply is a piece of the judged conversation, word for word: then it is a quotation and no verdict."""
    reply = _SPACE.sub("", _bare(text))
    return bool(reply) and reply in _SPACE.sub("", record.replace("\n| ", "\n"))


def is_refusal(text: str) -> bool:
    """Whether plain words decline to judge. Only asked where no format is enforced and no object was found."""
    words = text.strip().replace("’", "'")
    return "{" not in words and (bool(_DECLINES.search(words[:400])) or bool(_REFUSAL.match(words) and _DECLINES.search(words)))


def _bare(text: str) -> str:
    bare = text.lstrip("\ufeff").strip()
    thinking = _THINKING.match(bare)
    bare = bare[thinking.end() :].strip() if thinking else bare
    fence = _FENCE.fullmatch(bare)
    return fence.group(1).strip() if fence and "```" not in fence.group(1) else bare


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise JudgeError(CONFLICT, "the judge's reply has the same key twice in one object")
    return value


def _no_constant(_: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _unreadable(text: str) -> JudgeError:
    """Several whole objects contradict each other; anything else cannot be read."""
    if _whole_objects(text) > 1:
        return JudgeError(CONFLICT, "the judge's reply holds more than one JSON object")
    return JudgeError(UNPARSABLE, "the judge's reply is not one JSON object and nothing else")


def _whole_objects(text: str) -> int:
    """How many JSON objects stand in the text one after the other, whatever lies between; 0 where the first brace opens none."""
    decoder = json.JSONDecoder()
    count, at = 0, text.find("{")
    while at >= 0:
        try:
            _, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return 0
        count += 1
        at = text.find("{", at)
    return count


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0
