"""The JSON Schema of our own form. `docs/conversation.schema.json` and the tables of `docs/conversation.md` are made from it."""

from collections.abc import Mapping
from typing import Any, get_args

from otel_eval.exchange.own import SCHEMA
from otel_eval.model import GapReason, JoinedBy, Role

_TEXT = {"type": "string"}
_REF = {"$ref": "#/$defs/span_ref"}
_MOMENT = {"type": "string", "pattern": "^-?[0-9]+$"}


def _said(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


def _list_of(items: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "description": description}


def _object(description: str, required: tuple[str, ...], properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "description": description, "required": list(required), "properties": dict(properties)}


def _part(kind: str, description: str, properties: Mapping[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    return _object(description, ("type", *required), {"type": {"const": kind}, **properties})


_PARTS: Mapping[str, dict[str, Any]] = {
    "text": _part("text", "Words meant for the other side.", {"text": _TEXT}, ("text",)),
    "reasoning": _part("reasoning", "A model's thinking.", {"text": _said(_TEXT, "Left out where it is encrypted.")}),
    "tool_call": _part(
        "tool_call",
        "A request to run a tool.",
        {
            "id": _said(_TEXT, "The call's id, unique in its message."),
            "name": _said(_TEXT, "The tool's name."),
            "arguments": _said({"type": "object"}, "Left out where they were not recorded or are no object; a call without any is {}."),
            "raw": _said(_TEXT, "What stood there instead of an object."),
        },
    ),
    "tool_result": _part(
        "tool_result",
        "What a tool gave back.",
        {
            "call_id": _said(_TEXT, "The id of its call."),
            "name": _said(_TEXT, "The tool's name."),
            "content": _said(_TEXT, "The text as recorded; a structured value as JSON text."),
            "is_error": _said({"type": "boolean"}, "Left out where nothing says whether the call failed."),
        },
    ),
    "media": _part(
        "media",
        "An image, sound, video or document: what it is and where it stands, never its bytes.",
        {"modality": _TEXT, "mime_type": _TEXT, "uri": _TEXT},
        ("modality",),
    ),
    "opaque": _part("opaque", "A part of a kind that is not read.", {"kind": _said(_TEXT, "What its producer calls it.")}, ("kind",)),
}

_MESSAGE = _object(
    "One message. A tool message holds exactly one tool result.",
    ("role", "parts"),
    {
        "role": _said({"enum": list(get_args(Role))}, "Who speaks."),
        "parts": _list_of({"anyOf": [{"$ref": f"#/$defs/part_{kind}"} for kind in _PARTS]}, "What is said, in order."),
        "name": _said(_TEXT, "The speaker's name, where there are several."),
        "finish_reason": _said(_TEXT, "Why the model stopped."),
        "source": _said(_REF, "The span it was read from."),
    },
)
_TURN = _object(
    "One user turn: the user's words and all that followed until the next.",
    ("messages",),
    {
        "messages": _list_of(
            {"anyOf": [{"type": "integer", "minimum": 0}, {"$ref": "#/$defs/message"}]},
            "Places in the conversation's `messages`, from 0; a message that does not stand there is written out.",
        ),
        "trace_ids": _list_of(_TEXT, "The traces it came in."),
        "root": _said(_REF, "The span to hang a verdict on."),
        "start_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch; 0 where unknown."),
        "end_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch; 0 where unknown."),
    },
)
_TOOL_RUN = _object(
    "A tool execution as its own span tells it.",
    ("source",),
    {
        "call_id": _said(_TEXT, "The id of its call."),
        "name": _said(_TEXT, "The tool's name."),
        "source": _said(_REF, "The span."),
        "is_error": _said({"type": "boolean"}, "Left out where nothing says whether it failed."),
        "error_type": _said(_TEXT, "The kind of failure."),
        "start_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch."),
        "end_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch."),
    },
)
_GAP = _object(
    "Something that is missing or broken.",
    ("reason", "where"),
    {
        "reason": _said({"enum": [r.value for r in GapReason]}, "Why; a sentence for each stands in docs/outcomes.md."),
        "where": _said(_TEXT, "An attribute, event or field name."),
        "source": _said(_REF, "The span where it was met."),
    },
)
_USAGE = _object("Tokens of all model calls.", (), {"input_tokens": {"type": "integer"}, "output_tokens": {"type": "integer"}})

DEFINITIONS: Mapping[str, dict[str, Any]] = {
    "message": _MESSAGE,
    **{f"part_{kind}": part for kind, part in _PARTS.items()},
    "turn": _TURN,
    "tool_run": _TOOL_RUN,
    "gap": _GAP,
    "usage": _USAGE,
    "span_ref": _object("Where something stands.", ("trace_id", "span_id"), {"trace_id": _TEXT, "span_id": _TEXT}),
}

CONVERSATION: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": SCHEMA,
    **_object(
        "A conversation as otel-eval reads it from traces. A member that is left out is unknown.",
        ("schema", "id", "messages"),
        {
            "schema": _said({"const": SCHEMA}, "This schema and its version."),
            "id": _said({"type": ["string", "null"]}, "The id that the application gave."),
            "messages": _list_of({"$ref": "#/$defs/message"}, "All messages in order, without the system message."),
            "turns": _list_of({"$ref": "#/$defs/turn"}, "The user turns; where left out, as the messages give them."),
            "system": _said(_TEXT, "The system message."),
            "agent": _said(_TEXT, "The agent the user speaks with."),
            "agents": _list_of(_TEXT, "All agents that took part."),
            "tools": _said({"type": "object", "additionalProperties": {"type": "object"}}, "The tool definitions seen, by name."),
            "tool_runs": _list_of({"$ref": "#/$defs/tool_run"}, "Tool executions that have a span of their own."),
            "sub_agent_of": _said(_TEXT, "Id, else trace id, of the conversation whose agent called this one."),
            "joined_by": _said({"enum": list(get_args(JoinedBy))}, "What holds its traces together; `given` where none was read."),
            "trace_ids": _list_of(_TEXT, "Its traces, in order."),
            "spans": _list_of(_REF, "All spans that belong to it."),
            "dialects": _list_of(_TEXT, "The dialects its spans were read by (docs/dialects.md)."),
            "models": _list_of(_TEXT, "The models that answered."),
            "response_id": _said(_TEXT, "`gen_ai.response.id` of the last model call."),
            "usage": _said({"$ref": "#/$defs/usage"}, "Tokens of all model calls."),
            "model_calls": _said({"type": "integer", "minimum": 0}, "How many model calls there were."),
            "failed_attempts": _list_of(_REF, "Model calls that ended in an error and left no output."),
            "gaps": _list_of({"$ref": "#/$defs/gap"}, "What is missing or broken, and why."),
            "start_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch; 0 where unknown."),
            "end_ns": _said(_MOMENT, "Nanoseconds since the Unix epoch; 0 where unknown."),
            "attributes": _said({"type": "object"}, "Resource and span attributes that selection and references read."),
        },
    ),
    "$defs": dict(DEFINITIONS),
}
"""JSON Schema, draft 2020-12. Unknown members are allowed and ignored."""
