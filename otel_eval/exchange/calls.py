"""Tool calls in: `{"id", "name", "arguments"}` as object or JSON text, beside or inside `function`, or with `args`."""

import json
from typing import Any

from otel_eval.exchange.json_text import text_from_value
from otel_eval.exchange.record import Record
from otel_eval.model import Gap, GapReason, ToolCall


def call_from_record(told: Record, gaps: list[Gap]) -> ToolCall:
    """A tool call; where its arguments are no object they stay text and a gap says so."""
    inner = told.record("function") or told.record("custom") or told
    name = next((n for n in ("arguments", "args", "input") if n in inner.members), "arguments")
    arguments, raw = arguments_from_value(inner.members.get(name))
    raw = told.text("raw_arguments") or raw
    if arguments is None and raw is not None:
        gaps.append(Gap(reason=GapReason.ARGUMENTS_UNREADABLE, where=inner.where(name)))
    return ToolCall(id=told.text("id"), name=inner.text("name"), arguments=arguments, raw=raw)


def arguments_from_value(value: Any) -> tuple[dict[str, Any] | None, str | None]:
    """(arguments, raw): an object, also as JSON text; {} for an empty text (a call without arguments); null is unknown."""
    if value is None:
        return None, None
    if isinstance(value, dict):
        return value, None
    if not isinstance(value, str):
        return None, text_from_value(value)
    if not value.strip():
        return {}, None
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return None, value
    return (decoded, None) if isinstance(decoded, dict) else (None, value)
