"""Makes untrusted text inert and fit to be shown: what cannot be seen is said, what repeats is counted, names stay names.

The text is evidence: nothing is normalised, translated or decoded. **Source**: Unicode 16 general categories Cf, Cc, Co, Cs and the
default-ignorable code points; blank letters (Hangul fillers, Braille blank) are counted with them.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby
from typing import TypeAlias

Note: TypeAlias = Callable[[str], str]
"""Makes our own remark out of a text; it carries the nonce, so that content cannot imitate one."""

_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff]+"
)
_JOINERS = frozenset("\u200c\u200d")
_SELECTORS = re.compile("^[\ufe00-\ufe0f\U000e0100-\U000e01ef\u180b-\u180d\u180f]$")
_EMOJI_JOIN = re.compile("^[\ufe0e\ufe0f]?\u200d?$")
_COMPLEX = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x18AF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC))
"""Arabic, Indic, Burmese, Khmer and Mongolian letters, between which a joiner is spelling and not disguise."""
_NOT_IN_NAMES = re.compile(r"[^\w.:/+-]+")
_SENTENCE = re.compile(r"[^.!?。！？…]*[.!?。！？…]+\s*|[^.!?。！？…]+$")
_REPEATED_AT_LEAST = 3
_NAME_CHARS = 64


def visible(text: str, note: Note) -> str:
    """The text with every run of unseen characters replaced by a remark that counts them."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(lambda found: _shown(found, note), text)


def seen(text: str) -> str:
    """The text without unseen characters: what a reader has in front of them."""
    return _UNSEEN.sub("", text)


def _shown(found: re.Match[str], note: Note) -> str:
    run = found.group()
    before = found.string[found.start() - 1] if found.start() else ""
    after = found.string[found.end()] if found.end() < len(found.string) else ""
    return run if _is_spelling(run, before, after) else note(f"{len(run)} invisible")


def _is_spelling(run: str, before: str, after: str) -> bool:
    """Whether the characters belong to how a word or an emoji is written: joiners and one variation selector at their proper place."""
    if not before:
        return False
    if run in _JOINERS and _is_complex(before) and (not after or _is_complex(after) or after.isspace()):
        return True
    if _EMOJI_JOIN.match(run) and _is_symbol(before) and (_is_symbol(after) or run[-1] != "\u200d"):
        return True
    return bool(_SELECTORS.match(run)) and (_is_symbol(before) or ord(before) >= 0x3400 or _is_complex(before) or before in "0123456789#*")


def _is_complex(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _COMPLEX)


def _is_symbol(char: str) -> bool:
    return bool(char) and unicodedata.category(char) in ("So", "Sk", "Sm", "Po")


def without_repeats(text: str, note: Note) -> str:
    """Three or more equal lines or sentences in a row are shown once, with a count."""
    if len(text) < 40:  # too short to be worth a remark
        return text
    lines = _collapsed(text.splitlines(), note, "\n")
    return "\n".join(_line_without_repeats(line, note) for line in lines)


def _line_without_repeats(line: str, note: Note) -> str:
    if len(line) < 40:
        return line
    sentences = _SENTENCE.findall(line)
    return "".join(_collapsed(sentences, note, "")) if len(sentences) >= _REPEATED_AT_LEAST else line


def _collapsed(pieces: list[str], note: Note, between: str) -> list[str]:
    """The pieces with runs of equal ones cut to one; blank pieces are not counted as repetition."""
    out: list[str] = []
    for key, group in groupby(pieces, key=str.strip):
        run = list(group)
        if len(run) < _REPEATED_AT_LEAST or not key:
            out += run
        else:
            out += [run[0] + between.join(("", note(f"repeated {len(run)} times")))]
    return out


def name(text: str | None) -> str:
    """A tool's or agent's name as one harmless word: it stands in a header, where only we may speak."""
    return _NOT_IN_NAMES.sub("_", seen(text or ""))[:_NAME_CHARS] or "unnamed"


def one_line(text: str, max_chars: int = 200) -> str:
    """The text on one line, shortened: for lists that we write."""
    flat = " ".join(seen(text).split())
    return flat if len(flat) <= max_chars else flat[: max_chars - 1] + "…"
