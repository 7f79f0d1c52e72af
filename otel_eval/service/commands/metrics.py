"""`otel-eval metrics`: what each metric says, needs and comes from, from the metrics' own cards."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from otel_eval.exchange.json_text import text_from_value
from otel_eval.metrics import BUILTIN
from otel_eval.metrics.base import UNBOUNDED, MetricCard, Parameter
from otel_eval.metrics.prompt import prompt
from otel_eval.registry import METRICS, plugin_names
from otel_eval.service.columns import terminal_width, two_columns
from otel_eval.service.metric_choice import metric_from_name


def run(*, name: str | None = None, as_json: bool = False, **_: Any) -> int:
    """Write every card, or the one of a name with its prompts; `ConfigError` where there is no such metric."""
    names = [name] if name else dict.fromkeys([*BUILTIN, *plugin_names(METRICS)])
    cards = [metric_from_name(name).card for name in names]
    width = terminal_width()
    if as_json:
        members: Any = members_of(cards[0]) | {"prompts": texts_of(cards[0])} if name else [members_of(card) for card in cards]
        lines: Iterable[str] = [text_from_value(members)]
    else:
        lines = [*card_lines(cards[0], width), *prompt_lines(cards[0])] if name else table_of(cards, width)
    sys.stdout.buffer.writelines(f"{line}\n".encode() for line in lines)
    return 0


def texts_of(card: MetricCard) -> dict[str, str]:
    """What the metric may ask a judge, by name and version; places to be filled stand in double braces."""
    return {name: prompt(name).text for name in card.prompts}


def prompt_lines(card: MetricCard) -> Iterator[str]:
    """The prompts as they stand in their files, each below its name."""
    for name, text in texts_of(card).items():
        yield from ["", f"PROMPT {name}", *text.split("\n")]


def members_of(card: MetricCard) -> dict[str, Any]:
    """A card as JSON members."""
    return {**asdict(card), "needs": sorted(card.needs)}


def table_of(cards: Iterable[MetricCard], width: int) -> Iterator[str]:
    """The cards as a table: name, sentence, and what must be given."""
    return two_columns(
        ("METRIC", "WHAT IT SAYS"),
        ((card.name, [card.sentence, *([f"needs: {', '.join(sorted(card.needs))}"] if card.needs else [])]) for card in cards),
        width,
    )


def card_lines(card: MetricCard, width: int) -> Iterator[str]:
    """All that one card says."""
    rows: dict[str, list[str]] = {
        "range": [range_text(card) if card.better == "neither" else f"{range_text(card)}, {card.better} is better"],
        "unit": [card.unit],
        "labels": [", ".join(card.labels)],
        "needs": [", ".join(sorted(card.needs))],
        "level": [card.level],
        "source": [card.source],
        "example": [card.example],
        "compat": [", ".join(card.compat)],
        "prompts": [", ".join(card.prompts)],
        "parameters": [parameter_text(parameter) for parameter in card.parameters],
        "version": [f"{card.version}, {card.stability}"],
    }
    return two_columns((card.name, card.sentence), rows.items(), width)


def range_text(card: MetricCard) -> str:
    """The values that can come, in words."""
    lowest, highest = card.range
    return f"{lowest:g} or more" if highest == UNBOUNDED else f"{lowest:g} to {highest:g}"


def parameter_text(parameter: Parameter) -> str:
    """A parameter with its choices and what holds where it is not given."""
    choices = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
    default = "" if parameter.default is None else f" Without it: {parameter.default}."
    return f"{parameter.name}: {parameter.sentence}{choices}{default}"
