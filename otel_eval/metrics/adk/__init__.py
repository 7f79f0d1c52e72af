"""ADK's evaluation contract as it is: an `EvalConfig` JSON and functions with ADK's four arguments, with or without google-adk.

    metrics_from_eval_config({"criteria": {"tool_trajectory_avg_score": 1.0, "my_metric": {"threshold": 0.8}},
                              "custom_metrics": {"my_metric": {"code_config": {"name": "my_agent.metrics.my_function"}}}})

What ADK leaves to luck (an exception, None, a wrong number of results) becomes `Failed` or `Skipped` with the reason.
**Source**: google-adk 2.13.0, `google.adk.evaluation`.
"""

from otel_eval.metrics.adk.config import metrics_from_eval_config

__all__ = ["metrics_from_eval_config"]
