"""What every registered dialect keeps to, whatever the span."""

import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.dialects import BUILTIN, Dialect, Reader
from otel_eval.model import Gap, LogRecord, Message, Span, Step, StepContent, StepKind, ToolResult
from otel_eval.registry import DIALECTS, load_all
from tests.captures import capture, names
from tests.fakes.anything import KNOWN_NAMES, logs_for, names_of_dialect, spans_for

REGISTERED: tuple[Dialect, ...] = (*BUILTIN, *load_all(DIALECTS).loaded.values())
EACH = pytest.mark.parametrize("dialect", REGISTERED, ids=lambda d: d.info.name)
ROLES = {"system", "user", "assistant", "tool"}


@cache
def real_spans() -> list[tuple[Span, tuple[LogRecord, ...]]]:
    """A few spans of every capture, with their log records."""
    out = []
    for name in names():
        batches = capture(name).batches()
        logs = [r for b in batches for r in b.logs]
        for one in [s for b in batches for s in b.spans][:6]:
            out.append((one, tuple(r for r in logs if (r.trace_id, r.span_id) == (one.trace_id, one.span_id))))
    return out


def spoken(dialect: Dialect) -> list[tuple[Span, tuple[LogRecord, ...]]]:
    """The real spans that a dialect speaks for."""
    return [(s, logs) for s, logs in real_spans() if dialect.speaks(names_of(s, logs))]


def names_of(one: Span, logs: tuple[LogRecord, ...] = ()) -> frozenset[str]:
    events = {f"event:{e.name}" for e in one.events} | {f"event:{r.event_name}" for r in logs}
    inner = {k for e in one.events for k in e.attributes} | {k for r in logs for k in r.attributes}
    return frozenset(one.attributes) | events | inner


def drawn(data: st.DataObject, dialect: Dialect) -> tuple[Span, list[LogRecord]]:
    """A span, with log records, that has any values under the names at which the dialect listens."""
    names = names_of_dialect(dialect)
    return data.draw(spans_for(3, names, parent=2)), data.draw(logs_for(3, names))


def step(dialect: Dialect, one: Span, logs: tuple[LogRecord, ...] = ()) -> Step:
    return Reader([dialect]).step(one, logs)


def facts(one: Step) -> tuple[Any, ...]:
    """All that a step says."""
    fields = {n: getattr(one, n) for n in one.__dataclass_fields__ if n not in ("read_content", "_content", "attributes")}
    return (fields, repr(dict(one.attributes)), repr(one.content))


def check_normal_form(content: StepContent) -> None:
    """Messages have a known role; a tool message holds one result, no other message any; a gap names a place, not content."""
    for message in (*(content.input or ()), *(content.output or ())):
        assert isinstance(message, Message)
        assert message.role in ROLES
        results = sum(type(p) is ToolResult for p in message.parts)
        assert results == (1 if message.role == "tool" else 0)
        assert message.role != "tool" or len(message.parts) == 1
    for gap in content.gaps:
        assert isinstance(gap, Gap)
        assert len(gap.where) <= 120


@EACH
def test_the_card_is_complete(dialect: Dialect) -> None:
    """The documents are made from cards: each has a name, what it reads, where that comes from and how it is told."""
    card = dialect.info
    assert re.fullmatch(r"[a-z][a-z0-9_]*", card.name)
    assert card.version >= 1
    assert card.sentence.endswith(".")
    assert card.source
    assert card.detects
    assert card.content
    assert len(set(card.conversation_ids)) == len(card.conversation_ids)


def test_names_are_unique() -> None:
    """A dialect is named on every step: no two share a name."""
    listed = [d.info.name for d in REGISTERED]
    assert len(set(listed)) == len(listed)


@EACH
def test_it_speaks_where_its_card_says(dialect: Dialect) -> None:
    """A span with a name that the card detects is asked for; one without any is not."""
    for name in dialect.info.detects:
        assert dialect.speaks(frozenset({f"{name}x" if name.endswith(".") else name}))
    assert not dialect.speaks(frozenset())
    assert not dialect.speaks(frozenset({"http.request.method", "db.statement", "event:log"}))


@EACH
@settings(max_examples=50)
@given(data=st.data())
def test_it_never_raises_and_keeps_what_the_span_is(dialect: Dialect, data: st.DataObject) -> None:
    """Any values under any names: no error, ids, parent and times kept, content in normal form."""
    one, logs = drawn(data, dialect)
    got = step(dialect, one, tuple(logs))
    assert (got.ref, got.parent_span_id, got.start_ns, got.end_ns, got.name) == (
        one.ref,
        one.parent_span_id,
        one.start_ns,
        one.end_ns,
        one.name,
    )
    assert isinstance(got.kind, StepKind)
    for text in (got.agent_name, got.tool_name, got.tool_call_id, got.response_id, got.model, got.provider):
        assert text is None or (type(text) is str and text)
    check_normal_form(got.content)


@EACH
@settings(max_examples=15)
@given(data=st.data())
def test_the_same_span_gives_the_same_step(dialect: Dialect, data: st.DataObject) -> None:
    """Reading is pure: twice the same span gives twice the same step, and leaves the span as it was."""
    one, logs = drawn(data, dialect)
    before = repr(one)
    first = facts(step(dialect, one, tuple(logs)))
    assert repr(one) == before
    assert facts(step(dialect, one, tuple(logs))) == first


@EACH
def test_real_spans_are_read_alike_in_any_company(dialect: Dialect) -> None:
    """Spans of captures give the same step from a fresh reader and from one that has read all others, but for the source of messages."""
    reader = Reader([dialect])
    for one, logs in spoken(dialect):
        fresh, used = step(dialect, one, logs), reader.step(one, logs)
        assert without_sources(fresh.content) == without_sources(used.content)
        assert (fresh.kind, fresh.conversation_ids, fresh.tool_name) == (used.kind, used.conversation_ids, used.tool_name)
        check_normal_form(fresh.content)


def without_sources(content: StepContent) -> tuple[Any, ...]:
    """What a step says, without the spans that its messages came from."""
    sides = [
        [(m.role, m.parts, m.name, m.finish_reason) for m in side] if side is not None else None for side in (content.input, content.output)
    ]
    return (sides, content.system, content.tool_call, content.tool_result, repr(content.tool_definitions), content.gaps)


def test_the_names_of_all_dialects_are_tried() -> None:
    """The generated spans use the names that dialects look for."""
    assert {"gen_ai.input.messages", "llm.input_messages.0.message.role", "ai.prompt.messages", "mlflow.spanInputs"} <= set(KNOWN_NAMES)
