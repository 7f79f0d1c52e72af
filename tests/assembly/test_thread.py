"""Histories that repeat, shrink, change or are not told at all become one line of talk. Semconv traps T2, T3, T8, T18, T19, T21."""

import pytest

from otel_eval.model import GapReason, Span
from tests.fakes.spans import call, chat, only, reasons, result, says, span, step_of, system, talk, to_json, tool, user

LOOKUP = call("lookup", {"id": 7}, "c1")
OTHER = call("lookup", {"id": 8}, "c2")


def test_a_repeated_history_is_told_once() -> None:
    """T2: each model call repeats all before it; every message stands once."""
    first = [system("Be brief."), user("Where is it?")]
    second = [*first, says("Let me see.", LOOKUP), result("In Lisbon", "c1")]
    got = only(chat(1, first, says("Let me see.", LOOKUP)), chat(2, second, says("In Lisbon.")))
    assert talk(got) == ["user: Where is it?", "assistant: Let me see. -> lookup(id=7)", "tool(c1): In Lisbon", "assistant: In Lisbon."]
    assert got.system == "Be brief."
    assert got.gaps == ()


def test_a_user_may_say_the_same_thing_twice() -> None:
    """T2: repetition is found by place in the history, never by equal text."""
    first = [user("Again!")]
    second = [*first, says("Ok."), user("Again!")]
    third = [*second, says("Ok."), user("Again!")]
    got = only(chat(1, first, says("Ok.")), chat(2, second, says("Ok.")), chat(3, third, says("Enough.")))
    assert talk(got) == ["user: Again!", "assistant: Ok.", "user: Again!", "assistant: Ok.", "user: Again!", "assistant: Enough."]
    assert len(got.turns) == 3


def test_the_same_words_twice_in_deltas_are_two_messages() -> None:
    """T2, T8: where a call names the response before it, its input is new, however well known its words."""
    ids: list[dict[str, str]] = [{"gen_ai.response.id": f"r{n}", "gen_ai.request.previous_response.id": f"r{n - 1}"} for n in range(1, 4)]
    got = only(*[chat(n, [user("Again!")], says(f"Answer {n}."), ids[n - 1]) for n in (1, 2, 3)])
    assert talk(got) == [t for n in (1, 2, 3) for t in ("user: Again!", f"assistant: Answer {n}.")]


def test_an_agent_without_memory_hears_the_same_words_twice() -> None:
    """T2, T15: in another trace of the conversation a first input equal to the very first one is a new turn, not its repetition."""
    known = {"gen_ai.conversation.id": "c"}
    got = only(*[chat(n, [user("Again!")], says(f"Answer {n}."), known, trace=n) for n in (1, 2, 3)])
    assert talk(got) == [t for n in (1, 2, 3) for t in ("user: Again!", f"assistant: Answer {n}.")]


def test_the_same_tool_may_be_called_the_same_way_twice() -> None:
    """T2: two equal calls without ids, each with its result, stay two."""
    again = call("lookup", {"id": 7})
    first = [user("Look twice.")]
    second = [*first, says(None, again), result("busy")]
    third = [*second, says(None, again), result("busy")]
    got = only(chat(1, first, says(None, again)), chat(2, second, says(None, again)), chat(3, third, says("Still busy.")))
    assert talk(got) == [
        "user: Look twice.",
        "assistant: -> lookup(id=7)",
        "tool: busy",
        "assistant: -> lookup(id=7)",
        "tool: busy",
        "assistant: Still busy.",
    ]


def test_outputs_are_kept_that_no_later_input_repeats() -> None:
    """T2: the last span alone does not hold the whole talk: an answer that the application keeps out of the history is there."""
    got = only(
        chat(1, [user("One?")], says("1")),
        chat(2, [user("One?"), user("Two?")], says("2")),
    )
    assert [t for t in talk(got) if t.startswith("assistant")] == ["assistant: 1", "assistant: 2"]


