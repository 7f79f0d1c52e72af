"""The configuration in words: the commented file, the effective values, the rows of the document."""

from collections.abc import Iterator, Mapping
from inspect import cleandoc
from textwrap import wrap
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from otel_eval.service.config.keys import Key, keys_of, section_of
from otel_eval.service.config.sections import Config, Section

HEAD = """\
# The configuration of otel-eval: every key with its default. Take away the `#` before a key to change it.
# Each can also be set by environment: selection.rate is OTEL_EVAL__SELECTION__RATE. Secrets only by environment or file.
# `otel-eval config check` says what a configuration comes to, `otel-eval config show` where each value is from.
"""
SET = "(set, not shown)"
_WIDTH = 110


def commented_file() -> str:
    """A file that changes nothing: each key is there, commented out, below what it means."""
    return HEAD + "\n".join(_lines(Config, Config(), 0)) + "\n"


def _lines(section: type[BaseModel], values: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for name, field in section.model_fields.items():
        below = section_of(field)
        if depth == 0:
            yield ""
        yield from (f"{indent}# {line}" for line in wrap(_sentence(field, below), _WIDTH - len(indent)))
        if below is None:
            yield from _key_lines(name, field, values, indent)
        elif field.get_default() is None:
            yield from (f"{indent}#{line}" for line in _plain({name: _blank(below)}))
        else:
            yield f"{indent}{name}:"
            yield from _lines(below, getattr(values, name), depth + 1)


def _blank(section: type[BaseModel]) -> dict[str, Any]:
    """A section that may be left out, to be filled in: defaults, and null for what has none."""
    return {name: None if field.default is PydanticUndefined else field.default for name, field in section.model_fields.items()}


def _key_lines(name: str, field: FieldInfo, values: Any, indent: str) -> Iterator[str]:
    value = values.model_dump(mode="json")[name]
    if name == "metrics":
        value = [metric["name"] for metric in value]
    if Key(path=(name,), field=field).is_secret:
        yield f"{indent}# {name}: only by environment"
    else:
        yield from (f"{indent}#{line}" for line in _plain({name: value}))


def _plain(value: Mapping[str, Any]) -> list[str]:
    text = yaml.safe_dump(dict(value), sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text.rstrip("\n").split("\n")


def _sentence(field: FieldInfo, below: type[BaseModel] | None) -> str:
    said = field.description or (cleandoc(below.__doc__ or "") if below is not None else "")
    return " ".join(said.split())


def shown(config: Config, origins: Mapping[str, str]) -> str:
    """Every effective value, with where it is from; secrets are only said to be set."""
    lines = []
    for key in keys_of(Config):
        value: Any = config.model_dump(mode="json")
        for part in key.path:
            value = value.get(part) if isinstance(value, dict) else None
        if key.is_secret:
            value = SET if value is not None else None
        if key.name == "metrics":
            value = [_short(metric) for metric in value]
        origin = _origin(key, origins)
        lines.append(f"{key.name}: {_inline(value)}" + (f"  # {origin}" if origin else ""))
    return "\n".join(lines) + "\n"


def _origin(key: Key, origins: Mapping[str, str]) -> str:
    return next((o for name, o in origins.items() if name == key.name or name.startswith(f"{key.name}.")), "")


def _short(metric: Mapping[str, Any]) -> Any:
    """A metric with only what is not as it would be anyway."""
    said = {k: v for k, v in metric.items() if k == "name" or v not in ({}, None, "auto", True)}
    return said["name"] if len(said) == 1 else said


def _inline(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True).strip().removesuffix("...").strip()


def documented(section: type[BaseModel] = Config, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """(path of a section, what it is, its keys as rows of name, default and meaning), in the order of the file."""
    rows = []
    below = []
    for name, field in section.model_fields.items():
        found = section_of(field)
        if found is None:
            rows.append((name, _default(Key(path=(*path, name), field=field)), " ".join((field.description or "").split())))
        else:
            below.append((name, found))
    yield ".".join(path), cleandoc(section.__doc__ or ""), rows
    for name, found in below:
        yield from documented(found, (*path, name))


def _default(key: Key) -> str:
    field = key.field
    if field.default is PydanticUndefined:
        return ""
    value = Section.model_construct(**{key.path[-1]: field.default}).model_dump(mode="json").get(key.path[-1], field.default)
    serializers = [m for m in field.metadata if hasattr(m, "func") and hasattr(m, "return_type")]
    if serializers and field.default is not None:
        value = serializers[0].func(field.default)
    if key.name == "metrics":
        value = [metric.name for metric in field.default]
    return _inline(value)
