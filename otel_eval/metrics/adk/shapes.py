"""Stand-ins for the classes that ADK hands to a custom metric: the same names, fields and spellings, for where google-adk is not installed.

**Source**: google-adk 2.13.0 `eval_case`, `eval_metrics`, `evaluator`, `conversation_scenarios`; google-genai `types`. Fields that only a
live ADK run can fill are there and None.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny
from pydantic.alias_generators import to_camel


class _Shape(BaseModel):
    """Snake or camel case, no other fields: as ADK's own base class has it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", arbitrary_types_allowed=True)


class FunctionCall(_Shape):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class FunctionResponse(_Shape):
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(_Shape):
    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Any = None
    file_data: Any = None


class Content(_Shape):
    parts: list[Part] | None = None
    role: str | None = None


class IntermediateData(_Shape):
    tool_uses: list[FunctionCall] = Field(default_factory=list)
    tool_responses: list[FunctionResponse] = Field(default_factory=list)
    intermediate_responses: list[tuple[str, list[Part]]] = Field(default_factory=list)


class InvocationEvent(_Shape):
    author: str
    content: Content | None = None
    grounding_metadata: Any = None
    usage_metadata: Any = None
    model_version: str | None = None


class InvocationEvents(_Shape):
    invocation_events: list[InvocationEvent] = Field(default_factory=list)


class Invocation(_Shape):
    """One turn: what the user said, what the agent did and what it answered."""

    invocation_id: str = ""
    user_content: Content
    final_response: Content | None = None
    intermediate_data: IntermediateData | InvocationEvents | None = None
    creation_timestamp: float = 0.0
    duration: float | None = None
    model_duration: float | None = None
    tool_duration: float | None = None
    rubrics: list[Any] | None = None
    app_details: Any = None


class ConversationScenario(_Shape):
    starting_prompt: str
    conversation_plan: str
    user_persona: Any = None


class EvalStatus(Enum):
    PASSED = 1
    FAILED = 2
    NOT_EVALUATED = 3
    INFORMATIONAL = 4


class BaseCriterion(BaseModel):
    """A threshold, and whatever else stands beside it."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    threshold: float
    include_intermediate_responses_in_final: bool = False


class EvalMetric(_Shape):
    metric_name: str
    threshold: float | None = None
    criterion: SerializeAsAny[BaseCriterion] | None = None
    custom_function_path: str | None = None


class Interval(_Shape):
    min_value: float
    open_at_min: bool = False
    max_value: float
    open_at_max: bool = False


class MetricValueInfo(_Shape):
    interval: Interval | None = None


class MetricInfo(_Shape):
    metric_name: str
    description: str | None = None
    metric_value_info: MetricValueInfo
    requires_threshold: bool = True


class PerInvocationResult(BaseModel):
    """The result of one turn; the invocations may be of any class, for a function may build its own."""

    actual_invocation: Any
    expected_invocation: Any = None
    score: float | None = None
    eval_status: EvalStatus = EvalStatus.NOT_EVALUATED
    rubric_scores: list[Any] | None = None


class EvaluationResult(BaseModel):
    overall_score: float | None = None
    overall_eval_status: EvalStatus = EvalStatus.NOT_EVALUATED
    per_invocation_results: list[PerInvocationResult] = Field(default_factory=list)
    overall_rubric_scores: list[Any] | None = None


def get_all_tool_calls(intermediate_data: Any) -> Sequence[Any]:
    """The tool calls of a turn in order, from either way of writing them down."""
    return tool_parts(intermediate_data, "tool_uses", "function_call")


def get_all_tool_responses(intermediate_data: Any) -> Sequence[Any]:
    """The tool responses of a turn in order."""
    return tool_parts(intermediate_data, "tool_responses", "function_response")


def tool_parts(intermediate_data: Any, listed: str, part: str) -> list[Any]:
    """What stands in the list of that name, else in the parts of the events."""
    if not intermediate_data:
        return []
    if not hasattr(intermediate_data, "invocation_events"):
        return list(getattr(intermediate_data, listed))
    contents = [event.content for event in intermediate_data.invocation_events if event.content]
    return [found for content in contents for p in content.parts or [] if (found := getattr(p, part))]
