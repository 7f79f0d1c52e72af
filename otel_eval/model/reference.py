"""What a conversation is held against."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_eval.model.message import ToolCall
from otel_eval.model.span import no_attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Expectations for one conversation or task; None where there is none of that kind (an empty tuple means "none expected")."""

    outcome: str | None = None
    """The desired end state in words."""
    tool_calls: tuple[ToolCall, ...] | None = None
    topics: tuple[str, ...] | None = None
    """Topics the agent is meant to keep to."""
    response: str | None = None
    task: str | None = None
    """Key under which repeated trials of one task are grouped (pass^k)."""
    trial: str | None = None
    extra: Mapping[str, Any] = field(default_factory=no_attributes)


NO_REFERENCE = Reference()
