"""Which switch is named for which instrumentation."""

import pytest

from otel_eval.dialects import BUILTIN
from otel_eval.service.switches import DIALECT_OF_SCOPE, switch_of


@pytest.mark.parametrize(
    ("scope", "dialects", "instrumentation"),
    [
        ("opentelemetry.instrumentation.openai_v2", {"otel_genai"}, "otel_genai"),
        ("opentelemetry.util.genai.handler", {"otel_genai"}, "otel_genai"),
        ("opentelemetry.instrumentation.openai.v1", {"otel_genai"}, "openllmetry"),
        ("opentelemetry.instrumentation.langchain", {"openllmetry"}, "opentelemetry.instrumentation.langchain"),
        ("pydantic-ai", {"otel_genai"}, "pydantic_ai"),
        ("gcp.vertex.agent", {"otel_genai"}, "adk"),
        ("opentelemetry.instrumentation.openai_v2", {"langfuse", "otel_genai"}, "otel_genai"),
        ("travel_desk.app", {"otel_genai", "openinference"}, "openinference"),
        ("travel_desk.app", {"otel_genai", "openllmetry"}, "openllmetry"),
        ("travel_desk.app", {"generic", "openinference"}, "openinference"),
        ("agent_framework", {"otel_genai"}, "agent_framework"),
        ("semantic_kernel.functions.kernel_function", {"otel_genai"}, "semantic_kernel.functions.kernel_function"),
        ("Experimental.Microsoft.Extensions.AI", {"otel_genai"}, "Experimental.Microsoft.Extensions.AI"),
    ],
)
def test_the_nearest_instrumentation_wins(scope: str, dialects: set[str], instrumentation: str) -> None:
    """A package with a switch of its own, then the most specific dialect with one; a scope's name decides only this, never the reading."""
    switch = switch_of(scope, dialects, BUILTIN)
    assert switch is not None
    assert switch.instrumentation == instrumentation
    assert switch.text


def test_unknown_instrumentations_have_no_switch() -> None:
    """Nothing is guessed for spans that no dialect with a switch speaks for."""
    assert switch_of("acme.tracer", {"generic"}, BUILTIN) is None
    assert switch_of("", set(), BUILTIN) is None


def test_scopes_name_dialects_that_are_there() -> None:
    """Each dialect that a scope stands for is built in and has a switch."""
    with_switch = {d.info.name for d in BUILTIN if d.info.switch}
    assert set(DIALECT_OF_SCOPE.values()) <= with_switch
