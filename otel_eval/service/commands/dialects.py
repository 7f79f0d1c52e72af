"""`otel-eval dialects`: the instrumentations whose spans are understood, from the dialects' own cards."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from otel_eval.dialects import BUILTIN, DialectCard
from otel_eval.exchange.json_text import text_from_value
from otel_eval.service.columns import terminal_width, two_columns


def run(*, as_json: bool = False, **_: Any) -> int:
    """Write every dialect, most specific first: a JSON list of cards, or a table."""
    cards = [dialect.info for dialect in BUILTIN]
    lines = [text_from_value([asdict(card) for card in cards])] if as_json else table_of(cards, terminal_width())
    sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
    return 0


def table_of(cards: Iterable[DialectCard], width: int) -> Iterator[str]:
    """The cards as a table of two columns: a name, and beside it what the dialect reads, lacks and needs."""
    return two_columns(("DIALECT", "WHAT IT READS"), ((card.name, texts_of(card)) for card in cards), width)


def texts_of(card: DialectCard) -> list[str]:
    """What a dialect reads, lacks and needs."""
    return [
        card.sentence,
        f"lacks: {card.lacks}" if card.lacks else "",
        f"switch: {card.switch}" if card.switch else "",
        f"id: {', '.join(card.conversation_ids)}" if card.conversation_ids else "",
    ]
