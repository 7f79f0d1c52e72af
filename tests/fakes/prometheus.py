"""What Prometheus makes of OTLP names, and what a query in PromQL asks for.

**Source**: OpenTelemetry specification, compatibility of Prometheus and OpenMetrics formats; Prometheus' strategy
UnderscoreEscapingWithSuffixes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from promql_parser import AggregateExpr, BinaryExpr, Expr, VectorSelector, parse, walk

from otel_eval.telemetry import Instrument

_UNITS = {"s": "seconds", "ms": "milliseconds", "By": "bytes"}
_VARIABLES = {"$__rate_interval": "5m", "$__range": "6h", "$window": "1h"}
"""Of Grafana, where a query wants a duration; others stand in strings, where anything may."""


def series_of(instrument: Instrument) -> tuple[str, ...]:
    """The names of its series."""
    name = label_of(instrument.name)
    if not instrument.unit.startswith("{"):
        ratio = "ratio" if instrument.kind == "gauge" else ""
        unit = ratio if instrument.unit == "1" else _UNITS.get(instrument.unit, instrument.unit)
        name += f"_{unit}" if unit and unit not in name.split("_") else ""
    if instrument.kind == "counter":
        return (f"{name}_total",)
    return tuple(f"{name}_{part}" for part in ("bucket", "sum", "count")) if instrument.kind == "histogram" else (name,)


def label_of(attribute: str) -> str:
    """The label that an attribute becomes."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", attribute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """One `name{label="value"}` of a query."""

    series: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a query asks for. ValueError where it is no PromQL."""

    selectors: tuple[Selector, ...]
    groups: frozenset[str]
    """Labels that it groups or joins by."""


def query_from_text(text: str) -> Query:
    for variable, duration in _VARIABLES.items():
        text = text.replace(variable, duration)
    selectors: list[Selector] = []
    groups: set[str] = set()

    def visit(expr: Expr) -> None:
        groups.update(_grouped(expr))
        if isinstance(expr, VectorSelector):
            selectors.append(Selector(series=str(expr.name), labels={m.name: m.value for m in expr.matchers.matchers}))

    walk(parse(text), visit)
    return Query(selectors=tuple(selectors), groups=frozenset(groups))


def _grouped(expr: Expr) -> Iterator[str]:
    if isinstance(expr, AggregateExpr) and expr.modifier is not None:
        yield from expr.modifier.labels
    if isinstance(expr, BinaryExpr) and expr.modifier is not None and expr.modifier.matching is not None:
        yield from expr.modifier.matching.labels
