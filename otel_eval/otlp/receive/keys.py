"""Which attribute names the envelope looks for, and what a set of names says: worked out once for each set."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

END_MARK = "otel_eval.conversation.end"
"""Ours: an application says with it that a conversation is over."""

SESSION_IDS = ("session.id", "conversation.id", "gen_ai.conversation.id")
"""Under which log records without trace ids name their session."""

_EVENT = "event:"
_OURS = "otel_eval."
_ONE_BYTE, _STRING = 127, 0x0A
"""In protobuf: the longest length that is written in one byte, and the tag of AnyValue's text."""
_SHAPES_KEPT, _LONGEST_SHAPE_KEPT = 4096, 256
"""Real traffic has a few dozen sets of names; a flood of others must not fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeKeys:
    """Names to look for. Whoever knows the dialects fills them in (`Reader.id_keys`, the cards' `detects`)."""

    conversation_ids: tuple[str, ...] = ("gen_ai.conversation.id", "session.id")
    """Attributes that carry a conversation's id, best first."""
    genai: tuple[str, ...] = ("gen_ai.",)
    """Attribute names, prefixes (ending in `.`) and events (`event:NAME`, `event:PREFIX.`) that tell GenAI content."""
    log_scopes: tuple[str, ...] = ("autogen_core.events",)
    """Loggers whose records tell GenAI content though no name in them does."""
    session_ids: tuple[str, ...] = SESSION_IDS
    end_marks: tuple[str, ...] = (END_MARK,)
    own_service: str = "otel-eval"
    """Whatever comes from a service of this name is an evaluator's."""
    own_scope: str = "otel_eval"
    own_attributes: tuple[str, ...] = ("otel_eval.result.id", "otel_eval.judge.", "gen_ai.evaluation.")
    """Names and prefixes that only an evaluator's spans and records carry."""
    own_operation: tuple[str, str] = ("gen_ai.operation.name", "evaluation")
    own_event: str = "gen_ai.evaluation."
    """Prefix of the names of an evaluator's log events."""


class Shape:
    """What a set of attribute names says, and where the values stand that must be looked at."""

    __slots__ = ("end_marks", "event_name", "ids", "is_genai", "is_own", "operation", "session")

    def __init__(self, names: tuple[str, ...], keys: "Matcher") -> None:
        last = {name: place for place, name in enumerate(names)}
        self.is_genai = any(map(keys.tells_genai, last))
        self.is_own = any(map(keys.tells_own, last))
        self.operation = last.get(keys.operation)
        self.event_name = last.get("event.name")
        self.ids = tuple((rank, last[name]) for rank, name in enumerate(keys.conversation_ids) if name in last)
        self.session = next((last[name] for name in keys.session_ids if name in last), None)
        self.end_marks = tuple(last[name] for name in keys.end_marks if name in last)


class Glance(NamedTuple):
    """The best spelling of a conversation's id that stands in a body, and all its values."""

    rank: int
    ids: frozenset[str]


def _texts_behind(pair: bytes, body: bytes) -> frozenset[str] | None:
    """The texts behind each occurrence of a KeyValue's beginning; None where one is no text, or a long one."""
    found: set[bytes] = set()
    place = body.find(pair)
    while place >= 0:
        value = place + len(pair)
        head = body[value : value + 3]
        if len(head) < 3 or head[0] > _ONE_BYTE or head[1] != _STRING or head[2] + 2 != head[0]:
            return None
        found.add(body[value + 3 : value + 1 + head[0]])
        place = body.find(pair, value)
    return frozenset(text.decode("utf-8", "replace") for text in found)


def _first_words(names: Iterable[str]) -> tuple[bytes, ...]:
    """What to look for instead of these names: `otel_eval.` for all of ours, any other name as it is."""
    return tuple(sorted({(_OURS if name.startswith(_OURS) else name).encode() for name in names}))


class Names:
    """Names and prefixes, asked one by one."""

    def __init__(self, names: Iterable[str]) -> None:
        listed = list(names)
        self._exact = frozenset(n for n in listed if not n.endswith("."))
        self._prefixes = tuple(n for n in listed if n.endswith("."))

    def __call__(self, name: str) -> bool:
        return name in self._exact or name.startswith(self._prefixes)


class Matcher:
    """The keys, ready to be asked. Holds only a memo of the sets of names met."""

    def __init__(self, keys: EnvelopeKeys) -> None:
        events = [n.removeprefix(_EVENT) for n in keys.genai if n.startswith(_EVENT)]
        attributes = [n for n in keys.genai if not n.startswith(_EVENT)]
        self.tells_genai = Names(attributes)
        self.tells_genai_event = Names([*events, *(n for n in attributes if n.endswith("."))])
        self.tells_own = Names(keys.own_attributes)
        self.conversation_ids, self.session_ids, self.end_marks = keys.conversation_ids, keys.session_ids, keys.end_marks
        self.operation, self.own_operation = keys.own_operation
        self.log_scopes = frozenset(keys.log_scopes)
        self.own_service, self.own_scope, self.own_event = keys.own_service, keys.own_scope, keys.own_event
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self.plain = Shape((), self)
        """The shape of no names."""
        self._met: list[int] = []
        """Ranks of the spellings of conversation ids that were met so far, best first."""
        self._marks = _first_words((*(name for name in keys.own_attributes if name.startswith(_OURS)), *keys.end_marks))

    def glance(self, body: bytes) -> "Glance | None":
        """The ids in a protobuf body, found by its bytes.

        None where a glance is not enough: names of ours may be there, or no id in a spelling met before, or values that are no short
        texts. Most bodies are plain, and then a span of a trace whose id is known need not be looked at. (What another evaluator did
        inside an application's trace is then taken for the application's, until it is converted.)
        """
        if any(mark in body for mark in self._marks):
            return None
        for rank in self._met:
            name = self.conversation_ids[rank].encode()
            pair = b"\x0a" + bytes([len(name)]) + name + b"\x12"
            if pair in body:
                ids = _texts_behind(pair, body)
                return Glance(rank, ids) if ids is not None else None
        return None

    def shape(self, names: tuple[str, ...]) -> Shape:
        """What these names say."""
        shape = self._shapes.get(names)
        if shape is None:
            shape = Shape(names, self)
            self._met = sorted({*self._met, *(rank for rank, _ in shape.ids if len(self.conversation_ids[rank]) <= _ONE_BYTE)})
            if len(names) <= _LONGEST_SHAPE_KEPT:
                if len(self._shapes) >= _SHAPES_KEPT:
                    self._shapes.clear()
                self._shapes[names] = shape
        return shape
