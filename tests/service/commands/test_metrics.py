"""`otel-eval metrics`: what the cards say, as a table, as one card and as JSON."""

import json
from importlib.resources import files

import pytest
from click.testing import CliRunner

from otel_eval.cli import UNUSABLE, main
from otel_eval.metrics import BUILTIN, builtin_metric
from otel_eval.metrics.prompt import prompt
from otel_eval.service.commands.metrics import card_lines, table_of

CARDS = [builtin_metric(name).card for name in BUILTIN]


def test_the_list_names_every_metric_once() -> None:
    """The first column holds the names in order of the table of metrics."""
    result = CliRunner().invoke(main, ["metrics", "list"])
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.startswith("METRIC")
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [card.name for card in CARDS]


def test_json_is_all_cards_as_strict_json() -> None:
    """Every card is there, and what JSON has no number for (a range without end) is written by name."""
    result = CliRunner().invoke(main, ["metrics", "list", "--json"])
    cards = json.loads(result.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert [card["name"] for card in cards] == [card.name for card in CARDS]
    assert next(card["range"] for card in cards if card["name"] == "turn_count") == [0.0, "Infinity"]


@pytest.mark.parametrize("name", BUILTIN)
def test_a_card_is_shown_whole(name: str) -> None:
    """`show` says the sentence, the example, what is needed and every parameter."""
    card = builtin_metric(name).card
    result = CliRunner().invoke(main, ["metrics", "show", name])
    said = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert all(text in said for text in (card.name, card.sentence, card.example, *card.needs, *(p.name for p in card.parameters)))


def test_json_of_one_card_is_an_object() -> None:
    """`show --json` gives the one card, not a list."""
    result = CliRunner().invoke(main, ["metrics", "show", "tool_call_f1", "--json"])
    assert json.loads(result.stdout)["needs"] == ["reference_tool_calls"]


def test_an_unknown_metric_is_told_with_the_nearest_name() -> None:
    """A mistyped name ends with the code of wrong usage and the name that was probably meant."""
    result = CliRunner().invoke(main, ["metrics", "show", "tool_call_f2"])
    assert result.exit_code == UNUSABLE
    assert "'tool_call_f1'" in result.stderr


def test_lines_keep_to_their_width() -> None:
    """Lines are broken between words."""
    assert max(map(len, table_of(CARDS, 120))) <= 120
    assert max(len(line) for card in CARDS for line in card_lines(card, 120)) <= 120


@pytest.mark.parametrize("name", [card.name for card in CARDS if "judge" in card.needs])
def test_the_prompts_of_a_judged_metric_are_shown(name: str) -> None:
    """Whoever wants to know what a judge is asked reads it, word for word, below the card, and in the JSON by name."""
    card = builtin_metric(name).card
    shown = CliRunner().invoke(main, ["metrics", "show", name]).stdout
    as_json = json.loads(CliRunner().invoke(main, ["metrics", "show", name, "--json"]).stdout)
    assert card.prompts[0] == "preamble.v1"
    assert all(f"PROMPT {each}\n{prompt(each).text}\n" in shown for each in card.prompts)
    assert as_json["prompts"] == {each: prompt(each).text for each in card.prompts}


def test_every_prompt_stands_on_a_card() -> None:
    """No prompt is asked that nobody can look up, and none is kept that nobody asks."""
    kept = {file.name.removesuffix(".md") for file in files("otel_eval.metrics").joinpath("prompts").iterdir() if file.name.endswith(".md")}
    assert {name for card in CARDS for name in card.prompts} == kept
