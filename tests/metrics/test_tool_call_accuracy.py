"""Tool call accuracy: ragas' documented examples, what we do better, and each reason to have no value."""

from typing import Any

import pytest

from otel_eval.model import Failed, FailReason, Gap, GapReason, Message, Reference, Score, Skipped, SkipReason, ToolCall
from tests.fakes.conversations import Call, calls, conversation, expected, outcome_of, result, says, user, value_of

NAME = "tool_call_accuracy"
PARIS: Call = ("weather_check", {"location": "Paris"})
LONDON: Call = ("weather_check", {"location": "London"})


def accuracy(made: list[Call], wanted: list[Call], **parameters: Any) -> float:
    """The value of calls made one after the other."""
    return value_of(NAME, conversation(user("Do it"), *(calls(c) for c in made)), expected(*wanted), **parameters)


def test_ragas_documented_basic_example() -> None:
    """Weather, then a conversion to Celsius, both as expected: 1.0 in both ways."""
    talk = conversation(
        user("What's the weather like in New York right now?"),
        says("The current temperature in New York is 75°F and it's partly cloudy."),
        calls(("weather_check", {"location": "New York"})),
        user("Can you translate that to Celsius?"),
        calls(("temperature_conversion", {"temperature_fahrenheit": 75})),
    )
    wanted = expected(("weather_check", {"location": "New York"}), ("temperature_conversion", {"temperature_fahrenheit": 75}))
    assert value_of(NAME, talk, wanted) == 1.0
    assert value_of(NAME, talk, wanted, compat="ragas") == 1.0


def test_ragas_documented_flexible_order() -> None:
    """Paris and London in the other order: 1.0 with `strict_order=false`, 0.0 with it, as ragas documents."""
    talk = conversation(user("Get weather for Paris and London"), calls(LONDON, PARIS))
    assert value_of(NAME, talk, expected(PARIS, LONDON), compat="ragas", strict_order=False) == 1.0
    assert value_of(NAME, talk, expected(PARIS, LONDON), strict_order=False) == 1.0
    assert value_of(NAME, talk, expected(PARIS, LONDON), compat="ragas") == 0.0


def test_ragas_documented_partial_arguments() -> None:
    """Two of three arguments right: two thirds, which the documentation prints as 0.66."""
    made: list[Call] = [("search", {"query": "python", "limit": 10, "sort": "relevance"})]
    wanted: list[Call] = [("search", {"query": "python", "limit": 10, "sort": "date"})]
    assert accuracy(made, wanted) == pytest.approx(2 / 3)
    assert accuracy(made, wanted, compat="ragas") == 0.6666666666666666


def test_ragas_documented_wrong_order() -> None:
    """Filter before search in two messages: 0.0 in ragas; ours credits the one call that is in order."""
    made: list[Call] = [("filter", {"type": "recent"}), ("search", {"query": "python"})]
    assert accuracy(made, made[::-1], compat="ragas") == 0.0
    assert accuracy(made, made[::-1]) == 0.5
    assert accuracy(made, made[::-1], strict_order=False) == 1.0


@pytest.mark.parametrize(
    ("made", "wanted", "value"),
    [
        pytest.param({"v": 75}, {"v": 75.0}, 1.0, id="numbers by value"),
        pytest.param({"v": "75"}, {"v": 75}, 0.0, id="a text is no number"),
        pytest.param({"v": 1}, {"v": True}, 0.0, id="a boolean is no number"),
        pytest.param({"v": "None"}, {"v": None}, 0.0, id="a text is not null"),
        pytest.param({}, {"v": None}, 1.0, id="null is absent"),
        pytest.param({"v": 0.1 + 0.2}, {"v": 0.3}, 1.0, id="the noise of doubles"),
        pytest.param({"v": 10**15 + 1}, {"v": 10**15}, 0.0, id="whole numbers exactly"),
        pytest.param({"v": {"a": 1, "b": 2}}, {"v": {"b": 2, "a": 1}}, 1.0, id="order of members"),
        pytest.param({"v": [1, 2]}, {"v": [2, 1]}, 0.0, id="order of a list"),
        pytest.param({"v": []}, {"v": {}}, 0.0, id="a list is no object"),
        pytest.param({"이름": "한"}, {"이름": "한"}, 1.0, id="both Unicode forms"),
        pytest.param({"to": "bob", "cc": "x"}, {"to": "bob"}, 0.5, id="an invented argument counts"),
    ],
)
def test_arguments_are_compared_as_json(made: dict[str, Any], wanted: dict[str, Any], value: float) -> None:
    """Arguments match when they are the same JSON value, not when they print alike."""
    assert accuracy([("f", made)], [("f", wanted)]) == pytest.approx(value)


def test_calls_issued_together_have_no_order() -> None:
    """Strict order holds between messages; `parallel_unordered=false` makes it hold inside them too."""
    talk = conversation(user("Both"), calls(LONDON, PARIS))
    assert value_of(NAME, talk, expected(PARIS, LONDON)) == 1.0
    assert value_of(NAME, talk, expected(PARIS, LONDON), parallel_unordered=False) == 0.5


def test_extra_and_missing_calls() -> None:
    """A missing call costs its share, an additional or repeated one nothing."""
    a: Call = ("a", {"x": 1})
    b: Call = ("b", {"x": 1})
    log: Call = ("log", {})
    assert accuracy([a], [a, b]) == 0.5
    assert accuracy([b], [a, b]) == 0.5
    assert accuracy([a, log, b], [a, b]) == 1.0
    assert accuracy([a, a, b], [a, b]) == 1.0


