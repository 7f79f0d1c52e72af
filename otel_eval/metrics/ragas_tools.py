"""The two tool metrics of ragas 0.4.3, bit for bit, oddities included. Used with `compat="ragas"` and `compat="ragas-legacy"`.

**Source**: vibrantlabsai/ragas v0.4.3 (Apache-2.0), `metrics/collections/tool_call_accuracy` and `tool_call_f1`, written anew from their
behaviour. Known oddities, kept: any difference in the sequence of names, a missing or an additional call included, gives accuracy 0;
accuracy compares printed values ("75" is 75, 75.0 is not); F1 compares Python values (75.0 is 75, 1 is true) and drops repetitions; with
nothing expected and nothing called accuracy is 1 and F1 is 0.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from otel_eval.metrics.equality import plain
from otel_eval.model import ToolCall


def ragas_tool_call_accuracy(
    made: Sequence[ToolCall],
    expected: Sequence[ToolCall],
    *,
    strict_order: bool,
    matches: Callable[[str, str, str, str], float] | None = None,
) -> float:
    """Mean share of expected arguments over the expected calls, or 0 where the names differ.

    `matches(tool, argument, made, expected)` compares two printed values: ragas' `arg_comparison_metric`, which only the deprecated class
    has.
    """
    if not made or not expected:
        return float(not made and not expected)
    if not strict_order:
        made, expected = sorted(made, key=_sort_key), sorted(expected, key=_sort_key)
    total = 0.0
    for call, reference in zip(made, expected, strict=False):
        if call.name == reference.name:
            total += _argument_share(call.name or "", _arguments(call), _arguments(reference), matches)
    aligned = [c.name for c in made] == [c.name for c in expected]
    return total / len(expected) * aligned


def ragas_tool_call_f1(made: Sequence[ToolCall], expected: Sequence[ToolCall]) -> float:
    """F1 over the sets of calls, rounded to four digits."""
    mine, theirs = {_frozen_call(c) for c in made}, {_frozen_call(c) for c in expected}
    matched = len(mine & theirs)
    precision = matched / len(mine) if mine else 0.0
    recall = matched / len(theirs) if theirs else 0.0
    return round(2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0, 4)


def _arguments(call: ToolCall) -> dict[str, Any]:
    found: dict[str, Any] = plain(call.arguments or {})
    return found


def _argument_share(
    tool: str, made: Mapping[str, Any], expected: Mapping[str, Any], matches: Callable[[str, str, str, str], float] | None
) -> float:
    if not expected:
        return float(not made)
    total = 0.0
    for name, value in expected.items():
        if name in made:
            mine, theirs = str(made[name]), str(value)
            total += matches(tool, name, mine, theirs) if matches else float(mine == theirs)
    return total / len(expected)


def _sort_key(call: ToolCall) -> tuple[str, ...]:
    arguments = _arguments(call)
    return (call.name or "", *(part for name in sorted(arguments) for part in (name, str(arguments[name]))))


def _frozen_call(call: ToolCall) -> Hashable:
    return call.name, _frozen(_arguments(call))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return frozenset((name, _frozen(member)) for name, member in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
