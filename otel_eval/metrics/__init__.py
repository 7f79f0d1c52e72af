"""Metrics: one file and one line each. Nothing but this table is loaded until a metric is asked for."""

from collections.abc import Mapping
from importlib import import_module

from otel_eval.metrics.base import Metric

BUILTIN: Mapping[str, str] = {
    "agent_goal_accuracy": "otel_eval.metrics.agent_goal_accuracy:AgentGoalAccuracy",
    "agent_goal_accuracy_with_reference": "otel_eval.metrics.agent_goal_accuracy_with_reference:AgentGoalAccuracyWithReference",
    "topic_adherence_precision": "otel_eval.metrics.topic_adherence:precision",
    "topic_adherence_recall": "otel_eval.metrics.topic_adherence:recall",
    "topic_adherence_f1": "otel_eval.metrics.topic_adherence:f1",
    "check": "otel_eval.metrics.check:Check",
    "tool_call_accuracy": "otel_eval.metrics.tool_call_accuracy:ToolCallAccuracy",
    "tool_call_f1": "otel_eval.metrics.tool_call_f1:ToolCallF1",
    "tool_trajectory": "otel_eval.metrics.tool_trajectory:ToolTrajectory",
}
"""Name → where the metric is made: a class or function without arguments."""


def builtin_metric(name: str) -> Metric:
    """The built-in metric of that name; KeyError where there is none."""
    module, _, factory = BUILTIN[name].partition(":")
    metric: Metric = getattr(import_module(module), factory)()
    return metric
