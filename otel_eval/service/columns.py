"""Two columns of text for a terminal: names on the left, what is said of them on the right."""

import shutil
import textwrap
from collections.abc import Iterable, Iterator

_WIDEST = 140
"""Longer lines are hard to read, however wide the terminal is."""
_NARROWEST = 40
_GAP = 2


def terminal_width() -> int:
    """How wide lines should be."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def two_columns(head: tuple[str, str], rows: Iterable[tuple[str, Iterable[str]]], width: int) -> Iterator[str]:
    """The lines of head and rows; each text starts on a line of its own and is broken between words, empty ones are left out."""
    listed = [(head[0], [head[1]]), *((name, list(texts)) for name, texts in rows)]
    left = max(len(name) for name, _ in listed) + _GAP
    for name, texts in listed:
        lines = [line for text in texts for line in wrapped(text, max(width - left, _NARROWEST))]
        yield from (f"{first:<{left}}{line}" for first, line in zip([name, *[""] * len(lines)], lines, strict=False))


def wrapped(text: str, width: int) -> list[str]:
    """A text broken between words, its further lines indented; a word longer than the width stays whole."""
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
