"""The straight road gives what the general readers give."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_eval.dialects.shapes.messages import message_from_object
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
