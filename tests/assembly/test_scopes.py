"""Who talks with whom inside one trace. Semconv trap T10; field bugs A13, D19."""

import pytest

from otel_eval.model import Conversation, Span
from tests.fakes.spans import agent, call, chat, converted, result, says, span, system, talk, tool, user

ASKED = [user("Book Lisbon.")]


def mains_and_subs(*spans: Span) -> tuple[list[Conversation], list[Conversation]]:
    found = converted(*spans)
    return [c for c in found if c.sub_agent_of is None], [c for c in found if c.sub_agent_of is not None]


def handoff(*, parents: tuple[int | None, int | None], root: int | None = None) -> list[Span]:
    """Triage hands over to booking: two agents, one shared history."""
    transfer = call("transfer_to_booking", {}, "h1")
    history = [*ASKED, says(None, transfer), result("Transferred.", "h1")]
    return [
        agent(2, "triage", parent=parents[0], end=5),
        chat(3, ASKED, says(None, transfer), parent=2),
        tool(4, "transfer_to_booking", {}, "Transferred.", call_id="h1", parent=2),
        agent(6, "booking", parent=parents[1], end=9),
        chat(7, [system("You book."), *history], says("Booked."), parent=6),
        *([span(root, {"gen_ai.operation.name": "invoke_workflow"}, name="run", end=20)] if root else []),
    ]


HANDED_OVER = ["user: Book Lisbon.", "assistant: -> transfer_to_booking()", "tool(h1): Transferred.", "assistant: Booked."]


def test_a_handoff_between_siblings_is_one_talk() -> None:
    """A13: agents side by side under one workflow that share the history are one conversation with two agents."""
    mains, subs = mains_and_subs(*handoff(parents=(1, 1), root=1))
    assert [talk(c) for c in mains] == [HANDED_OVER]
    assert subs == []
    assert mains[0].agents == ("triage", "booking")


def test_a_handoff_without_a_common_parent_is_one_talk() -> None:
    """A13: the same without any span around: roots of one trace in order of time."""
    mains, subs = mains_and_subs(*handoff(parents=(None, None)))
    assert [talk(c) for c in mains] == [HANDED_OVER]
    assert subs == []


def test_a_handoff_below_the_handing_agent_is_one_talk() -> None:
    """T10: the next agent may stand inside the one that handed over."""
    mains, subs = mains_and_subs(*handoff(parents=(None, 2)))
    assert [talk(c) for c in mains] == [HANDED_OVER]
    assert subs == []


def test_a_sequence_of_agents_with_the_same_question_answers_to_one_user() -> None:
    """A13: whichever agent comes first in the list of spans, the turn is the user's and the first answer is not lost."""
    spans = handoff(parents=(1, 1), root=1)
    assert [talk(c) for c in mains_and_subs(*reversed(spans))[0]] == [HANDED_OVER]


def agent_as_tool() -> list[Span]:
    """The desk asks a weather agent through a tool."""
    asked = call("ask_weather", {"question": "Lisbon?"}, "t1")
    return [
        agent(1, "desk", end=30),
        chat(2, [system("You are the desk."), user("Is it sunny?")], says(None, asked), parent=1),
        tool(3, "ask_weather", {"question": "Lisbon?"}, "Sunny.", call_id="t1", parent=1, end=10),
        agent(4, "weather", parent=3, end=9),
        chat(5, [system("You know weather."), user("Lisbon?")], says(None, call("radar", {"at": "LIS"}, "w1")), parent=4),
        tool(6, "radar", {"at": "LIS"}, "clear", call_id="w1", parent=4),
        chat(
            7,
            [system("You know weather."), user("Lisbon?"), says(None, call("radar", {"at": "LIS"}, "w1")), result("clear", "w1")],
            says("Sunny."),
            parent=4,
        ),
        chat(
            11,
            [system("You are the desk."), user("Is it sunny?"), says(None, asked), result("Sunny.", "t1")],
            says("Yes, sunny."),
            parent=1,
        ),
    ]


