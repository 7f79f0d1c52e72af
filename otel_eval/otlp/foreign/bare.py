"""An object that is the attributes of one span and nothing else, as test fixtures of instrumentations often are."""

from collections.abc import Mapping
from typing import Any

from otel_eval.model import Span
from otel_eval.otlp.foreign.form import Found
from otel_eval.otlp.foreign.values import content_id

_FAMILIES = ("gen_ai.", "llm.", "openinference.", "ai.", "traceloop.", "gcp.vertex.agent.", "langfuse.", "input.value", "output.value")


def speaks(data: Mapping[str, Any]) -> bool:
    """Most keys are dotted names, one at least of a family of GenAI attributes, and no value is an object."""
    dotted = sum("." in key for key in data)
    return 2 * dotted > len(data) and any(key.startswith(_FAMILIES) for key in data) and not any(isinstance(v, dict) for v in data.values())


def read(data: Mapping[str, Any], found: Found) -> None:
    """Add the span. It has no name, no times, and ids made of its content."""
    made = content_id(data, 16, found.tally)
    found.spans.append(Span(trace_id=made, span_id=made[:16], attributes=dict(data)))
