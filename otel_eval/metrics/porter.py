"""The Porter stemmer of English, with the extensions that NLTK applies by default.

ROUGE scores of other tools are made with it, so a score is comparable only with the same stems. Words are lower-case ASCII.

**Source**: M. F. Porter, "An algorithm for suffix stripping", Program 14.3 (1980); extensions as in nltk 3.10 `PorterStemmer`
(NLTK_EXTENSIONS, Apache-2.0), written anew and held against it over a word list.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias

Rule: TypeAlias = tuple[str, str, Callable[[str], bool]]
"""Suffix, what takes its place, and what must hold of the stem before it. The first rule whose suffix fits is the only one tried."""

_IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": "sky skies",
        "die": "dying",
        "lie": "lying",
        "tie": "tying",
        "news": "news",
        "inning": "innings inning",
        "outing": "outings outing",
        "canning": "cannings canning",
        "howe": "howe",
        "proceed": "proceed",
        "exceed": "exceed",
        "succeed": "succeed",
    }.items()
    for form in forms.split()
}


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The stem: `relational` → `relat`, `happy` → `happi`, `dying` → `die`; words of one or two letters stay."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _shape(word: str) -> str:
    """c for each consonant and v for each vowel; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel: tree 0, trouble 1, private 2."""
    return _shape(stem).count("vc")


def _short_end(stem: str) -> bool:
    """Whether it ends consonant, vowel, consonant (not w, x, y), or is vowel and consonant alone."""
    shape = _shape(stem)
    return shape == "vc" or (shape.endswith("cvc") and stem[-1] not in "wxy")


def _over_0(stem: str) -> bool:
    return _measure(stem) > 0


def _over_1(stem: str) -> bool:
    return _measure(stem) > 1


def _by_rules(word: str, rules: Sequence[Rule]) -> str:
    for suffix, replacement, holds in rules:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + replacement if holds(rest) else word
    return word


def _always(stem: str) -> bool:
    return True


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _by_rules(word, [("sses", "ss", _always), ("ies", "i", _always), ("ss", "ss", _always), ("s", "", _always)])


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _over_0(word[:-3]) else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _shape(rest):
            return _mended(rest)
    return word


def _mended(rest: str) -> str:
    """The stem before -ed or -ing, made a word again: conflat → conflate, hopp → hop, fil → file."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) >= 2 and rest[-1] == rest[-2] and _shape(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short_end(rest) else rest


def _final_y(word: str) -> str:
    rest = word[:-1]
    return rest + "i" if word.endswith("y") and len(rest) > 1 and _shape(rest)[-1] == "c" else word


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _over_0(word[:-4]):
        return _double_suffixes(word[:-2])
    if word.endswith("logi"):  # the l goes with the stem, so that geo- and theo- are long enough
        return word[:-1] if _over_0(word[:-3]) else word
    return _by_rules(word, _DOUBLE)


def _more_suffixes(word: str) -> str:
    return _by_rules(word, _MORE)


def _last_suffixes(word: str) -> str:
    return _by_rules(word, _LAST)


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    return rest if _over_1(rest) or (_measure(rest) == 1 and not _short_end(rest)) else word


def _final_double_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _over_1(word[:-1]) else word


def _table(pairs: str) -> list[Rule]:
    """Rules out of words `suffix:replacement`; the stem before must be long enough."""
    return [(suffix, replacement, _over_0) for suffix, _, replacement in (pair.partition(":") for pair in pairs.split())]


_DOUBLE = _table(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous ization:ize ation:ate ator:ate "
    "alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive biliti:ble fulli:ful"
)
_MORE = _table("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_LAST: Sequence[Rule] = [
    *((suffix, "", _over_1) for suffix in ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent")),
    ("ion", "", lambda rest: _over_1(rest) and rest[-1] in "st"),
    *((suffix, "", _over_1) for suffix in ("ou", "ism", "ate", "iti", "ous", "ive", "ize")),
]
_STEPS: Sequence[Callable[[str], str]] = (
    _plurals,
    _past_and_progressive,
    _final_y,
    _double_suffixes,
    _more_suffixes,
    _last_suffixes,
    _final_e,
    _final_double_l,
)
