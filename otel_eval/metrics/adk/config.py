"""ADK's `EvalConfig`, read as ADK reads it: which metrics, with what thresholds, from which functions.

Snake and camel case; a criterion is a number or an object with at least `threshold`, whose other fields are passed through; a custom metric
that no criterion names is not run. Unlike ADK, a function that cannot be imported is an error before the first conversation, not a metric
that says nothing.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from otel_eval.metrics.adk.classes import function_from_dotted_path
from otel_eval.metrics.adk.metric import AdkFunctionMetric, AdkMissingMetric, named_metric
from otel_eval.metrics.adk.shapes import BaseCriterion, MetricInfo
from otel_eval.metrics.base import UNBOUNDED, Metric, MetricCard
from otel_eval.metrics.requirements import parameter_problems
from otel_eval.metrics.response_match import ResponseMatch
from otel_eval.metrics.tool_trajectory import ToolTrajectory

_SPELLED = ConfigDict(alias_generator=to_camel, populate_by_name=True)
_SOURCE = "google-adk 2.13.0"
_MATCH_TYPES = ("exact", "in_order", "any_order")
_VERTEX = "it is a service of Vertex AI; `agent_goal_accuracy` judges whether the user's goals were reached"
_CHECK = "write its rubrics as checks (`check`), one yes-or-no question each"
_MISSING: Mapping[str, str] = {
    "response_evaluation_score": _VERTEX,
    "safety_v1": "it is a service of Vertex AI; a `check` can ask whether the answer is safe",
    "final_response_match_v2": "use `agent_goal_accuracy_with_reference`, or a `check` on the answer",
    "rubric_based_final_response_quality_v1": _CHECK,
    "rubric_based_tool_use_quality_v1": _CHECK,
    "rubric_based_multi_turn_trajectory_quality_v1": _CHECK,
    "hallucinations_v1": "a `check` can ask whether the answer is supported by the tool results",
    "per_turn_user_simulator_quality_v1": "it judges ADK's simulated user, and live conversations have none",
    "multi_turn_task_success_v1": _VERTEX,
    "multi_turn_trajectory_quality_v1": _VERTEX,
    "multi_turn_tool_use_quality_v1": _VERTEX,
    "tool_call_count_v1": "use the signal `tool_call_count`; as in ADK it takes no threshold",
    "inference_call_count_v1": "use the signal `model_call_count`; as in ADK it takes no threshold",
    "token_usage_v1": "use the signal `total_tokens`; as in ADK it takes no threshold",
    "invocation_duration_v1": "use the signal `duration_s`; as in ADK it takes no threshold",
}


class CodeConfig(BaseModel):
    """Where a function stands."""

    model_config = ConfigDict(extra="forbid")

    name: str


class CustomMetricConfig(BaseModel):
    model_config = _SPELLED

    code_config: CodeConfig
    metric_info: MetricInfo | None = None
    description: str = ""


class EvalConfig(BaseModel):
    """What of ADK's file has to do with metrics; the rest is left alone."""

    model_config = _SPELLED

    criteria: dict[str, float | BaseCriterion] = Field(default_factory=dict)
    custom_metrics: dict[str, CustomMetricConfig] | None = None


def metrics_from_eval_config(config: str | Mapping[str, Any]) -> tuple[Metric, ...]:
    """The metrics of an `EvalConfig`, as JSON text or already read, in the order of its criteria.

    ValueError for a file that ADK would not take, a path that leads to no function, and a criterion of a name
    that is neither ADK's nor among `custom_metrics`.
    """
    try:
        read = EvalConfig.model_validate_json(config) if isinstance(config, str) else EvalConfig.model_validate(config)
    except ValidationError as error:
        raise ValueError(_fault(error)) from None
    custom = read.custom_metrics or {}
    return tuple(_metric(name, _criterion(criterion), custom.get(name)) for name, criterion in read.criteria.items())


def _fault(error: ValidationError) -> str:
    """The deepest fault in one sentence, without the values: a wrong file may hold anything."""
    first = max(error.errors(include_url=False, include_input=False, include_context=False), key=lambda e: len(e["loc"]))
    place = ".".join(map(str, first["loc"])) or "the file"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:].partition(':')[0]}; expected ADK's EvalConfig, an object with `criteria`"


def _criterion(criterion: float | BaseCriterion) -> dict[str, Any]:
    return {"threshold": criterion} if isinstance(criterion, float) else criterion.model_dump()


def _metric(name: str, criterion: dict[str, Any], custom: CustomMetricConfig | None) -> Metric:
    if custom is not None:
        path = custom.code_config.name
        return AdkFunctionMetric(card=_card(name, custom), function=function_from_dotted_path(path), path=path, criterion=criterion)
    if name == "tool_trajectory_avg_score":
        return _checked(name, ToolTrajectory(), _trajectory_parameters(criterion))
    if name == "response_match_score":
        return _checked(name, ResponseMatch(), {"threshold": criterion["threshold"]})
    if name in _MISSING:
        return AdkMissingMetric(card=_missing_card(name), instead=_MISSING[name])
    close = get_close_matches(name, [*_MISSING, "tool_trajectory_avg_score", "response_match_score"], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "; a metric of your own stands in `custom_metrics` too"
    raise ValueError(f"criterion {name!r} is neither a metric of ADK nor a custom metric{hint}")


def _trajectory_parameters(criterion: Mapping[str, Any]) -> dict[str, Any]:
    match = criterion.get("match_type", criterion.get("matchType", _MATCH_TYPES[0]))
    return {
        "threshold": criterion["threshold"],
        "match": _MATCH_TYPES[match] if type(match) is int and 0 <= match < len(_MATCH_TYPES) else match,
        "ignore_args": criterion.get("ignore_args", criterion.get("ignoreArgs", False)),
    }


def _checked(name: str, metric: Metric, parameters: Mapping[str, Any]) -> Metric:
    problems = parameter_problems(metric.card, parameters)
    if problems:
        raise ValueError(f"criterion {name!r}: {'; '.join(problems)}")
    return named_metric(name, metric, parameters)


def _card(name: str, custom: CustomMetricConfig) -> MetricCard:
    """The card of a custom metric, by its `metric_info`; ADK's default interval is 0 to 1, and a function may leave it."""
    info = custom.metric_info
    interval = info.metric_value_info.interval if info else None
    sentence = (info.description if info else None) or custom.description or "A custom metric in ADK's form."
    return MetricCard(
        name=name,
        sentence=sentence,
        source=f"{custom.code_config.name} ({_SOURCE} contract)",
        example="",
        range=(interval.min_value, interval.max_value) if interval else (0.0, 1.0),
        labels=("pass", "fail"),
        deterministic=False,
        stability="experimental",
    )


def _missing_card(name: str) -> MetricCard:
    return MetricCard(
        name=name, sentence="One of ADK's metrics that we have not.", source=_SOURCE, example="", range=(-UNBOUNDED, UNBOUNDED)
    )
