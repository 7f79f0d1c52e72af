"""Whatever the style in which a conversation is told, in whatever order and however often its spans come: it is read back as it was."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_eval.exchange.messages import messages_from_conversation
from otel_eval.model import Batch, Conversation, LogRecord, Span
from otel_eval.service.convert import conversations_from_batches
from tests.fakes.spans import converted, talk
from tests.fakes.stories import Story, Style, Turn, stories

Item: TypeAlias = Span | LogRecord


def batch(items: Sequence[Item]) -> Batch:
    """Items as one request; their place in it is what tells records of one moment apart."""
    logs = [i for i in items if isinstance(i, LogRecord)]
    return Batch(spans=tuple(i for i in items if isinstance(i, Span)), logs=tuple(replace(r, order=p) for p, r in enumerate(logs)))


def batched(items: Sequence[Item], rng: random.Random) -> list[Batch]:
    """Items in any order, cut into requests of any size."""
    left, out = rng.sample(items, len(items)), []
    while left:
        size = rng.choice([1, 1, 2, 5, len(left)])
        out.append(batch(left[:size]))
        left = left[size:]
    return out


def read(batches: Sequence[Batch]) -> list[Conversation]:
    return conversations_from_batches(batches).conversations


@given(stories())
def test_a_story_is_read_back_in_whatever_style_it_is_told(story: Story) -> None:
    """History or delta, ids or none, spans or logs, one trace or many, one instrumentation or two: the talk is the same."""
    assert [talk(c) for c in converted(*story.items()) if c.sub_agent_of is None] == [story.lines()]


def test_successive_runs_of_an_agent_in_one_trace_are_turns() -> None:
    """T8, A13: two runs of one agent under one conversation id, each hearing only what is new, are two turns of one talk."""
    turns = tuple(Turn(question=f"Question {n}", rounds=(), answer=f"Answer {n}") for n in (1, 2))
    story = Story(turns=turns, style=Style(one_trace=True, history=False, system=False))
    assert [talk(c) for c in converted(*story.items()) if c.sub_agent_of is None] == [story.lines()]


@settings(max_examples=60)
@given(stories(), st.randoms(use_true_random=False))
def test_order_and_batching_change_nothing(story: Story, rng: random.Random) -> None:
    """T12, T13: spans and records in any order, in requests of any size, logs apart from spans or with them."""
    whole = read([batch(story.items())])
    assert read(batched(story.items(), rng)) == whole
    assert read([batch([i]) for i in story.items()]) == whole


@settings(max_examples=60)
@given(stories(), st.randoms(use_true_random=False))
def test_what_is_sent_twice_changes_nothing(story: Story, rng: random.Random) -> None:
    """OTLP sends again when it is in doubt: every request twice, at once or much later, is every request once."""
    requests = batched(story.items(), rng)
    once = read(requests)
    assert read([r for r in requests for _ in range(2)]) == once
    assert read([*requests, *rng.sample(requests, len(requests))]) == once


@settings(max_examples=40)
@given(st.lists(stories(), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_conversations_do_not_touch_each_other(told: list[Story], rng: random.Random) -> None:
    """Several conversations at once are each read as if they were alone, and every message comes from a trace of its own conversation."""
    apart = [[moved(i, n) for i in story.items()] for n, story in enumerate(told)]
    alone = [c for items in apart for c in read([batch(items)])]
    together = read(batched([i for items in apart for i in items], rng))
    assert sorted(map(words, together)) == sorted(map(words, alone))
    assert all(m.source is not None and m.source.trace_id in c.trace_ids for c in together for m in c.messages)


def words(conversation: Conversation) -> str:
    """All that a conversation says and is told of, without the spans that its messages came from."""
    return json.dumps([messages_from_conversation(conversation), len(conversation.turns), [r.name for r in conversation.tool_runs]])


def moved(item: Item, number: int) -> Item:
    """The item in traces and a conversation of its own."""
    trace_id = f"{number + 1:x}{str(item.trace_id)[1:]}"
    ids = {"gen_ai.conversation.id": f"c-{number}"} if "gen_ai.conversation.id" in item.attributes else {}
    return replace(item, trace_id=trace_id, attributes={**item.attributes, **ids})
