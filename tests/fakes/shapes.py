"""One talk in the shapes of ten producers: what all readers of messages are held against."""

import json
from typing import Any

ARGS = {"city": "Lisbon"}
TEXT_ARGS = json.dumps(ARGS)
CALL = "assistant: -> weather(city='Lisbon')"
FULL = ["user: Hi", "assistant: Let me see. -> weather(city='Lisbon')", "tool(c1): sunny", "assistant: Sunny."]

PARTS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"type": "text", "content": "Hi"}]},
    {
        "role": "assistant",
        "parts": [{"type": "text", "content": "Let me see."}, {"type": "tool_call", "id": "c1", "name": "weather", "arguments": ARGS}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "sunny"}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "Sunny."}], "finish_reason": "stop"},
]
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT_ARGS}}
OPENAI = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Let me see.", "tool_calls": [OPENAI_CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "assistant", "content": "Sunny."},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": TEXT_ARGS},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny."}]},
]
ANTHROPIC = [
    {"role": "user", "content": "Hi"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me see."}, {"type": "tool_use", "id": "c1", "name": "weather", "input": ARGS}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "sunny"}]}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Sunny."}]},
]
BEDROCK = [
    {"role": "user", "content": [{"text": "Hi"}]},
    {"role": "assistant", "content": [{"text": "Let me see."}, {"toolUse": {"toolUseId": "c1", "name": "weather", "input": ARGS}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "status": "success", "content": [{"text": "sunny"}]}}]},
    {"role": "assistant", "content": [{"text": "Sunny."}]},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Hi"}]},
    {"role": "model", "parts": [{"text": "Let me see."}, {"functionCall": {"id": "c1", "name": "weather", "args": ARGS}}]},
    {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "weather", "response": "sunny"}}]},
    {"role": "model", "parts": [{"text": "Sunny."}]},
]
LANGCHAIN = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "HumanMessage"],
        "kwargs": {"content": "Hi", "type": "human"},
    },
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {
            "content": "Let me see.",
            "type": "ai",
            "tool_calls": [{"id": "c1", "name": "weather", "args": ARGS, "type": "tool_call"}],
        },
    },
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "ToolMessage"],
        "kwargs": {"content": "sunny", "type": "tool", "tool_call_id": "c1"},
    },
    {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Sunny.", "type": "ai"}},
]
LANGCHAIN_DICTS = [
    {"type": "human", "data": {"content": "Hi"}},
    {"type": "ai", "data": {"content": "Let me see.", "tool_calls": [{"id": "c1", "name": "weather", "args": ARGS}]}},
    {"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1"}},
    {"type": "ai", "data": {"content": "Sunny."}},
]
VERCEL = [
    {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me see."},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": ARGS},
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "weather", "output": {"type": "text", "value": "sunny"}}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "Sunny."}]},
]
PYDANTIC_AI = [
    {"kind": "request", "role": "user", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]},
    {
        "role": "assistant",
        "parts": [
            {"part_kind": "text", "content": "Let me see."},
            {"part_kind": "tool-call", "tool_name": "weather", "args": TEXT_ARGS, "tool_call_id": "c1"},
        ],
    },
    {"role": "user", "parts": [{"part_kind": "tool-return", "tool_name": "weather", "content": "sunny", "tool_call_id": "c1"}]},
    {"role": "assistant", "parts": [{"part_kind": "text", "content": "Sunny."}]},
]
PAIRS = [["human", "Hi"], ["ai", "Sunny."]]
SHAPES: dict[str, Any] = {
    "semconv parts": PARTS,
    "openai chat": OPENAI,
    "openai responses": RESPONSES,
    "anthropic": ANTHROPIC,
    "bedrock": BEDROCK,
    "gemini": GEMINI,
    "langchain constructors": LANGCHAIN,
    "langchain dicts": LANGCHAIN_DICTS,
    "vercel": VERCEL,
    "pydantic ai": PYDANTIC_AI,
}
