"""Which of the languages we know a text is in, None where it is none of them.

By script where that decides, else by function words.
"""

import re
from collections.abc import Iterable

from otel_eval.judges.heuristic.phrases import LANGUAGES, function_words

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_OTHER = re.compile(r"[\u0370-\u05ff\u0600-\u06ff\u0900-\u0eff\u10a0-\u10ff]")
"""Greek, Cyrillic, Armenian, Hebrew, Arabic, Indic, Thai, Georgian."""
_LATIN = re.compile(r"[a-zA-Z\u00c0-\u024f]")
_MOST_CHARS = 20_000
_EAST_ASIAN_WEIGHT = 2  # a syllable or sign says as much as two or three letters


def language_of(texts: Iterable[str]) -> str | None:
    """The language most of the words are in; None where it is unknown, unclear or one we have no phrases for."""
    text = "\n".join(texts)[:_MOST_CHARS]
    scripts = {
        "ko": _count(_HANGUL, text) * _EAST_ASIAN_WEIGHT,
        "han": (_count(_HAN, text) + _count(_KANA, text)) * _EAST_ASIAN_WEIGHT,
        "other": _count(_OTHER, text),
        "latin": _count(_LATIN, text),
    }
    script = max(scripts, key=lambda name: scripts[name])
    if not scripts[script] or script == "other":
        return None
    if script == "han":
        return "ja" if _count(_KANA, text) else "zh"
    return "ko" if script == "ko" else _by_function_words(text)


def _count(pattern: re.Pattern[str], text: str) -> int:
    return len(pattern.findall(text))


def _by_function_words(text: str) -> str | None:
    words = [w.casefold() for w in _WORD.findall(text)]
    hits = {language: sum(w in known for w in words) for language, known in function_words().items()}
    best, second = sorted(hits, key=lambda name: hits[name], reverse=True)[:2]
    if hits[best] == 0 or hits[best] == hits[second]:
        return None
    return best if best in LANGUAGES else None
