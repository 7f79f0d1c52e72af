"""Model Context Protocol: a `tools/call` is a tool run; every other request (discovery, resources, prompts) is none.

The conventions' attributes are read by `semconv`; here stand the names that instrumentations write beside or instead of them.

**Source**: open-telemetry/semantic-conventions-genai `model/mcp`; modelcontextprotocol/python-sdk 2.3 and fastmcp 4.2 (captured);
opentelemetry-instrumentation-mcp 0.62 of OpenLLMetry (captured); getsentry/sentry-python and sentry-javascript `integrations/mcp`;
logfire 5.4 `integrations/mcp.py` (captured); openlit 1.45 `instrumentation/mcp` (captured); openai/codex `mcp.tools.call`.
"""

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.reprs import value_from_repr
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import StepContent, StepKind, ToolCall, ToolResult

_METHOD = ("mcp.method.name", "mcp.method", "rpc.method")
_OWN = ("mcp.method.name", "mcp.method", "mcp.tool.name")
_TOOL_NAME = ("gen_ai.tool.name", "mcp.tool.name", "tool.name")
_CALL_ID = ("gen_ai.tool.call.id", "tool.call_id", "tool_call_id")
_ARGUMENT = "mcp.request.argument."  # one attribute an argument, JSON each
_ARGUMENTS = ("mcp.tool.arguments", "mcp.request.arguments")
_REQUEST = ("request", "mcp.request.payload")
_RESULT = ("mcp.tool.result.content", "mcp.tool.result", "response", "mcp.response.payload", "mcp.response.value")
_RESULT_ITEM = "mcp.tool.result."  # several pieces: `mcp.tool.result.N.content`
_CALL = "tools/call"
_CALLS = (_CALL, "call_tool")  # OpenLIT tells the SDK's function
_PENDING = '{"type": "mcp_coroutine"'  # OpenLIT's span around an awaitable, beside that of the call
_WRITTEN = re.compile(r"type='text' text=('.*'|\".*\") annotations=.*\Z", re.DOTALL)  # a content block as Pydantic prints it
_ENTITY_IN, _ENTITY_OUT = "traceloop.entity.input", "traceloop.entity.output"


