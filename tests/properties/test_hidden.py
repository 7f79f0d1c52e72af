"""Hidden content changes gaps, not structure. Semconv trap T5."""

import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.model import Conversation, GapReason, LogRecord, Span
from tests.fakes.spans import Object, converted, only, reasons, to_json
from tests.fakes.stories import Call, Round, Story, Style, Turn, stories

How = Literal["masked", "dropped"]
_WORDS = ("content", "arguments", "response")
_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")
_TOOL = ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")


def skeleton(item: Span | LogRecord, how: How) -> Span | LogRecord:
    """The item with roles, kinds of parts, names and ids left, words masked or dropped."""
    attributes = {k: v for k, v in item.attributes.items() if k not in _TOOL}
    for name in _MESSAGES:
        if name in attributes:
            value = attributes[name]
            bare = [bare_message(m, how) for m in (json.loads(value) if isinstance(value, str) else value)]
            attributes[name] = to_json(bare) if isinstance(value, str) else bare
    return replace(item, attributes=attributes)


def bare_message(message: Object, how: How) -> Object:
    parts: list[dict[str, Any]] = [{k: v for k, v in p.items() if k not in _WORDS} for p in message["parts"]]
    if how == "masked":
        parts = [{k: "<elided>" if k in _WORDS else v for k, v in p.items()} for p in message["parts"]]
    return {**message, "parts": parts}


def metadata(item: Span) -> Span:
    """The span as it is with content off: no messages, no arguments, no results."""
    return replace(item, attributes={k: v for k, v in item.attributes.items() if k not in (*_MESSAGES, *_TOOL)})


def structure(conversation: Conversation) -> tuple[Any, ...]:
    """What remains of a conversation without its words."""
    calls = [[c.name for c in m.tool_calls] for m in conversation.messages]
    runs = [(r.name, r.call_id) for r in conversation.tool_runs]
    return ([m.role for m in conversation.messages], calls, runs, len(conversation.turns), conversation.trace_ids, conversation.id)


def in_style(**fields: Any) -> st.SearchStrategy[Story]:
    """Stories of which these parts of the style are given."""
    return stories().map(lambda story: replace(story, style=replace(story.style, **fields)))


# A second instrumentation keeps the words; deltas, titles and trimmed histories are told apart by words alone.
WORDLESS = in_style(twice="no", history=True, results_in_input=True, titled=False, window=None)


@pytest.mark.parametrize("how", ["masked", "dropped"])
@settings(max_examples=60)
@given(story=WORDLESS)
def test_a_skeleton_tells_the_same_structure(how: How, story: Story) -> None:
    """Roles, calls, tool runs and turns are those of the whole story where messages keep their frame; the words are a gap."""
    told = converted(*story.items())
    hidden = converted(*(skeleton(i, how) for i in story.items()))
    assert [structure(c) for c in hidden] == [structure(c) for c in told]
    assert all(not c.has_content for c in hidden)
    assert all(reasons(c.gaps) & {GapReason.REDACTED, GapReason.CONTENT_NOT_CAPTURED} for c in hidden)


@settings(max_examples=60)
@given(story=in_style(twice="no", in_logs=False, titled=False))
def test_spans_alone_tell_which_tools_ran(story: Story) -> None:
    """With content off the conversation, its traces, model calls and tool runs stay; the words are a gap."""
    told = converted(*story.items())
    hidden = converted(*(metadata(i) for i in story.items() if isinstance(i, Span)))
    assert [(c.id, c.trace_ids, c.model_calls) for c in hidden] == [(c.id, c.trace_ids, c.model_calls) for c in told]
    assert [sorted((r.name or "", r.source.span_id) for r in c.tool_runs) for c in hidden] == [
        sorted((r.name or "", r.source.span_id) for r in c.tool_runs) for c in told
    ]
    assert all(GapReason.CONTENT_NOT_CAPTURED in reasons(c.gaps) for c in hidden)


def test_spans_alone_tell_the_turns() -> None:
    """With content off, the traces of a conversation still are its turns, each with its root."""
    made = Round(words=None, calls=(Call(name="book", arguments={}, result="ok"),))
    story = Story(turns=tuple(Turn(question=f"{n}", rounds=(made,), answer=f"{n}") for n in range(3)), style=Style())
    told, hidden = only(*story.items()), only(*(metadata(i) for i in story.items() if isinstance(i, Span)))
    assert [(t.trace_ids, t.root) for t in hidden.turns] == [(t.trace_ids, t.root) for t in told.turns]
