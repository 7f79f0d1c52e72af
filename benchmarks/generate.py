"""Synthetic OTLP requests with the telemetry of a tool-using chat agent; a pure function of the seed.

A trace is one user turn: an `invoke_agent` root, model calls whose input repeats the growing history (as real instrumentations do), and an
`execute_tool` span between every two of them. Content stands on the spans as JSON texts (GenAI conventions, generation C).
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

_SYLLABLES = (
    "ba",
    "co",
    "di",
    "fe",
    "gu",
    "ha",
    "ji",
    "lo",
    "mu",
    "ne",
    "po",
    "ra",
    "si",
    "te",
    "va",
    "wo",
    "an",
    "er",
    "in",
    "on",
    "st",
    "ing",
    "tion",
)
_TOOLS: Mapping[str, tuple[str, ...]] = {
    "search_flights": ("origin", "destination", "date"),
    "get_order_details": ("order_id", "include_items"),
    "lookup_policy": ("topic", "locale"),
    "update_address": ("user_id", "street", "city"),
}
_RESOURCE = {
    "service.name": "support-agent",
    "service.version": "1.4.2",
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.language": "python",
    "deployment.environment.name": "prod",
    "host.name": "node-7",
}
_SYSTEM_CHARS, _RESULT_ROWS = 900, 8


@dataclass(kw_only=True)
class Generator:
    """Makes spans of successive traces."""

    seed: int
    history: bool = True
    """Whether inputs repeat the history; without it each holds only what is new."""
    now_ns: int = 1_790_000_000_000_000_000
    rng: random.Random = field(init=False)
    words: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.words = ["".join(self.rng.choices(_SYLLABLES, k=self.rng.randint(1, 4))) for _ in range(2000)]

    def text(self, chars: int) -> str:
        """About so many characters of words, some quoted, some not Latin."""
        out: list[str] = []
        size = 0
        while size < chars:
            word = self.rng.choice(self.words)
            chance = self.rng.random()
            out.append(f"{word}.\n" if chance < 0.06 else f'"{word}"' if chance < 0.09 else f"예약 {word}" if chance < 0.11 else word)
            size += len(out[-1]) + 1
        return " ".join(out)

    def id(self, prefix: str, digits: int = 16) -> str:
        return f"{prefix}{self.rng.getrandbits(4 * digits):0{digits}x}"

    def trace(self, spans: int, conversation: str | None = None) -> list[Span]:
        """The spans of one turn, root last, as exporters send them; of a conversation of its own where none is named."""
        trace_id, root_id = self.rng.randbytes(16), self.rng.randbytes(8)
        conversation, started = conversation or self.id("conv-"), self.now_ns
        messages: list[dict[str, Any]] = [text_message("system", self.text(_SYSTEM_CHARS)), text_message("user", self.text(300))]
        new, made = list(messages), []
        tools = (spans - 2) // 2
        answer = text_message("assistant", "")
        for place in range(spans - 1 - tools):
            call = self.call() if place < tools else None
            answer = self.answer(call)
            made.append(
                self.span(trace_id, root_id, "chat gpt-5.4-mini", self.chat(conversation, messages if self.history else new, answer))
            )
            messages.append({"role": "assistant", "parts": answer["parts"]})
            new = []
            if call is not None:
                result = self.result()
                made.append(self.span(trace_id, root_id, f"execute_tool {call['name']}", _tool(call, result)))
                new = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": call["id"], "response": result}]}]
                messages += new
        root = self.span(trace_id, b"", "invoke_agent support", _run(conversation, messages[1], answer))
        root.span_id, root.start_time_unix_nano = root_id, started
        return [*made, root]

    def call(self) -> dict[str, Any]:
        name = self.rng.choice(list(_TOOLS))
        return {"type": "tool_call", "id": self.id("call_"), "name": name, "arguments": {k: self.text(12) for k in _TOOLS[name]}}

    def result(self) -> Any:
        """What a tool gave back: an object, a list of rows, or words."""
        rows = [{"id": self.id("it-", 6), "label": self.text(30)} for _ in range(self.rng.randint(2, _RESULT_ROWS))]
        return self.rng.choice([{"ok": True, "items": rows}, rows, self.text(200)])

    def answer(self, call: dict[str, Any] | None) -> dict[str, Any]:
        if call is None:
            return {**text_message("assistant", self.text(600)), "finish_reason": "stop"}
        parts = [{"type": "text", "content": self.text(120)}, call]
        return {"role": "assistant", "parts": parts, "finish_reason": "tool_call"}

    def chat(self, conversation: str, given: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
        """Attributes of a model call."""
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5.4-mini",
            "gen_ai.response.model": "gpt-5.4-mini-2026-03-17",
            "gen_ai.response.id": self.id("chatcmpl-"),
            "gen_ai.conversation.id": conversation,
            "gen_ai.agent.name": "support",
            "gen_ai.request.temperature": 0.2,
            "gen_ai.request.max_tokens": 4096,
            "gen_ai.response.finish_reasons": [answer["finish_reason"]],
            "gen_ai.usage.input_tokens": self.rng.randint(300, 3000),
            "gen_ai.usage.output_tokens": self.rng.randint(20, 300),
            "server.address": "api.example.com",
            "server.port": 443,
            "gen_ai.input.messages": to_json(given),
            "gen_ai.output.messages": to_json([answer]),
        }

    def span(self, trace_id: bytes, parent: bytes, name: str, attributes: Mapping[str, Any]) -> Span:
        started = self.now_ns
        self.now_ns += self.rng.randint(20, 4000) * 1_000_000
        return Span(
            trace_id=trace_id,
            span_id=self.rng.randbytes(8),
            parent_span_id=parent,
            flags=0x101,
            name=name,
            kind=Span.SPAN_KIND_CLIENT if name.startswith("chat") else Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=started,
            end_time_unix_nano=self.now_ns,
            attributes=_pairs(attributes),
        )


def request_of(
    *, seed: int = 1, traces: int, spans: int, history: bool = True, turns: int = 1, conversation: str | None = None
) -> ExportTraceServiceRequest:
    """One export request: so many traces of so many spans; every `turns` of them are one conversation, or all are the one that is named."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.extend(_pairs(_RESOURCE))
    part = group.scope_spans.add(schema_url="https://opentelemetry.io/schemas/1.37.0")
    part.scope.name, part.scope.version = "opentelemetry.instrumentation.genai.openai", "1.3b0"
    generator = Generator(seed=seed, history=history)
    current = conversation
    for place in range(traces):
        if conversation is None and place % turns == 0:
            current = generator.id("conv-") if turns > 1 else None
        part.spans.extend(generator.trace(spans, current))
    return request


