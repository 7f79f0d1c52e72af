"""Captures of real instrumentations, shuffled, split, repeated and hidden."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_eval.model import Batch, Conversation, GapReason
from otel_eval.service.convert import conversations_from_batches
from tests.captures import capture, names


def read(batches: Sequence[Batch]) -> list[Conversation]:
    return conversations_from_batches(batches).conversations


def single(batches: Sequence[Batch]) -> list[Batch]:
    """One request an item. A record keeps its place in the request it came in: nothing else tells records of one moment apart."""
    return [*(Batch(spans=(s,)) for b in batches for s in b.spans), *(Batch(logs=(r,)) for b in batches for r in b.logs)]


@pytest.mark.parametrize("name", names())
def test_order_batching_and_repetition_change_nothing(name: str) -> None:
    """T12, T13: requests in any order, one item a request, logs before or behind all spans, everything twice: the same conversations."""
    batches = capture(name).batches()
    rng = random.Random(name)
    whole, items = read(batches), single(batches)
    logs_first = sorted(items, key=lambda b: bool(b.spans))
    assert read(rng.sample(batches, len(batches))) == whole
    assert read(rng.sample(items, len(items))) == whole
    assert read(logs_first) == read(logs_first[::-1]) == whole
    assert read([b for b in batches for _ in range(2)]) == whole
    assert read([*batches, *rng.sample(items, len(items))]) == whole


@pytest.mark.parametrize("name", names())
def test_records_sent_one_by_one_keep_their_order(name: str) -> None:
    """T12: an exporter that sends every record alone tells records of one moment apart by their arrival only."""
    batches = capture(name).batches()
    alone = [replace(b, logs=tuple(replace(r, order=0) for r in b.logs)) for b in single(batches)]
    assert read(alone) == read(batches)


@pytest.mark.parametrize("name", names())
def test_a_capture_without_its_words_keeps_its_structure(name: str) -> None:
    """T5: with every long text taken out, no conversation is invented or lost: ids, tool runs and traces stay; gaps tell of the words."""
    batches = capture(name).batches()
    known = {c.id: c for c in read(batches) if c.sub_agent_of is None and c.id is not None}
    hidden = {c.id: c for c in read([without_content(b) for b in batches]) if c.sub_agent_of is None and c.id is not None}
    assert set(hidden) <= set(known)
    for key, bare in hidden.items():
        assert set(bare.trace_ids) <= set(known[key].trace_ids)
        assert not bare.has_content
        assert {g.reason for g in bare.gaps} & {GapReason.CONTENT_NOT_CAPTURED, GapReason.REDACTED}


_TELLING = ("session", "conversation", "thread", "kind", "operation", "type", "Type", "model", "tool.name")


def without_content(batch: Batch) -> Batch:
    """The batch without the attributes, events and bodies that hold words: what switched-off capture leaves."""
    spans = tuple(
        replace(s, attributes={k: v for k, v in s.attributes.items() if is_metadata(k, v)}, events=(), status_message="")
        for s in batch.spans
    )
    return Batch(spans=spans)


def is_metadata(name: str, value: object) -> bool:
    """Whether an attribute tells what happened rather than what was said."""
    is_short = not isinstance(value, str) or len(value) <= 60
    if is_short and any(part in name for part in _TELLING) and "content" not in name:
        return True
    wordy = (
        "input",
        "output",
        "prompt",
        "completion",
        "message",
        "response",
        "request",
        "result",
        "arguments",
        "parameters",
        "instructions",
    )
    return is_short and not any(part in name.lower() for part in wordy)
