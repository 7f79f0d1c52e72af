"""Metrics by what a user writes: a name, a path to Python code, with parameters behind a colon; and the ones that apply by themselves."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from otel_eval.errors import ConfigError
from otel_eval.metrics import BUILTIN, builtin_metric
from otel_eval.metrics.base import Metric
from otel_eval.metrics.check import Check
from otel_eval.metrics.custom import CustomMetric, custom_metric_from_path, metric_from_object
from otel_eval.metrics.requirements import parameter_problems
from otel_eval.model import Reference
from otel_eval.registry import METRICS, load_plugin, plugin_names
from otel_eval.scoring import MetricRun

TOPIC_METRICS = ("topic_adherence_precision", "topic_adherence_recall", "topic_adherence_f1")
TOOL_METRICS = ("tool_call_accuracy", "tool_call_f1")
_CHECK = "check."
_PARAMETERS = re.compile(r":(?=\w+=)")
_NEXT_PARAMETER = re.compile(r",(?=\w+=)")


def run_from_text(text: str, *, compat: str | None = None) -> MetricRun:
    """The metric that a text asks for: `my_metrics:brand_voice`, `tool_call_accuracy:strict_order=false`, `check.polite:question=Is it?`.

    ConfigError names what is unknown. `compat` goes to the metrics that know it.
    """
    name, parameters = _parts(text)
    return run_of(name, parameters, compat=compat, if_known=True)


def run_of(name: str, parameters: Mapping[str, Any], *, compat: str | None = None, if_known: bool = False) -> MetricRun:
    """The metric of a name with parameters. ConfigError names what is unknown; `if_known` leaves out a compat that the metric has not."""
    metric = metric_from_name(name)
    known_compat = compat if compat in metric.card.compat or not if_known else None
    run = MetricRun(metric=metric, parameters=parameters, compat=known_compat)
    problems = () if isinstance(metric, CustomMetric) else parameter_problems(metric.card, parameters, known_compat)
    if problems:
        raise ConfigError("; ".join(problems))
    if isinstance(metric, Check) and not str(parameters.get("question") or "").strip():
        raise ConfigError(f"metric {name!r} has no question to ask: give the parameter `question`, as in {name}:question=Is it polite?")
    return run


def metric_from_name(name: str) -> Metric:
    """A metric built in, offered by an installed package, or named by a path `module:function`."""
    if name in BUILTIN:
        return builtin_metric(name)
    if name.startswith(_CHECK) and len(name) > len(_CHECK):
        return Check(name=name.removeprefix(_CHECK))
    if ":" in name:
        try:
            return custom_metric_from_path(name)
        except ValueError as error:
            raise ConfigError(str(error)) from error
    if name not in plugin_names(METRICS):
        raise ConfigError(f"there is no metric {name!r}{_nearest(name)}; `otel-eval metrics list` shows all of them")
    return metric_from_object(name, load_plugin(METRICS, name, builtin=BUILTIN))


def default_names(references: Iterable[Reference]) -> tuple[str, ...]:
    """What applies by itself: goal accuracy always, the others where some conversation has what they need."""
    found = list(references)
    names = ["agent_goal_accuracy"]
    if any((r.outcome or "").strip() for r in found):
        names.append("agent_goal_accuracy_with_reference")
    if any(r.topics for r in found):
        names += TOPIC_METRICS
    if any(r.tool_calls is not None or r.turns is not None for r in found):
        names += TOOL_METRICS
    return tuple(names)


def uses_judge(runs: Sequence[MetricRun]) -> bool:
    """Whether any of these asks a judge."""
    return any("judge" in run.metric.card.needs for run in runs)


def _parts(text: str) -> tuple[str, dict[str, Any]]:
    """The name, and the parameters behind it: `a=1,b=x` with values as JSON where they are JSON, else as text."""
    name, *rest = _PARAMETERS.split(text, maxsplit=1)
    pairs = [pair.partition("=") for pair in _NEXT_PARAMETER.split(rest[0])] if rest else []
    return name, {key: _value(value) for key, _, value in pairs}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _nearest(name: str) -> str:
    found = get_close_matches(name, [*BUILTIN, *plugin_names(METRICS)], n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def labels_of(runs: Sequence[MetricRun]) -> Mapping[str, MetricRun]:
    """The runs by metric name; ConfigError where one name is asked for twice: their results could not be told apart."""
    by_name: dict[str, MetricRun] = {}
    for run in runs:
        if by_name.setdefault(run.metric.card.name, run) is not run:
            raise ConfigError(f"metric {run.metric.card.name!r} is asked for twice; its results could not be told apart")
    return by_name
