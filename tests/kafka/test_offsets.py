"""How far a partition is finished: in any order, over any crash, nothing is lost and nothing finished is read again."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.kafka.offsets import MOST_METADATA_BYTES, Offsets, mask_from_text, offsets_from_commit, text_from_mask


def test_floor_rises_over_what_is_finished() -> None:
    """The floor stands at the first unfinished offset, whatever is finished above it."""
    offsets = Offsets(10, 10)
    assert [offsets.read(n) for n in range(10, 15)] == [True] * 5
    offsets.finish(12)
    offsets.finish(11)
    assert (offsets.floor, offsets.unfinished, offsets.width) == (10, 3, 5)
    offsets.finish(10)
    assert (offsets.floor, offsets.unfinished, offsets.width) == (13, 2, 2)
    offsets.finish(14)
    offsets.finish(13)
    assert (offsets.floor, offsets.next, offsets.unfinished) == (15, 15, 0)


def test_holes_of_the_log_hold_nothing_up() -> None:
    """Offsets that the log does not have (compaction, transactions, retention) count as finished."""
    offsets = Offsets(0, 0)
    assert offsets.read(0)
    assert offsets.read(7)
    offsets.finish(0)
    assert offsets.floor == 7
    assert offsets.read(9)
    offsets.finish(7)
    assert (offsets.floor, offsets.unfinished) == (9, 1)


@given(
    data=st.data(),
    count=st.integers(1, 60),
    start=st.integers(0, 1000),
    crashes=st.integers(0, 4),
)
def test_any_order_and_any_crash_loses_nothing(data: st.DataObject, count: int, start: int, crashes: int) -> None:
    """Whatever order messages are finished in, and wherever crashes fall: each is worked on, and once more a crash at most.

    What was committed before a crash is never worked on again.
    """
    present = sorted(data.draw(st.sets(st.integers(start, start + count), min_size=1)))
    commit = (start, "")
    worked: Counter[int] = Counter()
    for life in range(crashes + 1):
        offsets = offsets_from_commit(*commit)
        known = {n for n in present if not offsets_from_commit(*commit).read(n)}
        todo = [n for n in present if n >= offsets.floor and offsets.read(n)]
        assert not known & set(todo)
        worked.update(todo)
        done = data.draw(st.permutations(todo)) if life == crashes else data.draw(st.permutations(todo))[: data.draw(st.integers(0, 60))]
        committed = data.draw(st.integers(0, len(done)))
        for place, n in enumerate(done, 1):
            offsets.finish(n)
            if place == committed:
                commit = (offsets.floor, offsets.metadata())
        if life == crashes:
            assert offsets.unfinished == 0
            assert offsets.floor > present[-1] or not todo
    assert set(worked) == set(present)
    assert max(worked.values()) <= crashes + 1


@given(mask=st.integers(0, 2**3000))
def test_metadata_is_read_back(mask: int) -> None:
    """A mask that fits is the same after it was written down."""
    assert mask_from_text(text_from_mask(mask)) == mask


@pytest.mark.parametrize("text", ["", "something else", "1:", "1:§", "1:AAAAA", "2:" + "x" * 50, "1:" + "~" * 300])
def test_metadata_of_others_says_nothing(text: str) -> None:
    """Metadata that is not ours, or damaged, means that everything above the floor is read again."""
    assert mask_from_text(text) == 0


def test_metadata_never_exceeds_what_a_broker_takes() -> None:
    """Where the bitmap does not fit, the offsets nearest to the floor are told, and those that are not are read again: never lost."""
    luck = random.Random(1)
    offsets = Offsets(5, 5)
    finished = set()
    for n in range(5, 50_000):
        offsets.read(n)
        if n > 5 and luck.random() < 0.5:
            offsets.finish(n)
            finished.add(n)
    text = offsets.metadata()
    assert offsets.is_wide
    assert MOST_METADATA_BYTES // 2 < len(text) <= MOST_METADATA_BYTES
    again = offsets_from_commit(offsets.floor, text)
    skipped = {n for n in range(5, 50_000) if not again.read(n)}
    assert skipped == set(sorted(finished)[: len(skipped)])
    assert len(skipped) > 10_000


def test_a_long_wait_fits_well() -> None:
    """Finished offsets behind one that waits take a few dozen bytes, however many they are."""
    offsets = Offsets(0, 0)
    for n in range(50_000):
        offsets.read(n)
    for n in range(1, 50_000):
        offsets.finish(n)
    assert 0 < len(offsets.metadata()) < 100
    assert not offsets.is_wide
