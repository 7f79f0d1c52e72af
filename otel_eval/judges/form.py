"""The form of a judge's reply: what is asked for, and its JSON schema.

A form is one object with named fields, of which some may be a list of items keyed by ids that *we* made: a judge never invents the list
that is counted. Only the subset that every endpoint takes is used (flat objects, all fields required, no `$ref`, union, const or pattern).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One word out of a few, such as yes, no, cannot_tell. `yes_no` lets true and false stand for yes and no."""

    options: tuple[str, ...]
    yes_no: bool = False
    optional: bool = False
    """Whether a reply without it still counts (certainty: it only routes)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An id out of those we gave, or "" for none. An unknown one is dropped and counted."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """Free words."""

    max_chars: int = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Numbers of blocks of the record, 0 to `count` - 1. One that points nowhere is dropped and counted."""

    count: int
    max_items: int = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """A list of free words."""

    max_items: int = 64
    max_chars: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """A list of true and false, in the order of what was asked about; `count` None where the reply may have any length."""

    count: int | None = None


Leaf: TypeAlias = Words | Known | Sentence | Blocks | Sentences | Flag | Flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """One object for each of `ids`, no others; `key` is the field that names the id."""

    key: str
    ids: tuple[str, ...]
    fields: Mapping[str, Leaf]


Field: TypeAlias = Leaf | Items
AnyField = TypeVar("AnyField", bound=Field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The fields of the reply object, in the order in which they should be written: reasons before verdicts."""

    name: str
    fields: Mapping[str, Field]


REASON = Sentence()
CERTAINTY = Words(options=("clear", "leaning"), optional=True)
_SHORT_CHARS = 200
"""Of a reason that follows the verdict: it is there to be read, and a small machine writes two or three words a second."""
VERDICT = Words(options=("yes", "no", "cannot_tell"), yes_no=True)


def verdict_first(form: Form) -> Form:
    """The same fields with the words that decide before everything else, in each item too, and short sentences."""
    fields = {name: replace(f, fields=_words_first(f.fields)) if isinstance(f, Items) else f for name, f in form.fields.items()}
    return Form(name=form.name, fields=_words_first(fields))


def _words_first(fields: Mapping[str, AnyField]) -> dict[str, AnyField]:
    deciding = {name: f for name, f in fields.items() if isinstance(f, Words) and not f.optional}
    return deciding | {name: _short(f) for name, f in fields.items() if name not in deciding}


def _short(field: AnyField) -> AnyField:
    return replace(field, max_chars=min(field.max_chars, _SHORT_CHARS)) if isinstance(field, Sentence) else field


def schema_from_form(form: Form, *, bounds: bool = False) -> dict[str, Any]:
    """The JSON schema of a form. `bounds` adds limits of length and count, which some endpoints refuse and small models need."""
    return _object({name: _field_schema(field, bounds) for name, field in form.fields.items()})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _field_schema(field: Field, bounds: bool) -> dict[str, Any]:
    if not isinstance(field, Items):
        return _leaf_schema(field, bounds)
    properties: dict[str, Any] = {field.key: {"type": "string", "enum": list(field.ids)}}
    properties |= {name: _leaf_schema(leaf, bounds) for name, leaf in field.fields.items()}
    return _array(_object(properties), bounds, most=len(field.ids), least=len(field.ids))


def _leaf_schema(leaf: Leaf, bounds: bool) -> dict[str, Any]:
    match leaf:
        case Words():
            return {"type": "string", "enum": list(leaf.options)}
        case Known():
            return {"type": "string", "enum": ["", *leaf.options]}
        case Sentence():
            return _text(bounds, leaf.max_chars)
        case Sentences():
            return _array(_text(bounds, leaf.max_chars), bounds, most=leaf.max_items)
        case Blocks():
            return _array({"type": "integer"} | ({"minimum": 0} if bounds else {}), bounds, most=leaf.max_items)
        case Flag():
            return {"type": "boolean"}
        case Flags():
            return _array({"type": "boolean"}, bounds, most=leaf.count, least=leaf.count or 0)


def _text(bounds: bool, max_chars: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": max_chars} if bounds else {"type": "string"}


def _array(items: dict[str, Any], bounds: bool, *, most: int | None, least: int = 0) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "array", "items": items}
    if bounds and most is not None:
        schema |= {"minItems": least, "maxItems": most}
    return schema
