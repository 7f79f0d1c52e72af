"""No input breaks the converter, and no damage reaches a neighbour. Semconv trap T4; STYLE: bad input never ends the process."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.model import GapReason, LogRecord, Span
from tests.fakes.anything import ANY_VALUES, KNOWN_NAMES, attributes_for, logs_for, spans_for
from tests.fakes.shapes import SHAPES
from tests.fakes.spans import agent, chat, converted, only, reasons, result, says, span, step_of, talk, tool, user

HEALTHY = [
    agent(90, "desk", {"gen_ai.conversation.id": "healthy"}, trace=9, end=99),
    chat(91, [user("Hi")], says("Hello."), trace=9, parent=90),
]
WHOLE = ["user: Hi", "assistant: Hello."]

TRACES = st.lists(st.integers(0, 5).flatmap(lambda n: spans_for(n + 1, KNOWN_NAMES, parent=n or None)), max_size=5)
LOGS = st.integers(1, 6).flatmap(lambda n: logs_for(n, KNOWN_NAMES))


@settings(max_examples=80)
@given(TRACES, LOGS)
def test_any_traces_give_conversations_and_leave_the_healthy_one_alone(spans: list[Span], logs: list[LogRecord]) -> None:
    """Any values under any names, in any tree: no error, every conversation can be written out, and the trace beside them is whole."""
    found = converted(*spans, *logs, *HEALTHY)
    for conversation in found:
        json.dumps(messages_from_conversation(conversation), default=str)
        assert [m for t in conversation.turns for m in t.messages] == list(conversation.messages)
    assert [talk(c) for c in found if c.id == "healthy"] == [WHOLE]


@settings(max_examples=80)
@given(attributes_for(KNOWN_NAMES), st.sampled_from(["chat", "execute_tool", "invoke_agent"]))
def test_any_attributes_beside_a_talk_leave_its_ids_and_times(attributes: dict[str, Any], operation: str) -> None:
    """A damaged span inside a healthy trace never raises; the span keeps its ids, parent and times."""
    damaged = span(92, {"gen_ai.operation.name": operation, **attributes}, trace=9, parent=90)
    step = step_of(damaged)
    assert (step.ref, step.parent_span_id, step.start_ns, step.end_ns) == (
        damaged.ref,
        damaged.parent_span_id,
        damaged.start_ns,
        damaged.end_ns,
    )
    converted(*HEALTHY, damaged)


@pytest.mark.parametrize(
    "name", ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions", "gen_ai.tool.definitions"]
)
@settings(max_examples=60)
@given(value=ANY_VALUES)
def test_any_value_under_a_content_name_leaves_the_other_side(name: str, value: Any) -> None:
    """`gen_ai.input.messages=7` and worse: the answer beside it is still read."""
    sides = {"gen_ai.input.messages": [user("Hi")], "gen_ai.output.messages": [says("Hello.")]}
    known = {"gen_ai.operation.name": "chat"} | {k: json.dumps(v) for k, v in sides.items()} | {name: value}
    content = step_of(span(1, known)).content
    if name != "gen_ai.output.messages":
        assert [m.text for m in content.output or ()] == ["Hello."]
    if name != "gen_ai.input.messages":
        assert [m.text for m in content.input or () if m.role == "user"] == ["Hi"]


SHAPE_NAMES = st.sampled_from(sorted(SHAPES))


@settings(max_examples=200)
@given(SHAPE_NAMES, st.integers(1, 999), st.booleans())
def test_cut_anywhere_gives_a_prefix_and_says_so(name: str, thousandths: int, ascii_only: bool) -> None:
    """T4: JSON cut at any point never raises, is flagged, and gives the first messages of the whole, none half."""
    text = json.dumps(SHAPES[name], ensure_ascii=ascii_only)
    size = max(1, len(text) * thousandths // 1000)
    whole = step_of(span(1, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": text})).content.input or ()
    content = step_of(span(1, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": text[:size]})).content
    if text[:size].strip() not in ("[", ""):
        assert GapReason.TRUNCATED in reasons(content.gaps), text[:size]
    got = content.input or ()
    assert [(m.role, m.parts) for m in got] == [(m.role, m.parts) for m in whole[: len(got)]], text[:size]


HISTORY = [user("One?"), says("1"), result("r", "c9"), user("Two?"), says("2"), user("Three?")]


@settings(max_examples=100)
@given(st.integers(1, 600))
def test_a_cut_history_never_unsays_what_other_spans_told(size: int) -> None:
    """T4: whatever one span lost, the questions and answers that others hold whole stay, in order."""
    third = json.dumps(HISTORY)[:size]
    got = only(
        agent(1, "desk", {"gen_ai.conversation.id": "c"}, end=30),
        chat(2, HISTORY[:1], says("1"), parent=1),
        chat(3, HISTORY[:4], says("2"), parent=1),
        chat(4, None, says("3"), {"gen_ai.input.messages": third}, parent=1),
    )
    told = [t for t in talk(got) if t.startswith(("user", "assistant"))]
    assert told[:4] == ["user: One?", "assistant: 1", "user: Two?", "assistant: 2"] or told[:3] == [
        "user: One?",
        "assistant: 1",
        "user: Two?",
    ]
    assert told[-1].endswith("3")


@settings(max_examples=100)
@given(st.integers(1, 600), st.sampled_from([1, 2]))
def test_a_cut_history_is_no_new_turn(size: int, cut: int) -> None:
    """T4: the beginning of the known talk, cut off in a later trace of the conversation, is not said a second time."""
    known = {"gen_ai.conversation.id": "c"}
    histories = [HISTORY[:1], HISTORY[:4], HISTORY]
    spans = []
    for n, history in enumerate(histories):
        written = json.dumps(history)
        text = written[:size] if n == cut else written
        spans.append(chat(n + 1, None, says(str(n + 1)), {**known, "gen_ai.input.messages": text}, trace=n + 1))
    told = talk(only(*spans))
    assert len([t for t in told if t.startswith("user")]) == len({t for t in told if t.startswith("user")}), told
    assert [t for t in told if t.startswith("assistant")][-1].endswith("3")


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(1, 8), st.none() | st.integers(1, 8), st.integers(0, 3)), max_size=10))
def test_any_tree_is_read(links: list[tuple[int, int | None, int]]) -> None:
    """Circles, missing parents, equal times, several roots: every model call is told once."""
    spans: dict[int, Span] = {}
    for number, parent, kind in links:
        spans.setdefault(number, one_of(kind, number, parent))
    found = converted(*spans.values())
    told = [t for c in found for t in talk(c) if t.startswith("assistant: Answer")]
    calls = [s for s in spans.values() if s.name == "chat"]
    assert len(told) == len(set(told))
    assert len(told) == len(calls) or any(s.parent_span_id for s in calls)  # of calls inside calls the outer one is told


def one_of(kind: int, number: int, parent: int | None) -> Span:
    """A model call, an agent, a tool run or something else, all begun at one moment."""
    if kind == 0:
        return chat(number, [user(f"Question {number}")], says(f"Answer {number}"), parent=parent, start=1)
    if kind == 1:
        return agent(number, f"agent {number}", parent=parent, start=1, end=9)
    if kind == 2:
        return tool(number, "book", {"n": number}, "ok", parent=parent, start=1)
    return span(number, {}, name="HTTP", parent=parent, start=1)
