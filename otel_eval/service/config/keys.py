"""The keys of the configuration as paths: `selection.rate`, with the section each stands in and what may stand there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from otel_eval.service.config.values import Secret

PREFIX = "OTEL_EVAL__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key, not a section."""

    path: tuple[str, ...]
    field: FieldInfo

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + "__".join(self.path).upper()

    @property
    def is_secret(self) -> bool:
        return Secret in _kinds(self.field.annotation)

    @property
    def is_text(self) -> bool:
        """Whether a value from the environment is taken as it is, not as YAML."""
        return str in _kinds(self.field.annotation) or self.is_secret

    @property
    def sentence(self) -> str:
        return " ".join((self.field.description or "").split())


def keys_of(section: type[BaseModel], path: tuple[str, ...] = ()) -> Iterator[Key]:
    """All keys below a section, in the order of the file."""
    for name, field in section.model_fields.items():
        below = section_of(field)
        if below is None:
            yield Key(path=(*path, name), field=field)
        else:
            yield from keys_of(below, (*path, name))


def section_of(field: FieldInfo) -> type[BaseModel] | None:
    """The section that a key is, where it always is one; a section that may be left out (`judge.price`) is one too."""
    found = [kind for kind in _kinds(field.annotation) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return found[0] if found else None


def nearest(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'rate'?`, or all that is known where nothing is near."""
    close = get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"


def section_at(root: type[BaseModel], path: Sequence[Any]) -> type[BaseModel] | None:
    """The section at a path; numbers are places in a list."""
    section: type[BaseModel] | None = root
    for part in path:
        if section is None:
            return None
        if isinstance(part, int):
            continue
        field = section.model_fields.get(part)
        section = None if field is None else section_of(field) or _section_in_list(field.annotation)
    return section


def _section_in_list(annotation: Any) -> type[BaseModel] | None:
    if get_origin(annotation) is not tuple:
        return None
    found = [kind for kind in _kinds(get_args(annotation)[0]) if isinstance(kind, type) and issubclass(kind, BaseModel)]
    return found[0] if found else None


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation, without None and without what only annotates."""
    if get_origin(annotation) is Annotated:
        return _kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(kind for part in get_args(annotation) if part is not type(None) for kind in _kinds(part))
    return (annotation,)
