"""Tool call F1: ragas' documented examples, repetition, retries and each reason to have no value."""

from otel_eval.model import Score, Skipped, SkipReason
from tests.fakes.conversations import Call, calls, conversation, expected, outcome_of, result, says, user, value_of

NAME = "tool_call_f1"
PARIS: Call = ("weather_check", {"location": "Paris"})
UV: Call = ("uv_index_lookup", {"location": "Paris"})
AIR: Call = ("air_quality", {"location": "Paris"})


def test_ragas_documented_basic_example() -> None:
    """Weather and UV index as expected: 1.0."""
    talk = conversation(user("What's the weather in Paris?"), calls(PARIS), user("And the UV index?"), calls(UV))
    assert value_of(NAME, talk, expected(PARIS, UV)) == 1.0
    assert value_of(NAME, talk, expected(PARIS, UV), compat="ragas") == 1.0


def test_ragas_documented_extra_call() -> None:
    """One call more than expected gives 0.8; the documentation prints 0.67, which its own formula does not give."""
    talk = conversation(user("What's the weather in Paris?"), calls(PARIS), calls(UV, AIR))
    assert value_of(NAME, talk, expected(PARIS, UV)) == 0.8
    assert value_of(NAME, talk, expected(PARIS, UV), compat="ragas") == 0.8


def test_ragas_documented_missing_call_and_wrong_arguments() -> None:
    """One of two calls gives 0.6667; a call with another argument is no match."""
    talk = conversation(user("x"), calls(PARIS))
    assert value_of(NAME, talk, expected(PARIS, UV)) == 0.6667
    assert value_of(NAME, talk, expected(("weather_check", {"location": "London"}))) == 0.0


def test_paying_twice_shows() -> None:
    """Calls count as often as they were made; ragas drops repetitions."""
    pay: Call = ("pay", {"order": 1})
    talk = conversation(user("x"), calls(pay), result("paid"), calls(pay))
    wanted = expected(pay)
    assert value_of(NAME, talk, wanted) == 0.6667
    assert value_of(NAME, talk, wanted, compat="ragas") == 1.0


def test_a_retry_after_a_failure_is_one_call() -> None:
    """A call that failed and was made again as it was counts once, unless `collapse_retries=false`."""
    book: Call = ("book", {"id": 7})
    talk = conversation(user("x"), calls(book), result("Error: timeout"), calls(book), result("ok"))
    assert value_of(NAME, talk, expected(book)) == 1.0
    assert value_of(NAME, talk, expected(book), collapse_retries=False) == 0.6667


def test_the_details_hold_precision_recall_and_names() -> None:
    """Beside the F1 stand what it is made of, and the F1 of the names alone."""
    talk = conversation(user("x"), calls(PARIS, ("uv_index_lookup", {"location": "London"})))
    outcome = outcome_of(NAME, talk, expected(PARIS, UV))
    assert isinstance(outcome, Score)
    assert outcome.details == {"matched": 1, "made": 2, "expected": 2, "precision": 0.5, "recall": 0.5, "f1_of_names": 1.0}


def test_nothing_expected_and_nothing_called_is_undefined() -> None:
    """Correct restraint is not 0 as in ragas: it is skipped, or called 1 by `undefined_is`."""
    talk = conversation(user("Hi"), says("Hello"))
    outcome = outcome_of(NAME, talk, expected())
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.UNDEFINED
    assert value_of(NAME, talk, expected(), undefined_is=1.0) == 1.0
    assert value_of(NAME, talk, expected(), compat="ragas") == 0.0


def test_no_reference_is_skipped() -> None:
    """Without expected calls the metric does not apply."""
    outcome = outcome_of(NAME, conversation(user("x"), calls(PARIS)))
    assert isinstance(outcome, Skipped)
    assert outcome.reason is SkipReason.NEEDS_MISSING


def test_matchers_decide_what_is_the_same() -> None:
    """With a tolerance the call matches, without one it does not."""
    talk = conversation(user("x"), calls(("pay", {"amount": 10.004})))
    wanted = expected(("pay", {"amount": 10}))
    assert value_of(NAME, talk, wanted) == 0.0
    assert value_of(NAME, talk, wanted, arguments={"pay.amount": "number:0.01"}) == 1.0