class MCP:
    """Clients and servers of the protocol."""

    info = DialectCard(
        name="mcp",
        version=1,
        sentence="Model Context Protocol spans: tools/call as a tool run, with its arguments and result; all other methods as wrappers.",
        source=(
            "semantic-conventions-genai model/mcp; MCP Python SDK 2.3, fastmcp 4.2, OpenLLMetry mcp 0.62, Sentry, Logfire, "
            "OpenLIT and Codex instrumentations"
        ),
        detects=("mcp.method.name", "mcp.method", "mcp.tool.name", "rpc.method", "request", _ENTITY_IN),
        content=(
            f"{_ARGUMENT}NAME",
            *_ARGUMENTS,
            "mcp.tool.result.content",
            "mcp.tool.result",
            "request / response (Logfire)",
            "mcp.request.payload / mcp.response.payload (OpenLIT)",
            "traceloop.entity.input / output (OpenLLMetry)",
        ),
        lacks="mcp.session.id is the transport's session, no conversation; call ids are not carried; one call may have three spans.",
        switch="Sentry: send_default_pii; OpenLIT: capture_message_content; conventions: opt-in",
        stability="development",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        request = _request(a)
        method = next((m for k in _METHOD if isinstance(m := a.get(k), str)), None) or text_or_none(request.get("method"))
        if not any(k in a for k in _OWN) and not _is_mcp(method):
            return _traceloop(evidence) if _ENTITY_IN in a else None
        asked_name, asked = _asked(request)
        name = next((n for k in _TOOL_NAME if (n := text_or_none(a.get(k)))), None) or asked_name
        if name is None and method == _CALL:  # the SDK's own client span: `MCP send tools/call NAME`
            name = evidence.span.name.partition(f"{_CALL} ")[2] or None
        if (method is not None and method not in _CALLS) or name is None or str(a.get("mcp.response.payload")).startswith(_PENDING):
            return Reading(kind=StepKind.WRAPPER, alone=True)
        call_id = next((i for k in _CALL_ID if (i := text_or_none(a.get(k)))), None)
        return Reading(
            kind=StepKind.TOOL,
            tool_name=name,
            tool_call_id=call_id,
            is_error=True if a.get("mcp.tool.result.is_error") is True else None,
            content=lambda: _run(evidence, call_id, name, asked),
        )


MCP_DIALECT = MCP()


def _is_mcp(method: str | None) -> bool:
    """Whether a JSON-RPC method is one of this protocol's (the `rpc.*` conventions are of any)."""
    return method in ("initialize", "ping") or (method or "").startswith(
        ("tools/", "resources/", "prompts/", "notifications/", "completion/", "sampling/", "elicitation/", "roots/", "logging/")
    )


def _request(a: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON-RPC request, where an instrumentation writes it whole."""
    for key in _REQUEST:
        told = a.get(key)
        value = value_from_text(told) if isinstance(told, str) and '"method"' in told else None
        if isinstance(value, Mapping):
            return value
    return {}


def _asked(request: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The tool's name and arguments of a request; OpenLIT's are those of the SDK's function."""
    params = request.get("params")
    if not isinstance(params, Mapping):
        return None, None
    args = params.get("args")
    if request.get("method") in _CALLS and isinstance(args, list) and args:
        return text_or_none(args[0]), args[1] if len(args) > 1 else {}
    return text_or_none(params.get("name")), params.get("arguments")


def _run(evidence: Evidence, call_id: str | None, name: str, requested: Any) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes(_ARGUMENTS[0])
    told: Any = next((a[k] for k in _ARGUMENTS if k in a), requested)
    if told is None:
        told = {k[len(_ARGUMENT) :]: _plain(v) for k, v in a.items() if k.startswith(_ARGUMENT)} or None
    call = tool_call_of_span(call_id, name, told, notes) if told is not None else None
    return _content(call, call_id, name, _result(a), notes)


def _plain(value: Any) -> Any:
    """One argument, which is JSON text."""
    try:
        return from_json(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _result(a: Mapping[str, Any]) -> Any:
    """What the tool gave: whole, or its pieces."""
    told = next((a[k] for k in _RESULT if k in a), None)
    if told is not None:
        return _with_blocks(told) if "mcp.response.payload" in a else told
    pieces: list[tuple[int, str]] = []
    for key, value in a.items():
        number, _, member = key.removeprefix(_RESULT_ITEM).partition(".")
        if key.startswith(_RESULT_ITEM) and member == "content" and number.isdecimal() and len(number) < 9 and isinstance(value, str):
            pieces.append((int(number), value))
    return "\n".join(text for _, text in sorted(pieces)) if pieces else None


def _with_blocks(told: Any) -> Any:
    """A result whose content blocks are Pydantic's print of them."""
    value = value_from_text(told) if isinstance(told, str) else told
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), list):
        return told
    return {**value, "content": [_block(b) for b in value["content"]]}


def _block(item: Any) -> Any:
    found = _WRITTEN.match(item) if isinstance(item, str) else None
    block = value_from_repr(f"TextContent(text={found.group(1)})") if found else None
    return {"type": "text", "text": block["text"]} if isinstance(block, Mapping) and "text" in block else item


def _content(call: ToolCall | None, call_id: str | None, name: str, raw: Any, notes: Notes) -> StepContent:
    notes.at = _RESULT[0]
    content, is_error = content_of_result(raw, notes) if raw is not None else (None, None)
    result = ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


def _traceloop(evidence: Evidence) -> Reading | None:
    """OpenLLMetry's: `NAME.tool` with {tool_name, arguments}, `METHOD.mcp` with the request."""
    a, name = evidence.attributes, evidence.span.name
    if name.endswith(".mcp") and a.get("traceloop.span.kind") is None and _is_mcp(name.removesuffix(".mcp")):
        return Reading(kind=StepKind.WRAPPER, alone=True)
    told = a.get(_ENTITY_IN)
    if not name.endswith(".tool") or not isinstance(told, str) or not told.startswith('{"tool_name": '):
        return None
    value = value_from_text(told)
    if not isinstance(value, Mapping) or set(value) != {"tool_name", "arguments"}:
        return None
    tool = text_or_none(value["tool_name"]) or name.removesuffix(".tool")
    out = value_from_text(said) if isinstance(said := a.get(_ENTITY_OUT), str) else None
    wrapped = isinstance(out, Mapping) and "result" in out and set(out) <= {"result", "is_error"}
    failed = True if wrapped and isinstance(out, Mapping) and out.get("is_error") is True else None

    def content() -> StepContent:
        notes = evidence.notes(_ENTITY_IN)
        call = tool_call_of_span(None, tool, value["arguments"], notes)
        return _content(call, None, tool, out["result"] if wrapped and isinstance(out, Mapping) else said, notes)

    return Reading(kind=StepKind.TOOL, tool_name=tool, is_error=failed, content=content, alone=True)
