"""Spans of agents written by hand are read back as the conversation that was held."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import otel_eval
from otel_eval.exchange.references import reference_from_attributes
from otel_eval.inprocess.values import batch_from_sdk
from otel_eval.model import Conversation, Message, Text, ToolCall
from otel_eval.otlp.receive.keys import END_MARK
from otel_eval.service.convert import conversations_from_batches
from tests.fakes.any_conversation import OBJECTS

WORDS = st.text("abc ÄßЖ中🙂,.?", min_size=1, max_size=20).filter(str.strip)
"""Words of a conversation. What reads as a placeholder, or as JSON, is for the tests of the readers."""
NAMES = st.text("abc_", min_size=1, max_size=6)


class Broken(Exception):
    """A tool that does not do what it should."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """A model call that asked for tools, and what these gave back: text, an object, or a failure."""

    text: str | None
    calls: Sequence[tuple[str, dict[str, Any]]]
    results: Sequence[Any]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one turn holds."""

    user: str
    rounds: Sequence[Round]
    answer: str


@st.composite
def rounds(draw: st.DrawFn) -> Round:
    calls = draw(st.lists(st.tuples(NAMES, OBJECTS), min_size=1, max_size=3))
    results = [draw(WORDS | st.dictionaries(NAMES, st.integers(), min_size=1, max_size=2) | st.builds(Broken, WORDS)) for _ in calls]
    return Round(text=draw(st.none() | WORDS), calls=calls, results=results)


TURNS = st.lists(st.builds(Turn, user=WORDS, rounds=st.lists(rounds(), max_size=2), answer=WORDS), min_size=1, max_size=3)


@contextmanager
def recorded() -> Iterator[list[ReadableSpan]]:
    """What ends inside, in a provider that stands in for the global one."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans: list[ReadableSpan] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", lambda name, *rest, **named: provider.get_tracer(name))
        yield spans
    spans += exporter.get_finished_spans()


def read(spans: Sequence[ReadableSpan]) -> list[Conversation]:
    return conversations_from_batches([batch_from_sdk(spans)]).conversations


def hold(turns: Sequence[Turn], conversation_id: str, *, whole_history: bool) -> None:
    """Hold a conversation as an agent written by hand would."""
    history: list[Message] = []
    number = 0
    for turn in turns:
        with otel_eval.agent_turn("shop", turn.user, conversation_id=conversation_id, system="Be kind.") as under_way:
            for one in turn.rounds:
                ids = [f"call-{number + place}" for place in range(len(one.calls))]
                number += len(ids)
                with otel_eval.model_call("m", [*history, *under_way.messages] if whole_history else None, system="Be kind.") as call:
                    asked = [ToolCall(id=i, name=name, arguments=arguments) for i, (name, arguments) in zip(ids, one.calls, strict=True)]
                    call.answer(one.text, tool_calls=asked, input_tokens=3)
                for call_id, (name, arguments), result in zip(ids, one.calls, one.results, strict=True):
                    run_tool(name, arguments, call_id, result)
            with otel_eval.model_call("m", [*history, *under_way.messages] if whole_history else None, system="Be kind.") as call:
                call.answer(turn.answer)
        history += under_way.messages


def run_tool(name: str, arguments: dict[str, Any], call_id: str, result: Any) -> None:
    if not isinstance(result, Exception):
        with otel_eval.tool_call(name, arguments, call_id=call_id) as running:
            running.result(result)
        return
    with suppress(Broken), otel_eval.tool_call(name, arguments, call_id=call_id):
        raise result


def lines_of_turns(turns: Sequence[Turn]) -> list[Any]:
    """The messages that were meant, in a form to compare."""
    lines: list[Any] = []
    for turn in turns:
        lines.append(("user", turn.user))
        for one in turn.rounds:
            lines.append(("assistant", one.text, [(name, arguments) for name, arguments in one.calls]))
            lines += [("tool", as_text(result), isinstance(result, Exception)) for result in one.results]
        lines.append(("assistant", turn.answer, []))
    return lines


def as_text(result: Any) -> str:
    if isinstance(result, Exception | str):
        return str(result)
    return "{" + ", ".join(f'"{k}": {v}' for k, v in result.items()) + "}"


def lines_of(conversation: Conversation) -> list[Any]:
    lines: list[Any] = []
    for message in conversation.messages:
        if message.role == "user":
            lines.append(("user", message.text))
        elif message.role == "assistant":
            lines.append(("assistant", message.text, [(c.name, dict(c.arguments or {})) for c in message.tool_calls]))
        else:
            result = message.tool_result
            lines.append(("tool", result.content if result else None, bool(result and result.is_error)))
    return lines


# too_slow: a busy machine draws the same examples later
@given(TURNS, st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_what_was_said_by_hand_is_read_back(turns: Sequence[Turn], whole_history: bool) -> None:
    """Any conversation, with the history in every model call or only the turn's own: the same messages, calls, results and failures."""
    with recorded() as spans:
        hold(turns, "c1", whole_history=whole_history)
    (conversation,) = read(spans)
    assert lines_of(conversation) == lines_of_turns(turns)
    assert (conversation.id, conversation.agent, conversation.system) == ("c1", "shop", "Be kind.")
    assert len(conversation.turns) == len(turns)
    assert conversation.gaps == ()
    assert set(conversation.dialects) == {"otel_genai"}


