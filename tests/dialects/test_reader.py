"""One span to one step: several dialects on one span, what none understands, what is damaged. Field bugs A8, A11, B7."""

import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.model import GapReason, Message, Step, StepKind
from tests.fakes.spans import chat, event, line, moment, reasons, says, span, step_of, to_json, user

INDEXED = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "Hi",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Hello.",
}


def test_two_dialects_on_one_span_say_it_once() -> None:
    """A span that carries the conventions' attributes and another dialect's is one step with the content once."""
    step = step_of(chat(1, [user("Hi")], says("Hello."), INDEXED))
    assert {"otel_genai", "openinference"} <= set(step.dialects)
    assert [line(m) for m in (*(step.content.input or ()), *(step.content.output or ()))] == ["user: Hi", "assistant: Hello."]


def test_what_one_dialect_lacks_another_gives() -> None:
    """Field by field the first that says something: an answer of the conventions, a question of OpenInference."""
    attributes = {k: v for k, v in INDEXED.items() if "output" not in k}
    step = step_of(chat(1, None, says("Hello."), attributes))
    assert [line(m) for m in (*(step.content.input or ()), *(step.content.output or ()))] == ["user: Hi", "assistant: Hello."]


def test_a_cut_source_gives_way_to_a_whole_one() -> None:
    """T4: where one dialect's attribute was cut and another's was not, the whole one is read."""
    one = chat(1, [user("Hi")], says("Hello."), INDEXED)
    cut = {**one.attributes, "gen_ai.input.messages": str(one.attributes["gen_ai.input.messages"])[:30]}
    step = step_of(span(1, cut))
    assert [line(m) for m in step.content.input or ()] == ["user: Hi"]


def test_a_span_that_nobody_understands_is_other() -> None:
    """A11: no span is dropped: what no dialect knows is `other`, without dialects, and still has its ids and times."""
    step = step_of(span(7, {"http.request.method": "GET"}, name="GET /", parent=3))
    assert (step.kind, step.dialects, step.ref.span_id[-1], step.name) == (StepKind.OTHER, (), "7", "GET /")
    assert (step.parent_span_id, step.start_ns, step.end_ns) == (span(3).span_id, moment(7), moment(7.5))


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"error": "boom"}, None, "boom"),
        ({"error": "boom", "attributes": {"error.type": "Timeout"}}, "Timeout", "boom"),
        (
            {"error": "", "events": [event("exception", exception__type="ValueError", exception__message="bad row")]},
            "ValueError",
            "bad row",
        ),
    ],
)
def test_a_failure_has_its_type_and_message(fields: dict[str, Any], kind: str | None, message: str) -> None:
    """B7: status, `error.type` and exception event tell of the failure."""
    known = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    step = step_of(span(1, {**known, **fields.get("attributes", {})}, error=fields["error"], events=fields.get("events", ())))
    assert (step.is_error, step.error_type, step.error_message) == (True, kind, message)


def test_content_is_read_once_and_only_when_asked() -> None:
    """Reading a step decodes nothing; its content is the same object whenever it is asked for."""
    step = step_of(chat(1, [user("Hi")], says("Hello.")))
    assert step.content is step.content


def test_steps_do_not_depend_on_what_was_read_before() -> None:
    """The memos of a reader save work only: a step says the same behind any other.

    A message that both repeat comes from the span that was read first: that is what `source` means.
    """
    spans = [chat(1, [user("Hi")], says("Hello.")), chat(2, [user("Hi"), says("Hello."), user("Bye")], says("Bye.")), span(3, INDEXED)]
    reader = Reader(BUILTIN)
    forward = [said(reader.step(s)) for s in spans]
    backward = [said(reader.step(s)) for s in reversed(spans)]
    assert forward == backward[::-1] == [said(step_of(s)) for s in spans]


def test_names_without_end_do_not_fill_the_memory() -> None:
    """Sets of names are remembered up to a limit of names: spans of a sender that makes them up cost nothing once they are read."""
    reader = Reader(BUILTIN[:1])
    tracemalloc.start()
    try:
        for number in range(50):
            reader.step(span(1, {f"gen_ai.{number}.{place}": 1 for place in range(9_000)}))
            reader.forget()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 15_000_000


def said(step: Step) -> list[Message]:
    """All messages of a step, without where they came from."""
    return [replace(m, source=None) for m in (*(step.content.input or ()), *(step.content.output or ()))]


def test_a_prefix_that_is_no_prefix_of_messages_is_not_shared() -> None:
    """A text that begins like another but goes on inside its last message is read afresh."""
    first = to_json([{"role": "user", "content": "Hi"}])
    other = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "x"}, 5]'
    wrong = '[{"role": "user", "content": "Hi"} {"role": "user"}]'
    reader = Reader(BUILTIN)
    for text in (first, other, wrong, first[:-2]):
        known = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": text}
        assert reader.step(span(1, known)).content.input == step_of(span(1, known)).content.input


def test_attributes_of_ours_travel_with_the_step() -> None:
    """`otel_eval.*` and the user's id are kept for selection and references."""
    step = step_of(chat(1, None, None, {"otel_eval.task": "t-1", "user.id": "u-1", "server.port": 443}))
    assert dict(step.attributes) == {"otel_eval.task": "t-1", "user.id": "u-1"}


@pytest.mark.parametrize("name", ["gen_ai.input.messages", "llm.input_messages.0.message.content", "input.value", "ai.prompt.messages"])
def test_known_names_with_values_of_another_type(name: str) -> None:
    """A known name with a number, a bool or bytes is no crash, and the neighbours are read."""
    values: list[Any] = [7, 1.5, True, b"\xff", [1, [2, [3]]], {"a": {"b": 1}}, [None], [[]]]
    for value in values:
        step = step_of(span(1, {"gen_ai.operation.name": "chat", name: value, "gen_ai.output.messages": to_json([says("Hello.")])}))
        assert [line(m) for m in step.content.output or ()] == ["assistant: Hello."]


def test_what_was_dropped_by_count_is_told() -> None:
    """T4: `droppedAttributesCount` on a call without content names the cause."""
    assert reasons(step_of(chat(1, dropped_attributes_count=2)).content.gaps) == {GapReason.ATTRIBUTES_DROPPED}
    assert reasons(step_of(chat(1, dropped_events_count=2)).content.gaps) == {GapReason.ATTRIBUTES_DROPPED}
