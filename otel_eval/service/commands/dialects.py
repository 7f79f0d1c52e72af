"""`otel-eval dialects`: the instrumentations whose spans are understood, from the dialects' own cards."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from otel_eval.dialects import BUILTIN, DialectCard
from otel_eval.exchange.json_text import text_from_value

_WIDEST = 140
_GAP = 2


def run(*, as_json: bool = False, **_: Any) -> int:
    """Write every dialect, most specific first: a JSON list of cards, or a table."""
    cards = [dialect.info for dialect in BUILTIN]
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    lines = [text_from_value([asdict(card) for card in cards])] if as_json else table_of(cards, width)
    sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
    return 0


def table_of(cards: Iterable[DialectCard], width: int) -> Iterator[str]:
    """The cards as a table of two columns: a name, and beside it what the dialect reads, lacks and needs."""
    listed = list(cards)
    names = max((len(card.name) for card in listed), default=0) + _GAP
    yield f"{'DIALECT':<{names}}WHAT IT READS"
    for card in listed:
        beside = [
            card.sentence,
            f"lacks: {card.lacks}" if card.lacks else "",
            f"switch: {card.switch}" if card.switch else "",
            f"id: {', '.join(card.conversation_ids)}" if card.conversation_ids else "",
        ]
        lines = [line for text in beside for line in _wrapped(text, max(width - names, 40))]
        yield from (f"{name:<{names}}{line}" for name, line in zip([card.name, *[""] * len(lines)], lines, strict=False))


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
