"""Matchers of arguments: each rule, custom functions, and what is no rule."""

import pytest

from otel_eval.metrics.matchers import ArgumentComparer, matcher_from_rule


def half(made: object, expected: object) -> float:
    """A custom matcher that is never sure."""
    return 0.5


def broken(made: object, expected: object) -> float:
    raise KeyError("x")


def beyond(made: object, expected: object) -> float:
    return 2.0


@pytest.mark.parametrize(
    ("rule", "made", "expected", "share"),
    [
        ("exact", "a", "A", 0.0),
        ("case_insensitive", "STRASSE", "straße", 1.0),
        ("case_insensitive", 1, 1.0, 1.0),
        ("number:0.5", 10.4, 10, 1.0),
        ("number:0.5", 10.6, 10, 0.0),
        ("number:0.5", "10", 10, 0.0),
        ("number:0.5", True, 1, 0.0),
        ("number:10%", 109, 100, 1.0),
        ("number:10%", 111, 100, 0.0),
        ("regex", "order 42", r"order \d+", 1.0),
        ("regex", "an order 42", r"order \d+", 0.0),
        (r"regex:2\d{3}-\d\d", "2026-03", "2025-12", 1.0),
        (r"regex:\d+", 42, None, 1.0),
        ("tests.metrics.test_matchers:half", 1, 2, 0.5),
    ],
)
def test_rules(rule: str, made: object, expected: object, share: float) -> None:
    """Each rule gives the share its table line says."""
    matcher = matcher_from_rule(rule)
    assert matcher is not None
    assert matcher(made, expected) == share


def test_the_nearest_rule_wins() -> None:
    """A rule for one tool's argument goes before one for the argument, and that before the one for all others."""
    comparer = ArgumentComparer({"pay.note": "ignore", "note": "case_insensitive", "*": "exact"})
    assert comparer.share("pay", {"note": "x", "to": "a"}, {"note": "y", "to": "a"}) == 1.0
    assert comparer.share("send", {"note": "X", "to": "a"}, {"note": "x", "to": "a"}) == 1.0
    assert comparer.share("send", {"note": "X", "to": "A"}, {"note": "x", "to": "a"}) == 0.5


@pytest.mark.parametrize("rule", ["", "roughly", "number", "number:", "number:much", "regex:(", "ignore:it", 3, "no.such.module:f"])
def test_what_is_no_rule(rule: object) -> None:
    """A rule that cannot be read says so at once."""
    with pytest.raises(ValueError, match=r".+"):
        matcher_from_rule(rule)


@pytest.mark.parametrize("name", ["broken", "beyond"])
def test_a_custom_matcher_that_breaks_its_contract(name: str) -> None:
    """An exception or a share outside [0, 1] is a ValueError that names the matcher."""
    matcher = matcher_from_rule(f"tests.metrics.test_matchers:{name}")
    assert matcher is not None
    with pytest.raises(ValueError, match=name):
        matcher(1, 2)
