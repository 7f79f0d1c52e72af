"""Messages in every shape: any list, object or text in which a producer writes down a conversation, an answer or a request."""

from collections.abc import Callable, Mapping
from typing import Any

from otel_eval.dialects.shapes.calls import call_from_value, content_from_result, result_from_value
from otel_eval.dialects.shapes.notes import Notes, is_digest, is_redacted
from otel_eval.dialects.shapes.parts import is_bare_call, is_block, is_part_type, parts_from_content, parts_from_item, text_parts
from otel_eval.dialects.shapes.plain import plain_message, plain_messages
from otel_eval.dialects.shapes.reprs import looks_like_repr, value_from_repr
from otel_eval.dialects.shapes.text import first_present, text_or_none, unquoted, value_from_text
from otel_eval.dialects.shapes.textsteps import from_dspy, is_dspy, observation_text, parts_from_protocol
from otel_eval.dialects.shapes.transcript import is_transcript, messages_from_transcript
from otel_eval.model import GapReason, Message, Part, Role, SpanRef, Text, ToolCall, ToolResult

ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("system", "developer", "systemmessage", "systemmessagechunk", "instructions", "context"), "system"),
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk", "customer", "question", "input", "end_user"), "user"),
    **dict.fromkeys(
        (
            "assistant",
            "ai",
            "model",
            "bot",
            "chatbot",
            "agent",
            "aimessage",
            "aimessagechunk",
            "output",
            "tool-call",
            "tool_call",
            "choice",
        ),
        "assistant",
    ),
    **dict.fromkeys(
        ("tool", "function", "toolmessage", "functionmessage", "tool-response", "tool_response", "tool_result", "toolmessagechunk"), "tool"
    ),
}
"""Every spelling of a role met. **Source**: semconv roles; OpenAI, Gemini, Cohere, LangChain classes, smolagents."""

_CONTENT_KEYS = ("parts", "content", "contents", "blocks", "items", "message", "text", "_content")
_ITEM_ROLES: Mapping[str, Role] = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "mcp_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
    "tool_result": "tool",
}


def messages_from_value(value: Any, role: Role, notes: Notes, source: SpanRef | None = None) -> tuple[Message, ...]:
    """All messages that a value holds, in order, in normal form; `role` is for what carries none.

    Normal form: each tool result is a message of its own with role tool; a message holds parts in their order.
    """
    if isinstance(value, str):
        if role == "user" and is_transcript(value):
            return tuple(messages_from_transcript(value, notes, source))
        value = value_from_text(value, notes)
        if type(value) is str and is_digest(value):
            notes.add(GapReason.REDACTED)
            return ()
    if type(value) is list:
        plain = plain_messages(value, source)
        if plain is not None:
            return tuple(plain)
    found = _flat(value, role, notes, source, 0)
    if len(found) <= 2 and found and found[-1].role == "user":
        found[-1:] = _items_in_text(found[-1], notes, source)
    if any(is_dspy(m) for m in found):
        found = [m for message in found for m in from_dspy(message, notes)]
    return tuple(found)


def _items_in_text(message: Message, notes: Notes, source: SpanRef | None) -> list[Message]:
    """A user message whose only text is the request's whole item list as JSON (Traceloop JS over Responses); else the message."""
    text = message.text
    if text is None or not text.startswith('[{"') or len(message.parts) != 1:
        return [message]
    value = value_from_text(text)
    items = value if isinstance(value, list) else []
    if items and all(isinstance(i, dict) and (isinstance(i.get("role"), str) or i.get("type") in _ITEM_ROLES) for i in items):
        return _flat(items, "user", notes, source, 1)
    return [message]


_MAX_DEPTH = 12  # wrappers inside wrappers; real ones go to about six


