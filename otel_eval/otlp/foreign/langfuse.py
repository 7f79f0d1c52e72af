"""Langfuse's export of a trace: `trace` and `observations[]`, or a trace that holds its observations.

An observation was a span: its `metadata`, often a JSON text, still has the attributes, the resource and the scope. Langfuse takes what it
recognises as input and output out of the attributes; where nothing of the kind is left, its own `input` and `output` stand in as
`langfuse.observation.input` and `.output`, the names that its SDK gives them. Numbers in attributes have become texts and stay so.
"""

import json
from collections.abc import Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.model import STATUS_ERROR, STATUS_UNSET, Attributes, Scope, Span
from otel_eval.otlp.foreign.form import Found
from otel_eval.otlp.foreign.values import attributes, hex_id, nanos, text
from otel_eval.otlp.json_text import value_from_text
from otel_eval.otlp.otlp_json import Rejected
from otel_eval.otlp.tally import Tally

_INPUTS = (
    "langfuse.observation.input", "gen_ai.input.messages", "gen_ai.prompt", "gen_ai.content.prompt", "gen_ai.tool.call.arguments",
    "input.value", "llm.input_messages", "llm.prompts", "ai.prompt", "ai.toolCall.args", "ai.toolCall.input", "traceloop.entity.input",
    "events", "all_messages_events", "pydantic_ai.all_messages", "tool_arguments", "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.tool_call_args", "mlflow.spanInputs",
)  # fmt: skip
_OUTPUTS = (
    "langfuse.observation.output", "gen_ai.output.messages", "gen_ai.completion", "gen_ai.content.completion", "gen_ai.tool.call.result",
    "output.value", "llm.output_messages", "llm.completions", "ai.response.text", "ai.response.toolCalls", "ai.response.object",
    "ai.toolCall.result", "ai.toolCall.output", "traceloop.entity.output", "events", "all_messages_events", "pydantic_ai.all_messages",
    "tool_response", "gcp.vertex.agent.llm_response", "gcp.vertex.agent.tool_response", "mlflow.spanOutputs",
)  # fmt: skip
_NOT_CONTENT = ("ai.prompt.tools", "ai.prompt.toolChoice")
_OF_SPAN = frozenset({"attributes", "resourceAttributes", "scope"})


def speaks(data: Mapping[str, Any]) -> bool:
    """A list of observations, or one of them."""
    held = data.get("observations")
    if isinstance(held, list):
        return any(isinstance(item, dict) and "traceId" in item for item in held)
    return "parentObservationId" in data and "traceId" in data


def read(data: Mapping[str, Any], found: Found) -> None:
    """Add a span for each observation."""
    held = data.get("trace", data if "observations" in data else None)
    of_trace = _trace_attributes(held) if isinstance(held, dict) else {}
    observations = data.get("observations", [data])
    found.each(observations, lambda item, into: into.spans.append(_span(item, of_trace, into.tally)))


def _trace_attributes(trace: Mapping[str, Any]) -> Attributes:
    """What the trace says of all its spans, under the names of Langfuse's SDK."""
    named = {"session.id": trace.get("sessionId"), "user.id": trace.get("userId"), "langfuse.trace.name": trace.get("name")}
    return {key: value for key, value in named.items() if isinstance(value, str) and value}


def _span(data: Mapping[str, Any], of_trace: Attributes, tally: Tally) -> Span:
    trace_id, span_id = hex_id(data.get("traceId"), 16, tally), hex_id(data.get("id"), 8, tally)
    if trace_id is None or span_id is None:
        raise Rejected("invalid_span_id" if trace_id else "invalid_trace_id")
    metadata = _object(data.get("metadata"))
    scope = _object(metadata.get("scope"))
    is_error = data.get("level") == "ERROR"
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=hex_id(data.get("parentObservationId"), 8, tally),
        name=text(data.get("name")),
        start_ns=nanos(data.get("startTime")),
        end_ns=nanos(data.get("endTime")),
        attributes={**of_trace, **_attributes(data, metadata)},
        status_code=STATUS_ERROR if is_error else STATUS_UNSET,
        status_message=text(data.get("statusMessage")),
        scope=Scope(name=text(scope.get("name")), version=text(scope.get("version")), resource=_object(metadata.get("resourceAttributes"))),
    )


def _attributes(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    original = attributes(_object(metadata.get("attributes")))
    added: dict[str, Any] = {
        "langfuse.observation.type": text(data.get("type")).lower(),
        "langfuse.observation.model.name": data.get("model"),
        "langfuse.environment": data.get("environment"),
        "langfuse.observation.usage_details": _json(data.get("usageDetails") or None),
    }
    if not _holds(original, _INPUTS):
        added["langfuse.observation.input"] = _json(data.get("input"))
    if not _holds(original, _OUTPUTS):
        added["langfuse.observation.output"] = _json(data.get("output"))
    added |= {f"langfuse.observation.metadata.{key}": _json(value) for key, value in metadata.items() if key not in _OF_SPAN}
    return {key: value for key, value in added.items() if value is not None and value != ""} | original


def _holds(original: Attributes, names: tuple[str, ...]) -> bool:
    """Whether an attribute is one of `names` or a part of it (`llm.input_messages.0.message.role`)."""
    return any(key == name or (key.startswith(name + ".") and key not in _NOT_CONTENT) for key in original for name in names)


def _object(value: Any) -> dict[str, Any]:
    """An object, given as such or as JSON text; empty for anything else."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = value_from_text(value)
        except InputError:
            return {}
    return value if isinstance(value, dict) else {}


def _json(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
