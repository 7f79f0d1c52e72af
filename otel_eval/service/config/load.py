"""The configuration from a file and the environment; what is wrong is said once, for all keys, with the nearest name that exists."""

import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from otel_eval.errors import ConfigError
from otel_eval.service.config.keys import PREFIX, Key, keys_of, nearest, section_at, section_of
from otel_eval.service.config.sections import Config

FILE_NAME = "otel-eval.yaml"
FILE_VARIABLE = "OTEL_EVAL_CONFIG"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The configuration and where it is from."""

    config: Config
    path: Path | None = None
    """The file; None where there was none."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where each key was set: the file's name or the environment variable; without an entry it has its default."""
    warnings: tuple[str, ...] = ()
    """What was probably meant for us and is not: a sentence each."""


def load_config(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Loaded:
    """The configuration of a file (else of OTEL_EVAL_CONFIG, else of otel-eval.yaml here, else none), with the environment on top.

    ConfigError names every key that is wrong.
    """
    environ = os.environ if environ is None else environ
    found = _found(path, environ)
    tree = _tree_from_file(found) if found is not None else {}
    origins = {".".join(place): found.name for place in _places(tree)} if found is not None else {}
    for place in _secrets_in(tree):
        raise ConfigError(f"{place.name!r} is a secret and does not belong in a file: set {place.variable}, or use {place.name}_file")
    for key, text in _from_environment(environ):
        _put(tree, key, _value(key, text))
        origins[key.name] = key.variable
    try:
        config = Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_sentences(error, origins, found)) from None
    return Loaded(config=config, path=found, origins=origins, warnings=tuple(_look_alikes(environ)))


def config_from_mapping(tree: Mapping[str, Any]) -> Config:
    """The configuration of a mapping as the file would hold it. ConfigError names every key that is wrong."""
    try:
        return Config.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_sentences(error, {}, None)) from None


def _found(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    named = path or (Path(environ[FILE_VARIABLE]) if environ.get(FILE_VARIABLE) else None)
    if named is not None:
        if not named.is_file():
            raise ConfigError(f"the configuration {str(named)!r} is no file: name one, or write one with `otel-eval init`")
        return named
    here = Path(FILE_NAME)
    return here if here.is_file() else None


class _Loader(yaml.SafeLoader):
    """YAML in which a key may stand only once in its section."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    seen: set[Any] = set()
    for key, _ in node.value:
        if key.value in seen:
            raise yaml.MarkedYAMLError(problem=f"key {key.value!r} stands twice", problem_mark=key.start_mark)
        seen.add(key.value)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _tree_from_file(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # the loader is a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{str(path)!r}{line}: {error.problem or 'no YAML'}") from None
    except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read as YAML: {type(error).__name__}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(f"{str(path)!r}: expected sections such as `judge:`, got a {type(tree).__name__}")
    return _without_empty_sections(tree, Config)


def _without_empty_sections(tree: dict[Any, Any], section: type[BaseModel]) -> dict[str, Any]:
    """A section in which every key is commented out is one with nothing in it."""
    out: dict[str, Any] = {}
    for name, value in tree.items():
        field = section.model_fields.get(str(name))
        below = section_of(field) if field is not None else None
        if below is not None and value is None and field is not None and field.get_default() is not None:
            continue
        out[str(name)] = _without_empty_sections(value, below) if below is not None and isinstance(value, dict) else value
    return out


def _places(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(tree, dict) or not tree:
        return [path]
    return [place for name, value in tree.items() for place in _places(value, (*path, str(name)))]


def _secrets_in(tree: Mapping[str, Any]) -> list[Key]:
    return [key for key in keys_of(Config) if key.is_secret and _get(tree, key.path) is not None]


def _get(tree: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _from_environment(environ: Mapping[str, str]) -> list[tuple[Key, str]]:
    """Keys set by environment; an empty variable sets nothing. ConfigError for a variable with our prefix that is no key's."""
    known = {key.variable: key for key in keys_of(Config)}
    found = []
    for name, text in environ.items():
        if not name.upper().startswith(PREFIX):
            continue
        key = known.get(name.upper())
        if key is None:
            raise ConfigError(f"the environment variable {name!r} sets no key that there is{nearest(name.upper(), list(known))[:200]}")
        if text:
            found.append((key, text))
    return found


def _look_alikes(environ: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each variable that is a key's but for a doubled underscore."""
    known = {_single(key.variable): key.variable for key in keys_of(Config)}
    for name in environ:
        meant = known.get(_single(name.upper()))
        if meant is not None and not name.upper().startswith(PREFIX):
            yield f"the environment variable {name!r} sets nothing: {meant} does, with two underscores between its parts"


def _single(name: str) -> str:
    return name.replace("__", "_")


def _value(key: Key, text: str) -> Any:
    if key.is_text:
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"{key.variable} is no YAML value: expected one line such as 0.1, [a, b] or {{a: b}}") from None


def _put(tree: dict[str, Any], key: Key, value: Any) -> None:
    for part in key.path[:-1]:
        below = tree.get(part)
        tree[part] = below if isinstance(below, dict) else {}
        tree = tree[part]
    tree[key.path[-1]] = value


def _sentences(error: ValidationError, origins: Mapping[str, str], path: Path | None) -> str:
    """One sentence for each fault, with where it stands; never the value of a secret."""
    sentences = []
    for fault in error.errors(include_url=False, include_context=True):
        place = ".".join(map(str, fault["loc"]))
        origin = next((o for name, o in origins.items() if name == place or place.startswith(f"{name}.")), path.name if path else "")
        sentences.append(f"{origin + ': ' if origin else ''}{place}: {_said(fault)}")
    return "; ".join(dict.fromkeys(sentences))


def _said(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        section = section_at(Config, fault["loc"][:-1])
        return f"there is no such key{nearest(str(fault['loc'][-1]), list(section.model_fields)) if section else ''}"
    if fault["type"] == "missing":
        return "is missing and has no default"
    said = str(fault["msg"])
    said = said.removeprefix("Value error, ").removeprefix("Input should be ")
    shown = fault.get("input")
    simple = isinstance(shown, str | int | float | bool) and not _is_secret(fault["loc"])
    expected = said if said.startswith("expected") else f"expected {said[:1].lower()}{said[1:]}"
    return f"{expected}, got {shown!r}" if simple else expected


def _is_secret(loc: tuple[Any, ...]) -> bool:
    path = tuple(str(part) for part in loc)
    return any(key.is_secret and key.path == path for key in keys_of(Config))
