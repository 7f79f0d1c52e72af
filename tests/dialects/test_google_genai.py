"""Google's Gen AI SDK. **Source**: opentelemetry-instrumentation-google-genai 0.4b0, as captured."""

from typing import Any

from otel_eval.model import StepKind
from tests.fakes.spans import span, step_of

TOOL = {"gen_ai.system": "gemini", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "code.function.name": "weather"}


def test_a_local_function() -> None:
    """Parameters by name with their types; the value that the function returned."""
    given = {
        "code.function.parameters.city.type": "str",
        "code.function.parameters.city.value": "[Lisbon]",
        "code.function.parameters.days.type": "int",
        "code.function.parameters.days.value": 2,
        "code.function.parameters.place.type": "dict",
        "code.function.parameters.place.value": '{"lat": 38.7}',
        "code.function.return.type": "str",
        "code.function.return.value": "sunny",
    }
    step: Any = step_of(span(1, {**TOOL, **given}, name="execute_tool weather"))
    call, result = step.content.tool_call, step.content.tool_result
    assert (step.kind, call.name, call.arguments) == (StepKind.TOOL, "weather", {"city": "[Lisbon]", "days": 2, "place": {"lat": 38.7}})
    assert result.content == "sunny"


def test_a_function_without_parameters() -> None:
    """It was called with nothing, which is not unknown."""
    call = step_of(span(1, {**TOOL, "code.function.return.value": "sunny"})).content.tool_call
    assert call is not None
    assert call.arguments == {}


def test_content_off() -> None:
    """Only types are told: nothing is known of the values."""
    content = step_of(span(1, {**TOOL, "code.function.parameters.city.type": "str", "code.function.return.type": "str"})).content
    assert content.tool_call is not None
    assert (content.tool_call.arguments, content.tool_result) == (None, None)


def test_other_functions_are_no_tools() -> None:
    """The names are the conventions' for any code."""
    assert step_of(span(1, {"code.function.parameters.city.value": "Lisbon"})).kind is StepKind.OTHER
