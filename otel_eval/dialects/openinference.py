"""OpenInference (Arize): indexed messages, `input.value` / `output.value`.

**Source**: Arize-ai/openinference `spec/semantic_conventions.md`, openinference-semantic-conventions 0.1.42.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span, tool_definitions_of, usage_from
from otel_eval.dialects.shapes.indexed import nested_from_indexed
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes, is_redacted
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import GapReason, Message, Role, StepContent, StepKind, ToolCall, ToolResult

_KINDS: Mapping[str, StepKind] = {
    "LLM": StepKind.INFERENCE,
    "AGENT": StepKind.AGENT,
    "TOOL": StepKind.TOOL,
    "CHAIN": StepKind.WRAPPER,
    "PROMPT": StepKind.WRAPPER,
    "RETRIEVER": StepKind.RETRIEVAL,
    "RERANKER": StepKind.RETRIEVAL,
    "EMBEDDING": StepKind.EMBEDDINGS,
    "EVALUATOR": StepKind.EVALUATION,
    "GUARDRAIL": StepKind.EVALUATION,
}
_RESPONSE_ID = re.compile(r'\\?"(?:id|response_id|message_id)\\?":\s*\\?"((?:chatcmpl|resp|msg|gen|cmpl)[-_][\w.-]+)')


class OpenInference:
    """Arize's conventions and their many instrumentations, Python and JavaScript."""

    info = DialectCard(
        name="openinference",
        version=1,
        sentence="OpenInference spans: indexed llm.input_messages / llm.output_messages, input.value / output.value, session.id.",
        source="Arize-ai/openinference spec, openinference-semantic-conventions 0.1.42",
        detects=(
            "openinference.span.kind",
            "llm.input_messages.",
            "llm.output_messages.",
            "input.value",
            "output.value",
            "llm.model_name",
            "tool.name",
        ),
        content=("llm.input_messages.N", "llm.output_messages.N", "input.value", "output.value", "llm.tools.N", "tool.parameters"),
        lacks="Tool spans often have no call id; the SDK's limit of 128 attributes drops the oldest messages of a long history.",
        switch=(
            "on by default; off by OPENINFERENCE_HIDE_INPUTS / OPENINFERENCE_HIDE_OUTPUTS (and …_HIDE_INPUT_MESSAGES, "
            "…_HIDE_OUTPUT_MESSAGES)"
        ),
        conversation_ids=("session.id",),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = _KINDS.get(str(a.get("openinference.span.kind", "")).upper())
        if kind is None:
            kind = self._kind_without_span_kind(evidence)
        if kind is StepKind.TOOL and "tool.name" not in a and evidence.span.name.lower().startswith("handoff"):
            kind = StepKind.WRAPPER  # OpenAI Agents: the handoff itself is a call of its own name in the messages
        return Reading(
            kind=kind,
            agent_name=text_or_none(a.get("agent.name")) or text_or_none(a.get("llm.agent.name")) or _agent_from_name(evidence, kind),
            tool_name=_tool_name(evidence) if kind is StepKind.TOOL else None,
            tool_call_id=_tool_call_id(a) if kind is StepKind.TOOL else None,
            response_id=_response_id(a) if kind is StepKind.INFERENCE else None,
            model=text_or_none(a.get("llm.model_name")),
            provider=text_or_none(a.get("llm.provider")) or text_or_none(a.get("llm.system")),
            finish_reasons=(str(a["llm.finish_reason"]),) if a.get("llm.finish_reason") else (),
            usage=usage_from(a),
            conversation_id=_metadata_id(a.get("metadata")),
            content=(lambda: _content(evidence, kind)),
        )

    def _kind_without_span_kind(self, evidence: Evidence) -> StepKind | None:
        a = evidence.attributes
        if any(k.startswith(("llm.input_messages.", "llm.output_messages.")) for k in a) or "llm.model_name" in a:
            return StepKind.INFERENCE
        if "tool.name" in a and ("input.value" in a or "output.value" in a):
            return StepKind.TOOL
        return StepKind.WRAPPER if "input.value" in a or "output.value" in a else None


_RUN = re.compile(r"( run|\.run|\.arun|\._execute_core|\.kickoff)$")
_CREW_AGENT = re.compile(r'"agent": ?"([^"\\]+)"[,}]')


def _agent_from_name(evidence: Evidence, kind: StepKind | None) -> str | None:
    """An agent span's name without the method that ran it; CrewAI's older `Task._execute_core` tells the agent in its output."""
    name = evidence.span.name
    if kind is not StepKind.AGENT or not name:
        return None
    if name == "Task._execute_core":
        out = evidence.attributes.get("output.value")
        found = _CREW_AGENT.search(out) if isinstance(out, str) else None
        return found.group(1) if found else None
    return _RUN.sub("", name) or None


_METHODS = re.compile(r"\.(__call__|run|_run|arun|invoke|ainvoke|execute|forward|call|acall)$")


def _tool_name(evidence: Evidence) -> str | None:
    """A tool's name: its attribute, else the span's name without the method that ran it (`get_weather.__call__`)."""
    a = evidence.attributes
    named = text_or_none(a.get("tool.name")) or text_or_none(a.get("tool_call.function.name"))
    return named or _METHODS.sub("", evidence.span.name) or None


def _metadata_id(value: Any) -> str | None:
    """A conversation id inside the JSON of `metadata` (LangChain run metadata)."""
    if not isinstance(value, str) or not any(k in value for k in ("thread_id", "session_id", "conversation_id", "sessionId", "threadId")):
        return None
    data = value_from_text(value)
    if isinstance(data, Mapping):
        for key in ("conversation_id", "thread_id", "session_id", "threadId", "sessionId"):
            found = text_or_none(data.get(key))
            if found:
                return found
    return None


def _response_id(a: Mapping[str, Any]) -> str | None:
    value = a.get("output.value")
    found = _RESPONSE_ID.search(value) if isinstance(value, str) else None
    return found.group(1) if found else None


def _content(evidence: Evidence, kind: StepKind | None) -> StepContent:
    if kind is StepKind.TOOL:
        return _tool(evidence)
    notes = evidence.notes()
    a = evidence.attributes
    given = _side(evidence, "llm.input_messages", "input.value", "user", notes, kind)
    answer = _without_stale_calls(_side(evidence, "llm.output_messages", "output.value", "assistant", notes, kind), given)
    return StepContent(input=given, output=answer, tool_definitions=_definitions(evidence, a, notes), gaps=tuple(notes.gaps))


def _without_stale_calls(answer: tuple[Message, ...] | None, given: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Google ADK's instrumentor writes all calls of a run on one span, so calls that the input already holds stay in the output."""
    if not answer or not given or len(answer) != 1 or answer[0].text is None or not answer[0].tool_calls:
        return answer
    known = {c.id for m in given for c in m.tool_calls if c.id}
    if not all(c.id in known for c in answer[0].tool_calls):
        return answer
    return (replace(answer[0], parts=tuple(p for p in answer[0].parts if type(p) is not ToolCall)),)


def _definitions(evidence: Evidence, a: Mapping[str, Any], notes: Notes) -> tuple[Mapping[str, Any], ...]:
    listed = nested_from_indexed(a, "llm.tools")
    schemas = [t["tool"].get("json_schema") for t in listed or () if isinstance(t, dict) and isinstance(t.get("tool"), dict)]
    return tool_definitions_of(evidence, [s for s in schemas if s], notes) if schemas else ()


def _side(evidence: Evidence, prefix: str, key: str, role: Role, notes: Notes, kind: StepKind | None) -> tuple[Message, ...] | None:
    """Input or output: indexed messages; `input.value` / `output.value` where they are missing or incomplete."""
    a = evidence.attributes
    tried = evidence.notes(prefix)
    listed = nested_from_indexed(a, prefix, tried)
    raw = a.get(key)
    indexed = messages_from_value([_flat(m) for m in listed], role, tried, tried.source) if listed else None
    if indexed is not None and not tried.gaps and _is_whole(indexed, raw, kind, role):
        return indexed
    whole = evidence.notes(key)
    value = _value(evidence, raw, role, whole, kind) if raw is not None else None
    if value is not None and (indexed is None or _weight(value) > _weight(indexed) or (tried.gaps and len(value) >= len(indexed))):
        notes.gaps.extend(whole.gaps)
        return value
    if not indexed and (prompts := _completion(evidence, role, whole)):
        return prompts
    notes.gaps.extend((*tried.gaps, *(() if indexed else whole.gaps)))
    return indexed


def _completion(evidence: Evidence, role: Role, notes: Notes) -> tuple[Message, ...] | None:
    """Prompts and choices of a completion model: `llm.prompts` / `llm.choices`, indexed or as a list of texts."""
    a = evidence.attributes
    name, member = ("llm.prompts", "prompt") if role == "user" else ("llm.choices", "completion")
    listed = nested_from_indexed(a, name) or ()
    texts = [i[member].get("text") for i in listed if isinstance(i, dict) and isinstance(i.get(member), dict)]
    return evidence.messages([t for t in texts if isinstance(t, str)] or a.get(name), role, notes, name)


def _is_whole(messages: tuple[Message, ...], raw: Any, kind: StepKind | None, role: Role) -> bool:
    """Whether the indexed messages show no loss: none is empty, calls and results have ids, a system prompt of the request is among
    them."""
    for message in messages:
        result = message.tool_result
        if not message.parts or any(c.id is None for c in message.tool_calls) or (result is not None and result.call_id is None):
            return raw is None
    if role == "assistant" and isinstance(raw, str) and '"thought": "' in raw:
        return False  # AutoGen: the words beside a call stand only there
    if role == "user" and kind is StepKind.INFERENCE and isinstance(raw, str) and messages[0].role != "system":
        return not any(f'"{k}"' in raw for k in ("system", "instructions", "system_instruction"))
    return True


def _weight(messages: tuple[Message, ...]) -> tuple[int, int, int]:
    """How much some messages say: those that say anything, ids of calls and results, parts."""
    ids = sum(1 for m in messages for p in m.parts if (type(p) is ToolCall and p.id) or (type(p) is ToolResult and p.call_id))
    return sum(1 for m in messages if m.parts), ids, sum(len(m.parts) for m in messages)


def _value(evidence: Evidence, raw: Any, role: Role, notes: Notes, kind: StepKind | None) -> tuple[Message, ...] | None:
    if isinstance(raw, str) and is_redacted(raw):
        notes.add(GapReason.REDACTED)
        return None
    found = evidence.messages(raw, role, notes)
    if found and kind is StepKind.INFERENCE and role == "assistant":
        return _answer_of(found)
    return found


def _answer_of(messages: tuple[Message, ...]) -> tuple[Message, ...] | None:
    """The answer at the end of an output; None where the output only echoes the request (LlamaIndex' inner spans)."""
    answer: list[Message] = []
    for message in reversed(messages):
        if message.role != "assistant":
            break
        answer.insert(0, message)
    return tuple(answer) or None


def _flat(item: Any) -> Any:
    """One indexed message as a plain message object: `message.` taken off, content blocks and calls opened."""
    inner = item.get("message") if isinstance(item, dict) else None
    if not isinstance(inner, dict):
        return item
    inner = {**inner, **{k: v for k, v in item.items() if k == "thought"}}
    if isinstance(item.get("function"), list):  # AutoGen: results of parallel calls as JSON texts beside the message
        inner["role"], inner["contents"] = (
            "tool",
            [{"type": "tool_result", **r} for r in map(value_from_text, item["function"]) if isinstance(r, dict)],
        )
    out = {k: v for k, v in inner.items() if k not in ("contents", "tool_calls", "function_call_name", "function_call_arguments_json")}
    out.setdefault("role", None)
    if isinstance(out.get("content"), list):  # message.content.0 of the Claude Agent SDK's instrumentor
        out["content"] = [{"type": "text", "text": c} if isinstance(c, str) else c for c in out["content"]]
    blocks = [_block(b) for b in inner.get("contents") or ()]
    if blocks:
        texts = any(isinstance(b, dict) and b.get("text") for b in blocks)
        own = inner.get("content")
        out["content"] = blocks if texts or not own else [{"type": "text", "text": own}, *blocks]
    calls = [c.get("tool_call", c) if isinstance(c, dict) else c for c in inner.get("tool_calls") or ()]
    if inner.get("function_call_name"):
        calls.append({"name": inner["function_call_name"], "arguments": inner.get("function_call_arguments_json", "")})
    if calls:
        out["tool_calls"] = [_with_arguments(c) for c in calls if isinstance(c, dict)]
    if out["role"] is None:
        del out["role"]
        out.setdefault("content", None)
        out["parts"] = []
    return out


def _block(item: Any) -> Any:
    """A content block; Anthropic's tool_use has its call beside `message_content`."""
    if not isinstance(item, dict):
        return item
    content, call = item.get("message_content"), item.get("tool_call")
    if not isinstance(content, dict):
        return item if not isinstance(call, dict) else _with_arguments(call)
    return {**content, **_with_arguments(call)} if isinstance(call, dict) else content


def _with_arguments(call: dict[str, Any]) -> dict[str, Any]:
    """The instrumentations leave out an empty arguments attribute; content that is hidden hides the whole call."""
    function = call.get("function")
    if isinstance(function, dict) and function.get("name") and "arguments" not in function:
        return {**call, "function": {**function, "arguments": "{}"}}
    return call


def _tool(evidence: Evidence) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes("input.value")
    raw = a.get("input.value")
    name = _tool_name(evidence)
    call_id = _tool_call_id(a)
    tried = evidence.notes("input.value")
    call = tool_call_of_span(call_id, name, raw, tried)
    if call.arguments is None:
        stated = a.get("tool_call.function.arguments") or a.get("tool.parameters")
        value = value_from_text(stated) if isinstance(stated, str) else stated
        if isinstance(value, Mapping) and not {"properties", "$schema"} & set(value):
            call = tool_call_of_span(call_id, name, dict(value), tried)
        elif raw is not None:
            notes.gaps.extend(tried.gaps)
    notes.at = "output.value"
    out = a.get("output.value")
    content, is_error = content_of_result(out, notes) if out is not None else (None, None)
    return StepContent(
        tool_call=call,
        tool_result=ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None else None,
        gaps=tuple(notes.gaps),
    )


def _tool_call_id(a: Mapping[str, Any]) -> str | None:
    """A tool run's call id: its attribute, else the one inside the LangChain tool message that it gave back."""
    stated = text_or_none(a.get("tool_call.id")) or text_or_none(a.get("tool.id"))
    out = a.get("output.value")
    if stated or not isinstance(out, str) or "tool_call_id" not in out:
        return stated
    found = _RESULT_ID.search(out)
    return found.group(1) if found else None


_RESULT_ID = re.compile(r'"tool_call_id":\s*"([^"]+)"')


OPENINFERENCE = OpenInference()