def _flat(value: Any, role: Role, notes: Notes, source: SpanRef | None, depth: int) -> list[Message]:
    if value is None or depth > _MAX_DEPTH:
        return []
    if isinstance(value, str):
        decoded = _object_in_text(value, notes) if depth or looks_like_repr(value) else None
        if decoded is not None:
            return _flat(decoded, role, notes, source, depth + 1)
        return split_message(role, parts_from_content(value, notes), source)
    if isinstance(value, (list, tuple)):
        return _from_list(value, role, notes, source, depth)
    if isinstance(value, Mapping):
        return _from_object(dict(value), role, notes, source, depth)
    return split_message(role, parts_from_content(value, notes), source)


def _from_list(items: Any, role: Role, notes: Notes, source: SpanRef | None, depth: int) -> list[Message]:
    out: list[Message] = []
    loose: list[Part] = []
    loose_role: Role = role

    def close() -> None:
        if loose:
            out.extend(split_message(loose_role, tuple(loose), source))
            loose.clear()

    for item in items:
        plain = plain_message(item, source) if type(item) is dict else None
        if plain is not None:
            close()
            out.append(plain)
            continue
        if isinstance(item, str):
            item = _object_in_text(item, notes) or item
        if isinstance(item, (list, tuple)):
            pair = _pair(item)
            close()
            out.extend(split_message(*pair, source) if pair else _from_list(item, role, notes, source, depth + 1))
        elif isinstance(item, Mapping) and (is_message(item) or unwrapped(item) is not None):
            close()
            out.extend(_from_object(dict(item), role, notes, source, depth + 1))
        else:
            parts = parts_from_item(item, notes)
            implied = _implied_role(item, parts, role)
            if loose and implied != loose_role:
                close()
            loose_role = implied
            loose.extend(parts)
    close()
    return out


def _object_in_text(text: str, notes: Notes) -> Any:
    """The message, or list of messages, that a text inside a list or wrapper writes out as JSON or as a Python repr; None for plain
    words."""
    value: Any = value_from_repr(text) if looks_like_repr(text) else None
    if value is None and text[:1] in ("{", "["):
        value = value_from_text(text, notes)
    if value is None:
        return None
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, (dict, list)) and (
        isinstance(first, list) or is_message(first) or unwrapped(first) is not None or is_block(first)
    ):
        return value
    return None


def _pair(item: Any) -> tuple[Role, tuple[Part, ...]] | None:
    """A (role, text) pair, as LangChain users write messages."""
    if len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], str) and item[0].lower() in ROLES:
        return ROLES[item[0].lower()], (Text(text=item[1]),)
    return None


def _implied_role(item: Any, parts: tuple[Part, ...], default: Role) -> Role:
    if isinstance(item, Mapping) and isinstance(item.get("type"), str) and item["type"] in _ITEM_ROLES:
        return _ITEM_ROLES[item["type"]]
    if any(type(p) is ToolCall for p in parts):
        return "assistant"
    return default


def _from_object(item: dict[str, Any], role: Role, notes: Notes, source: SpanRef | None, depth: int) -> list[Message]:
    inner = unwrapped(item)
    if inner is not None:
        return [m for value, inner_role in inner for m in _flat(value, inner_role or role, notes, source, depth + 1)]
    if is_message(item):
        return message_from_object(item, role, notes, source)
    if depth and is_block(item):
        return split_message(role, parts_from_content(item, notes), source)
    return _words_of_object(item, role, notes, source)


# Members under which applications pass the words themselves, best first.
_WORDS = (
    "question",
    "query",
    "user_input",
    "user_message",
    "message",
    "prompt",
    "request",
    "task",
    "text",
    "content",
    "answer",
    "final_answer",
    "final_output",
    "raw",
    "output",
    "result",
    "response",
    "input",
    "topic",
)


def _words_of_object(item: Mapping[str, Any], role: Role, notes: Notes, source: SpanRef | None) -> list[Message]:
    """An object that is no message: the words under a telling name, or its only text; nothing where that cannot be told."""
    if is_block(item):
        return split_message(role, parts_from_content(item, notes), source)
    words = next((item[k] for k in _WORDS if isinstance(item.get(k), str) and item[k]), None)
    if words is None:
        texts = [v for v in item.values() if isinstance(v, str) and v]
        words = texts[0] if len(texts) == 1 and len(item) <= 2 else None
    if words is None:
        notes.add(GapReason.UNKNOWN_PART)
        return []
    return split_message(role, text_parts(words, notes), source)


