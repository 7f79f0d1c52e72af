"""The tree of a trace: order, ids, duplicated recordings. Semconv traps T11, T12, T13, T15; field bug A17."""

from typing import Any

import pytest

from otel_eval.model import Span
from tests.fakes.spans import agent, call, chat, convert, converted, only, reasons, result, says, span, talk, to_json, tool, user

ASKED = [user("Hi")]
TOLD = ["user: Hi", "assistant: Hello."]
ID = {"gen_ai.response.id": "r1"}


def oi(number: int, answer: str | None = "Hello.", attributes: dict[str, Any] | None = None, **fields: Any) -> Span:
    """The same model call as OpenInference records it."""
    known = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Hi"}
    told = {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": answer} if answer else {}
    return span(number, {**known, **told, **(attributes or {})}, **{"name": "ChatCompletion", **fields})


@pytest.mark.parametrize(
    "spans",
    [
        [chat(1, ASKED, says("Hello."), end=5), chat(2, ASKED, says("Hello."), parent=1)],
        [chat(1, ASKED, says("Hello."), ID, end=5), chat(2, ASKED, says("Hello."), ID, parent=1)],
        [chat(1, ASKED, says("Hello."), end=5), span(2, {}, name="POST", parent=1, end=4), chat(3, ASKED, says("Hello."), parent=2)],
        [chat(1, ASKED, says("Hello."), end=5), oi(2, parent=1)],
        [chat(1, None, None, end=5), oi(2, parent=1)],
        [agent(1, "desk", end=9), chat(2, ASKED, says("Hello."), parent=1, end=5), oi(3, parent=1, end=4)],
        [agent(1, "desk", end=9), chat(2, ASKED, says("Hello."), ID, parent=1, end=5), chat(6, None, says("Hello."), ID, parent=1)],
        [agent(1, "desk", end=9), chat(2, ASKED, says("Hello."), ID, parent=1, end=5), chat(3, ASKED, says("Hello."), ID)],
    ],
    ids=["nested", "nested with id", "nested deeper", "nested dialects", "outer silent", "siblings", "siblings by id", "root by id"],
)
def test_one_call_recorded_twice_is_one_call(spans: list[Span]) -> None:
    """T11: framework and provider SDK both instrumented: nested, side by side, or by the response id."""
    conversion = convert(*spans)
    assert [talk(c) for c in conversion.conversations] == [TOLD]
    assert conversion.conversations[0].model_calls == 1
    assert conversion.report.assembly.duplicate_calls == 1


def test_a_duplicate_that_knows_more_gives_what_it_knows() -> None:
    """T11: of two recordings each field is taken from the one that has it."""
    got = only(chat(1, None, says("Hello."), {"gen_ai.usage.input_tokens": 5}, end=5), chat(2, ASKED, None, ID, parent=1))
    assert talk(got) == TOLD
    assert (got.usage.input_tokens, got.response_id) == (5, "r1")


def test_two_calls_with_the_same_answer_are_two() -> None:
    """T11: equal words alone make no duplicate: calls one after the other both count."""
    first, second = [user("Ok?")], [user("Ok?"), says("Ok."), user("Sure?")]
    got = only(chat(1, first, says("Ok.")), chat(2, second, says("Ok.")))
    assert talk(got) == ["user: Ok?", "assistant: Ok.", "user: Sure?", "assistant: Ok."]
    assert got.model_calls == 2


def test_parallel_calls_with_different_answers_are_two() -> None:
    """T11: calls that overlap in time and answer differently are no duplicates."""
    conversion = convert(
        agent(1, "desk", end=9), chat(2, [user("A?")], says("a"), parent=1, end=6), chat(3, [user("B?")], says("b"), parent=1, end=5)
    )
    assert sum(c.model_calls for c in conversion.conversations) == 2
    assert conversion.report.assembly.duplicate_calls == 0


def test_spans_count_by_their_times_not_by_their_arrival() -> None:
    """T12, T13: children come before parents, and in any order."""
    spans = [
        agent(1, "desk", end=9),
        chat(2, ASKED, says("Hello."), parent=1),
        chat(3, [*ASKED, says("Hello."), user("Bye")], says("Bye."), parent=1),
    ]
    told = [talk(c) for c in converted(*spans)]
    assert told == [[*TOLD, "user: Bye", "assistant: Bye."]]
    assert [talk(c) for c in converted(*reversed(spans))] == told


def test_a_child_that_starts_before_its_parent_stays_its_child() -> None:
    """T12: clocks of hosts differ; the tree is told by ids."""
    got = only(agent(5, "desk", {"gen_ai.conversation.id": "c"}, end=20), chat(1, ASKED, says("Hello."), parent=5))
    assert (got.id, talk(got), got.agent) == ("c", TOLD, "desk")


@pytest.mark.parametrize("lost", [99, 4])
def test_a_missing_parent_loses_nothing(lost: int) -> None:
    """T13: a root or middle span that never came leaves its children a talk, and a gap."""
    got = only(chat(1, ASKED, says("Hello."), parent=lost), chat(2, [*ASKED, says("Hello."), user("Bye")], says("Bye."), parent=lost))
    assert talk(got) == [*TOLD, "user: Bye", "assistant: Bye."]
    assert "parent_missing" in {r.value for r in reasons(got.gaps)}


@pytest.mark.parametrize("parents", [(1, 1), (2, 1)])
def test_spans_that_are_their_own_ancestors_end_nothing(parents: tuple[int, int]) -> None:
    """A circle of parents, which only a broken producer makes, still gives the talk."""
    assert talk(only(chat(1, ASKED, says("Hello."), parent=parents[0]), chat(2, ASKED, says("Hello."), ID, parent=parents[1])))[:2] == TOLD


SPELLINGS = [
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "langsmith.metadata.thread_id",
    "mlflow.trace.session",
    "thread_id",
    "conversation_id",
]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("carrier", [0, 1, 2])
def test_the_conversation_id_may_stand_on_any_span(name: str, carrier: int) -> None:
    """T15, A17: one span of the trace that carries the id, in any of its spellings, gives it to all."""
    spans = [agent(1, "desk", end=9), chat(2, ASKED, says("Hello."), parent=1), tool(3, "noop", {}, "ok", parent=1)]
    known = spans[carrier]
    spans[carrier] = span(
        carrier + 1, {**known.attributes, name: "c-1"}, name=known.name, parent=1 if carrier else None, end=9 if not carrier else None
    )
    assert {c.id for c in converted(*spans)} == {"c-1"}


def test_the_conventions_own_spelling_wins() -> None:
    """A17: a client's session id does not split what the conversation id holds together."""
    spans = [chat(n, [user(f"{n}?")], says(f"{n}."), {"gen_ai.conversation.id": "c", "session.id": f"s{n}"}, trace=n) for n in (1, 2)]
    assert [c.id for c in converted(*spans)] == ["c"]


@pytest.mark.parametrize("value", ["", "null", None, "  "])
def test_an_empty_id_is_none(value: Any) -> None:
    """A9: an id attribute that is empty or says null names no conversation."""
    assert only(chat(1, ASKED, says("Hello."), {"gen_ai.conversation.id": value})).id is None


def test_a_number_may_be_an_id() -> None:
    """An id written as a number is that number as text."""
    assert only(chat(1, ASKED, says("Hello."), {"session.id": 42})).id == "42"


def test_a_run_marked_as_model_call_is_a_run() -> None:
    """A8: an agent span that says it is a model call, with several model calls inside, is no call of its own."""
    made = call("noop", {}, "c1")
    outer = span(1, {"gen_ai.operation.name": "chat", "gen_ai.output.messages": to_json([says("Hello.")])}, name="agent", end=20)
    got = only(
        outer,
        chat(2, ASKED, says(None, made), parent=1),
        tool(3, "noop", {}, "ok", call_id="c1", parent=1),
        chat(4, [*ASKED, says(None, made), result("ok", "c1")], says("Hello."), parent=1),
    )
    assert talk(got) == ["user: Hi", "assistant: -> noop()", "tool(c1): ok", "assistant: Hello."]
    assert got.model_calls == 2


def test_one_response_id_over_a_run_s_calls_is_no_repetition() -> None:
    """OpenAI Assistants give all calls of a run one id: a later call that says something else is another call."""
    known = {"gen_ai.response.id": "run_1"}
    asked = call("book", {}, "c1")
    got = only(
        agent(1, "desk"),
        chat(2, ASKED, says(None, asked), known, parent=1),
        tool(3, "book", {}, "ok", call_id="c1", parent=1),
        chat(4, [says(None, asked), result("ok", "c1")], says("Booked."), known, parent=1),
    )
    assert talk(got) == ["user: Hi", "assistant: -> book()", "tool(c1): ok", "assistant: Booked."]
    assert got.model_calls == 2
