"""OpenTelemetry's instrumentation of Google's Gen AI SDK, to 0.4b: what a local function was called with stands in `code.function.*`.

All else is the conventions, as are the tools of later releases. **Source**: opentelemetry-instrumentation-google-genai 0.4b0
`tool_call_wrapper.py` (captured).
"""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import DialectCard, Evidence, Reading, speaks_by_card
from otel_eval.dialects.fields import tool_call_of_span
from otel_eval.dialects.shapes.messages import content_of_result
from otel_eval.dialects.shapes.text import text_or_none, value_from_text
from otel_eval.model import StepContent, StepKind, ToolResult

_PARAMETER, _VALUE, _TYPE = "code.function.parameters.", ".value", ".type"
_RETURN = "code.function.return.value"


class GoogleGenAI:
    """Functions that the SDK calls by itself."""

    info = DialectCard(
        name="google_genai",
        version=1,
        sentence="Functions called by Google's Gen AI SDK: code.function.parameters.NAME.value, code.function.return.value.",
        source="opentelemetry-instrumentation-google-genai 0.4b0 tool_call_wrapper.py",
        detects=(_PARAMETER, _RETURN),
        content=(f"{_PARAMETER}NAME{_VALUE}", _RETURN),
        lacks="No call ids; lists of one type stay lists, all other objects are JSON text.",
        switch="OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    )

    def speaks(self, names: frozenset[str]) -> bool:
        return speaks_by_card(self.info, names)

    def read(self, evidence: Evidence) -> Reading | None:
        a = evidence.attributes
        if a.get("gen_ai.operation.name") != "execute_tool":
            return None
        return Reading(kind=StepKind.TOOL, content=lambda: _run(evidence, text_or_none(a.get("gen_ai.tool.name"))))


GOOGLE_GENAI = GoogleGenAI()


def _run(evidence: Evidence, name: str | None) -> StepContent:
    a = evidence.attributes
    notes = evidence.notes(_PARAMETER)
    given = _parameters(a)
    call = tool_call_of_span(None, name, given, notes) if given or _RETURN in a else None
    notes.at = _RETURN
    content, is_error = content_of_result(a[_RETURN], notes) if _RETURN in a else (None, None)
    result = ToolResult(name=name, content=content, is_error=is_error) if content is not None else None
    return StepContent(tool_call=call, tool_result=result, gaps=tuple(notes.gaps))


def _parameters(a: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters by name; what is no text by its type stands as JSON text."""
    given: dict[str, Any] = {}
    for key, value in a.items():
        if key.startswith(_PARAMETER) and key.endswith(_VALUE):
            name = key[len(_PARAMETER) : -len(_VALUE)]
            is_json = isinstance(value, str) and a.get(f"{_PARAMETER}{name}{_TYPE}") != "str"
            given[name] = value_from_text(value) if is_json else value
    return given
