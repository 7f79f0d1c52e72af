"""Whatever an attribute may hold: values of every type, nearly right messages, and the names under which dialects look.

Most values are real shapes with something wrong in them (a member of another type, renamed, missing, doubled), written out in some way
(as it is, as JSON text, doubly encoded, cut, as Python text). They are made once, from a fixed seed; hypothesis chooses among them.
"""

import ast
import json
import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import otel_eval.dialects as dialects
from otel_eval.dialects import BUILTIN, Dialect
from otel_eval.model import LogRecord, Span, SpanEvent
from tests.fakes.shapes import OPENAI, OPENAI_CALL, SHAPES
from tests.fakes.spans import DETAILS, log, span

_POOL_SIZE = 4000
_NAME = re.compile(r"[a-z][\w.:-]{2,80}")
_INDEXED = (
    "llm.input_messages",
    "llm.output_messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.prompts",
    "llm.completions",
    "llm.tools",
)
_BELOW = (
    ".0.message.content",
    ".0.message.role",
    ".1.message.tool_calls.0.tool_call.function.name",
    ".0.role",
    ".0.content",
    ".3",
    ".x",
    ".²",
)
_EVENTS = ("system.message", "user.message", "assistant.message", "tool.message", "choice", "content.prompt", "content.completion")

SCALARS: list[Any] = [
    *(None, True, False, 0, 7, -1, 10**30, 0.5, float("nan"), float("inf"), b"", b"\xff\x00"),
    *("", " ", "Hi", "null", "None", "42", "true", "²", "\ud800", "\x00", "🌤", "é" * 300, "user", "tool", "narrator", "text", "tool_call"),
    *("tool_result", "reasoning", "blob", "{", "[", "[]", "{}", '{"a": 1}', '[{"role": "user"', "{'a': (1,)}", "__REDACTED__", "<elided>"),
    *(
        "For context:",
        "Calling tools:\n[{'id': 1}]",
        "Observation:\n4",
        "New task:\nx",
        "[[ ## x ## ]]\ny",
        "[User(name='x')]",
        "Role(x=<E.A: 'a'>)",
    ),
    *("LLM", "TOOL", '"CHAT_MODEL"', "chat", "execute_tool", "constructor", "data:image/png;base64,aGk="),
]
_LARGE: list[Any] = ["[" * 3000, "[" * 2000 + "]" * 2000, '{"a":' * 3000, "x" * 70_000, "(" * 3000, "-" * 3000, "[" + "1," * 3000]
_WHOLE: list[Any] = [
    *SHAPES.values(),
    {"messages": OPENAI, "model": "m", "tools": [{"type": "function", "function": {"name": "weather", "parameters": "{}"}}]},
    {"id": "chatcmpl-1", "choices": [{"index": 0, "finish_reason": "stop", "message": OPENAI[1]}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]},
    {"contents": SHAPES["gemini"], "config": {"system_instruction": "Be brief.", "tools": [{"function_declarations": [{"name": "f"}]}]}},
    {"generations": [[{"text": "Hi", "message": SHAPES["langchain constructors"][1]}]]},
    {"args": ["x"], "kwargs": {"city": "Lisbon"}},
    {"inputs": {"messages": OPENAI}, "tags": [], "metadata": {"thread_id": "t-1"}},
    {"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1", "status": "error"}},
    {"content": [{"type": "text", "text": "sunny"}], "isError": True},
    [{"event.name": "gen_ai.user.message", "content": "Hi"}, {"event.name": "gen_ai.choice", "index": 0, "message": OPENAI[1]}],
    {"message": OPENAI[1], "tool_calls": [OPENAI_CALL], "index": 0},
    {"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]},
]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [(value, k) for k in keys] + [p for k in keys for p in _places(value[k])]


def _damaged(rng: random.Random) -> Any:
    """A real shape with one to three things wrong."""
    value = _copy(rng.choice(_WHOLE))
    for _ in range(rng.randint(1, 3)):
        places = _places(value)
        if places and len(_text(value)) < 20_000:
            rng.choice(_DAMAGES)(*rng.choice(places), rng)
    return value


def _copy(value: Any) -> Any:
    return json.loads(_text(value))


def _rename(inside: Any, key: Any, rng: random.Random) -> None:
    if isinstance(inside, dict):
        inside[rng.choice(_MEMBERS)] = inside.pop(key)


def _wrap(inside: Any, key: Any, rng: random.Random) -> None:
    inside[key] = rng.choice([[inside[key]], {"content": inside[key]}, _text(inside[key])])


def _replace_by_shape(inside: Any, key: Any, rng: random.Random) -> None:
    inside[key] = _copy(rng.choice(_WHOLE))


