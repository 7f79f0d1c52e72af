"""ADK's evaluation cases out: one invocation a user turn. Reading them is `adk_in`.

    {"eval_id": str, "conversation": [{"invocation_id", "user_content": {"role", "parts": [{"text"}]}, "final_response": {"role", "parts"},
    "intermediate_data": {"tool_uses": [{"id", "name", "args"}], "tool_responses": [{"id", "name", "response"}],
    "intermediate_responses": [[author, [{"text"}]]]}, "app_details": {"agent_details": {agent: {"name", "instructions"}}}}]}

**Source**: google/adk-python 2.13, `evaluation/eval_case.py` and `app_details.py` (`EvalCase`, `Invocation`): an invocation may hold
nothing else. `eval_id` is the conversation's id, else its first trace's. A tool's text that is no JSON object stands in `{"result": …}`, as
ADK itself wraps it. What the agent said between its calls stands in `intermediate_responses`: order and reasoning are not kept.
"""

import json
from typing import Any

from otel_eval.exchange.json_text import plain, without_unknown
from otel_eval.model import Conversation, Message, Text, ToolCall, ToolResult, Turn

RESULT = "result"
"""Where ADK puts a tool's result that is no object."""


def adk_from_conversation(conversation: Conversation) -> dict[str, Any]:
    """A conversation as an evaluation case."""
    return {"eval_id": conversation.key, "conversation": [_invocation(t, conversation) for t in conversation.turns]}


def _invocation(turn: Turn, conversation: Conversation) -> dict[str, Any]:
    answer = _final_answer(turn)
    told = {
        "invocation_id": turn.trace_ids[-1] if turn.trace_ids else "",
        "user_content": {"role": "user", "parts": [p for m in turn.messages if m.role == "user" for p in _text_parts(m)]},
        "final_response": {"role": "model", "parts": _text_parts(answer)} if answer is not None else None,
        "intermediate_data": _intermediate(turn, answer, conversation.agent),
        "creation_timestamp": turn.start_ns / 1e9 if turn.start_ns else None,
        "app_details": _app_details(conversation),
    }
    return without_unknown(told)


def _final_answer(turn: Turn) -> Message | None:
    """The last message, where it is the agent's and speaks."""
    last = turn.messages[-1] if turn.messages else None
    return last if last is not None and last.role == "assistant" and last.text is not None else None


def _text_parts(message: Message) -> list[dict[str, Any]]:
    return [{"text": p.text} for p in message.parts if isinstance(p, Text) and p.text]


def _intermediate(turn: Turn, answer: Message | None, agent: str | None) -> dict[str, Any]:
    between = [m for m in turn.messages if m.role == "assistant" and m is not answer and m.text is not None]
    return {
        "tool_uses": [_call(c) for m in turn.messages for c in m.tool_calls],
        "tool_responses": [_response(r) for m in turn.messages if (r := m.tool_result) is not None],
        "intermediate_responses": [[m.name or agent or "", _text_parts(m)] for m in between],
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return without_unknown({"id": call.id, "name": call.name, "args": plain(call.arguments)})


def _response(result: ToolResult) -> dict[str, Any]:
    return without_unknown({"id": result.call_id, "name": result.name, "response": _response_object(result.content)})


def _response_object(content: str | None) -> dict[str, Any] | None:
    """A result as the object that ADK wants."""
    if content is None:
        return None
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    return plain(value) if isinstance(value, dict) else {RESULT: content}


def _app_details(conversation: Conversation) -> dict[str, Any] | None:
    """The system message, where it is known: as the instructions of the agent."""
    if conversation.system is None:
        return None
    name = conversation.agent or "agent"
    return {"agent_details": {name: {"name": name, "instructions": conversation.system}}}
