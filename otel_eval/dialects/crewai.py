"""CrewAI's own telemetry: `crew_key`, `crew_tasks`, `crew_output`, `task_output`, and OpenLLMetry's `crewai.*` beside its conventions.

Its spans have no parent and, without `share_crew`, no words; they reach a receiver only where the provider they are made with exports to
it. No model call is among them: a crew's run is what it was asked and what it gave back.

**Source**: crewAIInc/crewAI `telemetry/telemetry.py`, 0.30 to 1.15; traceloop/openllmetry `instrumentation/crewai` 0.5x.
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import Message, StepContent, StepKind, Text

_SPANS: Mapping[str, StepKind] = {
    "Crew Execution": StepKind.WORKFLOW,
    "Task Execution": StepKind.AGENT,
    "Tool Usage": StepKind.TOOL,
    "Tool Repeated Usage": StepKind.TOOL,
    "Tool Usage Error": StepKind.TOOL,
    "Flow Execution": StepKind.WORKFLOW,
}


class CrewAI:
    """Crews of agents."""

    info = DialectCard(
        name="crewai",
        version=1,
        sentence="CrewAI's own telemetry: Crew Execution, Task Execution and Tool Usage spans with crew_inputs, crew_output, task_output.",
        source="crewAIInc/crewAI telemetry/telemetry.py 0.30–1.15",
        detects=("crewai_version", "crewai.crew.", "crewai.task.", "crewai.agent."),
        content=("crew_inputs", "crew_tasks", "crew_output", "crew_tasks_output", "formatted_description", "task_output"),
        lacks="No model calls, tool arguments or tool results; spans have no parent.",
        switch="Crew(share_crew=True); better: an instrumentation (OpenInference or OpenLLMetry)",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        kind = _SPANS.get(evidence.span.name) if "crewai_version" in a else None
        if kind is StepKind.TOOL:
            if evidence.span.parent_span_id is None:
                return Reading(kind=StepKind.OTHER)  # a trace of its own: nothing to join it to
            return Reading(kind=kind, tool_name=text_or_none(a.get("tool_name")), is_error=True if "Error" in evidence.span.name else None)
        if kind is None:
            return Reading(content=lambda: _instrumented(evidence)) if _tells(a) else None
        name = text_or_none(a.get("agent_role")) or text_or_none(a.get("task_agent_role")) if kind is StepKind.AGENT else None
        return Reading(kind=kind, agent_name=name, content=lambda: _own(evidence, kind))


CREWAI = CrewAI()


def _tells(a: Mapping[str, Any]) -> bool:
    return any(k in a for k in ("crewai.crew.result", "crewai.task.result", "crewai.agent.result"))


def _said(evidence: Evidence, given: str | None, answer: str | None) -> StepContent:
    ref = evidence.ref
    return StepContent(
        input=(Message(role="user", parts=(Text(text=given),), source=ref),) if given else None,
        output=(Message(role="assistant", parts=(Text(text=answer),), source=ref),) if answer else None,
    )


def _instrumented(evidence: Evidence) -> StepContent:
    """OpenLLMetry: what a crew, task or agent gave back; of a task also what it was asked."""
    a = evidence.attributes
    answer = next((t for k in ("crew", "task", "agent") if (t := text_or_none(a.get(f"crewai.{k}.result")))), None)
    return _said(evidence, text_or_none(a.get("crewai.task.description")), answer)


def _own(evidence: Evidence, kind: StepKind) -> StepContent:
    a = evidence.attributes
    if kind is StepKind.AGENT:
        return _said(evidence, text_or_none(a.get("formatted_description")), text_or_none(a.get("task_output")))
    answer = text_or_none(a.get("crew_output")) or _last(a.get("crew_tasks_output"), "output")
    notes = evidence.notes("crew_inputs")
    asked = evidence.messages(a.get("crew_inputs"), "user", notes) if a.get("crew_inputs") not in (None, "{}") else None
    words = next((m.text for m in asked or () if m.text), None)
    return _said(evidence, words or _all(a.get("crew_tasks"), "description"), answer)


def _members(value: Any, name: str) -> list[str]:
    listed = value_from_text(value) if isinstance(value, str) else value
    return [t for i in listed if isinstance(i, Mapping) and (t := text_or_none(i.get(name)))] if isinstance(listed, list) else []


def _last(value: Any, name: str) -> str | None:
    return next(reversed(_members(value, name)), None)


def _all(value: Any, name: str) -> str | None:
    return "\n".join(_members(value, name)) or None
