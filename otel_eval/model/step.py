"""What a dialect makes of one span: a step of an agent's run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from otel_eval.model.message import Message, ToolCall, ToolResult
from otel_eval.model.span import SpanRef


class StepKind(StrEnum):
    """What a span stands for. **Source**: `gen_ai.operation.name`; `wrapper` and `other` are ours."""

    INFERENCE = "inference"
    TOOL = "tool"
    AGENT = "agent"
    WORKFLOW = "workflow"
    RETRIEVAL = "retrieval"
    EMBEDDINGS = "embeddings"
    EVALUATION = "evaluation"
    WRAPPER = "wrapper"
    """A span of an instrumentation that only groups others (chain, task, cycle, HTTP)."""
    OTHER = "other"
    """Not understood, or nothing to do with GenAI."""


class GapReason(StrEnum):
    """Why something is missing. Each has a sentence in `sentences`."""

    CONTENT_NOT_CAPTURED = "content_not_captured"
    REDACTED = "redacted"
    TRUNCATED = "truncated"
    ATTRIBUTES_DROPPED = "attributes_dropped"
    UNREADABLE = "unreadable"
    UNKNOWN_PART = "unknown_part"
    ARGUMENTS_UNREADABLE = "arguments_unreadable"
    RESULT_NOT_RECORDED = "result_not_recorded"
    ROLE_UNKNOWN = "role_unknown"
    HISTORY_BREAK = "history_break"
    CONTENT_EXTERNAL = "content_external"
    PARENT_MISSING = "parent_missing"
    CONVERSATION_ID_CONFLICT = "conversation_id_conflict"
    DUPLICATE_SPAN_CONFLICT = "duplicate_span_conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something that is missing or broken, and where: `where` is an attribute, event or field name, never content."""

    reason: GapReason
    where: str
    source: SpanRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContent:
    """What a step says. None means that no such field was recorded; an empty tuple that it was recorded and is empty."""

    system: str | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    tool_call: ToolCall | None = None
    tool_result: ToolResult | None = None
    tool_definitions: tuple[Mapping[str, Any], ...] = ()
    earlier: "tuple[StepContent, ...]" = ()
    """Model calls before this one whose events stand on the same span, in order."""
    gaps: tuple[Gap, ...] = ()


NO_CONTENT = StepContent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one model call; None where not recorded."""

    input_tokens: int | None = None
    output_tokens: int | None = None


NO_USAGE = Usage()


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """One span, understood. Everything but the content is read at once; the content when first asked for, and only once.

    Not frozen only for that one memo: nothing else changes after construction.
    """

    kind: StepKind
    ref: SpanRef
    parent_span_id: str | None = None
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    dialects: tuple[str, ...] = ()
    conversation_ids: tuple[tuple[str, str], ...] = ()
    """Every conversation id found, as (attribute, id), best spelling first."""
    agent_name: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    response_id: str | None = None
    previous_response_id: str | None = None
    model: str | None = None
    provider: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Usage = NO_USAGE
    is_error: bool = False
    error_type: str | None = None
    error_message: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of ours (`otel_eval.*`) and of the application that selection and references read."""
    read_content: Callable[[], StepContent] | None = None
    _content: StepContent | None = None

    @property
    def content(self) -> StepContent:
        """The messages of this step, decoded on first use."""
        if self._content is None:
            self._content = self.read_content() if self.read_content else NO_CONTENT
        return self._content