def test_only_what_is_new_is_sent_with_server_side_state() -> None:
    """T8: inputs that hold only new items follow one another."""
    ids = [{"gen_ai.response.id": "r1"}, {"gen_ai.response.id": "r2", "gen_ai.request.previous_response.id": "r1"}]
    got = only(
        chat(1, [system("Be brief."), user("Where is it?")], says(None, LOOKUP), ids[0]),
        chat(2, [result("In Lisbon", "c1")], says("In Lisbon."), ids[1]),
        chat(3, [user("Thanks.")], says("Welcome."), {"gen_ai.request.previous_response.id": "r2"}),
    )
    assert talk(got) == [
        "user: Where is it?",
        "assistant: -> lookup(id=7)",
        "tool(c1): In Lisbon",
        "assistant: In Lisbon.",
        "user: Thanks.",
        "assistant: Welcome.",
    ]


def test_a_poorer_history_keeps_the_richer_answer() -> None:
    """T20: a history that lost the words beside a call does not take them from the answer that was recorded."""
    first = [user("Where is it?")]
    poorer = [*first, says(None, LOOKUP), result("In Lisbon", "c1")]
    got = only(chat(1, first, says("Let me see.", LOOKUP)), chat(2, poorer, says("In Lisbon.")))
    assert talk(got)[1] == "assistant: Let me see. -> lookup(id=7)"


def test_a_poorer_answer_learns_from_the_history() -> None:
    """A streamed answer whose calls were lost is completed by the history that repeats it."""
    first = [user("Where is it?")]
    full = [*first, says("Let me see.", LOOKUP), result("In Lisbon", "c1")]
    got = only(chat(1, first, says("Let me see.")), chat(2, full, says("In Lisbon.")))
    assert talk(got)[1:3] == ["assistant: Let me see. -> lookup(id=7)", "tool(c1): In Lisbon"]


def test_a_summarised_history_breaks_and_keeps_what_was_said() -> None:
    """T3: after compaction earlier spans remain the truth; the break is told."""
    before = [user("One?"), says("1"), user("Two?")]
    compacted = [user("Summary: they counted to two."), user("Three?")]
    got = only(chat(1, before[:1], says("1")), chat(2, before, says("2")), chat(3, compacted, says("3")))
    assert [t for t in talk(got) if "Summary" not in t] == [
        "user: One?",
        "assistant: 1",
        "user: Two?",
        "assistant: 2",
        "user: Three?",
        "assistant: 3",
    ]


def test_a_shortened_history_loses_nothing() -> None:
    """T3: an application that drops the oldest messages still goes on with the same talk, and the gap says so."""
    whole = [user("One?"), says("1"), user("Two?"), says("2"), user("Three?")]
    got = only(chat(1, whole[:1], says("1")), chat(2, whole[:3], says("2")), chat(3, whole[2:], says("3")))
    assert talk(got) == ["user: One?", "assistant: 1", "user: Two?", "assistant: 2", "user: Three?", "assistant: 3"]
    assert GapReason.HISTORY_BREAK in reasons(got.gaps)


@pytest.mark.parametrize("ids", [True, False])
def test_a_trimmed_history_is_no_edited_one(ids: bool) -> None:
    """T3: a history that begins at a later turn, with the same tool called in the same way, goes on there and mends nothing before."""
    first, second = (call("book", {}, f"c{n}" if ids else None) for n in (1, 2))
    results = [result("ok", f"c{n}" if ids else None) for n in (1, 2)]
    one = [user("One?"), says(None, first), results[0], says("1")]
    two = [user("Two?"), says("Let me see.", second), results[1], says("2")]
    known = {"gen_ai.conversation.id": "c"}
    got = only(
        *(chat(n + 1, one[:end], one[end], known, trace=1) for n, end in enumerate((1, 3))),
        *(chat(n + 3, [*one, *two[:end]], two[end], known, trace=2) for n, end in enumerate((1, 3))),
        chat(5, [*two, user("Three?")], says("3"), known, trace=3),
    )
    assert [t.partition("(c")[0] for t in talk(got)[:2]] == ["user: One?", "assistant: -> book()"]
    assert talk(got)[-1] == "assistant: 3"


def test_a_retry_of_a_delta_is_no_second_result() -> None:
    """T8, T17: an attempt that failed and its retry hold the same new messages: they are said once."""
    got = only(
        chat(1, [user("Look.")], says(None, LOOKUP)),
        chat(2, [result("one", "c1")], None, error="429"),
        chat(3, [result("one", "c1")], says("One.")),
    )
    assert talk(got) == ["user: Look.", "assistant: -> lookup(id=7)", "tool(c1): one", "assistant: One."]


