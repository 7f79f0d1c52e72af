"""The straight road gives what the general readers give."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.dialects.shapes.messages import message_from_object, messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.plain import plain_message

TEXTS = st.sampled_from(
    ["Hi", "", "  ", "null", "<elided>", "Observation: 4", "[[ ## x ## ]]\ny", '{"a": 1}', "New task:\nx", '"q"', "For context:", "é" * 40]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "value", "content", "a", "json"]), inner, max_size=3)
    ),
    max_leaves=6,
)
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_call", "tool_call_response", "reasoning", "blob"]) | JSON},
    optional={
        "content": TEXTS | JSON,
        "id": TEXTS | st.none(),
        "name": TEXTS | st.none(),
        "arguments": JSON,
        "response": JSON,
        "extra": JSON,
    },
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool", "developer"]) | JSON,
        "parts": st.lists(PARTS | JSON, max_size=3) | JSON,
    },
    optional={"name": TEXTS | JSON, "finish_reason": TEXTS | JSON, "content": JSON},
)


@given(MESSAGES)
def test_the_straight_road_leads_to_the_same_message(item: dict[str, Any]) -> None:
    """Whatever the plain reader takes on, the general one reads alike, without a gap; what it leaves alone it leaves without an error."""
    plain = plain_message(json.loads(json.dumps(item)), None)
    if plain is None:
        return
    notes = Notes()
    assert message_from_object(item, "user", notes, None) == [plain]
    assert notes.gaps == []


def test_one_message_out_of_the_ordinary_changes_none_beside_it() -> None:
    """In a list, plain messages are read alike whether all of them are plain or one is not."""
    rows = {"type": "tool_call_response", "id": "c1", "response": [{"id": 1, "label": "a"}, {"id": 2, "label": "b"}]}
    before = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}, {"role": "tool", "parts": [rows]}]
    after = [{"role": "assistant", "parts": [{"type": "text", "content": "Done"}], "finish_reason": "stop"}]
    odd = [{"role": "user", "content": "And then?"}]
    read = {name: messages_from_value(items, "user", Notes()) for name, items in (("plain", before + after), ("odd", odd))}
    assert messages_from_value(before + odd + after, "user", Notes()) == (*read["plain"][:2], *read["odd"], *read["plain"][2:])
    result = read["plain"][1].tool_result
    assert result is not None
    assert result.content == '[{"id": 1, "label": "a"}, {"id": 2, "label": "b"}]'
