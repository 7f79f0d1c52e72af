"""Writes the documents that are made from code: `make docs`. With --check it writes nothing and fails where one is stale.

What a plug-in, an option or an outcome is stands once, in the code, on its card; these pages only show it.
"""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click

from otel_eval import dialects, metrics
from otel_eval.cli import EXIT_CODES, main
from otel_eval.model.sentences import FAIL_SENTENCES, GAP_SENTENCES, SKIP_SENTENCES

DOCS = Path(__file__).parent
NOTICE = "<!-- Made from the code by docs/generate.py: run `make docs`, do not edit. -->"


def page(title: str, introduction: str, *blocks: str) -> str:
    """A whole document."""
    return "\n\n".join([NOTICE, f"# {title}", introduction, *blocks]) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(map(in_cell, row))} |" for row in [head, ("---",) * len(head), *rows])


def in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def commands_below(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """The command and all below it, each with its context."""
    yield command, context
    if isinstance(command, click.Group):
        for name, child in sorted(command.commands.items()):
            yield from commands_below(child, click.Context(child, info_name=name, parent=context))


def command_block(command: click.Command, context: click.Context) -> str:
    """What one command is for, how it is called, and its options."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parameters = [parameter for parameter in command.get_params(context) if isinstance(parameter, click.Option)]
    records = [record for parameter in parameters if (record := parameter.get_help_record(context))]
    options = table(("option", "what it does"), [(f"`{names}`", says.replace("  [", " [")) for names, says in records])
    return f"## {context.command_path}\n\n{inspect.cleandoc(command.help or '')}\n\n```text\n{usage}\n```\n\n{options}"


def cli_page() -> str:
    """Every command with its options, from what click knows."""
    codes = EXIT_CODES.replace("\b\nExit codes:\n", "").rstrip()
    context = click.Context(main, info_name="otel-eval", **main.context_settings)
    blocks = [command_block(*found) for found in commands_below(main, context)]
    return page("The command line", f"Every command leaves with one of these codes:\n\n```text\n{codes}\n```", *blocks)


def card_block(card: Any) -> str:
    """A card: its sentence, then every other field that says something."""
    rows = [(field.name.replace("_", " "), said) for field in fields(card) if (said := text_from_value(getattr(card, field.name)))]
    kept = [row for row in rows if row[0] not in {"name", "sentence"}]
    return f"## {card.name}\n\n{card.sentence}\n\n{table(('', ''), kept)}"


def text_from_value(value: Any) -> str:
    """A field of a card in words; "" where there is nothing to say."""
    match value:
        case None | "":
            return ""
        case str():
            return value
        case True | False:
            return "yes" if value else "no"
        case float():
            return f"{value:g}"
        case tuple((float() | int(), float() | int())):
            return f"{value[0]:g} to {value[1]:g}"
        case frozenset():
            return text_from_value(tuple(sorted(value)))
        case tuple():
            return "<br>".join(map(text_from_item, value))
    return str(value)


def text_from_item(item: Any) -> str:
    """One of many: a name as code, a small card as its name and sentence."""
    if is_dataclass(item):
        default = getattr(item, "default", None)
        return f"`{getattr(item, 'name', item)}`: {getattr(item, 'sentence', '')}{'' if default is None else f' Default: `{default}`.'}"
    return f"`{item}`"


def dialects_page() -> str:
    """Every built-in dialect, in the order in which they are asked."""
    introduction = (
        "A dialect reads one span of one instrumentation. They are asked in the order of this page, most specific first; "
        "of each field the first that says something wins."
    )
    return page("Dialects", introduction, *[card_block(dialect.info) for dialect in dialects.BUILTIN])


def metrics_page() -> str:
    """Every built-in metric."""
    introduction = "Every metric answers with a score, a reason why it does not apply, or a failure: see [outcomes](outcomes.md)."
    return page("Metrics", introduction, *[card_block(metrics.builtin_metric(name).card) for name in metrics.BUILTIN])


def reasons_block(title: str, introduction: str, sentences: Mapping[Any, str]) -> str:
    """A closed set of reasons, each with its sentence."""
    rows = [(f"`{reason.value}`", sentence) for reason, sentence in sentences.items()]
    return f"## {title}\n\n{introduction}\n\n{table(('reason', 'what it means, and what to change'), rows)}"


def outcomes_page() -> str:
    """Every reason for which something is missing, does not apply or failed."""
    return page(
        "Outcomes",
        "Nothing is invented: what could not be read or judged says why. These sets are closed.",
        reasons_block("Gaps", "Why something is missing from a conversation.", GAP_SENTENCES),
        reasons_block("Skipped", "Why a metric did not apply; no fault of anybody.", SKIP_SENTENCES),
        reasons_block("Failed", "Why a metric that applied has no value; `error.type` of the result event.", FAIL_SENTENCES),
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "dialects.md": dialects_page,
    "metrics.md": metrics_page,
    "outcomes.md": outcomes_page,
}


def pages() -> dict[str, str]:
    """The text of each document made from code, by file name."""
    return {name: make() for name, make in PAGES.items()}


def stale_pages() -> list[str]:
    """The names of the documents that do not say what the code says."""
    return [name for name, text in pages().items() if not (DOCS / name).exists() or (DOCS / name).read_text() != text]


if __name__ == "__main__":
    stale = stale_pages()
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"stale: {', '.join(f'docs/{name}' for name in stale)}: run `make docs`")
    else:
        made = pages()
        for name in stale:
            (DOCS / name).write_text(made[name])
            print(f"docs/{name}")
