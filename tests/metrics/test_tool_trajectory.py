"""Tool trajectory: the three ways to match, turns, threshold, and each reason to have no value."""

import pytest

from otel_eval.model import Conversation, Reference, Score, Skipped, SkipReason, ToolCall, TurnReference
from tests.fakes.conversations import Call, call, calls, conversation, expected, outcome_of, says, user, value_of

NAME = "tool_trajectory"
A: Call = ("a", {"x": 1})
B: Call = ("b", {"x": 1})
C: Call = ("c", {"x": 1})


def by_turn(*turns: list[Call]) -> Reference:
    return Reference(turns=tuple(TurnReference(tool_calls=tuple(map(call, made))) for made in turns))


def one_turn(*made: Call) -> Conversation:
    return conversation(user("Do it"), *(calls(c) for c in made), says("done"))


@pytest.mark.parametrize(
    ("match", "made", "value"),
    [
        ("exact", [A, B], 1.0),
        ("exact", [A, B, C], 0.0),
        ("exact", [B, A], 0.0),
        ("in_order", [A, C, B], 1.0),
        ("IN ORDER", [A, C, B], 1.0),
        ("in_order", [B, A], 0.0),
        ("any_order", [C, B, A], 1.0),
        ("any_order", [A, C], 0.0),
        ("any_order", [A, A], 0.0),
    ],
)
def test_ways_to_match(match: str, made: list[Call], value: float) -> None:
    """Exact takes the same calls in the same order, in order lets others between, any order wants each call once."""
    assert value_of(NAME, one_turn(*made), expected(A, B), match=match) == value


def test_share_of_turns_and_label() -> None:
    """Two of three turns right give 2/3: failed at the default threshold, passed at 0.6."""
    talk = conversation(user("1"), calls(A), user("2"), calls(B), user("3"), calls(C))
    wanted = by_turn([A], [B], [A])
    outcome = outcome_of(NAME, talk, wanted)
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(2 / 3)
    assert outcome.label == "fail"
    assert outcome.details["turns"] == (1.0, 1.0, 0.0)
    assert outcome.evidence == (5,)
    passed = outcome_of(NAME, talk, wanted, threshold=0.6)
    assert isinstance(passed, Score)
    assert passed.label == "pass"


def test_ignoring_arguments() -> None:
    """With `ignore_args` the names decide; it also works where arguments were not recorded."""
    talk = conversation(user("x"), calls(ToolCall(name="a"), ToolCall(name="b")))
    assert value_of(NAME, talk, expected(A, B), ignore_args=True) == 1.0
    outcome = outcome_of(NAME, talk, expected(A, B))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.CONTENT_NOT_CAPTURED


def test_equality_is_that_of_json() -> None:
    """Whole and broken numbers of one value are equal, true and 1 are not; ADK's own equality says otherwise."""
    talk = one_turn(("f", {"v": True}))
    assert value_of(NAME, talk, expected(("f", {"v": 1}))) == 0.0
    assert value_of(NAME, talk, expected(("f", {"v": 1})), compat="adk") == 1.0


def test_an_expected_silence_in_one_turn_counts() -> None:
    """Where one turn should call nothing, exact scores its silence; the other ways cannot fail there and leave the turn out."""
    talk = conversation(user("1"), calls(A), user("2"), says("ok"))
    wanted = by_turn([A], [])
    assert value_of(NAME, talk, wanted) == 1.0
    outcome = outcome_of(NAME, talk, wanted, match="any_order")
    assert isinstance(outcome, Score)
    assert outcome.details["turns"] == (1.0, None)


def test_expecting_nothing_with_in_order_is_undefined() -> None:
    """A call although none is expected passes in ADK's way, because nothing can fail; ours has no value."""
    outcome = outcome_of(NAME, one_turn(A), expected(), match="in_order")
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNDEFINED
    assert value_of(NAME, one_turn(A), expected()) == 0.0
    assert value_of(NAME, one_turn(A), expected(), match="in_order", compat="adk") == 1.0


def test_no_expectation_and_wrong_number_of_turns_are_skipped() -> None:
    """Without expectations, or with ones for another number of turns, nothing is compared."""
    for wanted in (None, by_turn([A])):
        outcome = outcome_of(NAME, conversation(user("1"), calls(A), user("2"), calls(B)), wanted)
        assert isinstance(outcome, Skipped)
        assert outcome.reason is SkipReason.NEEDS_MISSING


def test_nothing_expected_and_nothing_called_is_undefined() -> None:
    """A conversation without tools, expected to be so, has no value but the one `undefined_is` gives."""
    talk = conversation(user("Hi"), says("Hello"))
    assert isinstance(outcome_of(NAME, talk, expected()), Skipped)
    assert value_of(NAME, talk, expected(), undefined_is=1) == 1.0
    assert value_of(NAME, talk, expected(), compat="adk") == 1.0