def test_an_agent_used_as_a_tool_keeps_its_own_talk() -> None:
    """T10: what happens inside a tool is the sub-agent's; the user sees call and result only."""
    mains, subs = mains_and_subs(*agent_as_tool())
    assert [talk(c) for c in mains] == [
        ["user: Is it sunny?", "assistant: -> ask_weather(question='Lisbon?')", "tool(t1): Sunny.", "assistant: Yes, sunny."]
    ]
    assert [talk(c) for c in subs] == [["user: Lisbon?", "assistant: -> radar(at='LIS')", "tool(w1): clear", "assistant: Sunny."]]
    assert (mains[0].agent, subs[0].agent) == ("desk", "weather")
    assert subs[0].sub_agent_of == mains[0].key


def test_tools_belong_to_the_agent_that_ran_them() -> None:
    """D19: no agent is credited with the tool runs of another."""
    mains, subs = mains_and_subs(*agent_as_tool())
    assert [r.name for r in mains[0].tool_runs] == ["ask_weather"]
    assert [r.name for r in subs[0].tool_runs] == ["radar"]


def test_a_conversation_id_passes_to_the_sub_agent_s_caller_only() -> None:
    """The sub-agent of a conversation with an id names that id as its caller."""
    spans = agent_as_tool()
    spans[0] = agent(1, "desk", {"gen_ai.conversation.id": "c-1"}, end=30)
    mains, subs = mains_and_subs(*spans)
    assert [c.id for c in mains] == ["c-1"]
    assert subs[0].sub_agent_of == "c-1"


def test_two_runs_of_one_sub_agent_are_two_talks() -> None:
    """Each call of an agent used as a tool is a talk of its own."""
    asked = [call("ask", {"q": q}, f"t{q}") for q in ("a", "b")]
    spans = [agent(1, "desk", end=30), chat(2, ASKED, says(None, *asked), parent=1)]
    for place, q in enumerate(("a", "b")):
        spans += [
            tool(3 + place, "ask", {"q": q}, f"answer {q}", call_id=f"t{q}", parent=1, end=9),
            agent(10 + place, "helper", parent=3 + place, start=4 + place, end=8),
            chat(20 + place, [user(q)], says(f"answer {q}"), parent=10 + place, start=5 + place),
        ]
    mains, subs = mains_and_subs(*spans)
    assert len(mains) == 1
    assert sorted(talk(c) for c in subs) == [["user: a", "assistant: answer a"], ["user: b", "assistant: answer b"]]


def test_an_agent_inside_an_agent_that_goes_on_with_the_talk_is_the_same_talk() -> None:
    """A13: a wrapper agent around the real one (workflow, runner) is no second turn."""
    mains, subs = mains_and_subs(
        agent(1, "runner", {"gen_ai.input.messages": '[{"role":"user","content":"Book Lisbon."}]'}, end=20),
        agent(2, "desk", parent=1, end=10),
        chat(3, ASKED, says("Booked."), parent=2),
    )
    assert [talk(c) for c in mains] == [["user: Book Lisbon.", "assistant: Booked."]]
    assert subs == []
    assert len(mains[0].turns) == 1


def test_a_title_made_beside_the_talk_is_no_part_of_it() -> None:
    """T10: a utility call (title, summary) beside the main line stands apart."""
    history = [system("You book."), *ASKED]
    mains, subs = mains_and_subs(
        agent(1, "desk", end=20),
        chat(2, [system("Write a title for this chat."), user("Title for: Book Lisbon.")], says("Lisbon trip"), parent=1),
        chat(3, history, says(None, call("book", {}, "c1")), parent=1),
        tool(4, "book", {}, "ok", call_id="c1", parent=1),
        chat(5, [*history, says(None, call("book", {}, "c1")), result("ok", "c1")], says("Booked."), parent=1),
    )
    assert [talk(c) for c in mains] == [["user: Book Lisbon.", "assistant: -> book()", "tool(c1): ok", "assistant: Booked."]]
    assert all("Lisbon trip" not in t for c in mains for t in talk(c))
    assert [talk(c)[-1] for c in subs] == ["assistant: Lisbon trip"]


@pytest.mark.parametrize("told", [[system("You book."), result("ok", "c1")], [system("You book.")]])
def test_a_title_takes_no_result_from_the_talk(told: list[dict[str, object]]) -> None:
    """T8, T10: an input that holds only a result, or nothing new, goes on with the talk that asked, not with the title made since."""
    mains, subs = mains_and_subs(
        agent(1, "desk", end=20),
        chat(2, [system("You book."), *ASKED], says(None, call("book", {}, "c1")), parent=1),
        chat(3, [system("Write a title."), user("Title for: Book Lisbon.")], says("Lisbon trip"), parent=1),
        tool(4, "book", {}, "ok", call_id="c1", parent=1),
        chat(5, told, says("Booked."), parent=1),
    )
    assert [talk(c) for c in mains] == [["user: Book Lisbon.", "assistant: -> book()", "tool(c1): ok", "assistant: Booked."]]
    assert [talk(c)[-1] for c in subs] == ["assistant: Lisbon trip"]


