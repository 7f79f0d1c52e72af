"""`otel-eval dialects`: what the cards say, as a table and as JSON."""

import json
from dataclasses import asdict

from click.testing import CliRunner

from otel_eval.cli import main
from otel_eval.dialects import BUILTIN
from otel_eval.service.commands.dialects import table_of

CARDS = [dialect.info for dialect in BUILTIN]


def test_json_is_all_cards() -> None:
    """Every member of every card, most specific first."""
    result = CliRunner().invoke(main, ["dialects", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == json.loads(json.dumps([asdict(card) for card in CARDS]))


def test_the_table_names_every_dialect_once() -> None:
    """The first column holds the names in order; what is read, lacking and to be switched on stands beside them."""
    result = CliRunner().invoke(main, ["dialects"])
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.startswith("DIALECT")
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [card.name for card in CARDS]
    said = " ".join(result.stdout.split())
    assert all(card.sentence.split()[0] in said and card.switch.split(" ")[0] in said for card in CARDS)


def test_the_table_keeps_to_its_width() -> None:
    """Lines are broken between words; only a word longer than the column is longer."""
    assert max(map(len, table_of(CARDS, 120))) <= 120
