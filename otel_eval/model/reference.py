"""What a conversation is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_eval.model.message import ToolCall
from otel_eval.model.span import no_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReference:
    """Expectations for one turn; None where there is none of that kind."""

    user: str | None = None
    """What the user says in this turn."""
    response: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Expectations for one conversation or task; None where there is none of that kind (an empty tuple means "none expected")."""

    outcome: str | None = None
    """The desired end state in words."""
    tool_calls: tuple[ToolCall, ...] | None = None
    topics: tuple[str, ...] | None = None
    """Topics the agent is meant to keep to."""
    response: str | None = None
    turns: tuple[TurnReference, ...] | None = None
    """Expectations turn by turn, as many as the conversation has; beside or instead of the ones for the whole."""
    task: str | None = None
    """Key under which repeated trials of one task are grouped (pass^k)."""
    trial: str | None = None
    extra: Mapping[str, Any] = field(default_factory=no_attributes)


NO_REFERENCE = Reference()
