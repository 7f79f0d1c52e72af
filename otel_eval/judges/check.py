"""Holds a reply's value against the form that was asked for: every word known, every item there, or no answer at all.

Small liberties are taken where nothing can be misread, and counted: words are trimmed and case-folded, a list of reasons is joined,
`"2"` and `2.0` are block numbers. Nothing is padded, guessed or taken by position.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from otel_eval.errors import JudgeError
from otel_eval.judges.form import Blocks, Field, Flag, Flags, Form, Items, Known, Leaf, Sentence, Sentences, Words

SCHEMA, INCOMPLETE, CONFLICT = "reply_schema", "reply_incomplete", "reply_conflict"


def answer_from_value(form: Form, value: Any) -> tuple[dict[str, Any], dict[str, int]]:
    """The answer in its normal form, and counts of what was dropped. Raises `JudgeError` with the closed reason."""
    if not isinstance(value, Mapping):
        _wrong(SCHEMA, "the reply must be one JSON object")
    notes: Counter[str] = Counter()
    answer = _object(form.fields, value, notes)
    notes["extra_keys"] += len(value.keys() - form.fields.keys())
    return answer, {name: count for name, count in notes.items() if count}


def _object(fields: Mapping[str, Field], value: Mapping[str, Any], notes: Counter[str]) -> dict[str, Any]:
    answer = {}
    for name, field in fields.items():
        if name in value:
            answer[name] = _items(name, field, value[name], notes) if isinstance(field, Items) else _leaf(name, field, value[name], notes)
        elif not (isinstance(field, Words) and field.optional):
            _wrong(SCHEMA, f"the field {name!r} is missing")
    return answer


def _items(name: str, items: Items, value: Any, notes: Counter[str]) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        _wrong(SCHEMA, f"{name!r} must be a list of objects")
    rows: dict[str, dict[str, Any]] = {}
    for row in value:
        key = _known_id(items, row.get(items.key))
        answer = {items.key: key} | _not_itself(items, key, _object(items.fields, row, notes))
        if rows.setdefault(key, answer) != answer:
            _wrong(CONFLICT, f"{name!r} holds two different entries for one id")
        notes["extra_keys"] += len(row.keys() - items.fields.keys() - {items.key})
    missing = len(items.ids) - len(rows)
    if missing:
        _wrong(INCOMPLETE, f"{missing} of {len(items.ids)} entries of {name!r} are missing")
    return [rows[key] for key in items.ids]


def _known_id(items: Items, value: Any) -> str:
    key = value.strip() if isinstance(value, str) else ""
    return key if key in items.ids else _wrong(INCOMPLETE, f"{items.key!r} must be one of the ids that were given, and each of them once")


def _not_itself(items: Items, key: str, answer: dict[str, Any]) -> dict[str, Any]:
    """An entry that points at itself points at nothing."""
    return {name: "" if value == key and isinstance(items.fields[name], Known) else value for name, value in answer.items()}


def _leaf(name: str, leaf: Leaf, value: Any, notes: Counter[str]) -> Any:
    match leaf:
        case Words():
            return _word(name, leaf, value)
        case Known():
            return _known(leaf, value, notes)
        case Sentence():
            return _sentence(name, leaf, value)
        case Sentences():
            return _sentences(name, leaf, value)
        case Blocks():
            return _blocks(name, leaf, value, notes)
        case Flag():
            return value if isinstance(value, bool) else _wrong(SCHEMA, f"{name!r} must be true or false")
        case Flags():
            return _flags(name, leaf, value)


def _word(name: str, words: Words, value: Any) -> str:
    if words.yes_no and isinstance(value, bool):
        return "yes" if value else "no"
    word = value.strip().casefold() if isinstance(value, str) else None
    found = next((option for option in words.options if option.casefold() == word), None)
    return found if found is not None else _wrong(SCHEMA, f"{name!r} must be one of {', '.join(map(repr, words.options))}")


def _known(known: Known, value: Any, notes: Counter[str]) -> str:
    word = value.strip() if isinstance(value, str) else ""
    if word in known.options:
        return word
    notes["ids_dropped"] += bool(value)
    return ""


def _sentence(name: str, sentence: Sentence, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " ".join(part.strip() for part in value)
    return value.strip()[: sentence.max_chars] if isinstance(value, str) else _wrong(SCHEMA, f"{name!r} must be a text")


def _sentences(name: str, sentences: Sentences, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        _wrong(SCHEMA, f"{name!r} must be a list of texts")
    return [part.strip()[: sentences.max_chars] for part in value[: sentences.max_items]]


def _blocks(name: str, blocks: Blocks, value: Any, notes: Counter[str]) -> list[int]:
    if not isinstance(value, list):
        _wrong(SCHEMA, f"{name!r} must be a list of block numbers")
    numbers = [_number(item) for item in value]
    good = [n for n in numbers if n is not None and 0 <= n < blocks.count]
    notes["evidence_dropped"] += len(numbers) - len(good)
    return list(dict.fromkeys(good))[: blocks.max_items]


def _number(item: Any) -> int | None:
    """An integral number, also written as text or with a fraction of zero; None for anything else."""
    if isinstance(item, bool) or not isinstance(item, int | float | str):
        return None
    try:
        number = float(item)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None


def _flags(name: str, flags: Flags, value: Any) -> list[bool]:
    if not isinstance(value, list) or not all(isinstance(item, bool) for item in value):
        _wrong(SCHEMA, f"{name!r} must be a list of true and false")
    if flags.count is not None and len(value) != flags.count:
        _wrong(INCOMPLETE, f"{name!r} must have {flags.count} entries, not {len(value)}")
    return list(value)


def _wrong(reason: str, message: str) -> NoReturn:
    raise JudgeError(reason, message)
