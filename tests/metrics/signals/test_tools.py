"""Signals of the tool calls."""

import asyncio
from dataclasses import replace

import pytest

from otel_eval.metrics import builtin_metric
from otel_eval.metrics.base import MetricInput
from otel_eval.model import Conversation, Score, Skipped, SkipReason, SpanRef, ToolCall, ToolRun
from tests.fakes.conversations import calls, conversation, outcome_of, result, says, user, value_of


def steps(*pairs: tuple[str, int, str | None]) -> Conversation:
    """Calls one after the other: tool, argument, result."""
    messages = [m for name, n, text in pairs for m in (calls((name, {"n": n})), result(text))]
    return conversation(user("Do it"), *messages, says("done"))


def reason(metric: str, talk: Conversation) -> SkipReason:
    outcome = outcome_of(metric, talk)
    assert isinstance(outcome, Skipped), outcome
    return outcome.reason


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("Error: timeout", True),
        ("ValueError: bad id", True),
        ("Traceback (most recent call last):\n…", True),
        ("Failed to connect", True),
        ("An error occurred while reading", True),
        ('{"error": "not found"}', True),
        ('{"success": false}', True),
        ('{"status": "error", "detail": "x"}', True),
        ("오류: 예약 없음", True),
        ("错误：未找到订单", True),
        ("エラーが発生しました", True),
        ("Fehler: nicht gefunden", True),
        ("ok", False),
        ("Error handling in Python is done with try", False),
        ("errors: 0", False),
        ('{"error": null, "result": 4}', False),
        ("No errors found", False),
        ("", False),
    ],
)
def test_last_call_failed_by_what_the_result_says(text: str, failed: bool) -> None:
    """A result that begins with an error, or is an object that says so, is a failed call; a text about errors is not."""
    assert value_of("last_call_failed", steps(("a", 1, text))) == float(failed)


def test_a_recorded_error_counts_whatever_the_text() -> None:
    """The error of a tool's span or of the result's flag is a failed call."""
    call = ToolCall(id="1", name="a", arguments={})
    run = ToolRun(call_id="1", name="a", source=SpanRef(trace_id="t", span_id="s"), is_error=True)
    assert value_of("last_call_failed", conversation(user("x"), calls(call), result("fine", call_id="1"), tool_runs=(run,))) == 1.0
    assert value_of("last_call_failed", conversation(user("x"), calls(call), result("fine", call_id="1", is_error=True))) == 1.0


def test_results_go_to_their_calls() -> None:
    """Parallel results are joined by call id even when they come in another order, else by order."""
    talk = conversation(
        user("x"),
        calls(ToolCall(id="1", name="a", arguments={}), ToolCall(id="2", name="b", arguments={})),
        result("ok", call_id="2"),
        result("Error: no", call_id="1"),
    )
    assert value_of("last_call_failed", talk) == 0.0
    assert value_of("tool_error_rate", talk) == 0.5


def test_call_ids_that_are_used_again() -> None:
    """Where a call id comes twice, each call has the result that follows it."""
    call = ToolCall(id="1", name="a", arguments={})
    talk = conversation(user("x"), calls(call), result("Error: no", call_id="1"), calls(call), result("ok", call_id="1"))
    assert value_of("tool_error_rate", talk) == 0.5
    assert value_of("last_call_failed", talk) == 0.0


def test_tool_error_rate() -> None:
    """One of four calls failed: 0.25, with the failed call as evidence."""
    outcome = outcome_of("tool_error_rate", steps(("a", 1, "ok"), ("a", 2, "Error: x"), ("a", 3, "ok"), ("a", 4, "ok")))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.evidence) == (0.25, (3,))


def test_unknown_results_are_no_success() -> None:
    """Calls without recorded results have no error rate; a conversation without calls has none either."""
    hidden = steps(("a", 1, None))
    assert reason("tool_error_rate", hidden) is SkipReason.CONTENT_NOT_CAPTURED
    assert reason("last_call_failed", hidden) is SkipReason.CONTENT_NOT_CAPTURED
    assert reason("empty_results", hidden) is SkipReason.CONTENT_NOT_CAPTURED
    assert reason("tool_error_rate", conversation(user("Hi"), says("Hello"))) is SkipReason.UNDEFINED


def test_repeated_calls() -> None:
    """A call counts as repeated with the same tool and the same arguments, however they are written."""
    assert value_of("repeated_calls", steps(("s", 1, ""), ("s", 1, ""), ("s", 2, ""), ("s", 1, ""))) == 2.0
    spelled = conversation(user("x"), calls(("f", {"a": 1, "b": None})), calls(("f", {"a": 1.0})))
    assert value_of("repeated_calls", spelled) == 1.0
    unknown = conversation(user("x"), calls(ToolCall(name="f")), calls(ToolCall(name="f")))
    assert value_of("repeated_calls", unknown) == 0.0


@pytest.mark.parametrize(
    ("pattern", "value"),
    [("abc", 0), ("aaa", 2), ("ababab", 2), ("xababy", 1), ("abcdabcd", 1), ("abcdeabcde", 0), ("abba", 1), ("", 0)],
)
def test_loops(pattern: str, value: float) -> None:
    """A pattern of up to four calls that follows on itself is a loop; one call apart breaks it."""
    talk = conversation(user("x"), *(calls((name, {})) for name in pattern), says("done"))
    assert value_of("loops", talk) == value


def test_loops_point_at_their_calls() -> None:
    """Evidence is the whole run of the pattern."""
    outcome = outcome_of("loops", conversation(user("x"), *(calls((name, {})) for name in "xababy")))
    assert isinstance(outcome, Score)
    assert outcome.evidence == (2, 3, 4, 5)


def test_longest_tool_run_and_count() -> None:
    """Runs go by tool, whatever the arguments; all calls are counted, parallel ones too."""
    talk = conversation(user("x"), calls(("s", {"n": 1}), ("s", {"n": 2})), calls(("o", {})), calls(("s", {})))
    assert value_of("longest_tool_run", talk) == 2.0
    assert value_of("tool_call_count", talk) == 4.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 1), ("[]", 1), ("{}", 1), ("null", 1), ('""', 1), ("No results found.", 1), ("0 rows", 1), ("결과가 없습니다", 1),
        ("没有找到结果", 1), ("Keine Treffer", 1), ('{"results": []}', 1), ('{"results": [], "total": 0}', 1),
        ("[1]", 0), ("ok", 0), ('{"results": [1]}', 0), ("No results were found in the old archive, but the new one has three entries", 0),
        ("Error: []", 0), ("0", 0), ("false", 0),
    ],
)  # fmt: skip
def test_empty_results(text: str, value: float) -> None:
    """An empty result gave nothing and is no error; 0 and false are answers."""
    assert value_of("empty_results", steps(("a", 1, text))) == value


def test_what_was_worked_out_belongs_to_its_conversation() -> None:
    """An input made from another one by `replace` never takes over what was found in the other's conversation."""
    metric, first = builtin_metric("tool_call_count"), MetricInput(conversation=steps(("a", 1, "ok")))
    second = replace(first, conversation=steps(("a", 1, "ok"), ("b", 1, "ok")))
    counts = [asyncio.run(metric.score(given)) for given in (first, second, first)]
    assert [count.value for count in counts if isinstance(count, Score)] == [1.0, 2.0, 1.0]