def test_a_guardrail_that_reads_the_question_is_no_answer() -> None:
    """T10: a guardrail's model call before the answer, in its own agent, does not speak to the user."""
    mains, _ = mains_and_subs(
        span(1, {"gen_ai.operation.name": "invoke_workflow"}, name="run", end=30),
        agent(2, "guardrail", parent=1, end=4),
        chat(3, [system("Is this about travel? Answer in JSON."), *ASKED], says('{"allowed": true}'), parent=2),
        agent(5, "desk", parent=1, end=20),
        chat(6, [system("You book."), *ASKED], says(None, call("book", {}, "c1")), parent=5),
        tool(7, "book", {}, "ok", call_id="c1", parent=5),
        chat(8, [system("You book."), *ASKED, says(None, call("book", {}, "c1")), result("ok", "c1")], says("Booked."), parent=5),
    )
    assert len(mains) == 1
    assert talk(mains[0])[0] == "user: Book Lisbon."
    assert talk(mains[0])[-1] == "assistant: Booked."
    assert not any("allowed" in t for t in talk(mains[0]))


def test_an_evaluator_in_the_trace_is_left_out() -> None:
    """T22: what an evaluation span holds is not the agent's talk."""
    mains, subs = mains_and_subs(
        agent(1, "desk", end=20),
        chat(2, ASKED, says("Booked."), parent=1),
        span(3, {"gen_ai.operation.name": "evaluation"}, parent=1, name="evaluate", end=9),
        chat(4, [user("Was this helpful?")], says("yes"), parent=3),
    )
    assert [talk(c) for c in mains] == [["user: Book Lisbon.", "assistant: Booked."]]
    assert subs == []


def test_agents_of_a_crew_keep_their_own_talks() -> None:
    """T10: agents side by side that share no history each keep their own; the outermost, longest is the user's."""
    mains, subs = mains_and_subs(
        span(1, {"gen_ai.operation.name": "invoke_workflow"}, name="crew", end=40),
        agent(2, "researcher", parent=1, end=9),
        chat(3, [system("You research."), user("Find facts on Lisbon.")], says("Seven hills."), parent=2),
        agent(10, "writer", parent=1, end=20),
        chat(11, [system("You write."), user("Write on: Seven hills.")], says("Lisbon has seven hills."), parent=10),
    )
    told = [talk(c) for c in (*mains, *subs)]
    assert len(told) == 2
    assert ["user: Find facts on Lisbon.", "assistant: Seven hills."] in told
    assert ["user: Write on: Seven hills.", "assistant: Lisbon has seven hills."] in told


def test_several_conversation_ids_in_one_trace_are_several_conversations() -> None:
    """A17: a batch that handles two users in one trace keeps them apart by their ids."""
    spans = [span(1, name="job", end=40)]
    for place, who in enumerate(("a", "b")):
        root = 2 + 10 * place
        spans += [
            agent(root, "desk", {"gen_ai.conversation.id": who}, parent=1, end=root + 5),
            chat(root + 1, [user(f"I am {who}.")], says(f"Hello {who}."), parent=root),
        ]
    mains, subs = mains_and_subs(*spans)
    assert {c.id: talk(c) for c in mains} == {w: [f"user: I am {w}.", f"assistant: Hello {w}."] for w in ("a", "b")}
    assert subs == []


def test_a_sub_agent_with_an_id_of_its_own_is_still_a_sub_agent() -> None:
    """A sub-agent that carries another conversation id inside its caller's trace is told as the caller's."""
    spans = agent_as_tool()
    spans[0] = agent(1, "desk", {"gen_ai.conversation.id": "outer"}, end=30)
    spans[3] = agent(4, "weather", {"gen_ai.conversation.id": "inner"}, parent=3, end=9)
    mains, subs = mains_and_subs(*spans)
    assert [c.id for c in mains] == ["outer"]
    assert [(c.id, c.sub_agent_of) for c in subs] == [("inner", "outer")]
