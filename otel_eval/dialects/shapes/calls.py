"""Tool calls and tool results in every shape."""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.shapes.notes import Notes, is_redacted
from otel_eval.dialects.shapes.text import first_present, id_or_none, json_text, text_or_none, value_from_text
from otel_eval.model import GapReason, ToolCall, ToolResult

_CALL_IDS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id", "ref")
_CALL_NAMES = ("name", "tool_name", "toolName", "tool", "function_name", "functionName")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "tool_input", "toolInput", "tool_kwargs", "kwargs")
_RESULTS = ("response", "result", "output", "content", "value", "results", "text", "tool_output")
_RESULT_IDS = ("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id", "ref", "callId")


def call_from_value(value: Mapping[str, Any], notes: Notes) -> ToolCall:
    """A tool call from any producer's object: `function` inside or beside, arguments as object, JSON text or plain text."""
    item = dict(value)
    inner = item.get("function")
    if isinstance(inner, dict):
        item = {**{k: v for k, v in item.items() if k != "function"}, **{k: v for k, v in inner.items() if v is not None}}
    elif isinstance(inner, str) and item.get("name") is None:
        item["name"] = inner
    name = text_or_none(first_present(item, *_CALL_NAMES))
    call_id = id_or_none(first_present(item, *_CALL_IDS))
    raw = next((item[k] for k in _ARGUMENTS if k in item), _ABSENT)
    arguments, text = arguments_from_value(raw, notes)
    return ToolCall(id=call_id.strip() if call_id else None, name=name, arguments=arguments, raw=text)


class _Absent:
    """Marks a member that is not there, as against one that is null."""


_ABSENT = _Absent()


def arguments_from_value(raw: Any, notes: Notes) -> tuple[dict[str, Any] | None, str | None]:
    """(arguments, raw): an object; {} for null or empty (a tool without parameters); (None, text) where it is no object."""
    if isinstance(raw, _Absent):
        return None, None
    if raw is None:
        return {}, None
    if isinstance(raw, str):
        if not raw.strip():
            return {}, None
        if is_redacted(raw):
            notes.add(GapReason.REDACTED)
            return None, None
        before = notes.truncated
        value = value_from_text(raw, notes)
        if isinstance(value, dict) and notes.truncated == before:
            return value, None
        notes.add(GapReason.ARGUMENTS_UNREADABLE)
        return None, raw
    if isinstance(raw, Mapping):
        return dict(raw), None
    notes.add(GapReason.ARGUMENTS_UNREADABLE)
    return None, json_text(raw)


def result_from_value(value: Mapping[str, Any], notes: Notes) -> ToolResult:
    """A tool result from any producer's object."""
    call_id = id_or_none(first_present(dict(value), *_RESULT_IDS))
    name = text_or_none(first_present(dict(value), "name", "tool_name", "toolName"))
    raw = next((value[k] for k in _RESULTS if k in value), None)
    content, is_error = content_from_result(raw, notes)
    flagged = _error_flag(value)
    return ToolResult(
        call_id=call_id.strip() if call_id else None, name=name, content=content, is_error=flagged if flagged is not None else is_error
    )


def _error_flag(value: Mapping[str, Any]) -> bool | None:
    """What an object says of failure by itself; None where it is silent."""
    for key in ("is_error", "isError", "error"):
        flag = value.get(key)
        if isinstance(flag, bool):
            return flag or None
    status = value.get("status")
    if isinstance(status, str):
        return True if status.lower() in ("error", "failed", "failure") else None
    return True if value.get("outcome") in ("failed", "denied") else None


_BLOCK_LISTS = ('[{"json":', '[{"text":', '[{"type": "text"', '[{"type":"text"')  # Bedrock's and Anthropic's results written out as text


# The object that agent-framework (before 1.0) writes out as a result's text.
RESULT_OBJECTS = ('{"type": "function_result"', '{"type":"function_result"')


def content_from_result(raw: Any, notes: Notes) -> tuple[str | None, bool | None]:
    """(text, is_error) of a result's payload: text as it is, lists of blocks joined, typed and wrapped values opened, else JSON text."""
    if raw is None:
        return None, None
    if isinstance(raw, str):
        if is_redacted(raw):
            notes.add(GapReason.REDACTED)
            return None, None
        if raw.startswith(RESULT_OBJECTS):
            value = value_from_text(raw)
            if isinstance(value, Mapping) and "result" in value:
                return _from_object(value, notes)
        if raw.startswith(_BLOCK_LISTS):
            value = value_from_text(raw)
            texts = [_block_text(b) for b in value] if isinstance(value, list) else []
            if texts and all(t is not None for t in texts):
                return "\n".join(t for t in texts if t is not None), None
        return raw, None
    if isinstance(raw, Mapping):
        return _from_object(raw, notes)
    if isinstance(raw, (list, tuple)):
        texts = [_block_text(b) for b in raw]
        if raw and all(t is not None for t in texts):
            return "\n".join(t for t in texts if t is not None), None
    return json_text(raw), None


def _from_object(raw: Mapping[str, Any], notes: Notes) -> tuple[str | None, bool | None]:
    kind = raw.get("type")
    if set(raw) == {"id", "name", "response"}:  # Gemini's function response around the response proper
        return content_from_result(raw["response"], notes)
    if "value" in raw and kind in ("text", "json", "error-text", "error-json", "content"):  # Vercel AI SDK 5 and later
        content, _ = content_from_result(raw["value"], notes)
        return content, True if str(kind).startswith("error") else None
    if kind == "function_result" and "result" in raw:
        content, _ = content_from_result(raw["result"], notes)
        return content, True if raw.get("exception") else None
    opened = _wrapped_message(raw)
    if opened is not None:
        content, inner_error = content_from_result(opened.get("content"), notes)
        return content, _error_flag(opened) or inner_error
    if isinstance(raw.get("content"), list) and ({"isError", "structuredContent", "_meta", "meta"} & set(raw)):  # MCP CallToolResult
        content, _ = content_from_result(raw["content"], notes)
        return content, True if raw.get("isError") else None
    text = _block_text(raw)
    if text is not None:
        return text, None
    return json_text(dict(raw)), None


def _wrapped_message(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The tool message inside LangChain's serialisations, None where there is none."""
    if isinstance(raw.get("kwargs"), Mapping) and "lc" in raw:
        return raw["kwargs"]  # type: ignore[no-any-return]  # narrowed by isinstance on the same expression
    if raw.get("type") == "tool" and isinstance(raw.get("data"), Mapping):
        return raw["data"]  # type: ignore[no-any-return]  # as above
    if (raw.get("type") == "tool" or raw.get("role") == "tool" or "tool_call_id" in raw) and "content" in raw:
        return raw
    if isinstance(raw.get("output"), Mapping) and set(raw) <= {"output", "kwargs"}:  # OpenLLMetry's LangChain callback
        return _wrapped_message(raw["output"])
    return None


def _block_text(block: Any) -> str | None:
    """The text of one block of a result; None where it is no text or JSON block."""
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return None
    if isinstance(block.get("text"), str) and set(block) <= {"type", "text", "annotations", "meta", "_meta", "cache_control", "id"}:
        return str(block["text"])
    if set(block) == {"type", "content"} and block["type"] == "text" and isinstance(block["content"], str):
        return str(block["content"])
    if set(block) == {"json"}:
        return json_text(block["json"])
    return None
