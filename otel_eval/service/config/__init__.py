"""The configuration: `otel-eval.yaml`, the environment, and what they must look like."""

from otel_eval.service.config.load import FILE_NAME, Loaded, config_from_mapping, load_config
from otel_eval.service.config.sections import (
    CompletionConfig,
    Config,
    JudgeConfig,
    MetricConfig,
    ReceiveConfig,
    ScoringConfig,
    SelectionConfig,
    SinksConfig,
    StoreConfig,
)

__all__ = [
    "FILE_NAME",
    "CompletionConfig",
    "Config",
    "JudgeConfig",
    "Loaded",
    "MetricConfig",
    "ReceiveConfig",
    "ScoringConfig",
    "SelectionConfig",
    "SinksConfig",
    "StoreConfig",
    "config_from_mapping",
    "load_config",
]
