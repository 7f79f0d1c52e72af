"""Hypothesis strategies: conversations of every shape that the model allows, and those that chat messages can say."""

from typing import Any, get_args

from hypothesis import strategies as st

from otel_eval.exchange.turns import turns_from_messages, with_named_results
from otel_eval.model import (
    Conversation,
    Gap,
    GapReason,
    JoinedBy,
    Media,
    Message,
    Opaque,
    Reasoning,
    Role,
    SpanRef,
    Text,
    ToolCall,
    ToolResult,
    ToolRun,
    Turn,
    Usage,
)

TEXTS = st.text(max_size=20)
SAID = st.text(min_size=1, max_size=20)
"""Words: an empty text and none are the same in chat messages."""
NAMES = st.text(alphabet="abc_", min_size=1, max_size=6)
HEX = st.text(alphabet="0123456789abcdef", min_size=16, max_size=32)
MOMENTS = st.integers(min_value=0, max_value=2**63)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.dictionaries(TEXTS, JSON_VALUES, max_size=3)


def maybe(some: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | some


def tuples_of(some: st.SearchStrategy[Any], max_size: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(some, max_size=max_size).map(tuple)


REFS = st.builds(SpanRef, trace_id=HEX, span_id=HEX)
CALLS = st.builds(ToolCall, id=maybe(NAMES), name=maybe(NAMES), arguments=maybe(OBJECTS), raw=maybe(TEXTS))
RESULTS = st.builds(ToolResult, call_id=maybe(NAMES), name=maybe(NAMES), content=maybe(TEXTS), is_error=maybe(st.booleans()))
PARTS = (
    st.builds(Text, text=TEXTS)
    | st.builds(Reasoning, text=maybe(TEXTS))
    | CALLS
    | RESULTS
    | st.builds(Media, modality=NAMES, mime_type=maybe(NAMES), uri=maybe(TEXTS))
    | st.builds(Opaque, type=TEXTS)
)
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(get_args(Role)),
    parts=tuples_of(PARTS),
    name=maybe(TEXTS),
    finish_reason=maybe(NAMES),
    source=maybe(REFS),
)
RUNS = st.builds(
    ToolRun,
    call_id=maybe(NAMES),
    name=maybe(NAMES),
    source=REFS,
    is_error=maybe(st.booleans()),
    error_type=maybe(NAMES),
    start_ns=MOMENTS,
    end_ns=MOMENTS,
)
GAPS = st.builds(Gap, reason=st.sampled_from(GapReason), where=TEXTS, source=maybe(REFS))


@st.composite
def conversations(draw: st.DrawFn) -> Conversation:
    """Any conversation; its turns mostly, but not always, of its own messages in order."""
    messages = draw(tuples_of(MESSAGES, 5))
    own = turns_from_messages(messages)
    some = draw(tuples_of(st.builds(Turn, messages=tuples_of(MESSAGES), trace_ids=tuples_of(HEX), root=maybe(REFS), start_ns=MOMENTS)))
    return Conversation(
        id=draw(maybe(TEXTS)),
        messages=messages,
        turns=draw(st.sampled_from([own, own + some, some])),
        system=draw(maybe(TEXTS)),
        agent=draw(maybe(TEXTS)),
        agents=draw(tuples_of(TEXTS)),
        tools=draw(st.dictionaries(NAMES, OBJECTS, max_size=2)),
        tool_runs=draw(tuples_of(RUNS)),
        trace_ids=draw(tuples_of(HEX)),
        spans=draw(tuples_of(REFS)),
        sub_agent_of=draw(maybe(TEXTS)),
        joined_by=draw(st.sampled_from(get_args(JoinedBy))),
        dialects=draw(tuples_of(NAMES)),
        models=draw(tuples_of(TEXTS)),
        response_id=draw(maybe(TEXTS)),
        usage=Usage(input_tokens=draw(maybe(MOMENTS)), output_tokens=draw(maybe(MOMENTS))),
        model_calls=draw(st.integers(0, 99)),
        failed_attempts=draw(tuples_of(REFS)),
        gaps=draw(tuples_of(GAPS)),
        start_ns=draw(MOMENTS),
        end_ns=draw(MOMENTS),
        attributes=draw(OBJECTS),
    )


CHAT_CALLS = st.builds(ToolCall, id=maybe(NAMES), name=maybe(NAMES), arguments=maybe(OBJECTS))
USER = st.builds(lambda text: Message(role="user", parts=(Text(text=text),)), SAID)
TOOL = st.builds(lambda i, content: Message(role="tool", parts=(ToolResult(call_id=i, content=content),)), maybe(NAMES), maybe(SAID))
ASSISTANT = st.builds(
    lambda text, calls: Message(role="assistant", parts=(*([Text(text=text)] if text else []), *calls)), maybe(SAID), tuples_of(CHAT_CALLS)
)


@st.composite
def chats(draw: st.DrawFn) -> Conversation:
    """A conversation that chat messages can say in full: words, calls, results, a system message."""
    messages = with_named_results(draw(st.lists(USER | ASSISTANT | TOOL, max_size=6)))
    return Conversation(
        id=draw(maybe(TEXTS)),
        messages=messages,
        turns=turns_from_messages(messages),
        system=draw(maybe(SAID)),
        agent=draw(maybe(NAMES)),
        trace_ids=draw(tuples_of(HEX)),
        sub_agent_of=draw(maybe(NAMES)),
        joined_by="given",
    )
