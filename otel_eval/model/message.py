"""Messages and their parts, in the words of the OpenTelemetry GenAI conventions (`gen_ai.input.messages`, generation C).

What could not be read is None, never an invented value; why stands in a `Gap` of the step or conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from otel_eval.model.span import SpanRef

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words meant for the other side."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """A model's thinking; not part of what the user saw. None where it is encrypted."""

    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A request to run a tool.

    `arguments` is the JSON object; a call without arguments is {}; None where they were not recorded or are not an object, and then `raw`
    holds what stood there, if anything.
    """

    id: str | None = None
    name: str | None = None
    arguments: Mapping[str, Any] | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back.

    `content` is the text as recorded; a structured value is its JSON text; None where it was not recorded. `is_error` is True where a
    span, event or flag says that the call failed, False where one says that it did not, None where nothing is said.
    """

    call_id: str | None = None
    name: str | None = None
    content: str | None = None
    is_error: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """An image, sound, video or document: never its bytes, only what it is and where it stands."""

    modality: str = "document"
    mime_type: str | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opaque:
    """A part of a kind we do not read; kept so that its place shows."""

    type: str


Part: TypeAlias = Text | Reasoning | ToolCall | ToolResult | Media | Opaque


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. A tool message holds exactly one `ToolResult`."""

    role: Role
    parts: tuple[Part, ...] = ()
    name: str | None = None
    finish_reason: str | None = None
    source: SpanRef | None = None
    """The span it was read from: first seen in an output if there is one, else in an input."""

    @property
    def text(self) -> str | None:
        """The text parts, joined with a newline; None without one."""
        if self.role == "tool":
            return None
        parts = self.parts
        if len(parts) == 1:
            only = parts[0]
            return only.text or None if type(only) is Text else None
        texts = [p.text for p in parts if type(p) is Text and p.text]
        return "\n".join(texts) if texts else None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        if self.role != "assistant":
            return ()
        return tuple([p for p in self.parts if type(p) is ToolCall])

    @property
    def tool_result(self) -> ToolResult | None:
        if self.role != "tool" or not self.parts:
            return None
        only = self.parts[0]
        return only if type(only) is ToolResult else None