def test_an_agent_without_a_model_says_what_it_answers() -> None:
    """A turn with tool runs and no model call: the user's words and the answer, and the runs of its tools."""
    with recorded() as spans, otel_eval.agent_turn("shop", "Book a table") as turn:
        with otel_eval.tool_call("book", {"people": 2}) as tool:
            tool.result({"ok": True})
        turn.answer("Done")
    (conversation,) = read(spans)
    assert (conversation.messages[0].text, conversation.messages[-1].text) == ("Book a table", "Done")
    assert [(run.name, run.is_error) for run in conversation.tool_runs] == [("book", None)]
    assert turn.trace_id == conversation.trace_ids[0]


def test_a_failed_turn_is_an_error() -> None:
    """What a turn raises goes on to the caller and stands on its span; a tool that says that it failed did."""

    def turn() -> None:
        with otel_eval.agent_turn("shop", "Book a table"):
            with otel_eval.tool_call("book", call_id="1") as tool:
                tool.fail("no table left", error_type="NoTable")
            raise Broken("out of order")

    with recorded() as spans, pytest.raises(Broken):
        turn()
    by_name = {span.name: span for span in spans}
    assert (by_name["invoke_agent shop"].attributes or {})["error.type"] == "Broken"
    assert (by_name["execute_tool book"].attributes or {})["error.type"] == "NoTable"
    (conversation,) = read(spans)
    assert [run.is_error for run in conversation.tool_runs] == [True]


def test_a_reference_travels_with_the_conversation() -> None:
    """What `set_reference` says is what a metric is given: on the current span, or on one that is named."""
    with recorded() as spans, otel_eval.agent_turn("shop", "Book a table") as turn:
        otel_eval.set_reference(outcome="a table is booked", topics=["tables"], task="booking", trial=3)
        with otel_eval.model_call("m") as call:
            otel_eval.set_reference(tool_calls=[{"name": "book", "arguments": {"people": 2}}], response="Done", span=turn.span)
            call.answer("Done")
        otel_eval.set_reference(turns=[{"user": "Book a table", "tool_calls": []}])
    (conversation,) = read(spans)
    reference, gaps = reference_from_attributes(conversation.attributes)
    assert gaps == ()
    assert (reference.outcome, reference.topics, reference.task, reference.trial) == ("a table is booked", ("tables",), "booking", "3")
    assert reference.tool_calls == (ToolCall(name="book", arguments={"people": 2}),)
    assert reference.response == "Done"
    assert reference.turns is not None
    assert reference.turns[0].tool_calls == ()


