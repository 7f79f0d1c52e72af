"""Small conversations for tests."""

from otel_eval.model import Conversation, Message, Part, SpanRef, Text, ToolCall, ToolResult, Turn

TRACE = "0af7651916cd43dd8448eb211c80319c"


def ref(number: int) -> SpanRef:
    """The n-th span of the one trace."""
    return SpanRef(trace_id=TRACE, span_id=f"{number:016x}")


def user(text: str, span: int | None = None) -> Message:
    return Message(role="user", parts=(Text(text=text),), source=ref(span) if span else None)


def agent(text: str = "", *calls: ToolCall, span: int | None = None) -> Message:
    parts: tuple[Part, ...] = (Text(text=text),) if text else ()
    return Message(role="assistant", parts=(*parts, *calls), source=ref(span) if span else None)


def tool(content: str | None, *, call_id: str | None = "1", is_error: bool | None = None, span: int | None = None) -> Message:
    result = ToolResult(call_id=call_id, content=content, is_error=is_error)
    return Message(role="tool", parts=(result,), source=ref(span) if span else None)


def call(name: str = "book_seats", /, **arguments: object) -> ToolCall:
    return ToolCall(id="1", name=name, arguments=arguments)


def booking(conversation_id: str | None = "c1") -> Conversation:
    """A booking that a tool confirms, with spans."""
    messages = (
        user("Please book two seats for tonight at 20:00.", span=2),
        agent("", call(seats=2, time="20:00"), span=2),
        tool('{"ok": true, "code": "NF-2071"}', span=3),
        agent("Your two seats have been booked, code NF-2071.", span=4),
    )
    return Conversation(
        id=conversation_id,
        messages=messages,
        turns=(Turn(messages=messages, trace_ids=(TRACE,), root=ref(1)),),
        agent="box-office",
        response_id="resp-1",
        trace_ids=(TRACE,),
        spans=(ref(1), ref(2), ref(3), ref(4)),
    )


REACHED = {"requests": [{"request": "r1", "status": "reached", "reason": "The tool confirmed NF-2071.", "evidence": [2, 3]}]}
"""A judge's answer to goal accuracy on `booking`."""
