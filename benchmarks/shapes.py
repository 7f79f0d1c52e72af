"""Traces of shapes in which a careless converter takes time that grows faster than its input. Each function gives the body of size n."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.generate import Generator, request_of, text_message, to_json

Shape: TypeAlias = Callable[[int], bytes]


def history(n: int) -> bytes:
    """One trace of n spans whose inputs repeat the history: the wire bytes grow with n²."""
    return request_of(traces=1, spans=n).SerializeToString()


def delta(n: int) -> bytes:
    """One trace of n spans whose inputs hold only what is new."""
    return request_of(traces=1, spans=n, history=False).SerializeToString()


def traces(n: int) -> bytes:
    """n traces of ten spans."""
    return request_of(traces=n, spans=10).SerializeToString()


def turns(n: int) -> bytes:
    """n traces of one conversation, each with one model call that repeats all turns before."""
    made = Generator(seed=5)
    messages: list[dict[str, Any]] = []
    spans = []
    for _ in range(n):
        messages.append(text_message("user", made.text(200)))
        answer = made.answer(None)
        spans.append(made.span(made.rng.randbytes(16), b"", "chat", made.chat("conv-1", messages, answer)))
        messages.append(text_message("assistant", answer["parts"][0]["content"]))
    return _body(spans)


def chain(n: int) -> bytes:
    """One trace in which every span stands inside the one before; the innermost is a model call."""
    made = Generator(seed=6)
    trace_id, parent, spans = made.rng.randbytes(16), b"", []
    for _ in range(n - 1):
        spans.append(made.span(trace_id, parent, "RunnableSequence", {"openinference.span.kind": "CHAIN"}))
        parent = spans[-1].span_id
    return _body([*spans, made.span(trace_id, parent, "chat", _call(made))])


def strangers(n: int) -> bytes:
    """One trace with n model calls that have nothing to do with each other, as of a batch job."""
    made = Generator(seed=7)
    trace_id = made.rng.randbytes(16)
    return _body(made.span(trace_id, b"", "chat", _call(made)) for _ in range(n))


def singles(n: int) -> bytes:
    """n traces of one model call each, without conversation or response id."""
    made = Generator(seed=8)
    return _body(made.span(made.rng.randbytes(16), b"", "chat", _call(made)) for _ in range(n))


def tools(n: int) -> bytes:
    """One trace with n runs of one tool, without call ids, that one model call asked for."""
    made = Generator(seed=9)
    trace_id = made.rng.randbytes(16)
    calls = [{"type": "tool_call", "name": "lookup", "arguments": {"row": i}} for i in range(n)]
    given = [text_message("user", made.text(100))]
    asked = _call(made) | {
        "gen_ai.input.messages": to_json(given),
        "gen_ai.output.messages": to_json([{"role": "assistant", "parts": calls}]),
    }
    runs = [made.span(trace_id, b"", "execute_tool lookup", _run(i, made.text(30))) for i in range(n)]
    return _body([made.span(trace_id, b"", "chat", asked), *runs])


def _call(made: Generator) -> dict[str, Any]:
    """A model call of its own, without any id."""
    attributes = made.chat("", [text_message("user", made.text(200))], made.answer(None))
    return {k: v for k, v in attributes.items() if k not in ("gen_ai.conversation.id", "gen_ai.response.id")}


def _run(row: int, result: str) -> Mapping[str, Any]:
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lookup",
        "gen_ai.tool.call.arguments": to_json({"row": row}),
        "gen_ai.tool.call.result": result,
    }


def _body(spans: Iterable[Span]) -> bytes:
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.extend(spans)
    return request.SerializeToString()


BY_WIRE: Mapping[str, tuple[Shape, int]] = {"history": (history, 100), "turns": (turns, 50)}
"""Shapes whose wire bytes grow faster than n, and the smaller n: their time is held against the bytes."""

BY_SIZE: Mapping[str, tuple[Shape, int]] = {
    "delta": (delta, 100),
    "traces": (traces, 20),
    "chain": (chain, 250),
    "strangers": (strangers, 100),
    "singles": (singles, 100),
    "tools": (tools, 100),
}
"""Shapes whose wire bytes grow with n, and the smaller n."""