def test_the_end_of_a_conversation_is_marked() -> None:
    """Inside a turn its span is marked; elsewhere a span says it for a conversation by its id."""
    with recorded() as spans:
        with otel_eval.agent_turn("shop", "Bye", conversation_id="c1"):
            otel_eval.end_conversation()
        otel_eval.end_conversation("c2")
    marked = {(span.attributes or {}).get("gen_ai.conversation.id"): span.name for span in spans if (span.attributes or {}).get(END_MARK)}
    assert marked == {"c1": "invoke_agent shop", "c2": "end_conversation"}


def test_a_sub_agent_is_in_its_callers_conversation() -> None:
    """A turn inside a turn has the conversation's id; afterwards the outer one is the current one again."""
    with recorded() as spans, otel_eval.agent_turn("shop", "Book a table", conversation_id="c1"):
        with otel_eval.agent_turn("booker", "Book it") as inner:
            inner.answer("Booked")
        with otel_eval.model_call("m") as call:
            call.answer("Done")
    agents = {span.name: (span.attributes or {}).get("gen_ai.agent.name") for span in spans}
    assert agents == {"invoke_agent booker": "booker", "chat m": "shop", "invoke_agent shop": "shop"}
    assert {(span.attributes or {}).get("gen_ai.conversation.id") for span in spans} == {"c1"}


def test_chat_messages_are_taken_as_they_go_to_a_model() -> None:
    """A list of chat messages in OpenAI's form is recorded whole; what is no message is left out, and nothing is raised."""
    history: list[Any] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Book a table"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "book", "arguments": '{"people": 2}'}}]},
        {"role": "tool", "tool_call_id": "1", "content": '{"ok": true}'},
        {"role": "nobody"},
    ]
    with recorded() as spans, otel_eval.model_call("m", history) as call:
        call.answer("Done \ud83d", tool_calls=[{"name": 7}])
    (conversation,) = read(spans)
    assert [m.role for m in conversation.messages] == ["user", "assistant", "tool", "assistant"]
    assert conversation.system == "Be kind."
    assert conversation.messages[-1].parts[0] == Text(text="Done \ufffd")


class Unshowable:
    """An object whose own text is an error."""

    def __str__(self) -> str:
        raise RuntimeError("no")


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    "odd",
    [5, 1.5, True, b"x", [5], [None], [[]], {}, {5: 6}, {(1,): 2}, CIRCLE, Unshowable(), "cut \ud83d", object],
    ids=lambda odd: type(odd).__name__,
)
def test_odd_values_of_content_never_raise(odd: Any) -> None:
    """Whatever stands where words, messages, calls, tools or references are expected, the application goes on, and its spans are there."""
    with recorded() as spans:
        with otel_eval.agent_turn("clerk", odd, system=odd, tools=odd, attributes=odd) as turn:
            with otel_eval.model_call("m", odd, system=odd, tools=odd, attributes=odd) as call:
                call.answer(odd, tool_calls=odd, reasoning=odd, finish_reason=odd, response_id=odd, input_tokens=odd)
            with otel_eval.tool_call("t", odd, call_id=odd, description=odd, attributes=odd) as tool:
                tool.result(odd)
            with otel_eval.tool_call("t", odd) as tool:
                tool.fail(odd, error_type=odd)
            otel_eval.set_reference(outcome=odd, tool_calls=odd, topics=odd, response=odd, turns=odd, task=odd, trial=odd)
            turn.answer(odd)
        with otel_eval.model_call("m") as call:
            call.answer("Hello", tool_calls=None)  # type: ignore[arg-type]  # what a client's response holds where there are none
    assert [span.name for span in spans] == ["chat m", "execute_tool t", "execute_tool t", "invoke_agent clerk", "chat m"]
