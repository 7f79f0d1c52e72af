"""Calls, results and tool runs find each other. Semconv traps T6, T7, T9; field bugs A10, A15, A16, A19."""

from typing import Any

import pytest

from otel_eval.model import GapReason, SpanEvent
from tests.fakes.spans import agent, call, chat, moment, only, reasons, result, says, span, talk, tool, user

FIRST, SECOND = call("lookup", {"id": 1}, "c1"), call("lookup", {"id": 2}, "c2")
ASKED = [user("Look.")]
RUN_TALK = ["user: Look.", "assistant: -> lookup(id=1) -> lookup(id=2)", "tool(c1): one", "tool(c2): two", "assistant: Both."]


def test_a_result_that_only_the_next_input_holds_is_found() -> None:
    """T6: an application that runs tools itself has no tool spans; results stand in the next input."""
    got = only(chat(1, ASKED, says(None, FIRST)), chat(2, [*ASKED, says(None, FIRST), result("one", "c1")], says("One.")))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one", "assistant: One."]
    assert got.tool_runs == ()


def test_a_result_that_only_the_tool_span_holds_is_found() -> None:
    """T6: when the run stops after the tool, its span alone tells the result."""
    got = only(chat(1, ASKED, says(None, FIRST)), tool(2, "lookup", {"id": 1}, "one", call_id="c1"))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one"]


def test_a_result_that_both_hold_stands_once() -> None:
    """T6: a tool span and the next input tell of one call."""
    got = only(
        chat(1, ASKED, says(None, FIRST)),
        tool(2, "lookup", {"id": 1}, "one", call_id="c1"),
        chat(3, [*ASKED, says(None, FIRST), result("one", "c1")], says("One.")),
    )
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one", "assistant: One."]
    assert [(r.call_id, r.name, r.is_error) for r in got.tool_runs] == [("c1", "lookup", None)]


def test_a_result_that_stands_nowhere_is_a_gap() -> None:
    """A16: where nobody recorded what the tool gave back, the talk says so and invents nothing."""
    got = only(chat(1, ASKED, says(None, FIRST)), chat(2, [*ASKED, says(None, FIRST), user("Well?")], says("No idea.")))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "user: Well?", "assistant: No idea."]
    assert GapReason.RESULT_NOT_RECORDED in reasons(got.gaps)


def test_a_call_at_the_end_waits_for_its_result_without_a_gap() -> None:
    """A trace that ends with a call may still be running: no result is missing yet."""
    assert GapReason.RESULT_NOT_RECORDED not in reasons(only(chat(1, ASKED, says(None, FIRST))).gaps)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_results_of_parallel_calls_stand_in_the_order_of_the_calls(order: tuple[int, int]) -> None:
    """T9: whatever order results come in, they stand as the message asked for them."""
    results = [result("one", "c1"), result("two", "c2")]
    got = only(
        chat(1, ASKED, says(None, FIRST, SECOND)),
        chat(2, [*ASKED, says(None, FIRST, SECOND), *(results[i] for i in order)], says("Both.")),
    )
    assert talk(got) == RUN_TALK


def test_parallel_runs_that_overlap_stand_in_the_order_of_the_calls() -> None:
    """T9: the start of a tool's span says nothing about the order."""
    got = only(
        chat(1, ASKED, says(None, FIRST, SECOND)),
        tool(3, "lookup", {"id": 2}, "two", call_id="c2", start=2, end=4),
        tool(4, "lookup", {"id": 1}, "one", call_id="c1", start=2.1, end=3),
        chat(5, [*ASKED, says(None, FIRST, SECOND), result("two", "c2"), result("one", "c1")], says("Both.")),
    )
    assert talk(got) == RUN_TALK


def test_several_results_in_one_message_are_several() -> None:
    """T9: one tool message with two result parts is two results."""
    parts = [{"type": "tool_call_response", "id": i, "response": r} for i, r in (("c2", "two"), ("c1", "one"))]
    history = [*ASKED, says(None, FIRST, SECOND), {"role": "tool", "parts": parts}]
    assert talk(only(chat(1, ASKED, says(None, FIRST, SECOND)), chat(2, history, says("Both.")))) == RUN_TALK


