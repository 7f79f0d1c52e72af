"""Timing in turns: every round runs all variants one after the other, so that a slow moment of the machine hits them alike."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SLICE_S = 0.05
"""CPU seconds that one variant runs in one round, about."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One variant beside the base."""

    seconds: float
    """Median CPU seconds of one call."""
    ratio: float
    """Median of the rounds' ratios to the base."""
    spread: float
    """Half the distance between the quartiles of those ratios."""


def timings(variants: Mapping[str, Callable[[], object]], *, base: str, rounds: int = 7) -> dict[str, Timing]:
    """The timings of all variants, measured in turns on CPU time, the order reversed every other round."""
    repeats = {name: _repeats(run) for name, run in variants.items()}
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(rounds):
        for name in list(variants)[:: -1 if turn % 2 else 1]:
            taken[name].append(_seconds(variants[name], repeats[name]))
    return {name: _timing(taken[name], taken[base]) for name in variants}


def _timing(seconds: list[float], base: list[float]) -> Timing:
    ratios = [s / b for s, b in zip(seconds, base, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    return Timing(seconds=statistics.median(seconds), ratio=statistics.median(ratios), spread=(high - low) / 2)


def _repeats(run: Callable[[], object]) -> int:
    run()  # imports and caches are not what is measured
    return max(1, int(_SLICE_S / max(_seconds(run, 1), 1e-6)))


def _seconds(run: Callable[[], object], repeats: int) -> float:
    """CPU seconds of one call; what the last variant left behind is collected before, not within."""
    gc.collect()
    started = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - started) / repeats
