"""References from a dataset file, found by conversation or task, and joined with what spans and lines themselves say."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from otel_eval.errors import InputError
from otel_eval.exchange.references import (
    keys_of_record,
    merged_references,
    reference_from_adk_case,
    reference_from_attributes,
    reference_from_record,
)
from otel_eval.model import NO_REFERENCE, Conversation, Gap, Reference
from otel_eval.service.text_file import text_of_file


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """The references of a dataset, by each name they go by: task, conversation id or evaluation case."""

    by_key: Mapping[str, Reference]

    def of(
        self, conversation: Conversation, beside: Mapping[str, Any] | None = None, *, task_key: str | None = None
    ) -> tuple[Reference, tuple[Gap, ...]]:
        """The reference of a conversation, and gaps for attributes that could not be read.

        Of each kind the first that is there: fields beside the conversation in its line, the dataset's line (by conversation id, then by
        the task that line or attributes name, then by trace id), attributes of its spans. The task stands under `task_key`, if one is
        named: a field beside the conversation, else an attribute.
        """
        own = reference_from_record(beside) if beside else NO_REFERENCE
        attributes, gaps = reference_from_attributes(conversation.attributes)
        task = (beside or {}).get(task_key, conversation.attributes.get(task_key)) if task_key else None
        if isinstance(task, str | int):
            own = replace(own, task=str(task))
        keys = (conversation.id, own.task, attributes.task, *conversation.trace_ids)
        found = [self.by_key[key] for key in keys if key is not None and key in self.by_key]
        return merged_references(own, *found, attributes), gaps

    def names_any(self, references: Iterable[tuple[Conversation, Reference]]) -> bool:
        """Whether any of these conversations has a line in the dataset."""
        return any(key in self.by_key for c, r in references for key in (c.id, r.task, *c.trace_ids) if key is not None)


NO_REFERENCES = References(by_key={})


def references_from_file(path: Path) -> References:
    """A dataset: JSON Lines, a JSON list of the same objects, or a set of ADK's evaluation cases.

    ConfigError where the file cannot be opened; InputError with the place of an object that is no reference or has no name, and for a name
    that stands for two different references.
    """
    by_key: dict[str, Reference] = {}
    for place, record in _records(path):
        try:
            reference, keys = _reference(record), keys_of_record(record)
        except InputError as error:
            raise InputError(f"{str(path)!r}, {place}: {error}") from error
        if not keys:
            raise InputError(f"{str(path)!r}, {place}: no name; expected one of the members task, conversation_id or id")
        for key in keys:
            if by_key.setdefault(key, reference) != reference:
                raise InputError(f"{str(path)!r}, {place}: {key!r} already stands for another reference")
    if not by_key:
        raise InputError(f'{str(path)!r} is empty: expected objects such as {{"task": …, "reference": …}}, one a line')
    return References(by_key=by_key)


def _reference(record: Mapping[str, Any]) -> Reference:
    """What an object says; an evaluation case of ADK says it by its conversation."""
    reference = reference_from_record(record)
    is_case = isinstance(record.get("conversation"), list) and ("eval_id" in record or "evalId" in record)
    return merged_references(reference, reference_from_adk_case(record)) if is_case else reference


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = text_of_file(path, "dataset")
    whole = _whole(text)
    if isinstance(whole, Mapping):
        cases = whole.get("eval_cases", whole.get("evalCases"))
        whole = cases if isinstance(cases, list) else [whole]
    items = [(f"object {n}", value) for n, value in enumerate(whole, 1)] if isinstance(whole, list) else _lines(path, text)
    for place, value in items:
        if not isinstance(value, Mapping):
            raise InputError(f"{str(path)!r}, {place}: expected an object")
        yield place, value


def _whole(text: str) -> Any:
    """The file as one JSON value, None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield f"line {number}", json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{str(path)!r}, line {number}: not JSON; expected one object a line") from error
