"""Claude Code and the Claude Agent SDK: `claude_code.*` spans and session events.

Spans (`span.type` interaction, llm_request, tool, tool.execution, …) hold the prompt, with the detailed beta also answers, arguments and
results. The events `user_prompt`, `api_request`, `assistant_response`, `tool_result`, `api_request_body`, `api_response_body` hold the
rest: with tracing on they carry the ids of the interaction's span, without it only `session.id` and `prompt.id` (`session_logs` gives
them spans).

**Source**: @anthropic-ai/claude-code 2.1.197 (captured), code.claude.com monitoring reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import count_or_none
from otel_eval.dialects.session_logs import SessionEvent, duration_ns, session_events
from otel_eval.dialects.shapes.calls import arguments_from_value
from otel_eval.dialects.shapes.messages import content_of_result, messages_from_value
from otel_eval.dialects.shapes.notes import Notes, is_redacted
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import GapReason, Message, Part, StepContent, StepKind, Text, ToolCall, ToolResult, Usage

_SPAN_KINDS: Mapping[str, StepKind] = {
    "interaction": StepKind.AGENT,
    "llm_request": StepKind.INFERENCE,
    "tool": StepKind.TOOL,
    "tool.execution": StepKind.TOOL,  # below the tool's own span: says whether it failed
}
_DETAILED = ("response.model_output", "response.has_tool_call", "user_system_prompt")
_EVENT_KINDS: Mapping[str, StepKind] = {
    "user_prompt": StepKind.AGENT,
    "tool_result": StepKind.TOOL,
    "tool_decision": StepKind.TOOL,
    "api_request": StepKind.INFERENCE,
    "api_error": StepKind.INFERENCE,
}


class ClaudeCode:
    """Anthropic's coding agent, on the command line and as SDK."""

    info = DialectCard(
        name="claude_code",
        version=1,
        sentence="Claude Code and Claude Agent SDK: claude_code.* spans, and session events joined by session.id and prompt.id.",
        source="@anthropic-ai/claude-code 2.1.197, code.claude.com/docs monitoring-usage",
        detects=("event:claude_code.", "event.sequence", "prompt.id", "span.type"),
        content=(
            "user_prompt",
            "response.model_output",
            "tool_input",
            "new_context",
            "event:claude_code.user_prompt",
            "event:claude_code.assistant_response",
            "event:claude_code.tool_result",
            "event:claude_code.api_{request,response}_body",
        ),
        lacks="Tool outputs stand only in api_request_body events or with ENABLE_BETA_TRACING_DETAILED; the system prompt likewise.",
        switch=(
            "OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_ASSISTANT_RESPONSES=1 OTEL_LOG_TOOL_DETAILS=1 OTEL_LOG_TOOL_CONTENT=1, "
            "for tool outputs OTEL_LOG_RAW_API_BODIES=1"
        ),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        if evidence.span.name.startswith("claude_code.") and "span.type" in a:
            return _span(evidence, a)
        events = [e for e in session_events(evidence) if e.name.startswith("claude_code.")]
        return _events(evidence, events) if events else None


CLAUDE_CODE = ClaudeCode()


def _span(evidence: Evidence, a: Mapping[str, Any]) -> Reading:
    kind = _SPAN_KINDS.get(str(a["span.type"]))
    if kind is None:
        return Reading(kind=StepKind.WRAPPER, alone=True)
    reading = Reading(kind=kind, alone=True, content=lambda: _CONTENT[kind](evidence))
    if kind is StepKind.INFERENCE:
        if not any(k in a for k in _DETAILED):
            reading.content = None  # its words stand with the interaction
        reading.response_id = text_or_none(a.get("gen_ai.response.id")) or text_or_none(a.get("request_id"))
        reading.model = text_or_none(a.get("model"))
        reading.usage = _usage(a)
        reading.is_error = True if a.get("success") is False else None
    elif kind is StepKind.TOOL:
        reading.tool_name = text_or_none(a.get("tool_name"))
        reading.tool_call_id = text_or_none(a.get("tool_use_id"))
        reading.is_error = True if a.get("success") is False else None
    return reading


def _events(evidence: Evidence, events: Sequence[SessionEvent]) -> Reading:
    """A span of session events alone: a turn, a model call or a tool run."""
    kinds = [_EVENT_KINDS[e.kind] for e in events if e.kind in _EVENT_KINDS]
    if StepKind.AGENT in kinds or len(set(kinds)) > 1 or not kinds or evidence.span.name.endswith(".turn"):
        return Reading(kind=StepKind.AGENT, content=lambda: _interaction(evidence), alone=True)
    kind, first = kinds[0], events[0].attributes
    if kind is StepKind.INFERENCE:
        return Reading(
            kind=kind if is_main(events[0]) else StepKind.WRAPPER,
            model=text_or_none(first.get("model")),
            response_id=text_or_none(first.get("request_id")),
            usage=_usage(first),
            is_error=True if events[0].kind == "api_error" else None,
            alone=True,
        )
    return Reading(
        kind=kind,
        tool_name=_tool_name(first),
        tool_call_id=text_or_none(first.get("tool_use_id")),
        is_error=True if _failed(first) else None,
        content=lambda: _tool_event(evidence, events),
        alone=True,
    )


def is_main(event: SessionEvent) -> bool:
    """Whether a model call is the conversation's own: not a sub-agent's, a title's or a summary's."""
    source = text_or_none(event.attributes.get("query_source"))
    return source is None or source in ("sdk", "main") or source.startswith("repl_main_thread")


def _usage(a: Mapping[str, Any]) -> Usage | None:
    given, made = count_or_none(a.get("input_tokens")), count_or_none(a.get("output_tokens"))
    return None if given is None and made is None else Usage(input_tokens=given, output_tokens=made)


def _llm_request(evidence: Evidence) -> StepContent:
    """What the detailed beta records; that a call of a tool was made shows as an answer without words, which the tool's span fills."""
    a = evidence.attributes
    text = text_or_none(a.get("response.model_output"))
    if text is None and a.get("response.has_tool_call") is not True:
        return StepContent(system=text_or_none(a.get("user_system_prompt")))
    parts = (Text(text=text),) if text else ()
    return StepContent(
        system=text_or_none(a.get("user_system_prompt")), output=(Message(role="assistant", parts=parts, source=evidence.ref),)
    )


def _tool_span(evidence: Evidence) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes("tool_input")
    call_id, name = text_or_none(a.get("tool_use_id")), text_or_none(a.get("tool_name"))
    arguments, raw = arguments_from_value(_headed(a.get("tool_input")), notes) if a.get("tool_input") is not None else (None, None)
    content, is_error = _output(evidence, notes)
    if a.get("success") is False:
        content, is_error = content if content is not None else text_or_none(a.get("error")), True
    return StepContent(
        tool_call=ToolCall(id=call_id, name=name, arguments=arguments, raw=raw),
        tool_result=ToolResult(call_id=call_id, name=name, content=content, is_error=is_error) if content is not None or is_error else None,
        gaps=tuple(notes.gaps),
    )


def _headed(value: Any) -> Any:
    """The value below a heading such as `[TOOL INPUT: name]`."""
    if isinstance(value, str) and value.startswith("["):
        head, _, rest = value.partition("]\n")
        return rest if rest and "\n" not in head else value
    return value


def _output(evidence: Evidence, notes: Notes) -> tuple[str | None, bool | None]:
    """A tool's output: `new_context` of the detailed beta, else the span event `tool.output`."""
    told = _headed(evidence.attributes.get("new_context"))
    if told is not None:
        notes.at = "new_context"
        return content_of_result(value_from_text(told, notes) if isinstance(told, str) else told, notes)
    for event in evidence.events:
        if event.name == "tool.output":
            return next((t for k in ("output", "content", "diff") if (t := text_or_none(event.attributes.get(k))) is not None), None), None
    return None, None


def _tool_event(evidence: Evidence, events: Sequence[SessionEvent]) -> StepContent:
    notes = evidence.notes("event:claude_code.tool_result")
    a = next((e.attributes for e in events if e.kind == "tool_result"), None)
    if a is None:
        return StepContent()
    return StepContent(tool_call=_call(a, notes), tool_result=_result(a, {}), gaps=tuple(notes.gaps))


def _tool_name(a: Mapping[str, Any]) -> str | None:
    """The tool's name; of an MCP tool, which is called `mcp_tool`, as the model knows it."""
    name = text_or_none(a.get("tool_name"))
    stated = a.get("tool_parameters")
    parameters = value_from_text(stated) if name == "mcp_tool" and isinstance(stated, str) else None
    if isinstance(parameters, Mapping) and parameters.get("mcp_tool_name"):
        return f"mcp__{parameters.get('mcp_server_name')}__{parameters['mcp_tool_name']}"
    return name


def _call(a: Mapping[str, Any], notes: Notes) -> ToolCall:
    arguments, raw = arguments_from_value(a["tool_input"], notes) if a.get("tool_input") is not None else (None, None)
    return ToolCall(id=text_or_none(a.get("tool_use_id")), name=_tool_name(a), arguments=arguments, raw=raw)


def _failed(a: Mapping[str, Any]) -> bool:
    return str(a.get("success", "")).lower() == "false"


def _result(a: Mapping[str, Any], told: Mapping[str, ToolResult]) -> ToolResult | None:
    """A tool's result as the next request shows it, else what the event says of a failure."""
    call_id = text_or_none(a.get("tool_use_id"))
    known = told.get(call_id or "")
    if known is not None:
        return ToolResult(call_id=call_id, name=_tool_name(a), content=known.content, is_error=_failed(a) or known.is_error)
    if not _failed(a):
        return None
    return ToolResult(call_id=call_id, name=_tool_name(a), content=text_or_none(a.get("error")), is_error=True)


@dataclass(slots=True, eq=False)
class _Answer:
    """One model call of a turn, with what it said and the tools it had run."""

    start_ns: int
    texts: list[str] = field(default_factory=list)
    body: Message | None = None
    tools: list[Mapping[str, Any]] = field(default_factory=list)


def _interaction(evidence: Evidence) -> StepContent:
    """The prompt, and all that the turn's events tell of what followed."""
    notes = evidence.notes("user_prompt")
    events = [e for e in session_events(evidence) if e.name.startswith("claude_code.")]
    stated = [evidence.attributes.get("user_prompt"), *(e.attributes.get("prompt") for e in events if e.kind == "user_prompt")]
    prompt = next((t for t in stated if isinstance(t, str) and t), None)
    if prompt is not None and is_redacted(prompt):
        notes.add(GapReason.REDACTED)
        prompt = None
    return StepContent(
        system=_system(events),
        input=(Message(role="user", parts=(Text(text=prompt),), source=evidence.ref),) if prompt else None,
        output=_exchange(evidence, events, notes) or None,
        gaps=tuple(notes.gaps),
    )


def _system(events: Sequence[SessionEvent]) -> str | None:
    """The system prompt of the first request whose body was recorded, without the lines that are the client's own."""
    for event in events:
        if event.kind == "api_request_body" and is_main(event):
            body = value_from_text(str(event.attributes.get("body", "")))
            blocks = body.get("system") if isinstance(body, Mapping) else None
            listed = [b.get("text") for b in blocks if isinstance(b, Mapping)] if isinstance(blocks, list) else [blocks]
            texts = [t for t in listed if isinstance(t, str) and t and not t.startswith("x-anthropic-")]
            if texts:
                return "\n".join(texts)
    return None


def _exchange(evidence: Evidence, events: Sequence[SessionEvent], notes: Notes) -> tuple[Message, ...]:
    """Answers, calls and results of a turn, in order."""
    answers = _answers(evidence, events, notes)
    told = _results_of_bodies(events)
    out: list[Message] = []
    for answer in answers:
        message = _message_of(answer, evidence, notes)
        if message is None:
            continue
        out.append(message)
        results = {r.call_id: r for a in answer.tools if (r := _result(a, told)) is not None}
        for call in message.tool_calls:
            result = results.get(call.id) or told.get(call.id or "")
            if result is not None:
                out.append(Message(role="tool", parts=(result,), source=evidence.ref))
    return tuple(out)


def _answers(evidence: Evidence, events: Sequence[SessionEvent], notes: Notes) -> list[_Answer]:
    """A model call begins its duration before its event; texts follow its event, tools start after its beginning."""
    answers = [_Answer(start_ns=e.time_ns - duration_ns(e.attributes)) for e in events if e.kind == "api_request" and is_main(e)]
    if not answers:
        answers = [_Answer(start_ns=0)]
    answers.sort(key=lambda a: a.start_ns)
    for event in events:
        started = event.time_ns - duration_ns(event.attributes) if event.kind == "tool_result" else event.time_ns
        owner = next((a for a in reversed(answers) if a.start_ns <= started), answers[0])
        if event.kind == "tool_result":
            owner.tools.append(event.attributes)
        elif event.kind == "assistant_response" and is_main(event):
            owner.texts.extend(_words(event.attributes.get("response"), notes))
        elif event.kind == "api_response_body" and is_main(event):
            found = messages_from_value(event.attributes.get("body"), "assistant", notes, evidence.ref)
            owner.body = next((m for m in found if m.role == "assistant"), owner.body)
    return answers


def _words(value: Any, notes: Notes) -> list[str]:
    if not isinstance(value, str) or not value:
        return []
    if is_redacted(value):
        notes.add(GapReason.REDACTED, "event:claude_code.assistant_response")
        return []
    return [value]


def _message_of(answer: _Answer, evidence: Evidence, notes: Notes) -> Message | None:
    if answer.body is not None:
        return answer.body
    parts: list[Part] = [Text(text=t) for t in answer.texts]
    parts += [_call(a, notes) for a in answer.tools]
    return Message(role="assistant", parts=tuple(parts), source=evidence.ref) if parts else None


def _results_of_bodies(events: Sequence[SessionEvent]) -> dict[str, ToolResult]:
    """Tool results by call id, from the requests that carried them back to the model."""
    out: dict[str, ToolResult] = {}
    for event in events:
        if event.kind == "api_request_body":
            body = value_from_text(str(event.attributes.get("body", "")))
            given = body.get("messages") if isinstance(body, Mapping) else None
            for message in messages_from_value(given, "user", Notes()) if isinstance(given, list) else ():
                result = message.tool_result
                if result is not None and result.call_id:
                    out[result.call_id] = result
    return out


_CONTENT = {StepKind.AGENT: _interaction, StepKind.INFERENCE: _llm_request, StepKind.TOOL: _tool_span}
