"""Prompts are files: `prompts/NAME.vN.md`. A changed wording is a new version; its name and hash stand on every score."""

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A versioned text with places, written `{{name}}`."""

    name: str
    """`goal_accuracy.v1`."""
    text: str

    @property
    def places(self) -> frozenset[str]:
        return frozenset(_PLACE.findall(self.text))

    def filled(self, **values: str) -> str:
        """The text with every place filled; a place without a value, or a value without a place, is an error of ours.

        Values are put in as they are and never looked at again: a place inside a value is just text.
        """
        if values.keys() != self.places:
            raise ValueError(f"prompt {self.name!r} has the places {sorted(self.places)}, not {sorted(values)}")
        return _PLACE.sub(lambda found: values[found.group(1)], self.text)


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name and version, `goal_accuracy.v1`."""
    text = files(__package__).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()
    return Prompt(name=name, text=text)


@cache
def prompt_hash(*names: str) -> str:
    """First 16 hexadecimal digits of the SHA-256 over the texts of these prompts: preamble and question together."""
    return sha256("\0".join(prompt(n).text for n in names).encode()).hexdigest()[:16]
