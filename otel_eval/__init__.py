"""otel-eval: score live LLM agents from the OpenTelemetry traces they already emit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_eval.api import ascore, score
    from otel_eval.inprocess.scorer import OnlineScorer
    from otel_eval.judges.settings import JudgeSettings

__version__ = "0.1.0"

__all__ = ["JudgeSettings", "OnlineScorer", "ascore", "score"]

_PLACES = {
    "JudgeSettings": "otel_eval.judges.settings",
    "OnlineScorer": "otel_eval.inprocess.scorer",
    "ascore": "otel_eval.api",
    "score": "otel_eval.api",
}
"""Where each public name stands; loaded when first asked for, so that importing the package costs nothing."""


def __getattr__(name: str) -> Any:
    """A public name, from its place."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
