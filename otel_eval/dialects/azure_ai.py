"""Azure AI Agents (Foundry's threads and runs): the thread is the conversation, the user's words stand on the span that posts them.

A run that streams tells its calls, results and answers as events of its span, results before the calls that they belong to; a run that is
polled tells nothing of its own. What the newer SDK (azure-ai-projects 2) writes are the conventions of generation C.

**Source**: Azure/azure-sdk-for-python `azure-ai-agents` 1.1 `telemetry/_ai_agents_instrumentor.py` (captured).
"""

from collections.abc import Iterable
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import usage_from
from otel_eval.dialects.shapes.events import genai_events, messages_from_events
from otel_eval.dialects.shapes.parts import is_block
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, SpanEvent, StepContent, StepKind

_SYSTEM = "az.ai.agents"
_THREAD = "gen_ai.thread.id"
_POSTS = ("create_message", "create_thread")
_RUNS = ("process_thread_run", "start_thread_run")
_CARRIER = "gen_ai.event.content"


class AzureAI:
    """Foundry's agents by their own SDK."""

    info = DialectCard(
        name="azure_ai",
        version=1,
        sentence="Azure AI Agents: threads, runs and messages as span events with gen_ai.event.content.",
        source="Azure/azure-sdk-for-python azure-ai-agents 1.1 telemetry/_ai_agents_instrumentor.py",
        detects=(_THREAD, "gen_ai.thread.run.id"),
        content=(f"event:gen_ai.{{user,assistant,tool}}.message {_CARRIER}",),
        lacks=(
            "A polled run (create_and_process) tells no answers: they stand only where the application lists the thread's messages, "
            "which repeats all earlier ones; the agent's instructions stand only on the span that created it."
        ),
        switch="AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true",
        conversation_ids=(_THREAD,),
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        operation = a.get("gen_ai.operation.name")
        if a.get("gen_ai.system") != _SYSTEM or not isinstance(operation, str):
            return None
        if operation in _POSTS:
            return Reading(kind=StepKind.WRAPPER, content=lambda: StepContent(input=_messages(evidence, evidence.events)), alone=True)
        if operation not in _RUNS or not evidence.events:
            return Reading(kind=StepKind.WRAPPER, alone=True)  # polls, lists and what they repeat
        return Reading(
            kind=StepKind.INFERENCE,
            response_id=text_or_none(a.get("gen_ai.thread.run.id")),
            model=text_or_none(a.get("gen_ai.response.model")) or text_or_none(a.get("gen_ai.request.model")),
            usage=usage_from(a),
            content=lambda: _run(evidence),
            alone=True,
        )


AZURE_AI = AzureAI()


def _run(evidence: Evidence) -> StepContent:
    """What a run said, with the calls before their results; instructions and messages that the run was given."""
    told = [m for m in _messages(evidence, evidence.events) if m.role != "user"]
    given = tuple(m for m in _messages(evidence, evidence.events) if m.role == "user")
    system = "\n".join(m.text for m in told if m.role == "system" and m.text)
    results = {r.call_id: m for m in told if (r := m.tool_result) is not None and r.call_id}
    said: list[Message] = []
    for message in told:
        if message.role == "assistant":
            said.append(message)
            said += [results.pop(c.id) for c in message.tool_calls if c.id in results]
    return StepContent(system=system or None, input=given or None, output=(*said, *results.values()))


def _messages(evidence: Evidence, events: Iterable[SpanEvent]) -> tuple[Message, ...]:
    notes = evidence.notes(_CARRIER)
    plain = [_opened(e) for e in events]
    return messages_from_events(genai_events(plain), notes, evidence.ref)[0] or ()


def _opened(event: SpanEvent) -> SpanEvent:
    """A thread message's content is {"text": {"value": …}}, one member a type."""
    told = event.attributes.get(_CARRIER)
    body = value_from_text(told) if isinstance(told, str) else None
    content: Any = body.get("content") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(content, dict) or is_block(content):
        return event
    text = content.get("text")
    value = text.get("value") if isinstance(text, dict) else None
    return SpanEvent(name=event.name, time_ns=event.time_ns, attributes={**event.attributes, **body, "content": value, _CARRIER: None})
