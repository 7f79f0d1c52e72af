"""Model Context Protocol.

**Source**: semantic-conventions-genai `model/mcp`, fastmcp 4.2 with MCP Python SDK 2.3, opentelemetry-instrumentation-mcp 0.62, logfire
5.4, openlit 1.45 (all as captured), getsentry/sentry-javascript `core/src/integrations/mcp-server`.
"""

from typing import Any

import pytest

from otel_eval.model import StepKind
from tests.fakes.spans import span, step_of, to_json

ARGUMENTS = {"city": "Lisbon", "days": 2}
RESULT = {"meta": None, "content": [{"type": "text", "text": "sunny", "annotations": None}], "structuredContent": None, "isError": False}
PRINTED = {**RESULT, "content": ["type='text' text='sunny' annotations=None meta=None"]}
REQUEST = {"method": "tools/call", "params": {"task": None, "meta": None, "name": "weather", "arguments": ARGUMENTS}}

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "conventions": (
        "tools/call weather",
        {
            "mcp.method.name": "tools/call",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "weather",
            "gen_ai.tool.call.arguments": to_json(ARGUMENTS),
            "gen_ai.tool.call.result": to_json(RESULT),
        },
    ),
    "sentry": (
        "tools/call weather",
        {
            "mcp.method.name": "tools/call",
            "mcp.tool.name": "weather",
            "mcp.request.argument.city": '"Lisbon"',
            "mcp.request.argument.days": "2",
            "mcp.tool.result.content": "sunny",
        },
    ),
    "logfire": (
        "MCP request: tools/call weather",
        {"rpc.system": "jsonrpc", "rpc.method": "tools/call", "request": to_json(REQUEST), "response": to_json(RESULT)},
    ),
    "openlit": (
        "mcp tools/call",
        {
            "mcp.method": "call_tool",
            "mcp.request.payload": to_json({"method": "call_tool", "params": {"args": ["weather", ARGUMENTS]}}),
            "mcp.response.payload": to_json(PRINTED),
        },
    ),
    "openllmetry": (
        "weather.tool",
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.name": "weather",
            "traceloop.entity.input": to_json({"tool_name": "weather", "arguments": ARGUMENTS}),
            "traceloop.entity.output": to_json({"result": "sunny"}),
        },
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    """Name, arguments and result of a call under each instrumentation's names."""
    title, attributes = CALLS[name]
    step = step_of(span(1, attributes, name=title))
    call, result = step.content.tool_call, step.content.tool_result
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")
    assert call is not None
    assert result is not None
    assert (call.arguments, result.content) == (ARGUMENTS, "sunny")


OTHERS = [
    ("tools/list", {"mcp.method.name": "tools/list"}),
    ("MCP request: initialize", {"rpc.method": "initialize", "request": '{"method": "initialize"}', "response": "{}"}),
    ("tools/list.mcp", {"traceloop.entity.input": '{"method": "tools/list", "params": null}', "traceloop.entity.output": "{}"}),
    ("mcp tools/call", {"mcp.method": "call_tool", "mcp.response.payload": '{"type": "mcp_coroutine", "function": "call_tool"}'}),
    (
        "mcp transport/request",
        {"mcp.method": "send_request", "mcp.request.payload": '{"method": "send_request", "params": {"args": ["root"]}}'},
    ),
]


@pytest.mark.parametrize(("name", "attributes"), OTHERS)
def test_other_methods_are_wrappers(name: str, attributes: dict[str, Any]) -> None:
    """Discovery, transport, and a span around an awaitable tell no tool run and no words."""
    step = step_of(span(1, attributes, name=name))
    assert (step.kind, step.content.input, step.content.tool_call) == (StepKind.WRAPPER, None, None)


def test_the_name_in_the_spans_name() -> None:
    """The SDK's own client span names the tool only there."""
    step = step_of(span(1, {"mcp.method.name": "tools/call", "jsonrpc.request.id": "3"}, name="MCP send tools/call weather"))
    assert (step.kind, step.tool_name) == (StepKind.TOOL, "weather")


def test_failures() -> None:
    """A failed tool is a successful request: the result says so."""
    sentry = {"mcp.method.name": "tools/call", "mcp.tool.name": "weather", "mcp.tool.result.is_error": True}
    traceloop = {
        "traceloop.span.kind": "tool",
        "traceloop.entity.input": to_json({"tool_name": "weather", "arguments": {}}),
        "traceloop.entity.output": to_json({"result": "no data", "is_error": True}),
    }
    logfire = {"rpc.method": "tools/call", "request": to_json(REQUEST), "response": to_json({**RESULT, "isError": True})}
    assert step_of(span(1, sentry, name="tools/call weather")).is_error
    assert step_of(span(1, traceloop, name="weather.tool")).is_error
    result = step_of(span(1, logfire, name="MCP request: tools/call weather")).content.tool_result
    assert result is not None
    assert result.is_error is True


def test_pieces_of_a_result() -> None:
    """Sentry numbers the pieces of a result that has several."""
    told = {
        "mcp.method.name": "tools/call",
        "mcp.tool.name": "weather",
        "mcp.tool.result.0.content": "sunny",
        "mcp.tool.result.1.content": "dry",
    }
    result = step_of(span(1, told)).content.tool_result
    assert result is not None
    assert result.content == "sunny\ndry"


def test_the_transports_session_is_no_conversation() -> None:
    """`mcp.session.id` lives as long as a connection."""
    assert step_of(span(1, {"mcp.method.name": "tools/call", "mcp.session.id": "a1"})).conversation_ids == ()


def test_other_rpc_is_not_read() -> None:
    """`rpc.method` of any other service says nothing here."""
    assert step_of(span(1, {"rpc.method": "GetUser", "rpc.system": "grpc"})).kind is StepKind.OTHER
