"""What only the spans around the model calls tell. Field bugs A5, A9, A16; semconv traps T4, T5, T6."""

from typing import Any

import pytest

from otel_eval.model import GapReason, Span
from tests.fakes.spans import agent, call, chat, only, reasons, result, says, span, talk, to_json, tool, user

ASKED, TOLD = [user("Hi")], ["user: Hi", "assistant: Hello."]
FRAMES: list[tuple[str, dict[str, Any]]] = [
    (
        "semconv",
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.input.messages": to_json(ASKED),
            "gen_ai.output.messages": to_json([says("Hello.")]),
        },
    ),
    ("traceloop", {"traceloop.span.kind": "workflow", "traceloop.entity.input": '{"question": "Hi"}', "traceloop.entity.output": "Hello."}),
    ("openinference", {"openinference.span.kind": "AGENT", "input.value": "Hi", "output.value": "Hello."}),
    ("langfuse", {"langfuse.observation.type": "agent", "langfuse.observation.input": '"Hi"', "langfuse.observation.output": '"Hello."'}),
    ("mlflow", {"mlflow.spanType": '"AGENT"', "mlflow.spanInputs": '{"question": "Hi"}', "mlflow.spanOutputs": '"Hello."'}),
    ("vercel", {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "Hi"}', "ai.response.text": "Hello."}),
]


@pytest.mark.parametrize("attributes", [a for _, a in FRAMES], ids=[n for n, _ in FRAMES])
def test_words_that_only_the_run_holds_are_used(attributes: dict[str, Any]) -> None:
    """A5, A9: where model calls carry no content, the span around them tells question and answer."""
    assert talk(only(span(1, attributes, name="run", end=9), chat(2, parent=1))) == TOLD


@pytest.mark.parametrize("attributes", [a for _, a in FRAMES], ids=[n for n, _ in FRAMES])
def test_words_that_both_hold_stand_once(attributes: dict[str, Any]) -> None:
    """T2: the run's own question and answer are those of its model calls again."""
    assert talk(only(span(1, attributes, name="run", end=9), chat(2, ASKED, says("Hello."), parent=1))) == TOLD


@pytest.mark.parametrize("attributes", [a for _, a in FRAMES], ids=[n for n, _ in FRAMES])
def test_a_run_without_model_calls_still_tells_its_talk(attributes: dict[str, Any]) -> None:
    """A9: frameworks whose model calls are not instrumented have the talk on the run alone."""
    assert talk(only(span(1, attributes, name="run", end=9))) == TOLD


def test_a_final_answer_that_only_the_run_holds_is_added() -> None:
    """The last model call may be missing: the run's output tells how it ended."""
    run = agent(1, "desk", {"gen_ai.output.messages": to_json([says("Done.")])}, end=20)
    made = call("book", {}, "c1")
    got = only(run, chat(2, ASKED, says(None, made), parent=1), tool(3, "book", {}, "ok", call_id="c1", parent=1))
    assert talk(got) == ["user: Hi", "assistant: -> book()", "tool(c1): ok", "assistant: Done."]


def test_a_whole_run_on_the_root_is_no_second_talk() -> None:
    """T2: a root that holds all messages of the run adds nothing to those of its model calls."""
    made = call("book", {}, "c1")
    history = [*ASKED, says(None, made), result("ok", "c1"), says("Done.")]
    root = agent(1, "desk", {"gen_ai.input.messages": to_json(history[:1]), "gen_ai.output.messages": to_json(history[1:])}, end=20)
    got = only(
        root,
        chat(2, ASKED, says(None, made), parent=1),
        tool(3, "book", {}, "ok", call_id="c1", parent=1),
        chat(4, history[:3], says("Done."), parent=1),
    )
    assert talk(got) == ["user: Hi", "assistant: -> book()", "tool(c1): ok", "assistant: Done."]


def test_answers_without_questions_take_the_question_of_the_run() -> None:
    """A model call that records its output only has its question on the run."""
    got = only(agent(1, "desk", {"gen_ai.input.messages": to_json(ASKED)}, end=9), chat(2, None, says("Hello."), parent=1))
    assert talk(got) == TOLD


