"""A conversation as rebuilt from spans, and as everything behind it reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_eval.model.message import Message, ToolCall, ToolResult
from otel_eval.model.span import Attributes, SpanRef, no_attributes
from otel_eval.model.step import NO_USAGE, Gap, Usage

JoinedBy: TypeAlias = Literal["conversation_id", "response_id", "trace", "history", "given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """A tool execution as its own span tells it; there is none where an application runs tools without spans."""

    call_id: str | None
    name: str | None
    source: SpanRef
    call: ToolCall | None = None
    """The call as the messages and the span together tell it."""
    result: ToolResult | None = None
    is_error: bool | None = None
    error_type: str | None = None
    start_ns: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One user turn: what the user said and all that followed until the user's next word.

    `messages` begin with the user's (a first turn of an agent that speaks first has none). `root` is the span to hang a verdict on: the
    outermost span of the turn's last trace.
    """

    messages: tuple[Message, ...]
    trace_ids: tuple[str, ...] = ()
    root: SpanRef | None = None
    start_ns: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages of one conversation in order, with where they came from.

    `id` is the id the application gave, None where it gave none. `messages` are without the system message, which is `system`. `tools`
    are the tool definitions seen, by name. `spans` are all spans of its traces that belong to it.
    """

    id: str | None
    messages: tuple[Message, ...] = ()
    turns: tuple[Turn, ...] = ()
    system: str | None = None
    agent: str | None = None
    agents: tuple[str, ...] = ()
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=no_attributes)
    tool_runs: tuple[ToolRun, ...] = ()
    trace_ids: tuple[str, ...] = ()
    spans: tuple[SpanRef, ...] = ()
    sub_agent_of: str | None = None
    """Id (else trace id) of the conversation whose agent called this one."""
    joined_by: JoinedBy = "trace"
    dialects: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    response_id: str | None = None
    """`gen_ai.response.id` of the last model call."""
    usage: Usage = NO_USAGE
    model_calls: int = 0
    failed_attempts: tuple[SpanRef, ...] = ()
    """Model calls that ended in an error and left no output: kept for diagnosis, not part of the messages."""
    gaps: tuple[Gap, ...] = ()
    start_ns: int = 0
    end_ns: int = 0
    attributes: Attributes = field(default_factory=no_attributes)
    """Resource and span attributes that selection, references and task keys are read from."""

    @property
    def key(self) -> str:
        """The id, else the first trace's id: never empty for a conversation read from spans."""
        return self.id or (self.trace_ids[0] if self.trace_ids else "")

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All tool calls in the order of the messages; those of the tool runs where nothing was said that can be read."""
        if not self.messages:
            return tuple(r.call for r in self.tool_runs if r.call is not None)
        return tuple(c for m in self.messages for c in m.tool_calls)

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        return tuple(r for m in self.messages if (r := m.tool_result))

    @property
    def has_content(self) -> bool:
        """Whether any words were recorded."""
        return any(m.text is not None for m in self.messages)
