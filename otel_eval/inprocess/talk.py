"""Spans for agents written by hand: a turn, its model calls and tool calls, what it is held against, and that it is over.

    with otel_eval.agent_turn("shop", "Book a table for two", conversation_id="c1") as turn:
        with otel_eval.model_call("gpt-4.1-mini") as call:
            call.answer(tool_calls=[{"id": "1", "name": "book", "arguments": {"people": 2}}])
        with otel_eval.tool_call("book", {"people": 2}, call_id="1") as tool:
            tool.result(book(people=2))
        turn.answer("A table for two is booked.")

The words are recorded: whoever writes them here wants them scored. Nothing here raises for what a message looks like.

**Source**: OpenTelemetry semantic conventions for GenAI, generation C: spans `invoke_agent`, `chat`, `execute_tool` with
`gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions`, `gen_ai.tool.definitions`, `gen_ai.tool.call.*`.
Ours are `otel_eval.reference.*` and `otel_eval.conversation.end`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from otel_eval.errors import InputError
from otel_eval.exchange.calls import call_from_record
from otel_eval.exchange.record import Record
from otel_eval.exchange.records import conversation_from_record
from otel_eval.exchange.references import ATTRIBUTES
from otel_eval.model import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from otel_eval.model.characters import whole
from otel_eval.otlp.receive.keys import END_MARK

Said: TypeAlias = "str | Message | Mapping[str, Any] | Sequence[Message | Mapping[str, Any]] | None"
"""Words of the user, a message, or a list of messages: ours, or chat messages as they go to a model."""

SCOPE = "otel_eval.talk"
"""Whose spans these are: the application's, not the evaluator's (whose scope is `otel_eval`)."""

_TURN: Final[ContextVar["AgentTurn | None"]] = ContextVar("otel_eval_turn", default=None)


@dataclass(slots=True, kw_only=True)
class AgentTurn:
    """A turn that is under way. `messages` are those of the turn so far."""

    span: Span
    agent: str
    conversation_id: str | None = None
    messages: list[Message] = field(default_factory=list)
    _answer: str | None = None

    @property
    def trace_id(self) -> str:
        """For `scorer.explain`."""
        return f"{self.span.get_span_context().trace_id:032x}"

    def answer(self, text: str) -> None:
        """What the user gets to read; without it, what the last model call said."""
        self._answer = _words(text)

    @property
    def last_words(self) -> str | None:
        if self._answer is not None:
            return self._answer
        last = self.messages[-1] if self.messages else None
        return last.text if last is not None and last.role == "assistant" and not last.tool_calls else None


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """A model call that is under way."""

    span: Span
    turn: AgentTurn | None = None

    def answer(
        self,
        text: str | None = None,
        *,
        tool_calls: Sequence[ToolCall | Mapping[str, Any]] = (),
        reasoning: str | None = None,
        finish_reason: str | None = None,
        response_id: str | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
    ) -> None:
        """What the model answered: words, calls in any form that messages have them in, or both."""
        said, thought = _words(text), _words(reasoning)
        calls = [call for given in _listed(tool_calls) or () if (call := _call(given)) is not None]
        parts: list[Part] = [*([Reasoning(text=thought)] if thought else []), *([Text(text=said)] if said else []), *calls]
        reason = _words(finish_reason) or ("tool_call" if calls else "stop")
        message = Message(role="assistant", parts=tuple(parts), finish_reason=reason)
        _set(
            self.span,
            {
                "gen_ai.output.messages": _json([_object(message)]),
                "gen_ai.response.finish_reasons": [reason],
                "gen_ai.response.id": _words(response_id),
                "gen_ai.usage.input_tokens": _number(input_tokens),
                "gen_ai.usage.output_tokens": _number(output_tokens),
            },
        )
        if self.turn is not None:
            self.turn.messages.append(message)


@dataclass(slots=True, kw_only=True)
class ToolRunning:
    """A tool that is being run. What its block raises makes the run a failed one, and goes on to the caller."""

    span: Span
    name: str
    call_id: str | None = None
    turn: AgentTurn | None = None

    def result(self, value: Any) -> None:
        """What the tool gave back: text, or anything that can be written as JSON."""
        self._told(whole(value) if isinstance(value, str) else _json(value), is_error=None)

    def fail(self, message: str, *, error_type: str = "tool_error") -> None:
        """The run failed without an exception; the message is what the model is told."""
        told = _words(message) or ""
        self.span.set_status(Status(StatusCode.ERROR, told))
        self.span.set_attribute("error.type", _words(error_type) or "tool_error")
        self._told(told, is_error=True)

    def _told(self, content: str, *, is_error: bool | None) -> None:
        self.span.set_attribute("gen_ai.tool.call.result", content)
        if self.turn is not None:
            result = ToolResult(call_id=self.call_id, name=self.name, content=content, is_error=is_error)
            self.turn.messages.append(Message(role="tool", parts=(result,)))


@contextmanager
def agent_turn(
    agent: str,
    user: Said = None,
    *,
    conversation_id: str | None = None,
    system: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[AgentTurn]:
    """One turn of an agent: a span `invoke_agent`, with what the user said and, at its end, what the agent answered.

    `tools` are definitions as a model gets them. A turn inside another is a sub-agent's, in the same conversation.
    """
    outer = _TURN.get()
    conversation_id = conversation_id or (outer.conversation_id if outer is not None else None)
    given = _messages(user)
    start = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "gen_ai.conversation.id": conversation_id,
        "gen_ai.input.messages": _json([_object(m) for m in given]) if given else None,
        "gen_ai.system_instructions": _instructions(system),
        "gen_ai.tool.definitions": _definitions(tools),
        **_further(attributes),
    }
    with _span(f"invoke_agent {agent}", start) as span:
        turn = AgentTurn(span=span, agent=agent, conversation_id=conversation_id, messages=given)
        token = _TURN.set(turn)
        try:
            yield turn
        finally:
            _TURN.reset(token)
            words = turn.last_words
            if words is not None:
                said = Message(role="assistant", parts=(Text(text=words),), finish_reason="stop")
                span.set_attribute("gen_ai.output.messages", _json([_object(said)]))


@contextmanager
def model_call(
    model: str,
    messages: Said = None,
    *,
    provider: str | None = None,
    system: str | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[ModelCall]:
    """One call of a model: a span `chat`. Without `messages`, what was said in the turn so far. Not where an instrumentation records it."""
    turn = _TURN.get()
    given = _messages(messages) if messages is not None else list(turn.messages) if turn is not None else []
    start = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.provider.name": provider,
        **_of_turn(turn),
        "gen_ai.input.messages": _json([_object(m) for m in given]) if given else None,
        "gen_ai.system_instructions": _instructions(system),
        "gen_ai.tool.definitions": _definitions(tools),
        **_further(attributes),
    }
    with _span(f"chat {model}", start, SpanKind.CLIENT) as span:
        yield ModelCall(span=span, turn=turn)


@contextmanager
def tool_call(
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    call_id: str | None = None,
    description: str | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[ToolRunning]:
    """One run of a tool: a span `execute_tool`. `call_id` is the id that the model gave the call."""
    turn = _TURN.get()
    start = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": _words(call_id),
        "gen_ai.tool.description": _words(description),
        "gen_ai.tool.call.arguments": whole(arguments) if isinstance(arguments, str) else _json({} if arguments is None else arguments),
        **_of_turn(turn),
        **_further(attributes),
    }
    with _span(f"execute_tool {name}", start) as span:
        running = ToolRunning(span=span, name=name, call_id=_words(call_id), turn=turn)
        try:
            yield running
        except Exception as error:
            running.fail(_as_text(error), error_type=type(error).__name__)
            raise


def set_reference(
    *,
    outcome: str | None = None,
    tool_calls: Sequence[Mapping[str, Any]] | None = None,
    topics: Sequence[str] | None = None,
    response: str | None = None,
    turns: Sequence[Any] | None = None,
    task: str | None = None,
    trial: str | int | None = None,
    span: Span | None = None,
) -> None:
    """What the conversation is held against, on a span of it: the one given, else the current one. What is None is left as it was.

    Beside the references of a dataset these count last (docs/references.md). `task` and `trial` tell repeated trials of a task for pass^k.
    """
    told = {
        "outcome": _words(outcome),
        "tool_calls": _json_list(tool_calls),
        "topics": [_words(topic) for topic in listed] if (listed := _listed(topics)) is not None else None,
        "response": _words(response),
        "turns": _json_list(turns),
        "task": _words(task),
        "trial": _words(trial),
    }
    _set(span if span is not None else trace.get_current_span(), {f"{ATTRIBUTES}{name}": value for name, value in told.items()})


def end_conversation(conversation_id: str | None = None) -> None:
    """The conversation is over: it is scored without waiting for silence.

    The current span is marked where it is recording. Without one, or for another conversation than the current turn's, a span of its own
    says so.
    """
    span, turn = trace.get_current_span(), _TURN.get()
    is_of_turn = conversation_id is None or (turn is not None and turn.conversation_id == conversation_id)
    if span.is_recording() and is_of_turn:
        (turn.span if turn is not None else span).set_attribute(END_MARK, True)
        return
    with _span("end_conversation", {"gen_ai.conversation.id": conversation_id, END_MARK: True}):
        pass


@contextmanager
def _span(name: str, attributes: Mapping[str, Any], kind: SpanKind = SpanKind.INTERNAL) -> Iterator[Span]:
    """A current span; what its block raises is on it, by class in `error.type`."""
    given = {key: value for key, value in attributes.items() if value is not None}
    with trace.get_tracer(SCOPE).start_as_current_span(name, kind=kind, attributes=given) as span:
        try:
            yield span
        except Exception as error:
            span.set_attribute("error.type", type(error).__name__)
            raise


def _set(span: Span, attributes: Mapping[str, Any]) -> None:
    for key, value in attributes.items():
        if value is not None:
            span.set_attribute(key, value)


def _of_turn(turn: AgentTurn | None) -> dict[str, Any]:
    """What a span inside a turn says of it."""
    if turn is None:
        return {}
    return {"gen_ai.agent.name": turn.agent, "gen_ai.conversation.id": turn.conversation_id}


def _messages(said: Said) -> list[Message]:
    """What was said, as messages; what has no form of a message is left out."""
    if said is None:
        return []
    if isinstance(said, str):
        return [Message(role="user", parts=(Text(text=said),))]
    found: list[Message] = []
    for item in [said] if isinstance(said, Message) else _listed(said) or ():
        found += [item] if isinstance(item, Message) else _read(item)
    return found


def _read(message: Any) -> list[Message]:
    """A chat message; a system message is one of them here."""
    if not isinstance(message, Mapping):
        return []
    try:
        conversation = conversation_from_record({"messages": [dict(message)]})
    except InputError:
        return []
    system = [Message(role="system", parts=(Text(text=conversation.system),))] if conversation.system else []
    return [*system, *conversation.messages]


def _call(given: ToolCall | Mapping[str, Any]) -> ToolCall | None:
    if isinstance(given, ToolCall):
        return given
    if not isinstance(given, Mapping):
        return None
    try:
        return call_from_record(Record(given, "tool_calls"), [])
    except InputError:
        return None


def _object(message: Message) -> dict[str, Any]:
    """A message as the conventions write it."""
    parts = [_part(part) for part in message.parts]
    return _known({"role": message.role, "parts": parts, "name": message.name, "finish_reason": message.finish_reason})


def _part(part: Part) -> dict[str, Any]:
    """A part as the conventions write it."""
    if isinstance(part, Text):
        return {"type": "text", "content": part.text}
    if isinstance(part, Reasoning):
        return {"type": "reasoning", "content": part.text}
    if isinstance(part, ToolCall):
        arguments = dict(part.arguments) if part.arguments is not None else part.raw
        return _known({"type": "tool_call", "id": part.id, "name": part.name, "arguments": arguments})
    if isinstance(part, ToolResult):
        return _known({"type": "tool_call_response", "id": part.call_id, "name": part.name, "response": part.content})
    if isinstance(part, Media):
        return _known({"type": "uri", "modality": part.modality, "mime_type": part.mime_type, "uri": part.uri})
    return {"type": part.type}


def _known(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if value is not None}


def _json(value: Any) -> str:
    """JSON text of anything: what JSON has no form for is written as text, and half surrogate pairs as U+FFFD."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_as_text)
    except (TypeError, ValueError, RecursionError):  # keys that are no texts, a circle, nesting without end
        text = json.dumps(_as_text(value), ensure_ascii=False)
    return whole(text)


def _json_list(value: Any) -> str | None:
    listed = _listed(value)
    return None if listed is None else _json(listed)


def _listed(value: Any) -> list[Any] | None:
    """What is given as a list: one text or mapping is a list of one, and what is none at all is left out."""
    if isinstance(value, str | Mapping):
        return [value]
    return list(value) if isinstance(value, Iterable) else None


def _definitions(tools: Any) -> str | None:
    """Definitions of tools as JSON; what is none of a definition is left out."""
    found = [dict(tool) for tool in _listed(tools) or () if isinstance(tool, Mapping)]
    return _json(found) if found else None


def _instructions(system: Any) -> str | None:
    words = _words(system)
    return _json([{"type": "text", "content": words}]) if words else None


def _further(attributes: Any) -> dict[str, Any]:
    return dict(attributes) if isinstance(attributes, Mapping) else {}


def _words(value: Any) -> str | None:
    """Words as text; anything else that stands in their place as it shows itself."""
    return None if value is None else whole(value if isinstance(value, str) else _as_text(value))


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _as_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # the application's own object: it is named by its class
        return f"<{type(value).__name__}>"