def test_a_retry_of_a_later_delta_is_no_second_result() -> None:
    """T8, T17: the same in the second trace of a conversation."""
    known = {"gen_ai.conversation.id": "c"}
    got = only(
        chat(1, [user("Hi")], says("Hello."), known, trace=1),
        chat(2, [user("Look.")], None, known, trace=2, error="429"),
        chat(3, [user("Look.")], says(None, LOOKUP), known, trace=2),
        chat(4, [result("one", "c1")], None, known, trace=2, error="429"),
        chat(5, [result("one", "c1")], says("One."), known, trace=2),
    )
    assert talk(got)[2:] == ["user: Look.", "assistant: -> lookup(id=7)", "tool(c1): one", "assistant: One."]


def test_a_retry_of_a_structured_delta_is_no_second_result() -> None:
    """T8, T17: the same where messages came as structured values, which no memo makes one."""
    spans = [
        chat(1, [user("Hi")], says("Hello."), {"gen_ai.conversation.id": "c"}, trace=1),
        chat(2, [user("Look.")], says(None, LOOKUP), {"gen_ai.conversation.id": "c"}, trace=2),
    ]
    known = {"gen_ai.conversation.id": "c", "gen_ai.input.messages": [result("one", "c1")]}
    got = only(*spans, chat(3, None, None, known, trace=2, error="429"), chat(4, None, says("One."), known, trace=2))
    assert talk(got)[2:] == ["user: Look.", "assistant: -> lookup(id=7)", "tool(c1): one", "assistant: One."]


def test_an_edited_message_is_no_new_one() -> None:
    """T3: a message in the middle that the application rewrote does not start the talk anew."""
    first = [user("Where is it?"), says(None, LOOKUP), result("a very long table", "c1")]
    edited = [first[0], first[1], result("[table removed]", "c1"), says("In Lisbon."), user("And the other?")]
    got = only(chat(1, first[:1], says(None, LOOKUP)), chat(2, first, says("In Lisbon.")), chat(3, edited, says("In Porto.")))
    assert talk(got) == [
        "user: Where is it?",
        "assistant: -> lookup(id=7)",
        "tool(c1): a very long table",
        "assistant: In Lisbon.",
        "user: And the other?",
        "assistant: In Porto.",
    ]


def test_a_changing_system_prompt_breaks_nothing() -> None:
    """T3: a system prompt that holds the time of day leaves the history one."""
    first = [user("Hi")]
    second = [*first, says("Hello."), user("Bye")]
    got = only(chat(1, [system("It is noon."), *first], says("Hello.")), chat(2, [system("It is one."), *second], says("Bye.")))
    assert talk(got) == ["user: Hi", "assistant: Hello.", "user: Bye", "assistant: Bye."]
    assert got.system == "It is noon."


def test_of_several_choices_the_one_that_goes_on_counts() -> None:
    """T19: with n > 1 the choice that the next input repeats is the answer."""
    choices = [says("Left.", finish_reason="stop"), says("Right.", finish_reason="stop")]
    got = only(
        chat(1, [user("Where?")], choices, {"gen_ai.request.choice.count": 2}),
        chat(2, [user("Where?"), says("Right."), user("Sure?")], says("Yes.")),
    )
    assert talk(got) == ["user: Where?", "assistant: Right.", "user: Sure?", "assistant: Yes."]


def test_of_several_choices_without_a_next_call_the_first_counts() -> None:
    """T19: where nothing goes on, the first choice is the answer, alone."""
    choices = [says("Left.", finish_reason="stop"), says("Right.", finish_reason="stop")]
    assert talk(only(chat(1, [user("Where?")], choices))) == ["user: Where?", "assistant: Left."]


def test_an_answer_in_several_messages_is_one() -> None:
    """One answer written as several output messages (Responses API items) is one assistant message."""
    got = only(chat(1, [user("Where?")], [says("Let me see."), says(None, LOOKUP)]))
    assert talk(got) == ["user: Where?", "assistant: Let me see. -> lookup(id=7)"]


def test_a_prefilled_answer_is_one_with_what_follows() -> None:
    """An assistant message at the end of an input is the beginning of the answer."""
    assert talk(only(chat(1, [user("Rhyme."), says("Roses")], says("are red.")))) == ["user: Rhyme.", "assistant: Roses\nare red."]


