"""Thresholds for continuous integration: `--fail-under METRIC=VALUE`."""

import math
from collections.abc import Iterator, Mapping, Sequence

from otel_eval.errors import ConfigError
from otel_eval.service.tally import Tally


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


def missed(thresholds: Mapping[str, float], tally: Tally) -> Iterator[str]:
    """A sentence for each threshold that was not met. A metric without any score has not met it."""
    for name, least in thresholds.items():
        mean = tally.metrics[name].mean
        if mean is None:
            yield f"{name} has no score; {least:g} was asked for"
        elif mean < least:
            yield f"{name} is {mean:.3f}; {least:g} was asked for"