def is_message(item: Mapping[str, Any]) -> bool:
    """Whether an object is one message (a role it names, or a message class of LangChain)."""
    if _role_name(item) is not None:
        return True
    return "tool_calls" in item or "toolCalls" in item or ("parts" in item and "type" not in item)


def _role_name(item: Mapping[str, Any]) -> str | None:
    """The role as written: `role`, `_role`, Semantic Kernel's `role.label`, or a LangChain message type."""
    role = item.get("role")
    if role is None:
        role = item.get("_role") or item.get("author_role")
    if isinstance(role, Mapping):
        role = first_present(dict(role), "label", "value")
    if isinstance(role, str) and role:
        return role
    kind = item.get("type")
    if isinstance(kind, str) and ("content" in item or "data" in item) and kind.lower() in _LANGCHAIN_TYPES:
        return kind
    if kind == "message" and "content" in item:
        return "assistant"
    name = item.get("__class__")
    if isinstance(name, str) and name.lower() in ROLES:
        return name
    return None


_LANGCHAIN_TYPES = frozenset(
    {"human", "ai", "system", "tool", "function", "humanmessage", "aimessage", "systemmessage", "toolmessage", "aimessagechunk", "chat"}
)


def message_from_object(item: Mapping[str, Any], default: Role, notes: Notes, source: SpanRef | None) -> list[Message]:
    """The messages of one message object: several where it holds tool results (each its own)."""
    written = _role_name(item)
    role = ROLES.get(written.rsplit(".", 1)[-1].lower()) if written else default
    if role is None:
        notes.add(GapReason.ROLE_UNKNOWN)
        role = default
    if role == "tool" and any(type(p) is ToolCall for p in _parts_of(item)):
        role = "assistant"  # Strands tells a tool run's call as a message of role tool
    if role == "user" and item.get("tool_call_id") and not _has_result_parts(item):
        role = "tool"  # OpenInference flattens Anthropic's tool_result blocks into the user message they came in
    if role == "tool" and _is_definition(item.get("content")):
        return []  # LangChain's callback lists the tools among the messages
    if role == "tool" and not _has_result_parts(item):
        return [_tool_message(item, notes, source)]
    content = first_present(dict(item), *_CONTENT_KEYS)
    spoken = parts_from_protocol(role, content, notes) if isinstance(content, str) else None
    parts = list(spoken if spoken is not None else parts_from_content(content, notes))
    if len(parts) == 1 and type(parts[0]) is Text and role in ("user", "assistant"):
        told = parts_from_protocol(role, parts[0].text, notes)
        parts = parts if told is None else list(told)
    if isinstance(item.get("parts"), (list, tuple)) and item.get("content") and not parts:
        parts = list(parts_from_content(item["content"], notes))
    parts += _side_calls(item, parts, notes)
    reasoning = item.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning:
        parts.insert(0, parts_from_content({"type": "reasoning", "content": reasoning}, notes)[0])
    thought = item.get("thought")  # AutoGen: the words beside a call
    if isinstance(thought, str) and thought and not any(type(p) is Text for p in parts):
        parts.insert(0, Text(text=thought))
    refusal = item.get("refusal")
    if isinstance(refusal, str) and refusal and not any(type(p) is Text for p in parts):
        parts.append(Text(text=refusal))
    finish = text_or_none(item.get("finish_reason") or item.get("stop_reason"))
    return split_message(role, tuple(parts), source, name=text_or_none(item.get("name")), finish_reason=finish)


def _parts_of(item: Mapping[str, Any]) -> tuple[Part, ...]:
    parts = item.get("parts")
    return parts_from_content(parts, Notes()) if isinstance(parts, (list, tuple)) else ()


def _is_definition(content: Any) -> bool:
    """Whether a content is a tool's definition rather than its result."""
    return isinstance(content, Mapping) and content.get("type") == "function" and isinstance(content.get("function"), Mapping)


