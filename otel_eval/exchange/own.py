"""Our own JSON of a conversation: everything we know of it, out and in without loss. Its members are described in `schema`.

A member that is left out is unknown. Moments are texts of digits, as 64-bit numbers are in OTLP/JSON: JavaScript would round them. Values
that JSON has no word for (bytes, NaN) are written as OTLP/JSON writes them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from otel_eval.errors import InputError
from otel_eval.exchange.json_text import plain, without_unknown
from otel_eval.exchange.own_messages import message_from_object, object_from_message, object_from_ref
from otel_eval.exchange.record import Record
from otel_eval.exchange.turns import turns_from_messages
from otel_eval.model import NO_ATTRIBUTES, Conversation, Gap, GapReason, JoinedBy, Message, ToolRun, Turn, Usage

FAMILY = "otel-eval.conversation/"
SCHEMA = f"{FAMILY}1"
"""What stands in `schema`. The number is raised when a reader of the one before would misunderstand."""


def own_from_conversation(conversation: Conversation) -> dict[str, Any]:
    """A conversation as an object of our own schema."""
    c = conversation
    known = {
        "agent": c.agent,
        "agents": list(c.agents),
        "system": c.system,
        "messages": [object_from_message(m) for m in c.messages],
        "turns": _objects_from_turns(c),
        "tools": plain(c.tools),
        "tool_runs": [_object_from_run(r) for r in c.tool_runs],
        "sub_agent_of": c.sub_agent_of,
        "joined_by": c.joined_by,
        "trace_ids": list(c.trace_ids),
        "spans": [object_from_ref(r) for r in c.spans],
        "dialects": list(c.dialects),
        "models": list(c.models),
        "response_id": c.response_id,
        "usage": without_unknown({"input_tokens": c.usage.input_tokens, "output_tokens": c.usage.output_tokens}),
        "model_calls": c.model_calls,
        "failed_attempts": [object_from_ref(r) for r in c.failed_attempts],
        "gaps": [_object_from_gap(g) for g in c.gaps],
        "start_ns": str(c.start_ns),
        "end_ns": str(c.end_ns),
        "attributes": plain(c.attributes),
    }
    return {"schema": SCHEMA, "id": c.id, **without_unknown(known)}


def conversation_from_own(record: Mapping[str, Any]) -> Conversation:
    """The conversation of an object of our schema; InputError when it is of another version or a member is not as described."""
    told = Record(record)
    if told.value("schema") != SCHEMA:
        raise InputError(f"schema is another than {SCHEMA!r}: expected that, or leave it out and give messages in OpenAI's form")
    messages = tuple(message_from_object(m) for m in told.records("messages"))
    return Conversation(
        id=told.text("id"),
        messages=messages,
        turns=_turns_from_record(told, messages),
        system=told.text("system"),
        agent=told.text("agent"),
        agents=told.texts("agents"),
        tools={name: dict(tool.members) for name, tool in _members(told, "tools")},
        tool_runs=tuple(_run_from_record(r) for r in told.records("tool_runs")),
        trace_ids=told.texts("trace_ids"),
        spans=told.refs("spans"),
        sub_agent_of=told.text("sub_agent_of"),
        joined_by=_joined_by(told),
        dialects=told.texts("dialects"),
        models=told.texts("models"),
        response_id=told.text("response_id"),
        usage=_usage(told),
        model_calls=told.number("model_calls") or 0,
        failed_attempts=told.refs("failed_attempts"),
        gaps=gaps_from_record(told),
        start_ns=told.number("start_ns") or 0,
        end_ns=told.number("end_ns") or 0,
        attributes=told.mapping("attributes") or NO_ATTRIBUTES,
    )


def _object_from_gap(gap: Gap) -> dict[str, Any]:
    return without_unknown({"reason": gap.reason.value, "where": gap.where, "source": object_from_ref(gap.source)})


def gaps_from_record(told: Record) -> tuple[Gap, ...]:
    """The gaps of an object; a reason that this version does not know is an error, for it may stand for missing content."""
    return tuple(_gap_from_record(r) for r in told.records("gaps"))


def _gap_from_record(told: Record) -> Gap:
    reason = told.text("reason")
    if reason not in {r.value for r in GapReason}:
        raise InputError(f"{told.where('reason')} is no reason that is known: expected one of docs/outcomes.md")
    return Gap(reason=GapReason(reason), where=told.text("where") or "", source=told.ref("source"))


def _object_from_run(run: ToolRun) -> dict[str, Any]:
    return without_unknown(
        {
            "call_id": run.call_id,
            "name": run.name,
            "source": object_from_ref(run.source),
            "is_error": run.is_error,
            "error_type": run.error_type,
            "start_ns": str(run.start_ns),
            "end_ns": str(run.end_ns),
        }
    )


def _run_from_record(told: Record) -> ToolRun:
    source = told.ref("source")
    if source is None:
        raise told.wrong("source", "an object with trace_id and span_id")
    return ToolRun(
        call_id=told.text("call_id"),
        name=told.text("name"),
        source=source,
        is_error=told.flag("is_error"),
        error_type=told.text("error_type"),
        start_ns=told.number("start_ns") or 0,
        end_ns=told.number("end_ns") or 0,
    )


def _objects_from_turns(conversation: Conversation) -> list[dict[str, Any]]:
    """The turns; their messages by place. A message that does not stand next in the conversation is written out."""
    out = []
    place = 0
    for turn in conversation.turns:
        members: list[Any] = []
        for message in turn.messages:
            if place < len(conversation.messages) and _is_same(conversation.messages[place], message):
                members.append(place)
                place += 1
            else:
                members.append(object_from_message(message))
        out.append(_object_from_turn(turn, members))
    return out


def _is_same(a: Message, b: Message) -> bool:
    return a is b or a == b


def _object_from_turn(turn: Turn, members: list[Any]) -> dict[str, Any]:
    return without_unknown(
        {
            "messages": members,
            "trace_ids": list(turn.trace_ids),
            "root": object_from_ref(turn.root),
            "start_ns": str(turn.start_ns),
            "end_ns": str(turn.end_ns),
        }
    )


def _turns_from_record(told: Record, messages: Sequence[Message]) -> tuple[Turn, ...]:
    """The turns as written; where there are none, as the messages give them."""
    if told.value("turns") is None:
        return turns_from_messages(messages)
    return tuple(_turn_from_record(r, messages) for r in told.records("turns"))


def _turn_from_record(told: Record, messages: Sequence[Message]) -> Turn:
    own: list[Message] = []
    for place, member in enumerate(told.values("messages")):
        if isinstance(member, int) and not isinstance(member, bool):
            if not 0 <= member < len(messages):
                raise InputError(f"{told.where('messages')}[{place}] is beyond the {len(messages)} messages: expected a place among them")
            own.append(messages[member])
        else:
            own.append(message_from_object(Record(member, f"{told.where('messages')}[{place}]")))
    return Turn(
        messages=tuple(own),
        trace_ids=told.texts("trace_ids"),
        root=told.ref("root"),
        start_ns=told.number("start_ns") or 0,
        end_ns=told.number("end_ns") or 0,
    )


def _members(told: Record, name: str) -> list[tuple[str, Record]]:
    inner = told.record(name)
    return [(key, Record(value, inner.where(key))) for key, value in inner.members.items()] if inner is not None else []


def _joined_by(told: Record) -> JoinedBy:
    """How it was joined when it was read from spans; `given` where that is not said."""
    said = told.text("joined_by")
    return next((rule for rule in get_args(JoinedBy) if rule == said), "given")


def _usage(told: Record) -> Usage:
    inner = told.record("usage")
    if inner is None:
        return Usage()
    return Usage(input_tokens=inner.number("input_tokens"), output_tokens=inner.number("output_tokens"))
