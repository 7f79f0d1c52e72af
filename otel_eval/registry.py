"""Plug-ins of other packages, found by entry point: `otel_eval.dialects`, `.metrics`, `.sinks` and `.judges`.

A package offers a plug-in in its `pyproject.toml`:

    [project.entry-points."otel_eval.metrics"]
    brand_voice = "acme_metrics:BrandVoice"

Nothing is loaded until it is asked for, and one plug-in that cannot be loaded takes nothing else down: it becomes a `PluginError` of its
own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from otel_eval.errors import PluginError

DIALECTS, METRICS, SINKS, JUDGES = "otel_eval.dialects", "otel_eval.metrics", "otel_eval.sinks", "otel_eval.judges"
GROUPS = (DIALECTS, METRICS, SINKS, JUDGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """What loading a whole group gave: the objects by name, and for each that could not be loaded the error."""

    loaded: Mapping[str, Any] = field(default_factory=dict)
    failed: Mapping[str, PluginError] = field(default_factory=dict)


def plugin_names(group: str) -> tuple[str, ...]:
    """The names that installed packages offer in a group, in order of the alphabet."""
    return tuple(sorted({point.name for point in entry_points(group=group)}))


def load_plugin(group: str, name: str, *, builtin: Iterable[str] = ()) -> Any:
    """The object behind a name: whatever its package registered, a class, function or instance.

    PluginError where nobody offers the name (with the nearest one that exists, `builtin` included), where several packages offer
    different things under it, and where loading it fails.
    """
    points = {point.value: point for point in entry_points(group=group, name=name)}
    if not points:
        raise PluginError(f"no plug-in {name!r} in {group!r}{_nearest(name, [*plugin_names(group), *builtin])}")
    if len(points) > 1:
        raise PluginError(
            f"{name!r} in {group!r} is offered by {len(points)} packages ({', '.join(map(_offer, points.values()))}); remove one"
        )
    return _load(group, next(iter(points.values())))


def load_all(group: str) -> Plugins:
    """All plug-ins of a group; those that fail are kept apart with their errors, so that they can be counted and shown."""
    loaded: dict[str, Any] = {}
    failed: dict[str, PluginError] = {}
    for name in plugin_names(group):
        try:
            loaded[name] = load_plugin(group, name)
        except PluginError as error:
            failed[name] = error
    return Plugins(loaded=loaded, failed=failed)


def _load(group: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise PluginError(
            f"plug-in {point.name!r} in {group!r} ({point.value}) could not be loaded: {type(error).__name__}; "
            "update its package or remove it"
        ) from error


def _offer(point: EntryPoint) -> str:
    return f"{point.value} of {point.dist.name}" if point.dist else point.value


def _nearest(name: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    close = get_close_matches(name, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(map(repr, names))}" if names else "; none is installed"
