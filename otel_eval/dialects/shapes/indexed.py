"""Flattened attributes back to nested values: `llm.input_messages.10.message.role` → list of dicts, in numeric order."""

from collections.abc import Mapping
from typing import Any

from otel_eval.dialects.shapes.notes import Notes
from otel_eval.model import GapReason


def nested_from_indexed(attributes: Mapping[str, Any], prefix: str, notes: Notes | None = None) -> list[Any] | None:
    """The list under `prefix.` (prefix without its dot), None where no attribute stands there.

    Indices order numerically (10 after 9). Missing ones are left out and noted: an attribute count limit drops the oldest; a hole behind
    the first is a message of which an instrumentor wrote nothing (agno, of answers that only call).
    """
    start = prefix + "."
    size = len(start)
    root: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(start):
            _put(root, key[size:].split("."), value)
    if not root:
        return None
    indices = sorted(int(k) for k in root if k.isdecimal())
    if not indices:
        return None
    if notes is not None and indices != list(range(len(indices))):
        notes.add(GapReason.ATTRIBUTES_DROPPED if indices[0] else GapReason.HISTORY_BREAK)
    if indices[0] and not _has_role(root[str(indices[0])]):
        del indices[0]  # the limit fell into this message: what is left of it cannot be told from another
    return [_lists(root[str(i)]) for i in indices]


def _has_role(item: Any) -> bool:
    message = item.get("message") if isinstance(item, dict) else None
    return not isinstance(message, dict) or "role" in message


def _put(node: dict[str, Any], path: list[str], value: Any) -> None:
    """Hang a value at its path; where a scalar stands on the way, the deeper value wins."""
    for step in path[:-1]:
        deeper = node.get(step)
        if not isinstance(deeper, dict):
            deeper = node[step] = {}
        node = deeper
    if not isinstance(node.get(path[-1]), dict):
        node[path[-1]] = value


def _lists(node: Any) -> Any:
    """Objects whose keys are all numbers as lists in numeric order."""
    if not isinstance(node, dict):
        return node
    if node and all(k.isdecimal() for k in node):
        return [_lists(node[k]) for k in sorted(node, key=int)]
    return {k: _lists(v) for k, v in node.items()}
