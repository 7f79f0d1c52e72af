"""Decoded once: message texts that the next span repeats.

Every model call repeats the history before it, so the text of one span's input is nearly always a prefix of the next one's. Decoding only
what is new turns a quadratic cost into a linear one, and the shared `Message` objects let assembly find the common prefix by identity.
"""

from collections import OrderedDict
from typing import Any

from otel_eval.dialects.shapes.messages import messages_from_value
from otel_eval.dialects.shapes.notes import Notes
from otel_eval.dialects.shapes.text import value_from_text
from otel_eval.model import Gap, Message, Role, SpanRef

_LISTS = 6  # agents that speak in turns inside one trace; a longer memory only costs comparisons
_VALUES = 32  # tool definitions and the like, equal to the letter on every span


class Memo:
    """The last few message lists and values decoded. Only saves work: results are the same without it."""

    __slots__ = ("_lists", "_values")

    def __init__(self) -> None:
        self._lists: list[tuple[str, str, Role, tuple[Message, ...], tuple[Gap, ...]]] = []
        self._values: OrderedDict[str, Any] = OrderedDict()

    def messages(self, text: str, role: Role, notes: Notes, source: SpanRef | None, talk: str) -> tuple[Message, ...]:
        """The messages of a JSON text, reusing those of a text of the same talk that it begins with.

        `talk` is the conversation's id, else the trace's: a message tells where it stood first, which is never in another conversation.
        """
        before = len(notes.gaps)
        for index, (known_talk, start, known_role, known, gaps) in enumerate(self._lists):
            size = len(start)
            if known_talk == talk and known_role == role and len(text) > size and text.startswith(start):
                if text[size] == "]" and len(text) == size + 1:
                    found = known
                elif text[size] == ",":
                    found = known + messages_from_value("[" + text[size + 1 :], role, notes, source)
                else:
                    continue
                del self._lists[index]
                for gap in gaps:  # what could not be read the first time is missing here too
                    notes.add(gap.reason, gap.where)
                self._remember(talk, text, role, found, notes, before)
                return found
        found = messages_from_value(text, role, notes, source)
        if _is_plain_list(text):
            self._remember(talk, text, role, found, notes, before)
        return found

    def _remember(self, talk: str, text: str, role: Role, found: tuple[Message, ...], notes: Notes, before: int) -> None:
        if not notes.truncated:
            self._lists.insert(0, (talk, text[:-1], role, found, tuple(notes.gaps[before:])))
            del self._lists[_LISTS:]

    def value(self, text: str, notes: Notes) -> Any:
        """The value of a JSON text, decoded once for equal texts. Do not change what it gives."""
        if text in self._values:
            self._values.move_to_end(text)
            return self._values[text]
        found = value_from_text(text, notes)
        self._values[text] = found
        if len(self._values) > _VALUES:
            self._values.popitem(last=False)
        return found


def _is_plain_list(text: str) -> bool:
    """Whether a text is a JSON list of message objects: only there does a prefix decode alone as it does with what follows."""
    return text[:2] == "[{" and text[-2:] == "}]" and '"role"' in text[:4096]
