"""Prompts: every file has its places filled, and a filled text is never filled again."""

from importlib.resources import files

import pytest

from otel_eval.metrics.prompt import Prompt, prompt, prompt_hash

NAMES = sorted(f.name.removesuffix(".md") for f in files("otel_eval.metrics").joinpath("prompts").iterdir() if f.name.endswith(".md"))


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_has_a_version_and_can_be_filled(name: str) -> None:
    """NAME.vN, and with a value for each place nothing is left open."""
    found = prompt(name)
    assert name.rpartition(".v")[2].isdigit()
    assert "{{" not in found.filled(**dict.fromkeys(found.places, "x"))


def test_a_missing_or_unknown_place_is_an_error() -> None:
    """No prompt goes out with a hole, and no value gets lost."""
    one = Prompt(name="p.v1", text="Question: {{question}}?")
    for values in ({}, {"question": "x", "other": "y"}):
        with pytest.raises(ValueError, match=r"p\.v1"):
            one.filled(**values)


def test_values_are_not_filled_again() -> None:
    """A place inside a value is just text."""
    assert Prompt(name="p.v1", text="{{a}} {{b}}").filled(a="{{b}}", b="2") == "{{b}} 2"


def test_the_hash_covers_all_parts() -> None:
    """Preamble and question together make the hash on a score."""
    assert prompt_hash("preamble.v1", "yes_no.v1") != prompt_hash("yes_no.v1") != prompt_hash("yes_no.v1", "preamble.v1")


def test_the_preamble_is_short() -> None:
    """It goes with every question: a third of a page, no more."""
    assert len(prompt("preamble.v1").text) < 1300
