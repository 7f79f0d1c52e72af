"""Parts of a message in every shape, by a table keyed on `type`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.dialects.shapes.calls import call_from_value, result_from_value
from otel_eval.dialects.shapes.notes import Notes, is_redacted
from otel_eval.dialects.shapes.text import first_present, json_text, text_or_none, value_from_text
from otel_eval.model import GapReason, Media, Opaque, Part, Reasoning, Text, ToolCall

# ADK shows what another agent did as a user message; it is no user's word. **Source**: google-adk `_present_other_agent_message`.
_QUOTED_CONTEXT = re.compile(r"For context:\s*(below is a transcript|$|\[?[\w .-]+\]? (said|called tool|`))")

PartReader = Callable[[Mapping[str, Any], Notes], tuple[Part, ...]]


def parts_from_content(content: Any, notes: Notes) -> tuple[Part, ...]:
    """The parts of a message's `content` or `parts`: text, a block, or a list of both."""
    if content is None:
        return ()
    if isinstance(content, str):
        return text_parts(content, notes)
    if isinstance(content, Mapping):
        return parts_from_block(content, notes)
    if isinstance(content, (list, tuple)):
        return tuple(part for item in content for part in parts_from_item(item, notes))
    return (Text(text=json_text(content)),)


def parts_from_item(item: Any, notes: Notes) -> tuple[Part, ...]:
    """The parts of one member of a content list; a text member may be the JSON text of a block."""
    if isinstance(item, str):
        value = value_from_text(item, notes) if item[:1] == "{" else item
        return parts_from_block(value, notes) if isinstance(value, dict) and is_block(value) else text_parts(item, notes)
    if isinstance(item, Mapping):
        return parts_from_block(item, notes)
    if isinstance(item, (list, tuple)):
        return parts_from_content(item, notes)
    return ()


def text_parts(text: str, notes: Notes) -> tuple[Part, ...]:
    """A text part; nothing for a redaction placeholder, an opaque part for another agent's quoted transcript."""
    if not text:
        return ()
    if is_redacted(text):
        notes.add(GapReason.REDACTED)
        return ()
    if text.startswith("For context:") and _QUOTED_CONTEXT.match(text):
        return (Opaque(type="quoted_context"),)
    if text[0] == "{" and '"output_text"' in text:  # a Responses block that an exporter wrote out as text
        value = value_from_text(text)
        if isinstance(value, dict) and value.get("type") == "output_text" and isinstance(value.get("text"), str):
            return (Text(text=value["text"]),)
    return (Text(text=text),)


