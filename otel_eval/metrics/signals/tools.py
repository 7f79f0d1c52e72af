"""Signals of the tool calls: errors, repetition, loops, empty results."""

from collections.abc import Hashable, Sequence
from itertools import groupby

from otel_eval.metrics.base import MetricCard, MetricInput
from otel_eval.metrics.calls import MadeCall, made_calls
from otel_eval.metrics.equality import canonical_text
from otel_eval.metrics.results import result_empty
from otel_eval.metrics.signals.signal import OURS, Signal, count, count_card, flag, flag_card, not_captured, undefined
from otel_eval.model import Outcome

LONGEST_PATTERN = 4
"""A loop is looked for in patterns of up to so many calls."""


def _tool_error_rate(given: MetricInput) -> Outcome:
    made = made_calls(given)
    known = [call for call in made if call.failed is not None]
    failed = [call for call in known if call.failed]
    if not made:
        return undefined("no tool was called")
    if not known:
        return not_captured("how the tool calls ended was not recorded")
    words = f"{len(failed)} of {len(known)} tool calls failed"
    return count(given, len(failed) / len(known), words, (c.message for c in failed), failed=len(failed), known=len(known), made=len(made))


def _last_call_failed(given: MetricInput) -> Outcome:
    made = made_calls(given)
    if not made:
        return undefined("no tool was called")
    last = made[-1]
    if last.failed is None:
        return not_captured("how the last tool call ended was not recorded")
    return flag(given, last.failed, f"the last tool call {'failed' if last.failed else 'did not fail'}", [last.message])


def _repeated_calls(given: MetricInput) -> Outcome:
    made = made_calls(given)
    seen: set[Hashable] = set()
    repeated = []
    for call, key in zip(made, _keys(made), strict=True):
        if key in seen:
            repeated.append(call)
        seen.add(key)
    return count(given, len(repeated), f"{len(repeated)} of {len(made)} tool calls repeat an earlier one", (c.message for c in repeated))


def _loops(given: MetricInput) -> Outcome:
    made = made_calls(given)
    keys = _keys(made)
    repeats, length, start = max((_longest_repeat(keys, n) for n in range(1, LONGEST_PATTERN + 1)), key=lambda found: found[0])
    if not repeats:
        return count(given, 0, "no pattern of tool calls follows on itself")
    looped = made[start : start + length * (repeats + 1)]
    return count(given, repeats, f"a pattern of {length} tool calls ran {repeats + 1} times in a row", (c.message for c in looped))


def _longest_tool_run(given: MetricInput) -> Outcome:
    runs = [(name, len(list(group))) for name, group in groupby(call.name for call in made_calls(given))]
    if not runs:
        return count(given, 0, "no tool was called")
    name, longest = max(runs, key=lambda run: run[1])
    return count(given, longest, f"{name or 'one tool'} was called {longest} times in a row", tool=name)


def _empty_results(given: MetricInput) -> Outcome:
    made = made_calls(given)
    known = [call for call in made if call.result is not None and result_empty(call.result) is not None]
    if made and not known:
        return not_captured("the results of the tool calls were not recorded")
    empty = [call for call in known if not call.failed and call.result is not None and result_empty(call.result)]
    return count(given, len(empty), f"{len(empty)} of {len(known)} tool results are empty", (c.message for c in empty))


def _tool_call_count(given: MetricInput) -> Outcome:
    made = made_calls(given)
    return count(given, len(made), f"{len(made)} tool calls", tools=len({c.name for c in made}))


def _keys(made: Sequence[MadeCall]) -> list[Hashable]:
    """What a call asks for; a call with unknown arguments asks for something of its own."""
    return [
        (call.name, canonical_text(call.arguments)) if call.arguments is not None else ("unknown", index) for index, call in enumerate(made)
    ]


def _longest_repeat(keys: Sequence[Hashable], length: int) -> tuple[int, int, int]:
    """(times a pattern of that length follows on itself, the length, where it starts), the longest such run."""
    best, best_start, same = 0, 0, 0
    for index in range(length, len(keys)):
        same = same + 1 if keys[index] == keys[index - length] else 0
        if same // length > best:
            best, best_start = same // length, index - same - length + 1
    return best, length, best_start


TOOL_ERROR_RATE = Signal(
    measure=_tool_error_rate,
    card=MetricCard(
        name="tool_error_rate",
        sentence="Share of the tool calls with a known ending that failed.",
        example="one of four calls ended in an error: 0.25",
        source=f"{OURS}: 1.6 with any error, 1.7 with three or more",
        better="lower",
    ),
)
LAST_CALL_FAILED = Signal(
    measure=_last_call_failed,
    card=flag_card("last_call_failed", "Whether the last tool call failed.", "the last result is 'Error: timeout': 1", f"{OURS}: 1.9"),
)
REPEATED_CALLS = Signal(
    measure=_repeated_calls,
    card=count_card(
        "repeated_calls",
        "Tool calls that ask the same tool for the same as an earlier one.",
        "search(x), search(x), search(y), search(x): 2",
        source=f"{OURS}: 1.6 with three or more",
    ),
)
LOOPS = Signal(
    measure=_loops,
    card=count_card(
        "loops",
        f"How often a pattern of one to {LONGEST_PATTERN} tool calls follows on itself without a break.",
        "a(1), b(1), a(1), b(1), a(1), b(1): 2",
    ),
)
LONGEST_TOOL_RUN = Signal(
    measure=_longest_tool_run,
    card=count_card(
        "longest_tool_run",
        "The longest run of calls of one tool, whatever the arguments.",
        "search, search, open, search: 2",
        source=f"{OURS}: 1.5 with six or more",
    ),
)
EMPTY_RESULTS = Signal(
    measure=_empty_results,
    card=count_card(
        "empty_results", "Tool calls that gave nothing without failing.", "'[]' and 'No results found': 2", source=f"{OURS}: 1.4 with any"
    ),
)
TOOL_CALL_COUNT = Signal(
    measure=_tool_call_count,
    card=count_card("tool_call_count", "Tool calls made.", "two messages with one and three calls: 4", better="neither"),
)
