"""Thresholds for continuous integration: `--fail-under METRIC=VALUE`."""

from collections.abc import Iterator, Mapping, Sequence

from otel_eval.errors import ConfigError
from otel_eval.service.tally import Tally


def thresholds_from_texts(texts: Sequence[str], metrics: Sequence[str]) -> dict[str, float]:
    """Least mean by metric. ConfigError for a text that is no `METRIC=NUMBER`, or a metric that is not run."""
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals or name not in metrics:
            raise ConfigError(f"--fail-under {text!r}: expected METRIC=NUMBER with one of the metrics that are run: {', '.join(metrics)}")
        try:
            found[name] = float(number)
        except ValueError:
            raise ConfigError(f"--fail-under {text!r}: {number!r} is no number") from None
    return found


def missed(thresholds: Mapping[str, float], tally: Tally) -> Iterator[str]:
    """A sentence for each threshold that was not met. A metric without any score has not met it."""
    for name, least in thresholds.items():
        mean = tally.metrics[name].mean
        if mean is None:
            yield f"{name} has no score; {least:g} was asked for"
        elif mean < least:
            yield f"{name} is {mean:.3f}; {least:g} was asked for"