def test_an_abandoned_stream_keeps_its_partial_answer() -> None:
    """T18: a stream that was dropped left words, an error and no reason to finish; what was said is kept."""
    got = only(chat(1, [user("Tell me.")], says("It was a dark and"), error="cancelled"))
    assert talk(got) == ["user: Tell me.", "assistant: It was a dark and"]


def test_reasoning_is_not_said_to_the_user() -> None:
    """T21: thinking before an answer is no part of its text; encrypted thinking has no words."""
    thought = {"type": "reasoning", "content": "She means Lisbon."}
    answer = {"role": "assistant", "parts": [thought, {"type": "reasoning"}, {"type": "text", "content": "Lisbon."}]}
    assert talk(only(chat(1, [user("Where?")], answer))) == ["user: Where?", "assistant: Lisbon."]


def test_a_refusal_is_an_answer() -> None:
    """T21: a refusal stands among the words that the user saw."""
    answer = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    assert talk(only(chat(1, [user("Do harm.")], answer)))[-1] == "assistant: I cannot help with that."


@pytest.mark.parametrize("status", [None, "timeout"])
def test_a_failed_attempt_is_no_turn(status: str | None) -> None:
    """T17: a retry after a failure repeats the input; the failed call is kept for diagnosis only."""
    given = [user("Hi")]
    failed = chat(1, given, None, {"error.type": "rate_limit"}, error=status or "429")
    got = only(failed, chat(2, given, says("Hello.")))
    assert talk(got) == ["user: Hi", "assistant: Hello."]
    assert got.failed_attempts == (failed.ref,)


def test_a_failure_with_partial_content_is_told() -> None:
    """T17: a call that failed after some words keeps them; the retry's answer follows under the same question."""
    got = only(chat(1, [user("Hi")], says("Hel", finish_reason="error"), error="reset"), chat(2, [user("Hi")], says("Hello.")))
    assert talk(got)[0] == "user: Hi"
    assert talk(got)[-1].endswith("Hello.")
    assert sum(t.startswith("user") for t in talk(got)) == 1


def test_a_fetched_response_is_no_second_answer() -> None:
    """T8: `fetch_response` repeats an earlier output; it is no new turn."""
    asked = {"gen_ai.response.id": "r1"}
    fetched = span(
        2, {"gen_ai.operation.name": "fetch_response", "gen_ai.response.id": "r1", "gen_ai.output.messages": to_json([says("Done.")])}
    )
    assert talk(only(chat(1, [user("Do it.")], says("Done."), asked), fetched)) == ["user: Do it.", "assistant: Done."]


def test_a_background_answer_comes_with_its_fetch() -> None:
    """T8: a response started in the background has its output only where it is fetched."""
    asked = chat(1, [user("Do it.")], None, {"gen_ai.response.id": "r1"})
    fetched = span(
        2, {"gen_ai.operation.name": "fetch_response", "gen_ai.response.id": "r1", "gen_ai.output.messages": to_json([says("Done.")])}
    )
    assert talk(only(asked, fetched)) == ["user: Do it.", "assistant: Done."]


def test_a_long_run_of_tools_stays_in_order() -> None:
    """Twenty rounds of call and result, each repeating all before, come out once and in order."""
    history = [user("Go.")]
    spans: list[Span] = []
    for n in range(1, 21):
        made = call("step", {"n": n}, f"c{n}")
        spans += [chat(2 * n, list(history), says(None, made)), tool(2 * n + 1, "step", {"n": n}, f"ok {n}", call_id=f"c{n}")]
        history += [says(None, made), result(f"ok {n}", f"c{n}")]
    got = only(*spans, chat(99, history, says("Done.")))
    assert talk(got) == [
        "user: Go.",
        *(t for n in range(1, 21) for t in (f"assistant: -> step(n={n})", f"tool(c{n}): ok {n}")),
        "assistant: Done.",
    ]


def test_whole_histories_are_shared_between_steps() -> None:
    """The messages of a history that a later text begins with are decoded once and are the same objects."""
    first = [user("Hi")]
    got = only(chat(1, first, says("Hello.")), chat(2, [*first, says("Hello."), user("Bye")], says("Bye.")))
    assert step_of(chat(1, first)).content.input == got.messages[:1]