def test_runs_without_ids_are_joined_by_name_and_arguments() -> None:
    """T6: a tool span without a call id (OpenAI Agents) answers the call of its name and arguments."""
    got = only(
        chat(1, ASKED, says(None, FIRST, SECOND)),
        tool(2, "lookup", {"id": 2}, "two"),
        tool(3, "lookup", {"id": 1}, "one"),
        chat(4, ASKED, says("Both.")),
    )
    assert talk(got)[:4] == RUN_TALK[:4]
    assert [(r.call_id, r.source.span_id[-1]) for r in got.tool_runs] == [("c1", "3"), ("c2", "2")]


def test_runs_without_ids_and_arguments_are_joined_by_name_in_order() -> None:
    """T6: with nothing but names, the first run answers the first call."""
    calls = [call("find", {"q": "a"}, "c1"), call("read", {"q": "b"}, "c2"), call("find", {"q": "c"}, "c3")]
    got = only(
        chat(1, ASKED, says(None, *calls)),
        tool(2, "find", None, "A"),
        tool(3, "read", None, "B"),
        tool(4, "find", None, "C"),
        chat(5, ASKED, says("Ok.")),
    )
    assert talk(got)[2:5] == ["tool(c1): A", "tool(c2): B", "tool(c3): C"]


def test_ids_repeated_every_turn_answer_the_call_of_their_turn() -> None:
    """T7: Vertex gives the same id to every first call of a function; ids count only within their message."""
    one, two = call("lookup", {"id": 1}, "lookup_0"), call("lookup", {"id": 2}, "lookup_0")
    history = [*ASKED, says(None, one), result("one", "lookup_0"), says("One."), user("And 2?")]
    got = only(
        chat(1, ASKED, says(None, one)),
        tool(2, "lookup", {"id": 1}, "one", call_id="lookup_0"),
        chat(3, history[:3], says("One.")),
        chat(4, history, says(None, two)),
        tool(5, "lookup", {"id": 2}, "two", call_id="lookup_0"),
        chat(6, [*history, says(None, two), result("two", "lookup_0")], says("Two.")),
    )
    assert talk(got) == [
        "user: Look.",
        "assistant: -> lookup(id=1)",
        "tool(lookup_0): one",
        "assistant: One.",
        "user: And 2?",
        "assistant: -> lookup(id=2)",
        "tool(lookup_0): two",
        "assistant: Two.",
    ]


@pytest.mark.parametrize("written", ["c1", " c1", "c1\n"])
def test_ids_may_carry_stray_spaces(written: str) -> None:
    """T7: an id with spaces around it is the same id."""
    got = only(chat(1, ASKED, says(None, FIRST)), chat(2, [*ASKED, says(None, FIRST), result("one", written)], says("One.")))
    assert talk(got)[2] == "tool(c1): one"
    assert GapReason.RESULT_NOT_RECORDED not in reasons(got.gaps)


def test_results_without_ids_are_joined_by_order() -> None:
    """T7: Gemini gives no ids; results of one message answer its calls in order."""
    calls = [call("lookup", {"id": 1}), call("lookup", {"id": 2})]
    got = only(chat(1, ASKED, says(None, *calls)), chat(2, [*ASKED, says(None, *calls), result("one"), result("two")], says("Both.")))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1) -> lookup(id=2)", "tool: one", "tool: two", "assistant: Both."]
    assert [r.name for r in got.tool_results] == ["lookup", "lookup"]


def test_a_run_that_no_message_shows_becomes_a_call() -> None:
    """A16: where messages lost their calls, the spans of the tools still show what was done and when."""
    got = only(
        agent(1, "desk"),
        chat(2, ASKED, says("Let me look."), parent=1),
        tool(3, "lookup", {"id": 1}, "one", call_id="c1", parent=1),
        chat(4, ASKED, says("One."), parent=1),
    )
    assert talk(got)[:3] == ["user: Look.", "assistant: Let me look. -> lookup(id=1)", "tool(c1): one"]
    assert talk(got)[-1] == "assistant: One."


@pytest.mark.parametrize(
    "fields",
    [
        {"error": "no such row"},
        {"attributes": {"error.type": "LookupError"}},
        {"events": [SpanEvent(name="exception", time_ns=moment(2), attributes={"exception.message": "no such row"})]},
    ],
)
def test_a_failed_tool_is_told(fields: dict[str, Any]) -> None:
    """B7, A8: a status, an error type or an exception event of the tool's span says that the call failed."""
    got = only(
        chat(1, ASKED, says(None, FIRST)),
        tool(2, "lookup", {"id": 1}, call_id="c1", **fields),
        chat(3, [*ASKED, says(None, FIRST), result("Error: no such row", "c1")], says("Sorry.")),
    )
    assert talk(got)[2] == "tool(c1) !: Error: no such row"
    assert got.tool_runs[0].is_error is True


