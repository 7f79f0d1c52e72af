"""The line that says what is being done."""

import io
from collections.abc import Iterator

from otel_eval.service.progress import PATIENCE_S, Progress, watch_for


def ticking(step_s: float) -> Iterator[float]:
    """A clock that goes on by a step each time it is looked at."""
    now = 100.0
    while True:
        yield now
        now += step_s


def watched(step_s: float, items: int) -> tuple[list[int], str]:
    stream, ticks = io.StringIO(), ticking(step_s)
    progress = Progress(stream=stream, clock=lambda: next(ticks))
    seen = list(progress(range(items), "reading"))
    progress.clear()
    return seen, stream.getvalue()


def test_what_is_done_at_once_shows_nothing() -> None:
    """A short work leaves no trace on the screen; the items pass as they are."""
    assert watched(step_s=PATIENCE_S / 1000, items=200) == (list(range(200)), "")


def test_long_work_is_one_line_that_is_taken_away() -> None:
    """What takes long is counted on one line, and the line is gone at the end."""
    seen, shown = watched(step_s=PATIENCE_S, items=200)
    assert seen == list(range(200))
    assert shown.startswith("\r\x1b[Kotel-eval: reading: 65")
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")


def test_without_a_terminal_there_is_none() -> None:
    """Nothing is written into files and pipes."""
    assert watch_for(io.StringIO()) is None