def _has_result_parts(item: Mapping[str, Any]) -> bool:
    """Whether a tool message carries typed result parts rather than plain content."""
    for key in ("parts", "content", "_content", "contents", "items", "blocks"):
        inner = item.get(key)
        if isinstance(inner, (list, tuple)):
            for block in inner:
                if isinstance(block, Mapping) and (
                    {"toolResult", "toolResponse", "functionResponse", "function_response", "tool_call_result", "tool_result"} & set(block)
                    or block.get("__class__") in ("ToolCallResult", "ToolReturnPart", "FunctionExecutionResult")
                    or str(block.get("type", block.get("part_kind", ""))).lower().replace("-", "_")
                    in (
                        "tool_call_response",
                        "tool_result",
                        "function_call_output",
                        "tool_return",
                        "function_result",
                        "tool_call_result",
                        "retry_prompt",
                    )
                ):
                    return True
    return False


def _tool_message(item: Mapping[str, Any], notes: Notes, source: SpanRef | None) -> Message:
    content = first_present(dict(item), *_CONTENT_KEYS)
    extra = item.get("additional_kwargs")
    merged = {**(extra if isinstance(extra, Mapping) else {}), **item}
    result = result_from_value({k: v for k, v in merged.items() if k not in _CONTENT_KEYS and k != "id"} | {"result": content}, notes)
    call_id = result.call_id or (text_or_none(item.get("id")) if "tool_call_id" not in item and "type" not in item else None)
    return Message(
        role="tool",
        parts=(ToolResult(call_id=call_id, name=result.name, content=_joined_text(content, result, notes), is_error=result.is_error),),
        source=source,
    )


def _joined_text(content: Any, result: ToolResult, notes: Notes) -> str | None:
    """A tool message's content: text parts joined where it is a list of them."""
    if isinstance(content, (list, tuple)) and content and all(isinstance(b, (Mapping, str)) for b in content):
        parts = parts_from_content(content, Notes())
        if parts and all(type(p) is Text for p in parts):
            return observation_text("\n".join(p.text for p in parts if type(p) is Text))
    return observation_text(result.content) if result.content is not None else None


def _side_calls(item: Mapping[str, Any], parts: list[Part], notes: Notes) -> list[Part]:
    """Tool calls that stand beside the content; those already among the parts (same id, or same name and arguments) once."""
    extra = item.get("additional_kwargs")
    calls = first_present(dict(item), "tool_calls", "toolCalls", "toolInvocations", "function_calls")
    if not calls and isinstance(extra, Mapping):
        calls = extra.get("tool_calls")
    if isinstance(calls, str):
        calls = value_from_text(calls, notes)
    found = (
        [call_from_value(_call_object(c), notes) for c in calls or () if isinstance(c, Mapping)] if isinstance(calls, (list, tuple)) else []
    )
    single = item.get("function_call")
    if isinstance(single, Mapping) and single.get("name"):
        found.append(call_from_value(single, notes))
    known = [p for p in parts if type(p) is ToolCall]
    return [c for c in found if not any(_same_call(c, k) for k in known)]


