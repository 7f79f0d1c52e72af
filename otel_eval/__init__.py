"""otel-eval: score live LLM agents from the OpenTelemetry traces they already emit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_eval.api import ascore, score
    from otel_eval.inprocess.instrumenting import instrument
    from otel_eval.inprocess.scorer import OnlineScorer
    from otel_eval.inprocess.talk import agent_turn, end_conversation, model_call, set_reference, tool_call
    from otel_eval.judges.settings import JudgeSettings

__version__ = "0.1.0"

__all__ = [
    "JudgeSettings",
    "OnlineScorer",
    "agent_turn",
    "ascore",
    "end_conversation",
    "instrument",
    "model_call",
    "score",
    "set_reference",
    "tool_call",
]

_TALK = "otel_eval.inprocess.talk"
_PLACES = {
    "JudgeSettings": "otel_eval.judges.settings",
    "OnlineScorer": "otel_eval.inprocess.scorer",
    "agent_turn": _TALK,
    "ascore": "otel_eval.api",
    "end_conversation": _TALK,
    "instrument": "otel_eval.inprocess.instrumenting",
    "model_call": _TALK,
    "score": "otel_eval.api",
    "set_reference": _TALK,
    "tool_call": _TALK,
}
"""Where each public name stands; loaded when first asked for, so that importing the package costs nothing."""


def __getattr__(name: str) -> Any:
    """A public name, from its place."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