def json_of(request: ExportTraceServiceRequest) -> bytes:
    """The request as OTLP/JSON: hexadecimal ids, 64-bit numbers as texts."""
    groups = []
    for group in request.resource_spans:
        parts = [
            {
                "scope": {"name": p.scope.name, "version": p.scope.version},
                "schemaUrl": p.schema_url,
                "spans": [_span_json(s) for s in p.spans],
            }
            for p in group.scope_spans
        ]
        groups.append({"resource": {"attributes": _pairs_json(group.resource.attributes)}, "scopeSpans": parts})
    return json.dumps({"resourceSpans": groups}, ensure_ascii=False, separators=(",", ":")).encode()


def _scope_json(part: Any) -> dict[str, Any]:
    return {"name": part.scope.name, "version": part.scope.version}


def _span_json(span: Span) -> dict[str, Any]:
    parent = {"parentSpanId": span.parent_span_id.hex()} if span.parent_span_id else {}
    return parent | {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "flags": span.flags,
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start_time_unix_nano),
        "endTimeUnixNano": str(span.end_time_unix_nano),
        "attributes": _pairs_json(span.attributes),
        "status": {},
    }


def _pairs_json(pairs: Any) -> list[dict[str, Any]]:
    return [{"key": p.key, "value": _value_json(p.value)} for p in pairs]


def _value_json(value: AnyValue) -> dict[str, Any]:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return {"stringValue": value.string_value}
    if kind == "int_value":
        return {"intValue": str(value.int_value)}
    if kind == "double_value":
        return {"doubleValue": value.double_value}
    return {"arrayValue": {"values": [_value_json(v) for v in value.array_value.values]}}


def _pairs(attributes: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=k, value=_value(v)) for k, v in attributes.items()]


def _value(value: Any) -> AnyValue:
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value)
    if isinstance(value, float):
        return AnyValue(double_value=value)
    made = AnyValue()
    made.array_value.values.extend(_value(v) for v in value)
    return made


def to_json(value: Any) -> str:
    """As instrumentations write it: non-ASCII unescaped, a space behind separators."""
    return json.dumps(value, ensure_ascii=False)


def text_message(role: str, words: str) -> dict[str, Any]:
    """A message of one text part."""
    return {"role": role, "parts": [{"type": "text", "content": words}]}


def _tool(call: Mapping[str, Any], result: Any) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.call.id": call["id"],
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": "support",
        "gen_ai.tool.call.arguments": to_json(call["arguments"]),
        "gen_ai.tool.call.result": result if isinstance(result, str) else to_json(result),
    }


def _run(conversation: str, question: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "support",
        "gen_ai.conversation.id": conversation,
        "gen_ai.request.model": "gpt-5.4-mini",
        "gen_ai.input.messages": to_json([question]),
        "gen_ai.output.messages": to_json([answer]),
    }