def _call_object(call: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = call.get("tool_call")
    return inner if isinstance(inner, Mapping) else call


def _same_call(a: ToolCall, b: ToolCall) -> bool:
    return a.id == b.id if a.id and b.id else (a.name, a.arguments) == (b.name, b.arguments)


def split_message(
    role: Role, parts: tuple[Part, ...], source: SpanRef | None, *, name: str | None = None, finish_reason: str | None = None
) -> list[Message]:
    """One message in normal form: every tool result a tool message of its own, before what else the message says."""
    results = [p for p in parts if type(p) is ToolResult]
    if not results:
        return [Message(role=role, parts=parts, name=name, finish_reason=finish_reason, source=source)]
    rest = tuple(p for p in parts if type(p) is not ToolResult)
    out = [Message(role="tool", parts=(r,), source=source) for r in results]
    if not rest or role == "tool":
        return out
    own = Message(role=role, parts=rest, name=name, finish_reason=finish_reason, source=source)
    return [own, *out] if role == "assistant" else [*out, own]


def unwrapped(item: Mapping[str, Any]) -> list[tuple[Any, Role | None]] | None:
    """What a wrapper object holds, as (value, role) in order; None where it is no known wrapper.

    Requests and responses of providers, LangChain constructors and results, agents' state: whatever stands around messages.
    """
    kind = item.get("type")
    if (isinstance(kind, str) and is_part_type(kind)) or is_bare_call(item):
        return None
    for member, opener in _WRAPPERS.items():
        if member in item:
            found = opener(item)
            if found is not None:
                return found
    return None


Unwrapped = list[tuple[Any, Role | None]]


def _langchain_constructor(item: Mapping[str, Any]) -> Unwrapped | None:
    kwargs, path = item.get("kwargs"), item.get("id")
    if not isinstance(kwargs, Mapping) or not isinstance(path, (list, tuple)) or not path:
        return None
    name = str(path[-1]).lower()
    if "messages" in kwargs and name not in ROLES:
        return [(kwargs["messages"], None)]
    return [({**kwargs, "role": kwargs.get("role") or name}, None)] if name in ROLES or "type" in kwargs else None


def _langchain_data(item: Mapping[str, Any]) -> Unwrapped | None:
    data, kind = item["data"], item.get("type")
    if isinstance(data, Mapping) and isinstance(kind, str) and kind.lower() in _LANGCHAIN_TYPES:
        return [({**data, "role": kind}, None)]
    return None


def _generations(item: Mapping[str, Any]) -> Unwrapped | None:
    first = item["generations"]
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, Mapping):
        return None
    message, text = first.get("message"), first.get("text")
    if isinstance(message, Mapping) and text and not {"content", "kwargs", "data"} & set(message):
        message = {**message, "content": text}
    return [(message or text, "assistant")]


def _choices(item: Mapping[str, Any]) -> Unwrapped | None:
    choices = item["choices"]
    if not isinstance(choices, (list, tuple)) or not choices or not isinstance(choices[0], Mapping):
        return None
    first = choices[0]
    return [(first_present(dict(first), "message", "delta", "text"), "assistant")]


def _candidates(item: Mapping[str, Any]) -> Unwrapped | None:
    candidates = item["candidates"]
    if isinstance(candidates, (list, tuple)) and candidates and isinstance(candidates[0], Mapping):
        return [(first_present(dict(candidates[0]), "content", "message"), "assistant")]
    return None


def _request(key: str) -> Callable[[Mapping[str, Any]], Unwrapped | None]:
    """A request whose messages stand under `key`, its system prompt beside them."""

    def opener(item: Mapping[str, Any]) -> Unwrapped | None:
        if _role_name(item) is not None:
            return None
        value = item[key]
        if isinstance(value, str) and key != "messages":
            value = value_from_text(value) if value[:1] in "[{" else value
        if value is None or (key in ("input", "inputs", "output", "outputs") and not isinstance(value, (str, list, tuple, Mapping))):
            return None
        return [*_system_beside(item), (value, None)]

    return opener


def _system_beside(item: Mapping[str, Any]) -> Unwrapped:
    config = first_present(dict(item), "config", "generationConfig")
    places: list[Mapping[str, Any]] = [item]
    if isinstance(config, Mapping):
        places.append(config)
    for place in places:
        for key in ("system_instruction", "systemInstruction", "system_instructions", "instructions", "system", "system_prompt"):
            value = place.get(key)
            if isinstance(value, (str, list, tuple)) or (isinstance(value, Mapping) and ("parts" in value or "content" in value)):
                if isinstance(value, Mapping):
                    value = first_present(dict(value), "parts", "content")
                return [({"role": "system", "content": value}, "system")] if value else []
    return []


def _message_member(item: Mapping[str, Any]) -> Unwrapped | None:
    inner = item["message"]
    if _role_name(item) is not None:
        return None
    if isinstance(inner, Mapping):
        calls = item.get("tool_calls")
        return [({**inner, "tool_calls": calls} if calls and "tool_calls" not in inner else inner, None)]
    return None


