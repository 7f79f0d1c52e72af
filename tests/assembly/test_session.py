"""Many traces to conversations. Semconv traps T13, T15, T22; field bugs A12, A17, A18."""

import pytest

from otel_eval.model import Span
from tests.fakes.spans import agent, call, chat, convert, converted, moment, result, says, span, system, talk, tool, user

ID = {"gen_ai.conversation.id": "c-1"}


def turn(number: int, given: list[dict[str, object]], answer: str, **fields: object) -> list[Span]:
    """A trace of one turn; its agent carries the conversation's id."""
    return [agent(number, "desk", ID, trace=number, end=number + 9), chat(number + 1, given, says(answer), trace=number, parent=number)]


HISTORY = [user("One?"), says("1"), user("Two?"), says("2"), user("Three?")]
WHOLE = ["user: One?", "assistant: 1", "user: Two?", "assistant: 2", "user: Three?", "assistant: 3"]


def turns(*, repeating: bool) -> list[list[Span]]:
    """Three traces of one conversation, with or without the history repeated."""
    givens = [HISTORY[:1], HISTORY[:3], HISTORY[:5]] if repeating else [HISTORY[:1], HISTORY[2:3], HISTORY[4:5]]
    return [turn(10 * (n + 1), given, str(n + 1)) for n, given in enumerate(givens)]


@pytest.mark.parametrize("repeating", [True, False])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (2, 1, 0)])
def test_traces_of_one_id_are_one_conversation(repeating: bool, order: tuple[int, ...]) -> None:
    """T15: a trace a turn, joined by the id, in order of time whatever the order of arrival."""
    listed = turns(repeating=repeating)
    (got,) = converted(*[s for i in order for s in listed[i]])
    assert talk(got) == WHOLE
    assert got.joined_by == "conversation_id"
    assert [t.root.span_id[-2:] for t in got.turns if t.root] == ["0a", "14", "1e"]
    assert [len(t.trace_ids) for t in got.turns] == [1, 1, 1]
    assert (got.start_ns, got.end_ns) == (moment(10), moment(39))


def test_a_late_turn_only_adds() -> None:
    """A18: the part that came late makes the same conversation longer."""
    listed = turns(repeating=True)
    (early,) = converted(*listed[0], *listed[1])
    (late,) = converted(*[s for t in listed for s in t])
    assert talk(late)[: len(early.messages)] == talk(early)
    assert late.id == early.id


def test_a_missing_turn_is_told_by_the_history_after_it() -> None:
    """A turn whose trace was sampled away is known from the next one's history."""
    listed = turns(repeating=True)
    (got,) = converted(*listed[0], *listed[2])
    assert talk(got) == WHOLE


def test_traces_without_ids_are_conversations_of_their_own() -> None:
    """T15: without an id nothing is joined, whatever the words say."""
    spans = [chat(n + 1, HISTORY[: 2 * n + 1], says(str(n + 1)), trace=n + 1) for n in range(3)]
    found = converted(*spans)
    assert [c.joined_by for c in found] == ["trace"] * 3
    assert [len(c.messages) for c in found] == [2, 4, 6]
    assert [c.id for c in found] == [None] * 3


def test_traces_without_ids_are_joined_by_history_where_asked() -> None:
    """A17: with the switch, a trace that repeats another's whole talk goes on with it, and the rule is told."""
    spans = [chat(n + 1, HISTORY[: 2 * n + 1], says(str(n + 1)), trace=n + 1) for n in range(3)]
    (got,) = converted(*spans, join_by_history=True)
    assert talk(got) == WHOLE
    assert got.joined_by == "history"
    assert len(got.trace_ids) == 3


def test_history_joins_nothing_that_only_begins_alike() -> None:
    """Two users who open with the same words stay two, with the switch too."""
    spans = [chat(1, [user("Hi")], says("Hello."), trace=1), chat(2, [user("Hi")], says("Good day."), trace=2)]
    assert len(converted(*spans, join_by_history=True)) == 2


def test_ids_of_several_conversations_do_not_mix() -> None:
    """Conversations that run at the same time are told apart by their ids."""
    spans = [
        chat(n, [user(f"{n}?")], says(f"{n}."), {"gen_ai.conversation.id": "even" if n % 2 == 0 else "odd"}, trace=n) for n in range(1, 7)
    ]
    told = {c.id: talk(c) for c in converted(*spans)}
    assert told == {
        "odd": [t for n in (1, 3, 5) for t in (f"user: {n}?", f"assistant: {n}.")],
        "even": [t for n in (2, 4, 6) for t in (f"user: {n}?", f"assistant: {n}.")],
    }


