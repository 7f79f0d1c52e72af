"""What people and agents say, by language, when something is done, refused, handed over or still wrong.

The phrases are files, `languages/CODE.txt`: a language is added by adding one (and, for Latin letters, a line in `function_words.txt`).
They are kept small and plain: a phrase stands there because it nearly always means that one thing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

_WITHOUT_SPACES = frozenset({"ko", "ja", "zh"})
"""Languages in which a phrase is looked for anywhere in the text, not as whole words."""
LANGUAGES = ("en", "ko", "ja", "zh", "es", "de", "fr")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """Patterns of one language, by what they tell."""

    thanks: re.Pattern[str]
    settled: re.Pattern[str]
    """The user says that this was all, or that it works."""
    unsettled: re.Pattern[str]
    """The user says that it is still wrong, or asks again."""
    refusal: re.Pattern[str]
    rule: re.Pattern[str]
    """The agent names a rule as the reason."""
    handover: re.Pattern[str]
    wants_person: re.Pattern[str]
    """The user asks for somebody else to take over."""
    claim: re.Pattern[str]
    """The agent says that it has changed something in the world."""
    waiting: re.Pattern[str]
    """The agent is about to do something."""
    asks: re.Pattern[str]
    """The agent wants something from the user: an answer, a confirmation, a step to do."""
    anything_else: re.Pattern[str]
    further: re.Pattern[str]
    """The user turns to another matter."""
    smalltalk: re.Pattern[str]
    """One word or set phrase of greeting, thanks or assent; matched over and over until nothing is left."""


@cache
def phrases_of(language: str) -> Phrases:
    """The phrases of one of `LANGUAGES`."""
    sections = dict(_sections(_text(f"{language}.txt")))
    form = "{}" if language in _WITHOUT_SPACES else r"(?<!\w)(?:{})(?!\w)"
    patterns = {f.name: re.compile(form.format("|".join(sections[f.name])), re.IGNORECASE) for f in fields(Phrases)}
    return Phrases(**patterns)


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """The commonest words of each language in Latin letters, by its code."""
    lines = [line.partition(":") for line in _text("function_words.txt").splitlines() if line and not line.startswith("#")]
    return {code: frozenset(words.split()) for code, _, words in lines}


def _text(name: str) -> str:
    return files(__package__).joinpath("languages", name).read_text(encoding="utf-8")


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", list[str]()
    for line in [*text.splitlines(), "[]"]:
        if re.fullmatch(r"\[\w*\]", line):
            if name:
                yield name, lines
            name, lines = line[1:-1], []
        elif line and not line.startswith("#"):
            lines.append(line)