@pytest.mark.parametrize("text", ["__REDACTED__", "<elided>", "readacted", "[REDACTED]", " redacted "])
def test_a_placeholder_is_no_content(text: str) -> None:
    """T5: what stands where content was masked is not taken for words."""
    got = only(chat(1, [user(text)], says(text)))
    assert not got.has_content
    assert [m.role for m in got.messages] == ["user", "assistant"]
    assert GapReason.REDACTED in reasons(got.gaps)


def test_a_talk_about_redaction_is_no_placeholder() -> None:
    """T5: the word inside a sentence is a word."""
    assert talk(only(chat(1, [user("Was it redacted?")], says("redacted: two lines")))) == [
        "user: Was it redacted?",
        "assistant: redacted: two lines",
    ]


@pytest.mark.parametrize("text", ["<elided>", "readacted"])
def test_masked_arguments_and_results_are_unknown(text: str) -> None:
    """T5: masked arguments are not the empty object, a masked result is no result."""
    made = call("book", text, "c1")
    got = only(chat(1, ASKED, says(None, made)), chat(2, [*ASKED, says(None, made), result(text, "c1")], says("Done.")))
    assert (got.tool_calls[0].arguments, got.tool_calls[0].raw) == (None, None)
    assert got.tool_results[0].content is None
    assert GapReason.REDACTED in reasons(got.gaps)


def cut(span_: Span, name: str, size: int) -> Span:
    """The span with one attribute cut by the SDK's limit."""
    return span(int(span_.span_id, 16), {**span_.attributes, name: span_.attributes[name][:size]}, name=span_.name, parent=None)


def test_a_cut_input_gives_its_complete_messages_and_a_gap() -> None:
    """T4, A4: an attribute cut in the middle gives the whole leading messages; the talk is flagged as cut."""
    whole = chat(1, [user("One?"), says("1"), user("Two? " + "x" * 200)], says("2"))
    got = only(cut(whole, "gen_ai.input.messages", 190))
    assert talk(got) == ["user: One?", "assistant: 1", "assistant: 2"] or talk(got) == ["user: One?", "assistant: 1\n2"]
    assert GapReason.TRUNCATED in reasons(got.gaps)


def test_what_a_cut_input_lost_another_span_tells() -> None:
    """T4: messages that one span lost are there when another tells them whole."""
    history = [user("One?"), says("1"), user("Two?"), says("2"), user("Three?")]
    third = cut(chat(3, history, says("3")), "gen_ai.input.messages", 150)
    got = only(chat(1, history[:1], says("1")), chat(2, history[:3], says("2")), third)
    assert talk(got)[:4] == ["user: One?", "assistant: 1", "user: Two?", "assistant: 2"]
    assert GapReason.TRUNCATED in reasons(got.gaps)


def test_dropped_attributes_are_told() -> None:
    """T4: an SDK that dropped attributes by count left the content out: the gap names that, not a switch."""
    got = only(chat(1, None, None, dropped_attributes_count=3))
    assert GapReason.ATTRIBUTES_DROPPED in reasons(got.gaps)


def test_content_elsewhere_is_told() -> None:
    """T16: an address in place of content is a gap; it is never fetched."""
    got = only(
        chat(1, None, None, {"gen_ai.input.messages_ref": "s3://bucket/in.json", "gen_ai.output.messages_ref": "s3://bucket/out.json"})
    )
    assert GapReason.CONTENT_EXTERNAL in reasons(got.gaps)
    assert not got.has_content


def test_a_system_prompt_that_only_the_run_tells() -> None:
    """agent-framework writes the agent's instructions on its own span, not on the model calls."""
    told = {"gen_ai.system_instructions": to_json([{"type": "text", "content": "Be brief."}])}
    assert only(agent(1, "desk", told), chat(2, ASKED, says("Hello."), parent=1)).system == "Be brief."