def _replace_by_scalar(inside: Any, key: Any, rng: random.Random) -> None:
    inside[key] = rng.choice(SCALARS)


def _double(inside: Any, key: Any, rng: random.Random) -> None:
    if isinstance(inside, list):
        inside.insert(key, _copy(inside[key]))


def _remove(inside: Any, key: Any, rng: random.Random) -> None:
    del inside[key]


_DAMAGES = (_rename, _wrap, _replace_by_shape, _replace_by_scalar, _replace_by_scalar, _double, _remove)
_MEMBERS = (
    "role",
    "content",
    "parts",
    "type",
    "text",
    "id",
    "name",
    "arguments",
    "input",
    "tool_calls",
    "function",
    "messages",
    "data",
    "value",
)


def _text(value: Any) -> str:
    return json.dumps(value, default=str, skipkeys=True)


_WRITERS: list[Callable[[Any, random.Random], Any]] = [
    lambda v, r: v,
    lambda v, r: _text(v),
    lambda v, r: _text(v),
    lambda v, r: _text(_text(v)),
    lambda v, r: _text(v)[: r.randint(0, len(_text(v)))],
    lambda v, r: _text(v)[: r.randint(0, len(_text(v)))] + "…",
    lambda v, r: repr(v),
    lambda v, r: [_text(m) for m in v] if isinstance(v, list) else [v],
    lambda v, r: {"messages": v},
]


def _pool() -> list[Any]:
    rng = random.Random(20)
    return [*SCALARS, *_LARGE, *(rng.choice(_WRITERS)(_damaged(rng), rng) for _ in range(_POOL_SIZE))]


POOL = _pool()
TEXTS = st.sampled_from([s for s in SCALARS if isinstance(s, str)]) | st.text(max_size=8)
ANY_VALUES: st.SearchStrategy[Any] = st.sampled_from(POOL) | st.recursive(
    st.sampled_from(SCALARS), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=5
)
"""Any value of an attribute."""


def _known_names() -> list[str]:
    found: set[str] = set()
    for dialect in BUILTIN:
        card = dialect.info
        found.update(n.removeprefix("event:").removesuffix(".N") for n in (*card.detects, *card.content, *card.conversation_ids))
    for file in Path(str(dialects.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value):
                found.add(node.value)
    return sorted(full for name in found for full in ([name, *(name + b for b in _BELOW)] if name in _INDEXED else [name]))


KNOWN_NAMES = _known_names()
"""Every name that stands in a card or in the code of a dialect, indexed ones with some members."""

EVENT_NAMES = st.sampled_from([*(f"gen_ai.{e}" for e in _EVENTS), DETAILS, "exception", "other"])


def attributes_for(names: list[str], *, size: int = 5) -> st.SearchStrategy[dict[str, Any]]:
    """Attributes under some of these names, and now and then under others."""
    return st.dictionaries(
        st.sampled_from(names) | st.sampled_from(names) | st.sampled_from(KNOWN_NAMES) | TEXTS, ANY_VALUES, max_size=size
    )


def names_of_dialect(dialect: Dialect) -> list[str]:
    """The known names at which a dialect listens."""
    return [n for n in KNOWN_NAMES if dialect.speaks(frozenset({n}))]


def events_for(names: list[str]) -> st.SearchStrategy[list[SpanEvent]]:
    made = st.builds(
        lambda n, a: SpanEvent(name=n, time_ns=5, attributes=a), EVENT_NAMES, attributes_for([*names, "content", "message"], size=3)
    )
    return st.lists(made, max_size=2)


def logs_for(number: int, names: list[str]) -> st.SearchStrategy[list[LogRecord]]:
    """Log records on span `number`."""
    made = st.builds(lambda n, b, a: log(number, n, b, attributes=a), EVENT_NAMES, ANY_VALUES, attributes_for(names, size=3))
    return st.lists(made, max_size=2)


def spans_for(number: int, names: list[str], *, parent: int | None = None) -> st.SearchStrategy[Span]:
    """Spans of one number, with any values under these and other names."""

    def build(attributes: Mapping[str, Any], events: list[SpanEvent], name: str, dropped: int, operation: str | None) -> Span:
        told = {**attributes} if operation is None else {"gen_ai.operation.name": operation, **attributes}
        return span(
            number, told, name=name, parent=parent, events=events, dropped_attributes_count=dropped, error="boom" if dropped == 2 else None
        )

    return st.builds(
        build,
        attributes_for(names),
        events_for(names),
        st.sampled_from(["", "chat m", "execute_tool x", "handoff to x", "agent run", "haystack.agent.step.llm", "haystack.component.run"]),
        st.sampled_from([0, 0, 1, 2]),
        st.sampled_from([None, None, "chat", "execute_tool", "invoke_agent"]),
    )
