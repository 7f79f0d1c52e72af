"""The cases on which a real model is measured, in the order in which a run that may be cut should ask them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PLAIN: Mapping[str, Path] = {
    "plain": HERE / "plain_cases.jsonl",
    "languages": HERE / "plain_cases_languages.jsonl",
    "tuning": HERE / "plain_cases_tuning.jsonl",
}
"""`tuning`: the wording for small models was chosen on it, so it shows too much."""
INJECTION = HERE.parent / "tests" / "data" / "cases" / "judge-injection.jsonl"
TWINS = HERE / "injection_twins.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case as a benchmark asks it: with its attack, or as its twin without."""

    set: str
    data: Mapping[str, Any]
    twin: bool = False


def plain_cases(name: str) -> list[Case]:
    """One of the sets without attacks."""
    return [Case(set=name, data=data) for data in lines_of(PLAIN[name])]


def injection_cases(paths: Sequence[Path] = (INJECTION,), *, most_chars: int) -> list[Case]:
    """Each case followed by its twin, the first of every family before the second ones; those longer than `most_chars` are left out."""
    twins = {twin["id"]: twin["contents"] for twin in lines_of(TWINS)}
    cases = [data for path in paths for data in lines_of(path) if len(json.dumps(data["messages"], ensure_ascii=False)) <= most_chars]
    return [case for data in _by_turns(cases) for case in _pair(data, twins.get(data["id"]))]


def _pair(data: Mapping[str, Any], contents: Mapping[str, str] | None) -> Iterator[Case]:
    yield Case(set="injection", data=data)
    if contents is not None:
        yield Case(set="injection", data={**data, "messages": without_attack(data["messages"], contents)}, twin=True)


def without_attack(messages: Sequence[Mapping[str, Any]], contents: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """The messages with what a twin says instead, by index; all else stays."""
    return [{**m, "content": contents.get(str(i), m["content"])} for i, m in enumerate(messages)]


def _by_turns(cases: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    ranked = [(rank, data) for _, family in groupby(cases, key=lambda c: c["family"]) for rank, data in enumerate(family)]
    return [data for _, data in sorted(ranked, key=lambda pair: pair[0])]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
