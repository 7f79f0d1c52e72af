"""CrewAI's own telemetry. **Source**: crewAIInc/crewAI `telemetry/telemetry.py`, 1.15."""

from typing import Any

from otel_eval.model import StepKind
from tests.fakes.spans import only, span, step_of, talk, to_json

KNOWN = {"crewai_version": "1.15.0", "crew_key": "k", "crew_id": "i"}


def crew(**attributes: Any) -> Any:
    return span(1, {**KNOWN, **attributes}, name="Crew Execution")


def test_a_shared_crew_tells_inputs_and_output() -> None:
    """`crew_inputs` is what the crew was asked, `crew_output` what it gave back."""
    assert talk(only(crew(crew_inputs='{"question": "Weather?"}', crew_output="Sun."))) == ["user: Weather?", "assistant: Sun."]


def test_without_inputs_the_tasks_are_the_question() -> None:
    """Descriptions of the tasks stand in for inputs, the last task's output for the crew's."""
    tasks = [{"id": "1", "description": "Look."}, {"id": "2", "description": "Tell."}]
    outputs = [{"id": "1", "output": "seen"}, {"id": "2", "output": "Sun."}]
    found = only(crew(crew_inputs="{}", crew_tasks=to_json(tasks), crew_tasks_output=to_json(outputs)))
    assert talk(found) == ["user: Look.\nTell.", "assistant: Sun."]


def test_a_task_is_an_agents_run() -> None:
    """`Task Execution` with formatted description and output."""
    told = {"task_key": "t", "agent_role": "Clerk", "formatted_description": "Weather?", "task_output": "Sun."}
    step = step_of(span(1, {**KNOWN, **told}, name="Task Execution"))
    assert (step.kind, step.agent_name) == (StepKind.AGENT, "Clerk")
    assert talk(only(span(1, {**KNOWN, **told}, name="Task Execution"))) == ["user: Weather?", "assistant: Sun."]


def test_tools_count_only_inside_a_trace() -> None:
    """`Tool Usage` has a name and no words; alone in its trace it belongs to nothing."""
    told = {**KNOWN, "tool_name": "weather", "attempts": 1}
    assert step_of(span(2, told, name="Tool Usage", parent=1)).kind is StepKind.TOOL
    assert step_of(span(2, told, name="Tool Usage Error", parent=1)).is_error
    assert step_of(span(2, told, name="Tool Usage")).kind is StepKind.OTHER


def test_openllmetry_tells_results() -> None:
    """`crewai.task.description` and `crewai.task.result` fill a task's span."""
    told = {"traceloop.span.kind": "task", "crewai.task.description": "Weather?", "crewai.task.result": "Sun."}
    content = step_of(span(1, told, name="Weather.task")).content
    assert [m.text for m in (*(content.input or ()), *(content.output or ()))] == ["Weather?", "Sun."]