def parts_from_block(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    """The parts of one block, by its `type` (or `part_kind`, `kind`, `block_type`), else by the members it has."""
    kind = block.get("type") or block.get("part_kind") or block.get("block_type") or block.get("kind")
    if isinstance(kind, str):
        reader = _BY_TYPE.get(kind) or _BY_TYPE.get(kind.lower().replace("-", "_"))
        if reader:
            return reader(block, notes)
    reader = _BY_CLASS.get(str(block.get("__class__")))
    if reader:
        return reader(block, notes)
    if is_bare_call(block):
        return _result(block, notes) if "output" in block or "result" in block else _call(block, notes)
    for member, read in _BY_MEMBER.items():
        if block.get(member) is not None:
            return read(block, notes)
    notes.add(GapReason.UNKNOWN_PART)
    return (Opaque(type=kind if isinstance(kind, str) else "unknown"),)


def is_part_type(kind: str) -> bool:
    """Whether a `type` names a part."""
    return kind in _BY_TYPE or kind.lower().replace("-", "_") in _BY_TYPE


_TELLING_MEMBERS = (
    "toolUse",
    "toolResult",
    "functionCall",
    "functionResponse",
    "function_call",
    "function_response",
    "toolRequest",
    "toolResponse",
)


def is_bare_call(value: Mapping[str, Any]) -> bool:
    """Whether an object without a type is a call or its result, by its members (Vercel AI SDK's `ai.response.toolCalls`)."""
    return "toolCallId" in value and "toolName" in value


def is_block(value: Mapping[str, Any]) -> bool:
    """Whether an object is a part of a message rather than plain data."""
    kind = value.get("type") or value.get("part_kind") or value.get("block_type")
    named = (isinstance(kind, str) and is_part_type(kind)) or value.get("__class__") in _BY_CLASS
    return named or is_bare_call(value) or any(isinstance(value.get(m), (Mapping, list)) for m in _TELLING_MEMBERS)


def _text(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    value = first_present(dict(block), "content", "text", "value", "refusal", "input_text", "output_text")
    if isinstance(value, Mapping):
        value = first_present(dict(value), "value", "text", "content")
    if isinstance(value, (list, tuple)):
        return parts_from_content(value, notes)
    if value is None:
        notes.add(GapReason.CONTENT_NOT_CAPTURED)
        return ()
    return text_parts(value if isinstance(value, str) else json_text(value), notes)


def _reasoning(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    value = first_present(dict(block), "content", "text", "thinking", "reasoning", "reasoningText", "summary", "reasoningContent")
    if isinstance(value, Mapping):
        value = first_present(dict(value), "text", "reasoningText")
    if isinstance(value, Mapping):
        value = value.get("text")
    return (Reasoning(text=value if isinstance(value, str) and value and not is_redacted(value) else None),)


def _call(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    inner = first_present(dict(block), "tool_call", "toolCall", "tool_use")
    return (call_from_value(inner if isinstance(inner, Mapping) else block, notes),)


def _server_call(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    inner = block.get("server_tool_call")
    call = call_from_value({**(inner if isinstance(inner, Mapping) else {}), **{k: v for k, v in block.items() if v is not None}}, notes)
    return (ToolCall(id=call.id, name=call.name, arguments=call.arguments if call.arguments is not None else {}, raw=call.raw),)


def _result(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    return (result_from_value(block, notes),)


def _server_result(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    inner = block.get("server_tool_call_response")
    return (result_from_value({**block, "response": inner}, notes),)


def _media(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    source = first_present(
        dict(block), "source", "image_url", "image", "file", "inlineData", "inline_data", "fileData", "file_data", "media"
    )
    inner = source if isinstance(source, Mapping) else {}
    uri = first_present(
        {**inner, **block, "_source": source if isinstance(source, str) else None},
        "uri",
        "url",
        "fileUri",
        "file_uri",
        "file_id",
        "_source",
    )
    uri = uri if isinstance(uri, str) and not uri.startswith("data:") and len(uri) < 4096 else None
    mime = first_present({**inner, **block}, "mime_type", "mimeType", "media_type", "mediaType")
    kind = str(block.get("modality") or block.get("type") or "")
    return (Media(modality=_modality(kind, mime), mime_type=mime if isinstance(mime, str) else None, uri=uri),)


def _modality(kind: str, mime: Any) -> str:
    for name in ("image", "video", "audio"):
        if name in kind or (isinstance(mime, str) and mime.startswith(name)):
            return name
    return "document"


def _opaque(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    return (Opaque(type=str(block.get("type"))),)


def _nothing(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    return ()


def _retry(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    """Pydantic AI's retry prompt: a failed tool's result, or a plain user text where no tool is named."""
    if block.get("tool_name"):
        return (result_from_value({**block, "is_error": True}, notes),)
    return _text(block, notes)


def _nested(member: str, read: PartReader) -> PartReader:
    """Read the object under a member instead of the block itself."""

    def reader(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
        inner = block[member]
        if isinstance(inner, Mapping):
            return read(inner, notes)
        if isinstance(inner, (list, tuple)):
            return tuple(p for i in inner if isinstance(i, Mapping) for p in read(i, notes))
        return ()

    return reader


def _gemini_text(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    if block.get("thought") is True:
        return (Reasoning(text=text_or_none(block.get("text"))),)
    return _text({"text": block.get("text")}, notes)


def _haystack_result(block: Mapping[str, Any], notes: Notes) -> tuple[Part, ...]:
    """Haystack's `tool_call_result`: the call it answers stands in `origin`, failure in `error`."""
    origin = block.get("origin")
    inner = origin if isinstance(origin, Mapping) else {}
    return (
        result_from_value(
            {
                "result": block.get("result"),
                "is_error": bool(block.get("error")),
                "id": inner.get("id"),
                "name": first_present(dict(inner), "tool_name", "toolName", "name"),
            },
            notes,
        ),
    )


_BY_TYPE: dict[str, PartReader] = {
    **dict.fromkeys(("text", "input_text", "output_text", "refusal", "user_prompt", "system_prompt", "plain_text", "summary_text"), _text),
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "thought", "text_reasoning", "reasoning_text"), _reasoning),
    **dict.fromkeys(
        (
            "tool_call",
            "tool_use",
            "function_call",
            "function",
            "toolcall",
            "builtin_tool_call",
            "custom_tool_call",
            "mcp_call",
            "server_tool_use",
            "mcp_tool_use",
        ),
        _call,
    ),
    "server_tool_call": _server_call,
    **dict.fromkeys(
        (
            "tool_call_response",
            "tool_result",
            "function_call_output",
            "function_result",
            "tool_call_result",
            "tool_return",
            "builtin_tool_return",
            "custom_tool_call_output",
            "function_response",
            "tool_response",
            "mcp_tool_result",
            "web_search_tool_result",
            "code_execution_tool_result",
        ),
        _result,
    ),
    "server_tool_call_response": _server_result,
    "retry_prompt": _retry,
    **dict.fromkeys(
        (
            "blob",
            "file",
            "uri",
            "image",
            "image_url",
            "input_image",
            "input_file",
            "input_audio",
            "audio",
            "video",
            "document",
            "media",
            "data",
            "image_file",
            "image_base64",
        ),
        _media,
    ),
    "compaction": _opaque,
    **dict.fromkeys(("step_start", "step_finish", "cache_point", "step-start", "usage"), _nothing),
}

# Classes in Python reprs. **Source**: Haystack, LlamaIndex, Pydantic AI, Gemini.
_BY_CLASS: dict[str, PartReader] = {
    **dict.fromkeys(("TextContent", "TextBlock", "TextPart", "UserPromptPart", "SystemPromptPart", "OutputText"), _text),
    **dict.fromkeys(("ReasoningContent", "ThinkingBlock", "ThinkingPart", "ReasoningPart"), _reasoning),
    **dict.fromkeys(
        ("ToolCall", "ToolCallBlock", "ToolCallPart", "FunctionCall", "ToolUseBlock", "ToolSelection", "ChatCompletionMessageToolCall"),
        _call,
    ),
    **dict.fromkeys(("ToolCallResult",), _haystack_result),
    **dict.fromkeys(("ToolReturnPart", "FunctionResponse", "ToolResultBlock", "FunctionExecutionResult"), _result),
    **dict.fromkeys(("ImageContent", "ImageBlock", "AudioBlock", "DocumentBlock", "VideoBlock"), _media),
}

_BY_MEMBER: dict[str, PartReader] = {
    "toolUse": _nested("toolUse", _call),
    "toolResult": _nested("toolResult", _result),
    "toolRequest": _nested("toolRequest", _call),
    "toolResponse": _nested("toolResponse", _result),
    "functionCall": _nested("functionCall", _call),
    "function_call": _nested("function_call", _call),
    "functionResponse": _nested("functionResponse", _result),
    "function_response": _nested("function_response", _result),
    "tool_call_result": _nested("tool_call_result", _haystack_result),
    "tool_call": _nested("tool_call", _call),
    "tool_use": _nested("tool_use", _call),
    "tool_result": _nested("tool_result", _result),
    "reasoningContent": _reasoning,
    "reasoning": _reasoning,
    "text": _gemini_text,
    "inlineData": _media,
    "inline_data": _media,
    "fileData": _media,
    "file_data": _media,
    "image": _media,
    "media": _media,
    "document": _media,
    "cachePoint": _nothing,
    "executableCode": _opaque,
    "codeExecutionResult": _opaque,
    "content": _text,
}
