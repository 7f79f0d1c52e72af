"""How one argument of a made call is held against the expected one.

Parameter `arguments` of the tool metrics: a mapping from argument (`amount`, for one tool `transfer.amount`, for all others `*`) to

| matcher | equal when |
|---|---|
| `exact` | the JSON values are the same (`metrics/equality.py`); this is the default |
| `ignore` | always; the argument is left out of the count |
| `number:0.01`, `number:1%` | both are numbers and differ by at most so much, or by such a share of the expected one |
| `case_insensitive` | the texts are the same without regard to case |
| `regex` | the whole made value matches the expected one, read as a pattern; `regex:PATTERN` for a pattern of its own |
| `module:function` | `function(made, expected)` gives True, or a share from 0 to 1 (what ragas' `arg_comparison_metric` gives) |
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from otel_eval.metrics.equality import canonical_text, json_equal, members, text
from otel_eval.metrics.functions import function_from_path

Matcher: TypeAlias = Callable[[Any, Any], float]

ALL_OTHERS = "*"


class ArgumentComparer:
    """Compares the arguments of two calls of one tool, by the rules of an `arguments` parameter. A wrong rule is a ValueError."""

    def __init__(self, rules: Mapping[str, Any] | None = None) -> None:
        self._matchers = {name: matcher_from_rule(rule) for name, rule in (rules or {}).items()}

    def share(self, tool: str, made: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """The share of arguments that match, in [0, 1], out of all that either call has; 1.0 where neither has any.

        Made {to: bob, amount: 10, currency: KRW}, expected {to: bob, amount: 10} gives 2/3: an invented argument counts.
        """
        mine, theirs = members(made), members(expected)
        total, matched = 0, 0.0
        for name in mine.keys() | theirs.keys():
            matcher = self._matcher(tool, name)
            if matcher is None:
                continue
            total += 1
            if name in mine and name in theirs:
                matched += matcher(mine[name], theirs[name])
        return matched / total if total else 1.0

    def one(self, tool: str, name: str, made: Any, expected: Any) -> float:
        """The share of one argument; 1.0 where it is ignored."""
        matcher = self._matcher(tool, name)
        return matcher(made, expected) if matcher else 1.0

    def _matcher(self, tool: str, name: str) -> Matcher | None:
        for key in (f"{tool}.{name}", name, ALL_OTHERS):
            if key in self._matchers:
                return self._matchers[key]
        return exact


def matcher_from_rule(rule: Any) -> Matcher | None:
    """The matcher a rule names, None for `ignore`."""
    if not isinstance(rule, str):
        raise ValueError(f"a matcher is a text such as 'exact', 'ignore' or 'number:0.01', not a {type(rule).__name__}")
    name, colon, rest = rule.partition(":")
    if name == "ignore" and not colon:
        return None
    if name in _SIMPLE and not colon:
        return _SIMPLE[name]
    if name in _WITH_SETTING and rest:
        return _WITH_SETTING[name](rest)
    if colon and name not in (*_SIMPLE, *_WITH_SETTING, "ignore"):
        return partial(_by_function, rule, function_from_path(rule))
    raise ValueError(f"unknown matcher {rule!r}: use exact, ignore, number:TOLERANCE, case_insensitive, regex or module:function")


def exact(made: Any, expected: Any) -> float:
    """1.0 where both are the same JSON value."""
    return float(json_equal(made, expected))


def case_insensitive(made: Any, expected: Any) -> float:
    """1.0 where both are the same text without regard to case; other values must be the same."""
    if isinstance(made, str) and isinstance(expected, str):
        return float(text(text(made).casefold()) == text(text(expected).casefold()))
    return exact(made, expected)


def regex(made: Any, expected: Any) -> float:
    """1.0 where the whole made value matches the expected one as a pattern; a value that is no text is matched in its JSON form."""
    if not isinstance(expected, str):
        return exact(made, expected)
    return float(_pattern(expected).fullmatch(_as_text(made)) is not None)


def _regex_setting(pattern: str) -> Matcher:
    compiled = _pattern(pattern)
    return lambda made, expected: float(compiled.fullmatch(_as_text(made)) is not None)


def _number_setting(tolerance: str) -> Matcher:
    try:
        allowed = float(tolerance.removesuffix("%"))
    except ValueError:
        raise ValueError(f"'number:{tolerance}': the tolerance is a number such as 0.01, or a share such as 1%") from None
    relative = tolerance.endswith("%")

    def number(made: Any, expected: Any) -> float:
        if not (_is_number(made) and _is_number(expected)):
            return 0.0
        return float(abs(made - expected) <= (abs(expected) * allowed / 100 if relative else allowed) or json_equal(made, expected))

    return number


def _by_function(path: str, function: Callable[..., Any], made: Any, expected: Any) -> float:
    try:
        share = float(function(made, expected))
    except Exception as error:
        raise ValueError(f"matcher {path!r} raised {type(error).__name__}; it must take (made, expected) and give a share") from error
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"matcher {path!r} gave {share!r}; a share is between 0 and 1")
    return share


def _pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(text(pattern))
    except re.error as error:
        raise ValueError(f"a regex matcher's pattern cannot be read at position {error.pos}: {error.msg}") from error


def _as_text(value: Any) -> str:
    return text(value) if isinstance(value, str) else canonical_text(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SIMPLE: Mapping[str, Matcher] = {"exact": exact, "case_insensitive": case_insensitive, "regex": regex}
_WITH_SETTING: Mapping[str, Callable[[str], Matcher]] = {"number": _number_setting, "regex": _regex_setting}
