"""OpenAI's chat messages, as its API takes them and as most tools for training and evaluation read them.

    {"id": str | null, "messages": [{"role", "content", "tool_calls": [{"id", "type": "function", "function": {"name", "arguments"}}],
    "tool_call_id"}], "tools": [{"type": "function", "function": {"name", "description", "parameters"}}], "metadata": {str: str}}

`arguments` is JSON text, or what stood there instead.

**Source**: OpenAI API, chat completions. Ids that were not recorded are null, which that API would refuse: they are not made up.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.exchange.chat import chat_from_records
from otel_eval.exchange.json_text import plain, text_from_value, without_unknown
from otel_eval.exchange.record import Record
from otel_eval.exchange.turns import turns_from_messages
from otel_eval.model import Conversation, Message, Reasoning, ToolCall

_OF_US = ("agent", "sub_agent_of", "joined_by", "trace_ids")
"""Members of `metadata` that we write ourselves."""


def openai_from_conversation(conversation: Conversation) -> dict[str, Any]:
    """A conversation as chat messages, with its tools and what is known of its origin."""
    c = conversation
    out: dict[str, Any] = {"id": c.id, "messages": [*_system(c), *(_object(m) for m in c.messages)]}
    if c.tools:
        out["tools"] = [_tool_object(name, tool) for name, tool in c.tools.items()]
    told = {"agent": c.agent, "sub_agent_of": c.sub_agent_of, "joined_by": c.joined_by, "trace_ids": ",".join(c.trace_ids) or None}
    return out | {"metadata": without_unknown(told)}


def _system(conversation: Conversation) -> list[dict[str, Any]]:
    return [{"role": "system", "content": conversation.system}] if conversation.system is not None else []


def _object(message: Message) -> dict[str, Any]:
    result = message.tool_result
    if message.role == "tool" and result is not None:
        return {"role": "tool", "tool_call_id": result.call_id, "content": result.content}
    out: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.name is not None:
        out["name"] = message.name
    reasoning = [p.text for p in message.parts if isinstance(p, Reasoning) and p.text]
    if reasoning:
        out["reasoning_content"] = "\n".join(reasoning)
    if message.tool_calls:
        out["tool_calls"] = [_call_object(c) for c in message.tool_calls]
    return out


def _call_object(call: ToolCall) -> dict[str, Any]:
    arguments = text_from_value(call.arguments) if call.arguments is not None else call.raw
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _tool_object(name: str, tool: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": name, "description": tool.get("description"), "parameters": plain(tool.get("parameters"))}
    return {"type": "function", "function": without_unknown(function)}


def conversation_from_openai(record: Mapping[str, Any]) -> Conversation:
    """The conversation of chat messages, in OpenAI's or the plain form; InputError where a message is none.

    Strings in `metadata` other than ours become attributes, which references and selection read.
    """
    told = Record(record)
    chat = chat_from_records(told.records("messages"))
    about = told.members.get("metadata")
    about = about if isinstance(about, Mapping) else {}
    trace_ids = about.get("trace_ids")
    return Conversation(
        id=told.text("id", "conversation_id"),
        messages=chat.messages,
        turns=turns_from_messages(chat.messages),
        system=chat.system,
        agent=_text(about.get("agent")),
        tools=dict(_tools(told)),
        trace_ids=tuple(trace_ids.split(",")) if isinstance(trace_ids, str) and trace_ids else (),
        sub_agent_of=_text(about.get("sub_agent_of")),
        joined_by="given",
        gaps=tuple(chat.gaps),
        attributes={k: v for k, v in about.items() if k not in _OF_US},
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _tools(told: Record) -> list[tuple[str, Mapping[str, Any]]]:
    """The tool definitions as the model has them: by name, with `name`, `description` and `parameters` beside each other."""
    out: list[tuple[str, Mapping[str, Any]]] = []
    tools = told.members.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            known = {"name": inner["name"], "description": inner.get("description"), "parameters": inner.get("parameters")}
            out.append((inner["name"], known))
    return out