def test_a_trace_without_agents_is_counted_and_no_conversation() -> None:
    """A12: a trace of HTTP spans alone is nothing to judge."""
    conversion = convert(span(1, {"http.request.method": "GET"}, name="GET /"))
    assert conversion.conversations == []
    assert conversion.report.assembly.traces_without_genai == 1
    assert conversion.report.unknown_names == {"http.request.method": 1}


def test_a_conversation_without_words_says_so() -> None:
    """T5, A12: where no content was captured the run is known, its words are not."""
    (got,) = converted(agent(1, "desk", ID, end=9), chat(2, parent=1), tool(3, "book", call_id="c1", parent=1), chat(4, parent=1))
    assert not got.has_content
    assert [r.name for r in got.tool_runs] == ["book"]
    assert "content_not_captured" in {g.reason.value for g in got.gaps}
    assert got.model_calls == 2


def test_what_an_evaluator_emitted_is_no_conversation() -> None:
    """T22: spans of evaluations, ours or others', never become conversations."""
    conversion = convert(
        span(1, {"gen_ai.operation.name": "evaluation", "gen_ai.evaluation.name": "helpfulness"}, name="evaluate", end=9),
        chat(2, [user("Is this helpful?")], says("yes"), parent=1),
    )
    assert conversion.conversations == []
    assert conversion.report.assembly.evaluator_spans == 2


def test_a_conversation_knows_what_it_is_made_of() -> None:
    """Agent, models, tokens, dialects, tools, spans and times of a conversation are those of its spans."""
    definitions = '[{"type": "function", "name": "book", "description": "Books."}]'
    known = {
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.tool.definitions": definitions,
        "gen_ai.response.id": "r1",
    }
    made = call("book", {}, "c1")
    given = [system("Be brief."), user("Book it.")]
    spans = [
        agent(1, "desk", ID, end=9),
        chat(2, given, says(None, made), known, parent=1),
        tool(3, "book", {}, "ok", call_id="c1", parent=1),
        chat(4, [*given, says(None, made), result("ok", "c1")], says("Done."), {**known, "gen_ai.response.id": "r2"}, parent=1),
    ]
    (got,) = converted(*spans)
    assert (got.agent, got.models, got.dialects, got.response_id) == ("desk", ("m-1",), ("otel_genai",), "r2")
    assert (got.usage.input_tokens, got.usage.output_tokens, got.model_calls) == (20, 4, 2)
    assert dict(got.tools["book"])["description"] == "Books."
    assert {r.span_id for r in got.spans} == {s.span_id for s in spans}
    assert all(m.source is not None for m in got.messages)
    assert (got.start_ns, got.end_ns) == (moment(1), moment(9))


def test_conversations_come_in_order_of_time() -> None:
    """The list is by start, whatever the order of arrival."""
    spans = [chat(n, [user(f"{n}")], says("."), trace=n) for n in (5, 2, 9, 1)]
    assert [c.start_ns for c in converted(*spans)] == [moment(n) for n in (1, 2, 5, 9)]


LOOKUP = call("lookup", {"id": 1}, "c1")


def asked(*, answered: bool = True) -> list[Span]:
    """A run that asked for a tool whose span stands elsewhere."""
    given = [user("Look.")]
    spans = [agent(1, "desk", ID, end=9), chat(2, given, says(None, LOOKUP), parent=1)]
    return [*spans, chat(6, [*given, says(None, LOOKUP), result("one", "c1")], says("One."), parent=1)] if answered else spans


def test_a_tool_run_that_lost_its_trace_is_joined_by_its_call_id() -> None:
    """T9: a thread pool without context makes the tool's span the root of another trace; the call that asked for it is known."""
    (got,) = converted(*asked(answered=False), tool(4, "lookup", {"id": 1}, "one", call_id="c1", trace=2))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one"]
    assert [(r.name, r.call_id) for r in got.tool_runs] == [("lookup", "c1")]


def test_a_tool_run_that_lost_its_trace_still_tells_that_it_failed() -> None:
    """T9, B7: the failure on the lost span marks the result that the next input repeats."""
    (got,) = converted(*asked(), tool(4, "lookup", {"id": 1}, call_id="c1", trace=2, error="no such row"))
    assert talk(got)[2] == "tool(c1) !: one"


def test_a_tool_run_in_another_trace_of_the_conversation_is_joined() -> None:
    """T9: where the lost span carries the conversation's id, it belongs to it."""
    (got,) = converted(*asked(), tool(4, "lookup", {"id": 1}, "one", call_id="c1", trace=2, attributes=ID))
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=1)", "tool(c1): one", "assistant: One."]
    assert [(r.name, r.source.trace_id[-1]) for r in got.tool_runs] == [("lookup", "2")]
