"""Thresholds for continuous integration: `--fail-under METRIC=VALUE`, `--max-failed SHARE`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from otel_eval.errors import ConfigError
from otel_eval.service.tally import MetricTally, Tally


def thresholds_from_texts(texts: Sequence[str]) -> dict[str, float]:
    """Least mean by metric. ConfigError for a text that is no `METRIC=NUMBER`."""
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals or not name:
            raise ConfigError(f"--fail-under {text!r}: expected METRIC=NUMBER")
        if name in found:
            raise ConfigError(f"--fail-under names {name!r} twice: give one value")
        found[name] = _number(text, number)
    return found


def _number(text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"--fail-under {text!r}: {number!r} is no number")
    return value


def refuse_unknown(thresholds: Mapping[str, float], metrics: Sequence[str]) -> None:
    """ConfigError for a metric that is not run: its threshold would never be looked at."""
    for name in thresholds:
        if name not in metrics:
            raise ConfigError(
                f"--fail-under names {name!r}, which is not run: expected one of the metrics that are run: {', '.join(metrics)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A threshold, held against what came out."""

    sentence: str
    is_met: bool


def held(thresholds: Mapping[str, float], most_failed: float | None, tally: Tally) -> Iterator[Held]:
    """Each threshold in a sentence, met or not: a mean says little where most results have none.

    A metric without any score has not met its least mean. `most_failed` is held against each metric, and told only where it is exceeded.
    """
    for name, least in thresholds.items():
        yield _held_mean(name, least, tally.metrics[name])
    for name, found in tally.metrics.items():
        if most_failed is not None and found.failed_share > most_failed:
            yield Held(
                sentence=f"{name} failed on {found.failed.total()} of {found.applied} results; "
                f"a share of {most_failed:g} at most was asked for",
                is_met=False,
            )


def _held_mean(name: str, least: float, found: MetricTally) -> Held:
    counted = f"of {len(found.values)} results, {found.failed.total()} failed"
    if found.mean is None:
        return Held(sentence=f"{name} has no score ({counted}); {least:g} was asked for", is_met=False)
    return Held(sentence=f"{name} is {found.mean:.3f} ({counted}); {least:g} was asked for", is_met=found.mean >= least)
