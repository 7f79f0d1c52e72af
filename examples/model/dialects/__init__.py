"""The ways to talk to the model. Each says where a conversation stands, and words a reply whole and in events."""

import uuid
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Reply:
    """A text, or calls of tools: `{"name": …, "arguments": {…}}`."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """No two replies have the same: that is how two recordings of one reply are told from two replies."""

    def call_ids(self) -> list[str]:
        return [f"call_{self.id[:12]}{place}" for place in range(len(self.calls))]


def words_of(content: Any) -> str:
    """The text of a message's content, of whichever form."""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or ())
