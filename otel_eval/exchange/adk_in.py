"""ADK's evaluation cases in, in snake_case and camelCase, with either kind of `intermediate_data`.

Of `tool_uses` and `tool_responses` only their own order is known: they are read as one message with all calls (and what the agent said
before its final response), then a message for each response. `invocation_events` tell the whole order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.adk import RESULT
from otel_eval.exchange.calls import arguments_from_value
from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.record import Record
from otel_eval.exchange.turns import with_named_results
from otel_eval.model import Conversation, Gap, GapReason, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Turn


def conversation_from_adk(record: Mapping[str, Any]) -> Conversation:
    """The conversation of an evaluation case."""
    told = Record(record)
    gaps: list[Gap] = []
    invocations = told.records("conversation")
    turns = tuple(_turn(r, gaps) for r in invocations)
    system, agent = _app(invocations)
    return Conversation(
        id=told.text("eval_id", "evalId"),
        messages=tuple(m for t in turns for m in t.messages),
        turns=turns,
        system=system,
        agent=agent,
        joined_by="given",
        gaps=tuple(gaps),
    )


def _turn(told: Record, gaps: list[Gap]) -> Turn:
    asked = told.record("user_content", "userContent")
    if asked is None:
        raise InputError(f"{told.where('user_content')} is not there: expected what the user said, as an object with parts")
    between = told.record("intermediate_data", "intermediateData")
    answer = told.record("final_response", "finalResponse")
    messages = [*_messages_of_content(asked, "user", gaps)]
    if between is not None:
        messages += _messages_between(between, gaps)
    if answer is not None:  # which the events may end with too
        final = [m for m in _messages_of_content(answer, "model", gaps) if m.parts]
        messages += [m for m in final if not messages or (m.role, m.parts) != (messages[-1].role, messages[-1].parts)]
    return Turn(messages=with_named_results(messages))


def _messages_between(told: Record, gaps: list[Gap]) -> list[Message]:
    events = told.records("invocation_events", "invocationEvents")
    if events:
        return [m for e in events for m in _messages_of_event(e, gaps)]
    said = [_texts_of(pair, f"{told.where('intermediate_responses')}[{i}]", gaps) for i, pair in enumerate(_responses(told))]
    calls = [_call(r, gaps) for r in told.records("tool_uses", "toolUses")]
    parts: list[Part] = [*(p for parts in said for p in parts), *calls]
    results = [Message(role="tool", parts=(_result(r),)) for r in told.records("tool_responses", "toolResponses")]
    return [*([Message(role="assistant", parts=tuple(parts))] if parts else []), *results]


def _messages_of_event(told: Record, gaps: list[Gap]) -> Iterator[Message]:
    content = told.record("content")
    if content is not None:
        yield from _messages_of_content(content, "model", gaps, told.text("author"))


def _responses(told: Record) -> list[Any]:
    return told.values("intermediate_responses", "intermediateResponses")


def _texts_of(pair: Any, at: str, gaps: list[Gap]) -> list[Part]:
    """The parts of one `[author, parts]`."""
    if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[1], list):
        raise InputError(f"{at} is no pair of author and parts: expected [text, list]")
    return [p for i, item in enumerate(pair[1]) if (p := _part(Record(item, f"{at}[1][{i}]"), gaps)) is not None]


def _messages_of_content(told: Record, role: str, gaps: list[Gap], author: str | None = None) -> Iterator[Message]:
    """The messages of a content: each function response stands alone; what else there is, is one message."""
    said: list[Part] = []
    results: list[ToolResult] = []
    for inner in told.records("parts"):
        part = _part(inner, gaps)
        if isinstance(part, ToolResult):
            results.append(part)
        elif part is not None:
            said.append(part)
    if said:
        is_user = (told.text("role") or role) == "user" and author in (None, "user")
        yield Message(role="user" if is_user else "assistant", parts=tuple(said))
    for result in results:
        yield Message(role="tool", parts=(result,))


def _part(told: Record, gaps: list[Gap]) -> Part | None:
    text = told.text("text")
    if text is not None:
        if told.flag("thought"):
            return Reasoning(text=text)
        return Text(text=text) if text else None
    if (call := told.record("function_call", "functionCall")) is not None:
        return _call(call, gaps)
    if (response := told.record("function_response", "functionResponse")) is not None:
        return _result(response)
    data = told.record("inline_data", "inlineData", "file_data", "fileData")
    if data is not None:
        mime_type = data.text("mime_type", "mimeType")
        kind = (mime_type or "").split("/")[0]
        return Media(
            modality=kind if kind in ("image", "audio", "video") else "document", mime_type=mime_type, uri=data.text("file_uri", "fileUri")
        )
    gaps.append(Gap(reason=GapReason.UNKNOWN_PART, where=told.at))
    return Opaque(type=next(iter(told.members), ""))


def _call(told: Record, gaps: list[Gap]) -> ToolCall:
    arguments, raw = arguments_from_value(told.members.get("args"))
    if raw is not None:
        gaps.append(Gap(reason=GapReason.ARGUMENTS_UNREADABLE, where=told.where("args")))
    return ToolCall(id=told.text("id"), name=told.text("name"), arguments=arguments, raw=raw)


def _result(told: Record) -> ToolResult:
    """A tool's answer; one that stands alone in `result` is taken out of it."""
    response = told.members.get("response")
    if isinstance(response, dict) and set(response) == {RESULT}:
        response = response[RESULT]
    content = response if response is None or isinstance(response, str) else text_from_value(response)
    return ToolResult(call_id=told.text("id"), name=told.text("name"), content=content)


def _app(invocations: list[Record]) -> tuple[str | None, str | None]:
    """(system message, agent) of the first invocation that tells them of one agent."""
    for invocation in invocations:
        details = invocation.record("app_details", "appDetails")
        agents = details.record("agent_details", "agentDetails") if details is not None else None
        if agents is not None and len(agents.members) == 1:
            name = next(iter(agents.members))
            return Record(agents.members[name], agents.where(name)).text("instructions") or None, name
    return None, None
