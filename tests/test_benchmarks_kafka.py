"""The benchmarks behind docs/scaling.md: what the document quotes is what they print."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.floor_bitmap import largest
from benchmarks.queue_simulation import LARGE, SMALL, arrivals, crashes, outage, row_of, simulated

DOCUMENT = (Path(__file__).parent.parent / "docs" / "scaling.md").read_text(encoding="utf-8")


def test_every_arrival_is_judged_once_and_what_dies_once_more() -> None:
    """The simulation loses nothing: as many are judged as arrive, plus those that a crash had under way."""
    day = simulated(SMALL, [crashes], 1)
    arrived = sum(arrivals(second, SMALL) for second in range(86_400))
    assert sum(day.ages.values()) == pytest.approx(arrived + day.again, rel=0.02)
    assert day.again == 24 * SMALL.concurrency


def test_an_outage_is_waited_out() -> None:
    """Who arrives as a judge falls silent for half an hour waits for half an hour, and nobody much longer where there is room."""
    day = simulated(replace(SMALL, concurrency=400), [outage], 1)
    assert 1790 <= max(day.ages) <= 1900
    assert day.share(0.5) == 0


def test_the_document_quotes_the_simulation() -> None:
    """A row of the document is what the simulation prints, for both sizes."""
    for load in (SMALL, LARGE):
        row = row_of(load, ("a worker killed every hour", [crashes]), 1)
        assert f"| {' | '.join(row)} |" in DOCUMENT


def test_the_document_quotes_the_bitmap() -> None:
    """A row of the document is what the bitmap's benchmark finds."""
    size, width = largest(5, 1)
    assert f"| 5 | {size:,} | {width:,} |" in DOCUMENT