def test_best_assignment_beats_the_sort() -> None:
    """An additional argument that changes the sort order does not cross two perfect calls, as it does in ragas."""
    made: list[Call] = [("send", {"a": 1, "to": "z"}), ("send", {"to": "a"})]
    wanted: list[Call] = [("send", {"to": "z"}), ("send", {"to": "a"})]
    assert accuracy(made, wanted, strict_order=False) == pytest.approx(0.75)
    assert accuracy(made, wanted, strict_order=False, compat="ragas") == 0.0


def test_the_score_tells_what_was_wrong() -> None:
    """Details name missing and additional calls, and evidence points at the messages."""
    talk = conversation(user("Do it"), calls(PARIS), result("ok"), calls(("log", {})), says("Done"))
    outcome = outcome_of(NAME, talk, expected(PARIS, ("pay", {})))
    assert isinstance(outcome, Score)
    assert outcome.details == {"expected": 2, "made": 2, "exact": 1, "partial": 0, "missing": ("pay",), "extra": ("log",)}
    assert outcome.evidence == (3,)


def test_legacy_takes_an_argument_comparison() -> None:
    """`compat="ragas-legacy"` with matchers stands for ragas' `arg_comparison_metric`; the newer class had none."""
    talk = conversation(user("x"), calls(("search", {"q": "Python"})))
    wanted = expected(("search", {"q": "python"}))
    rules = {"q": "case_insensitive"}
    assert value_of(NAME, talk, wanted, compat="ragas-legacy") == 0.0
    assert value_of(NAME, talk, wanted, compat="ragas-legacy", arguments=rules) == 1.0
    assert isinstance(outcome_of(NAME, talk, wanted, compat="ragas", arguments=rules), Failed)


def skipped(outcome: object) -> SkipReason:
    assert isinstance(outcome, Skipped)
    return outcome.reason


def test_skipped_without_a_reference() -> None:
    """Without expected calls there is nothing to hold the conversation against."""
    assert skipped(outcome_of(NAME, conversation(user("x"), calls(PARIS)))) is SkipReason.NEEDS_MISSING


def test_skipped_when_nothing_was_expected_and_nothing_called() -> None:
    """Undefined, unless `undefined_is` says what it counts as; a call that was not to be made is 0."""
    talk = conversation(user("Hi"), says("Hello"))
    assert skipped(outcome_of(NAME, talk, expected())) is SkipReason.UNDEFINED
    assert value_of(NAME, talk, expected(), undefined_is=1) == 1.0
    assert value_of(NAME, conversation(user("Hi"), calls(PARIS)), expected()) == 0.0


def test_skipped_when_arguments_were_not_recorded() -> None:
    """Calls whose arguments are unknown are no mismatch: the score would be invented."""
    hidden = ToolCall(name="weather_check", arguments=None)
    assert skipped(outcome_of(NAME, conversation(user("x"), calls(hidden)), expected(PARIS))) is SkipReason.CONTENT_NOT_CAPTURED


def test_skipped_when_arguments_were_cut() -> None:
    """Arguments that end in the middle of their JSON, in a conversation known to be cut, are not compared."""
    cut = ToolCall(name="weather_check", arguments=None, raw='{"location": "Par')
    talk = conversation(user("x"), calls(cut), gaps=(Gap(reason=GapReason.TRUNCATED, where="gen_ai.output.messages"),))
    assert skipped(outcome_of(NAME, talk, expected(PARIS))) is SkipReason.TRUNCATED


def test_arguments_that_are_no_object_can_still_match() -> None:
    """A search tool called with a plain text matches the same text (a call without arguments is the same as {})."""
    raw = ToolCall(name="search", arguments=None, raw="weather in Paris")
    talk = conversation(user("x"), calls(raw))
    assert value_of(NAME, talk, expected(raw)) == 1.0
    assert value_of(NAME, talk, expected(("search", {"q": "x"}))) == 0.0
    empty = ToolCall(name="list", arguments=None, raw="null")
    assert value_of(NAME, conversation(user("x"), calls(empty)), expected(("list", {}))) == 1.0


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"strict": True}, "strict"),
        ({"strict_order": "yes"}, "strict_order"),
        ({"arguments": {"q": "roughly"}}, "roughly"),
        ({"arguments": {"q": "number:many"}}, "number:many"),
        ({"compat": "ragas-0.1"}, "ragas-0.1"),
    ],
)
def test_a_wrong_parameter_fails_and_is_named(parameters: dict[str, Any], named: str) -> None:
    """A parameter that cannot be is a failure that says which one, not a score by some default."""
    outcome = outcome_of(NAME, conversation(user("x"), calls(PARIS)), expected(PARIS), **parameters)
    assert isinstance(outcome, Failed)
    assert outcome.error_type is FailReason.METRIC_ERROR
    assert named in outcome.detail


def test_more_calls_than_can_be_assigned_fail() -> None:
    """Beyond the bound of the exact method there is no guess."""
    many: list[Message] = [calls(("f", {"n": n, "m": 0})) for n in range(200)]
    wanted = Reference(tool_calls=tuple(ToolCall(name="f", arguments={"n": n, "m": 0}) for n in range(200)))
    outcome = outcome_of(NAME, conversation(user("x"), *many), wanted, strict_order=False)
    assert isinstance(outcome, Failed)
