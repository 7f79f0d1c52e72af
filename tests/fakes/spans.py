"""Traces written by hand: small spans in the words of the GenAI conventions, and conversations read back as lines of text.

    chat(2, [user("Book it")], says("Done"), parent=1)      a model call, span 2 inside span 1, at second 2
    talk(*converted(…))                                      ["user: Book it", "assistant: Done"]

A span's number is its id and the second it starts; it lasts half a second unless `end` says otherwise.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from otel_eval.dialects import BUILTIN, Reader
from otel_eval.model import STATUS_ERROR, STATUS_UNSET, Batch, Conversation, Gap, GapReason, LogRecord, Message, Span, SpanEvent, Step
from otel_eval.service.convert import Conversion, conversations_from_batches

Object: TypeAlias = dict[str, Any]

SECOND = 1_000_000_000
BASE = 1_790_000_000 * SECOND
DETAILS = "gen_ai.client.inference.operation.details"


def moment(second: float) -> int:
    """A time so many seconds after the beginning of all tests."""
    return BASE + round(second * SECOND)


def span_id(number: int) -> str:
    return f"{number:016x}"


def trace_id(number: int) -> str:
    return f"{number:032x}"


def span(
    number: int,
    attributes: Mapping[str, Any] | None = None,
    *,
    name: str = "",
    trace: int = 1,
    parent: int | None = None,
    start: float | None = None,
    end: float | None = None,
    error: str | None = None,
    events: Sequence[SpanEvent] = (),
    **fields: Any,
) -> Span:
    """A span of any kind. `error` is the status message of a failed one."""
    begins = number if start is None else start
    return Span(
        trace_id=trace_id(trace),
        span_id=span_id(number),
        parent_span_id=None if parent is None else span_id(parent),
        name=name,
        start_ns=moment(begins),
        end_ns=moment(begins + 0.5 if end is None else end),
        attributes=dict(attributes or {}),
        events=tuple(events),
        status_code=STATUS_UNSET if error is None else STATUS_ERROR,
        status_message=error or "",
        **fields,
    )


def chat(number: int, given: Any = None, answer: Any = None, attributes: Mapping[str, Any] | None = None, **fields: Any) -> Span:
    """A model call: messages in, one message (or a list of choices) out; None leaves a side out."""
    content = {"gen_ai.input.messages": given, "gen_ai.output.messages": [answer] if isinstance(answer, Mapping) else answer}
    written = {k: to_json(v) for k, v in content.items() if v is not None}
    return span(number, {"gen_ai.operation.name": "chat", **written, **(attributes or {})}, **{"name": "chat", **fields})


def tool(
    number: int,
    name: str,
    arguments: Any = None,
    result: Any = None,
    *,
    call_id: str | None = None,
    attributes: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Span:
    """A tool run."""
    content = {"gen_ai.tool.call.id": call_id, "gen_ai.tool.call.arguments": _told(arguments), "gen_ai.tool.call.result": _told(result)}
    known = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name} | {k: v for k, v in content.items() if v is not None}
    return span(number, {**known, **(attributes or {})}, **{"name": f"execute_tool {name}", **fields})


def agent(number: int, name: str, attributes: Mapping[str, Any] | None = None, **fields: Any) -> Span:
    """An agent's run; give it an `end` behind those of the spans inside."""
    known = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    return span(number, {**known, **(attributes or {})}, **{"name": f"invoke_agent {name}", "end": number + 50, **fields})


def log(
    number: int, event: str, body: Any = None, *, trace: int = 1, at: float | None = None, observed: float | None = None, **fields: Any
) -> LogRecord:
    """A log record on span `number`."""
    told = moment(at if at is not None else number)
    times = {"time_ns": told} if observed is None else {"observed_ns": moment(observed)}
    return LogRecord(**{"trace_id": trace_id(trace), "span_id": span_id(number), "event_name": event, "body": body, **times, **fields})


def event(name: str, at: float = 0, **attributes: Any) -> SpanEvent:
    """A span event; underlines in the names of attributes stand for dots."""
    return SpanEvent(name=name, time_ns=moment(at), attributes={k.replace("__", "."): v for k, v in attributes.items()})


def user(text: str) -> Object:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def system(text: str) -> Object:
    return {"role": "system", "parts": [{"type": "text", "content": text}]}


def says(text: str | None = None, *calls: Object, **fields: Any) -> Object:
    """The model's words and calls."""
    words = [{"type": "text", "content": text}] if text is not None else []
    return {"role": "assistant", "parts": [*words, *calls], **fields}


def call(name: str, arguments: Any = None, call_id: str | None = None) -> Object:
    """The part of an assistant's message that asks for a tool."""
    return {"type": "tool_call", "name": name, "arguments": {} if arguments is None else arguments, "id": call_id}


def result(content: Any, call_id: str | None = None) -> Object:
    """A tool message."""
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": content}]}


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _told(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else to_json(value)


def convert(*items: Span | LogRecord, join_by_history: bool = False) -> Conversion:
    """The conversion of spans and log records, come in one batch."""
    spans = tuple(i for i in items if isinstance(i, Span))
    logs = tuple(i for i in items if isinstance(i, LogRecord))
    return conversations_from_batches([Batch(spans=spans, logs=logs)], join_by_history=join_by_history)


def converted(*items: Span | LogRecord, join_by_history: bool = False) -> list[Conversation]:
    """The conversations of spans and log records."""
    return convert(*items, join_by_history=join_by_history).conversations


def only(*items: Span | LogRecord) -> Conversation:
    """The one conversation of spans and log records that is no sub-agent's; more or none fail the test."""
    mains = [c for c in converted(*items) if c.sub_agent_of is None]
    assert len(mains) == 1, [talk(c) for c in mains]
    return mains[0]


def step_of(one: Span, *logs: LogRecord) -> Step:
    """One span as a step."""
    return Reader(BUILTIN).step(one, logs)


def talk(conversation: Conversation) -> list[str]:
    """A conversation as lines: who speaks, words, calls behind `->`, results as `tool(id)`."""
    return [line(m) for m in conversation.messages]


def line(message: Message) -> str:
    """One message as a line."""
    told = message.tool_result
    if message.role == "tool" and told is not None:
        mark = " !" if told.is_error else ""
        return f"tool{f'({told.call_id})' if told.call_id else ''}{mark}: {told.content}"
    calls = "".join(f" -> {c.name}{_arguments(c.arguments)}" for c in message.tool_calls)
    words = message.text or ("" if calls else "…")
    return f"{message.role}: {words}{calls}" if words else f"{message.role}:{calls}"


def _arguments(arguments: Mapping[str, Any] | None) -> str:
    return "(?)" if arguments is None else "(" + ", ".join(f"{k}={v!r}" for k, v in arguments.items()) + ")"


def reasons(gaps: Iterable[Gap]) -> set[GapReason]:
    """Why something is missing."""
    return {g.reason for g in gaps}
