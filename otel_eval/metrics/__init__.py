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
    "response_match": "otel_eval.metrics.response_match:ResponseMatch",
    "tool_error_rate": "otel_eval.metrics.signals.tools:TOOL_ERROR_RATE",
    "last_call_failed": "otel_eval.metrics.signals.tools:LAST_CALL_FAILED",
    "repeated_calls": "otel_eval.metrics.signals.tools:REPEATED_CALLS",
    "loops": "otel_eval.metrics.signals.tools:LOOPS",
    "longest_tool_run": "otel_eval.metrics.signals.tools:LONGEST_TOOL_RUN",
    "empty_results": "otel_eval.metrics.signals.tools:EMPTY_RESULTS",
    "tool_call_count": "otel_eval.metrics.signals.tools:TOOL_CALL_COUNT",
    "unanswered_turn": "otel_eval.metrics.signals.talk:UNANSWERED_TURN",
    "user_repetition": "otel_eval.metrics.signals.talk:USER_REPETITION",
    "refusal": "otel_eval.metrics.signals.talk:REFUSAL",
    "message_count": "otel_eval.metrics.signals.size:MESSAGE_COUNT",
    "turn_count": "otel_eval.metrics.signals.size:TURN_COUNT",
    "model_call_count": "otel_eval.metrics.signals.size:MODEL_CALL_COUNT",
    "input_tokens": "otel_eval.metrics.signals.size:INPUT_TOKENS",
    "output_tokens": "otel_eval.metrics.signals.size:OUTPUT_TOKENS",
    "total_tokens": "otel_eval.metrics.signals.size:TOTAL_TOKENS",
    "duration_s": "otel_eval.metrics.signals.size:DURATION_S",
    "cost_usd": "otel_eval.metrics.signals.size:COST_USD",
}
"""Name → where the metric stands: a metric, or a class or function without arguments that makes one."""

SIGNALS = tuple(name for name, place in BUILTIN.items() if ".signals." in place)
"""What can be measured on every conversation at no cost."""


def builtin_metric(name: str) -> Metric:
    """The built-in metric of that name; KeyError where there is none."""
    module, _, place = BUILTIN[name].partition(":")
    found = getattr(import_module(module), place)
    metric: Metric = found() if callable(found) else found
    return metric
