"""Fields that several dialects read alike: tokens, tool definitions, what a tool span was called with."""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.base import Evidence
from otel_eval.dialects.shapes.calls import arguments_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import ToolCall, Usage
from otel_eval.model.freeze import constructor_of

_INPUT_TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "llm.usage.prompt_tokens",
    "ai.usage.promptTokens",
    "ai.usage.inputTokens",
)
_OUTPUT_TOKENS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "llm.usage.completion_tokens",
    "ai.usage.completionTokens",
    "ai.usage.outputTokens",
)
# What callbacks and decorators put around a tool's arguments. **Source**: LangChain callbacks (`input_str`, `inputs`), Traceloop and
# OpenInference
# decorators (`args`, `kwargs`), smolagents (`sanitize_inputs_outputs`), LlamaIndex (`kwargs`), CrewAI (`tool_string`).
_AROUND = frozenset(
    {
        "args",
        "kwargs",
        "tags",
        "metadata",
        "inputs",
        "input_str",
        "sanitize_inputs_outputs",
        "self",
        "run_id",
        "parent_run_id",
        "name",
        "callbacks",
    }
)


def usage_from(attributes: Mapping[str, Any]) -> Usage | None:
    """Tokens by any of their names; None where none is there."""
    given, out = _first_of(attributes, _INPUT_TOKENS), _first_of(attributes, _OUTPUT_TOKENS)
    if given is None and out is None:
        return None
    return _usage(count_or_none(given), count_or_none(out))


_usage = constructor_of(Usage)
_call = constructor_of(ToolCall)


def _first_of(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        if name in attributes:
            return attributes[name]
    return None


def count_or_none(value: Any) -> int | None:
    """A count as number or digits; None for anything else."""
    if type(value) is int:
        return value if value >= 0 else None
    if isinstance(value, float) and 0 <= value < _LARGEST:
        return int(value)
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= _DIGITS else None


_LARGEST, _DIGITS = 2.0**63, 18  # what OTLP's integers hold; longer is no count


def tool_definitions_of(evidence: Evidence, value: Any, notes: Notes) -> tuple[Mapping[str, Any], ...]:
    """Tool definitions as flat objects {name, description, parameters}; nested `function` objects opened; nameless ones left out."""
    if isinstance(value, str):
        value = evidence.memo.value(value, notes)
    if isinstance(value, Mapping):
        value = list(value.values()) if all(isinstance(v, Mapping) for v in value.values()) and "name" not in value else [value]
    out: list[Mapping[str, Any]] = []
    for item in value if isinstance(value, (list, tuple)) else ():
        if isinstance(item, str):
            item = evidence.memo.value(item, notes) if item[:1] == "{" else {"name": item}
        if not isinstance(item, Mapping):
            continue
        if isinstance(item.get("functionDeclarations") or item.get("function_declarations"), list):
            out.extend(tool_definitions_of(evidence, item.get("functionDeclarations") or item.get("function_declarations"), notes))
            continue
        inner = item.get("function") or item.get("toolSpec")
        flat = dict(inner) if isinstance(inner, Mapping) else dict(item)
        if isinstance(flat.get("name"), str):
            parameters = flat.get("parameters") or flat.get("input_schema") or flat.get("inputSchema")
            if isinstance(parameters, str):
                parameters = evidence.memo.value(parameters, notes)
            out.append({"name": flat["name"], "description": flat.get("description"), "parameters": parameters})
    return tuple(out)


def tool_call_of_span(call_id: str | None, name: str | None, raw: Any, notes: Notes) -> ToolCall:
    """The call that a tool span recorded; what callbacks and decorators put around the arguments is taken off."""
    if raw is None:
        return ToolCall(id=call_id, name=name)
    arguments, text = arguments_from_value(_without_wrapper(raw), notes)
    return _call(call_id, name, arguments, text)


def _without_wrapper(raw: Any) -> Any:
    value = value_from_text(raw) if isinstance(raw, str) and raw[:1] in '{[" ' else raw
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]  # a decorator's list of positional arguments
    if not isinstance(value, Mapping) or not value or not set(value) <= _AROUND:
        return raw if not isinstance(value, Mapping) else value
    for key in ("inputs", "kwargs", "input_str"):
        inner = value.get(key)
        if isinstance(inner, str):
            inner = value_from_text(inner)
        if isinstance(inner, Mapping) and inner:
            return _without_wrapper(inner) if set(inner) <= _AROUND else inner
    args = value.get("args")
    if isinstance(args, (list, tuple)) and len(args) == 1 and isinstance(args[0], (str, Mapping)):
        return args[0]
    if "input_str" in value:
        return value["input_str"]
    return value if "args" not in value and "kwargs" not in value else (value.get("kwargs") or {} if not args else value)
