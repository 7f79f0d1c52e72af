"""Traces that only repeat model calls of other traces. Semconv trap T11."""

from typing import Any

from otel_eval.model import Span
from tests.fakes.spans import agent, chat, convert, says, span, talk, user

ASKED = [user("Hi")]


def orphan(number: int, *, trace: int = 2, answer: str = "Hello.", attributes: dict[str, Any] | None = None, **fields: Any) -> Span:
    """A model call that a second instrumentor without context recorded as a trace of its own."""
    known = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Hi",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": answer,
    }
    return span(number, {**known, **(attributes or {})}, trace=trace, name="ChatCompletion", **fields)


def run(attributes: dict[str, Any] | None = None, *, trace: int = 1) -> list[Span]:
    return [agent(1, "desk", end=9, trace=trace), chat(2, ASKED, says("Hello."), attributes, parent=1, end=6, trace=trace)]


def test_an_orphan_of_a_second_instrumentor_is_left_out() -> None:
    """A one-span trace that repeats a call of another trace, inside the same moments, is no conversation."""
    conversion = convert(*run(), orphan(3, start=2.1, end=5.9))
    assert [talk(c) for c in conversion.conversations] == [["user: Hi", "assistant: Hello."]]
    assert conversion.report.assembly.duplicate_traces == 1


def test_an_orphan_with_the_response_id_is_left_out() -> None:
    """The response id tells a twin whatever its times and dialect."""
    conversion = convert(*run({"gen_ai.response.id": "r1"}), chat(30, ASKED, says("Hello."), {"gen_ai.response.id": "r1"}, trace=2))
    assert len(conversion.conversations) == 1


def test_another_answer_is_another_conversation() -> None:
    """A trace that says something else is kept."""
    assert len(convert(*run(), orphan(3, start=2.1, end=5.9, answer="Good day.")).conversations) == 2


def test_the_same_words_at_another_time_are_another_conversation() -> None:
    """Two users may ask and hear the same: traces that do not overlap are both kept."""
    assert len(convert(*run(), orphan(40)).conversations) == 2


def test_the_same_words_of_one_instrumentation_are_two_conversations() -> None:
    """One instrumentation does not record a call twice: equal traces of it at one moment are two users."""
    spans = [chat(n, ASKED, says("Hello."), trace=n, start=1, end=2) for n in (1, 2)]
    assert len(convert(*spans).conversations) == 2


def test_a_trace_with_an_id_is_no_twin() -> None:
    """A trace that names its conversation is kept."""
    known = {"session.id": "c-1"}
    assert len(convert(*run(), orphan(3, start=2.1, end=5.9, attributes=known)).conversations) == 2


def lone_run(*, answer: str = "Hello.", end: float = 9) -> Span:
    """The outer span of a call, alone in its trace, with question and answer."""
    known = {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "Hi"}', "ai.response.text": answer}
    return span(1, known, trace=1, name="ai.generateText", start=1, end=end)


def lone_call(number: int = 2, *, trace: int = 2, **fields: Any) -> Span:
    """The call inside it, in a trace of its own."""
    known = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": '[{"role": "user", "content": "Hi"}]',
        "ai.response.text": "Hello.",
    }
    return span(number, known, trace=trace, name="ai.generateText.doGenerate", **fields)


def test_a_run_whose_call_stands_in_a_trace_of_its_own_is_left_out() -> None:
    """Without a context manager JavaScript makes every span a trace: the span around a model call repeats its words."""
    conversion = convert(lone_run(), lone_call(start=2, end=8))
    assert [talk(c) for c in conversion.conversations] == [["user: Hi", "assistant: Hello."]]
    assert conversion.report.assembly.duplicate_traces == 1


def test_a_run_of_other_moments_or_words_is_kept() -> None:
    """A run that ended before the call began, or that gave another answer, is a conversation of its own."""
    assert len(convert(lone_run(end=2), lone_call(start=5, end=8)).conversations) == 2
    assert len(convert(lone_run(answer="Good day."), lone_call(start=2, end=8)).conversations) == 2
