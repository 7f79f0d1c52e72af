"""Cheap constructors of frozen values."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from otel_eval.model import LogRecord, Span, SpanEvent, SpanLink
from otel_eval.model.freeze import constructor_of


@pytest.mark.parametrize("cls", [Span, SpanEvent, SpanLink, LogRecord])
def test_the_value_is_the_same_as_by_the_class_itself(cls: type) -> None:
    """Fields in their order give a value that is equal, of the very class, and frozen."""
    names = [f.name for f in fields(cls)]
    values = [f"value of {name}" for name in names]
    made: Any = constructor_of(cls)(*values)
    assert type(made) is cls
    assert made == cls(**dict(zip(names, values, strict=True)))
    assert repr(made) == repr(cls(**dict(zip(names, values, strict=True))))
    with pytest.raises(FrozenInstanceError):
        setattr(made, names[0], "other")


def test_every_field_must_be_given() -> None:
    """A field that is added to the class and not to its maker is an error, not a hole."""
    with pytest.raises(TypeError):
        constructor_of(SpanEvent)("name")
