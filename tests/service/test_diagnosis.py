"""What the doctor finds: on captures of real instrumentations with content on, off, cut and doubled, and on spans made by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.model import Batch, Span
from otel_eval.model.sentences import GAP_SENTENCES
from otel_eval.service.convert import conversations_from_batches, conversations_from_paths
from otel_eval.service.diagnosis import Diagnosis, diagnosis_of
from otel_eval.service.diagnosis_text import lines_from_diagnosis
from otel_eval.service.survey import Survey
from tests.captures import capture
from tests.fakes.spans import chat, says, span, tool, user


def diagnosed(name: str, folder: Path) -> Diagnosis:
    """The diagnosis of a capture."""
    survey = Survey(id_keys=Reader(BUILTIN).id_keys)
    conversion = conversations_from_paths([capture(name).write(folder)], on_step=survey.see)
    return diagnosis_of(conversion, survey)


def diagnosed_spans(spans: Sequence[Span]) -> Diagnosis:
    survey = Survey(id_keys=Reader(BUILTIN).id_keys)
    return diagnosis_of(conversations_from_batches([Batch(spans=tuple(spans))], on_step=survey.see), survey)


CONTENT_OFF = {
    "adk-nocontent": ("adk", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
    "langgraph-openinference-hidden": ("openinference", "OPENINFERENCE_HIDE_INPUTS"),
    "openinference-openai-content-hidden": ("openinference", "OPENINFERENCE_HIDE_INPUTS"),
    "otel-genai-openai-content-off": ("otel_genai", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"),
    "pydantic-ai-v5-content-off": ("pydantic_ai", "InstrumentationSettings(include_content=True)"),
    "vercel-ai6-nocontent": ("vercel_ai", "recordInputs: true"),
}
"""Captures with content switched off, and the switch of each."""


@pytest.mark.parametrize("name", CONTENT_OFF)
def test_the_switch_of_the_instrumentation_is_named(name: str, tmp_path: Path) -> None:
    """Where content is off, nothing is ready and the first thing to change is the switch of just that instrumentation."""
    found = diagnosed(name, tmp_path)
    assert (found.ready, found.why) == ("no", "all 2 conversations lack the words of user or agent")
    assert (found.content.model_calls, found.content.with_input, found.content.with_output) == (9, 0, 0)
    assert (found.content.tool_calls, found.content.with_result) == (5, 0)
    assert found.remedies[0].instrumentation == CONTENT_OFF[name][0]
    assert CONTENT_OFF[name][1] in found.remedies[0].switch
    assert "9 model calls without input and output" in found.remedies[0].lacking


WHOLE = ["adk-span", "hand-otlp-json", "openinference-openai-chat", "pydantic-ai-v2", "strands-default", "vercel-ai4-generate"]


@pytest.mark.parametrize("name", WHOLE)
def test_whole_captures_are_ready(name: str, tmp_path: Path) -> None:
    """With content on everything is there, both conversations have their id, and there is nothing to switch on."""
    found = diagnosed(name, tmp_path)
    assert (found.ready, found.why) == ("yes", "all 2 conversations hold the words of user and agent")
    assert (found.content.model_calls, found.content.with_input, found.content.with_output) == (9, 9, 9)
    assert (found.content.tool_calls, found.content.with_arguments, found.content.with_id) == (5, 5, 2)
    assert found.content.joined_by == {"conversation_id": 2}
    assert found.remedies == ()


def test_a_second_instrumentation_is_not_taken_for_missing_content(tmp_path: Path) -> None:
    """Nine model calls recorded twice, once without content, are nine model calls with content."""
    found = diagnosed("openinference-anthropic", tmp_path)
    assert (found.ready, found.content.model_calls, found.content.with_input) == ("yes", 9, 9)
    assert found.left_out.duplicate_calls == 9
    assert found.remedies == ()


def test_traces_that_repeat_others_are_told_and_not_counted(tmp_path: Path) -> None:
    """Nine traces of a second instrumentation are left out, and their calls are not counted again."""
    found = diagnosed("langgraph-openinference-double", tmp_path)
    assert (found.left_out.duplicate_traces, found.content.model_calls, found.content.conversations) == (9, 9, 2)


def test_dropped_attributes_name_the_limit_of_the_sdk(tmp_path: Path) -> None:
    """Where the SDK dropped attributes the words are partly there, and its limit is what to raise."""
    found = diagnosed("langgraph-openinference-long", tmp_path)
    assert (found.ready, found.why) == ("partly", "the conversation holds words, but not all of them")
    assert [r.switch for r in found.remedies if "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT" in r.switch]
    assert "attributes_dropped" in {g.reason for g in found.gaps}
    assert all(g.sentence in GAP_SENTENCES.values() for g in found.gaps)


def test_logs_left_behind_are_asked_for(tmp_path: Path) -> None:
    """Content sent as log events is missing when only the traces are read: the doctor asks for the logs before anything is changed."""
    traces = {name: body for name, body in capture("otel-openai-v2-events").requests.items() if "logs" not in name}
    for name, body in traces.items():
        (tmp_path / name).write_bytes(body)
    survey = Survey(id_keys=Reader(BUILTIN).id_keys)
    found = diagnosis_of(conversations_from_paths([tmp_path], on_step=survey.see), survey)
    assert (found.ready, found.found.log_records) == ("no", 0)
    assert any("read the logs together with the traces" in r.switch for r in found.remedies)


def test_traces_without_an_id_are_told_how_to_get_one() -> None:
    """Several conversations of one trace each, without id: which attributes carry one, and the other way to join them."""
    spans = [chat(n, [user(f"Question {n}")], says(f"Answer {n}"), trace=n) for n in (1, 2)]
    found = diagnosed_spans(spans)
    assert found.ready == "yes"
    assert [(r.instrumentation, r.attributes) for r in found.remedies] == [("application", ("gen_ai.conversation.id",))]
    assert "--join-by-history" in found.remedies[0].switch


def test_spans_that_are_not_understood_are_told_by_name() -> None:
    """Attribute names of unknown spans are counted, most frequent first; HTTP and database spans are no fault."""
    strange = [span(n, {"acme.prompt": "Secret", "http.url": "x"}) for n in (1, 2)]
    found = diagnosed_spans([*strange, span(3, {"acme.reply": "Secret", "acme.prompt": "x"}), span(4, {"http.method": "GET"}), span(5)])
    assert found.ready == "no"
    assert (found.not_understood.spans, found.not_understood.ordinary_spans) == (3, 2)
    assert list(found.not_understood.names.items()) == [("acme.prompt", 3), ("acme.reply", 1)]


def test_an_evaluators_own_spans_are_left_out() -> None:
    """A judge's model call below an evaluation is no call of the agent."""
    judge = span(2, {"gen_ai.operation.name": "evaluation", "gen_ai.evaluation.name": "x"}, parent=1)
    spans = [chat(1, [user("Hello")], says("Hi")), judge, chat(3, [user("Is it good?")], says("Yes"), parent=2)]
    found = diagnosed_spans(spans)
    assert (found.content.model_calls, found.left_out.evaluator_spans) == (1, 2)