def _arguments_member(item: Mapping[str, Any]) -> Unwrapped | None:
    """What a decorator recorded of a function: its only positional argument, or the keyword ones."""
    args, kwargs = item["args"], item.get("kwargs")
    if not set(item) <= {"args", "kwargs"} or not isinstance(args, (list, tuple)):
        return None
    if len(args) == 1 and not kwargs and isinstance(args[0], (str, Mapping, list)):
        return [(args[0], None)]
    return [(kwargs, None)] if not args and isinstance(kwargs, Mapping) and kwargs else None


def _update_member(item: Mapping[str, Any]) -> Unwrapped | None:
    inner = item["update"]
    return [(inner, None)] if isinstance(inner, (Mapping, list)) else None


_WRAPPERS: dict[str, Callable[[Mapping[str, Any]], Unwrapped | None]] = {
    "lc": _langchain_constructor,
    "data": _langchain_data,
    "generations": _generations,
    "choices": _choices,
    "candidates": _candidates,
    "messages": _request("messages"),
    "chat_history": _request("chat_history"),
    "contents": _request("contents"),
    "message": _message_member,
    "update": _update_member,
    "args": _arguments_member,
    "input": _request("input"),
    "inputs": _request("inputs"),
    "output": _request("output"),
    "outputs": _request("outputs"),
    "replies": _request("replies"),
    "response": _request("response"),
    "prompt": _request("prompt"),
}


def content_of_result(value: Any, notes: Notes) -> tuple[str | None, bool | None]:
    """(text, is_error) of what a tool span recorded as its result: JSON text of a known wrapper is opened, other text kept as it is."""
    if isinstance(value, str) and value[:1] == '"' and value[-1:] == '"':
        value = unquoted(value)
    if isinstance(value, str) and not _may_be_wrapper(value):
        return (None, None) if is_redacted(value) and _noted(notes) else (value, None)
    if isinstance(value, str) and value[:1] in ("{", "[", '"', " "):
        decoded = value_from_text(value, Notes())
        if isinstance(decoded, Mapping) and not _opens(decoded):
            return content_from_result(value, notes)
        if isinstance(decoded, (Mapping, list)):
            content, is_error = content_from_result(decoded, notes)
            plain = isinstance(decoded, list) and content is not None and content[:1] == "["
            return (value if plain else content), is_error
        if isinstance(decoded, str) and decoded is not value:
            return content_from_result(decoded, notes)
    return content_from_result(value, notes)


# How the JSON (or repr) of a wrapper around a result begins. **Source**: LangChain callbacks and dumps, MCP, Bedrock, Vercel AI SDK.
_WRAPPER_STARTS = tuple(
    f"{opening}{quote}{member}{quote}"
    for opening in ("{", "{ ", "[{", "[ {")
    for quote in ('"', "'")
    for member in (
        "output",
        "lc",
        "type",
        "content",
        "role",
        "_meta",
        "meta",
        "isError",
        "structuredContent",
        "text",
        "json",
        "id",
        "value",
    )
)


def _may_be_wrapper(text: str) -> bool:
    """Whether a result's text may be the JSON of a wrapper; a look at its beginning is cheaper than decoding every result."""
    return text.startswith(_WRAPPER_STARTS)


def _noted(notes: Notes) -> bool:
    notes.add(GapReason.REDACTED)
    return True


def _opens(value: Mapping[str, Any]) -> bool:
    """Whether `content_from_result` would open this object rather than keep its JSON text."""
    return (
        "lc" in value
        or (value.get("type") in ("tool", "text", "json", "error-text", "error-json", "content"))
        or value.get("role") == "tool"
        or ("tool_call_id" in value and "content" in value)
        or (isinstance(value.get("output"), Mapping) and set(value) <= {"output", "kwargs"})
        or (isinstance(value.get("content"), list) and bool({"isError", "structuredContent", "_meta", "meta"} & set(value)))
        or (set(value) <= {"type", "text"} and "text" in value)
    )
