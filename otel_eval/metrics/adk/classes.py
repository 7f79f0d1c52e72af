"""Which classes an ADK metric gets: ADK's own where google-adk is installed, else the stand-ins; and how its function is loaded."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from otel_eval.metrics.adk import shapes
from otel_eval.metrics.functions import module_from_name

_EVALUATION = "google.adk.evaluation"
_STOOD_IN_FOR: Mapping[str, tuple[str, ...]] = {
    "google": (),
    "google.adk": (),
    _EVALUATION: (),
    f"{_EVALUATION}.conversation_scenarios": ("ConversationScenario",),
    f"{_EVALUATION}.eval_case": (
        "ConversationScenario",
        "IntermediateData",
        "Invocation",
        "InvocationEvent",
        "InvocationEvents",
        "get_all_tool_calls",
        "get_all_tool_responses",
    ),
    f"{_EVALUATION}.eval_metrics": ("BaseCriterion", "EvalMetric", "EvalStatus", "Interval", "MetricInfo", "MetricValueInfo"),
    f"{_EVALUATION}.evaluator": ("ConversationScenario", "EvalStatus", "EvaluationResult", "Invocation", "PerInvocationResult"),
    "google.genai": (),
    "google.genai.types": ("Content", "FunctionCall", "FunctionResponse", "Part"),
}
"""The modules that a function written for ADK imports, and what they give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdkClasses:
    """The classes that invocations and metrics are built from."""

    case: Any
    """Has `Invocation`, `InvocationEvent` and `InvocationEvents`."""
    metrics: Any
    """Has `EvalMetric` and `BaseCriterion`."""
    types: Any
    """Has `Content`, `Part`, `FunctionCall` and `FunctionResponse`."""
    events: Callable[..., Any]
    """Makes the events of a turn; they can be read as tool lists too (`tool_uses`), as older functions do."""


@cache
def adk_classes() -> AdkClasses:
    """The classes to use in this process."""
    if not is_adk_installed():
        return AdkClasses(case=shapes, metrics=shapes, types=shapes, events=_with_tool_lists(shapes.InvocationEvents))
    case, metrics = import_module(f"{_EVALUATION}.eval_case"), import_module(f"{_EVALUATION}.eval_metrics")
    return AdkClasses(case=case, metrics=metrics, types=import_module("google.genai.types"), events=_with_tool_lists(case.InvocationEvents))


def is_adk_installed() -> bool:
    return _is_installed("google.adk")


def function_from_dotted_path(path: str) -> Callable[..., Any]:
    """The function that `code_config.name` names, `package.module.function`; ValueError says what is wrong with the path."""
    module_name, _, name = path.rpartition(".")
    if not module_name:
        raise ValueError(f"{path!r} names no module: write the path in full, 'package.module.function'")
    with _stand_ins():
        module = module_from_name(module_name, path)
    found = getattr(module, name, None)
    if not callable(found):
        raise ValueError(f"{path!r}: module {module_name!r} has no function {name!r}")
    function: Callable[..., Any] = found
    return function


@contextmanager
def _stand_ins() -> Iterator[None]:
    """While a function's module is imported, ADK's modules can be imported too; they are gone again afterwards.

    Nobody else shall find an ADK that is not there, and a function keeps the classes it has imported.
    """
    missing = {name: names for name, names in _STOOD_IN_FOR.items() if name not in sys.modules and not _is_installed(name)}
    sys.modules.update({name: _module(name, names) for name, names in missing.items()})
    try:
        yield
    finally:
        for name in missing:
            sys.modules.pop(name, None)


def _module(name: str, names: tuple[str, ...]) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = []
    for given in names:
        setattr(module, given, getattr(shapes, given))
    return module


def _is_installed(name: str) -> bool:
    """Whether a module can be found. A parent that is a stand-in, or not there, has no children."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _with_tool_lists(events: type) -> Callable[..., Any]:
    """The class of a turn's events, with the tool lists of ADK's older class as properties."""

    def listed(name: str, part: str) -> property:
        return property(lambda self: shapes.tool_parts(self, name, part))

    members = {
        "tool_uses": listed("tool_uses", "function_call"),
        "tool_responses": listed("tool_responses", "function_response"),
        "intermediate_responses": property(_intermediate_responses),
        "__module__": events.__module__,
    }
    return type(events.__name__, (events,), members)


def _intermediate_responses(events: Any) -> list[tuple[str, list[Any]]]:
    """(author, parts with words) of each event that says something."""
    said = [(event.author, [p for p in event.content.parts or [] if p.text]) for event in events.invocation_events if event.content]
    return [(author, parts) for author, parts in said if parts]