def test_tools_without_content_count_though_no_message_tells_of_them() -> None:
    """A tool run that only its own bare span tells of is a tool call without arguments and result, and its switch is named."""
    found = diagnosed_spans([chat(1, [user("Hello")], says("Hi")), tool(2, "book")])
    assert (found.content.tool_calls, found.content.with_arguments) == (1, 0)
    assert [r.lacking for r in found.remedies if "tool" in r.lacking] == ["1 tool runs without arguments and result"]


@pytest.mark.parametrize("name", [*CONTENT_OFF, *WHOLE, "langgraph-openinference-double", "langgraph-openinference-long"])
def test_the_text_says_the_verdict_first_and_never_content(name: str, tmp_path: Path) -> None:
    """The first line is the verdict; no text that stands in a conversation stands in the report."""
    found = diagnosed(name, tmp_path)
    lines = list(lines_from_diagnosis(found, 100))
    assert lines[0].startswith(f"Ready to score: {found.ready}. ")
    said = " ".join(lines)
    assert all(remedy.switch.split()[0] in said for remedy in found.remedies)
    assert not [text for text in texts_of(capture(name).conversations) if text in said]


def texts_of(conversations: Sequence[dict[str, Any]]) -> list[str]:
    """What was said, as the capture knows it, in lines."""
    contents = [m.get("content") for c in conversations for m in c["messages"]]
    return [line for content in contents if isinstance(content, str) for line in content.splitlines() if len(line) > 12]


def test_nothing_is_a_diagnosis_too() -> None:
    """Without spans and conversations nothing is ready, and nothing is made up."""
    found = diagnosed_spans([])
    assert (found.ready, found.why) == ("no", "there is no conversation in the input: neither spans nor conversations were found")
    assert (found.gaps, found.remedies, found.content.joined_by) == ((), (), {})