def test_a_failed_tool_without_a_result_tells_its_error() -> None:
    """The message of the failure is the result where nothing else is."""
    got = only(chat(1, ASKED, says(None, FIRST)), tool(2, "lookup", {"id": 1}, call_id="c1", error="no such row"))
    assert talk(got)[2] == "tool(c1) !: no such row"


def test_a_tool_without_parameters_is_a_valid_call() -> None:
    """A10: null or empty arguments are the empty object."""
    got = only(
        chat(1, ASKED, says(None, {"type": "tool_call", "id": "c1", "name": "now", "arguments": None})),
        tool(2, "now", None, "noon", call_id="c1"),
    )
    assert talk(got) == ["user: Look.", "assistant: -> now()", "tool(c1): noon"]


@pytest.mark.parametrize(
    ("written", "arguments", "raw"),
    [
        ({"id": 1}, {"id": 1}, None),
        ('{"id": 1}', {"id": 1}, None),
        ("", {}, None),
        ("weather in Lisbon", None, "weather in Lisbon"),
        ('{"id": ', None, '{"id": '),
        ([1, 2], None, "[1, 2]"),
    ],
)
def test_arguments_come_in_every_form(written: Any, arguments: Any, raw: str | None) -> None:
    """A15: object, JSON text, plain text, cut text or a list; what is no object is kept as it stood, with a gap."""
    got = only(chat(1, ASKED, says(None, call("search", written, "c1") | {"arguments": written})))
    assert (got.tool_calls[0].arguments, got.tool_calls[0].raw) == (arguments, raw)
    assert (GapReason.ARGUMENTS_UNREADABLE in reasons(got.gaps)) is (arguments is None)


def test_arguments_that_are_not_recorded_are_unknown() -> None:
    """A call without the field has unknown arguments, not none."""
    made = {"type": "tool_call", "id": "c1", "name": "search"}
    assert only(chat(1, ASKED, says(None, made))).tool_calls[0].arguments is None


def test_a_tool_span_tells_the_arguments_that_the_message_lost() -> None:
    """The arguments on the tool's own span complete a call whose message has none."""
    made = {"type": "tool_call", "id": "c1", "name": "lookup"}
    got = only(chat(1, ASKED, says(None, made)), tool(2, "lookup", {"id": 1}, "one", call_id="c1"))
    assert talk(got)[1] == "assistant: -> lookup(id=1)"


def test_a_tool_run_is_not_taken_by_another_with_its_name() -> None:
    """A run without id does not take the call that another run names by id."""
    got = only(
        chat(1, ASKED, says(None, FIRST, call("lookup", {"id": 1}, "c2"))),
        tool(2, "lookup", {"id": 1}, "unnamed"),
        tool(3, "lookup", {"id": 1}, "named", call_id="c1"),
        chat(4, ASKED, says("Both.")),
    )
    assert talk(got)[2:4] == ["tool(c1): named", "tool(c2): unnamed"]


def test_a_provider_tool_has_call_and_result_in_one_answer() -> None:
    """Server tools (1.40) run at the provider: call and response stand in the answer itself, without spans."""
    answer = {
        "role": "assistant",
        "parts": [
            {"type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": {"type": "web_search", "query": "Lisbon"}},
            {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"type": "web_search", "hits": 3}},
            {"type": "text", "content": "Three hits."},
        ],
    }
    got = only(chat(1, ASKED, answer))
    assert got.tool_calls[0].name == "web_search"
    assert [r.call_id for r in got.tool_results] == ["s1"]
    assert any(m.text == "Three hits." for m in got.messages)


def test_an_mcp_client_inside_a_tool_span_is_one_run() -> None:
    """T11: execute_tool, MCP client and MCP server spans of one call are one run."""
    got = only(
        chat(1, ASKED, says(None, FIRST)),
        tool(2, "lookup", {"id": 1}, "one", call_id="c1", end=9),
        span(
            3,
            {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"},
            parent=2,
            name="tools/call lookup",
        ),
        span(
            4,
            {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup"},
            parent=3,
            name="tools/call lookup",
        ),
        chat(10, [*ASKED, says(None, FIRST), result("one", "c1")], says("One.")),
    )
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one", "assistant: One."]
    assert len(got.tool_runs) == 1
