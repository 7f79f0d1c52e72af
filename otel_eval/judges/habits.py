"""What an endpoint has taught us: the format it takes, fields it refuses, how many bytes its tokens have. Learnt once for each model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_eval.judges.form import Form, schema_from_form

Rung: TypeAlias = Literal["schema", "tools", "object", "plain"]
LADDER: tuple[Rung, ...] = ("schema", "tools", "object", "plain")
TOOL_NAME = "answer"

_CAPS = ("max_completion_tokens", "max_tokens")
_FIRST_BYTES_PER_TOKEN = 3.0
_WEIGHT = 0.2  # of the newest observation in the running average
_LEAST_SHARE = 0.6  # of the learnt estimate; below it the endpoint has cut the prompt
_LEAST_TOKENS = 1000  # a shorter prompt fits everywhere, and its template weighs too much in the count
_LEAST_BYTES_PER_TOKEN = 1.0
_MOST_BYTES_PER_TOKEN = 9.0  # no tokenizer packs ordinary text tighter


@dataclass(slots=True, kw_only=True)
class Habits:
    """Mutable on purpose: it is memory. One for each endpoint and model."""

    rung: Rung = "schema"
    cap: str | None = "max_completion_tokens"
    bounds: bool = False
    refused: set[str] = field(default_factory=set)
    bytes_per_token: float | None = None

    def format_fields(self, form: Form) -> dict[str, Any]:
        """The fields of the request that ask for the form, on the present rung."""
        schema = schema_from_form(form, bounds=self.bounds)
        if self.rung == "schema":
            return {"response_format": {"type": "json_schema", "json_schema": {"name": form.name, "strict": True, "schema": schema}}}
        if self.rung == "tools":
            function = {"name": TOOL_NAME, "description": "Gives the answer.", "parameters": schema, "strict": True}
            choice = {"type": "function", "function": {"name": TOOL_NAME}}
            return {"tools": [{"type": "function", "function": function}], "tool_choice": choice}
        return {"response_format": {"type": "json_object"}} if self.rung == "object" else {}

    def optional_fields(self, wanted: Mapping[str, Any], cap_tokens: int) -> dict[str, Any]:
        """Those of the wanted fields that were never refused, and the cap by the name that is taken."""
        fields = {name: value for name, value in wanted.items() if name not in self.refused and value is not None}
        return fields | ({self.cap: cap_tokens} if self.cap else {})

    def refuse(self, name: str) -> None:
        """A field was refused: never send it again. The cap has a second name to try."""
        self.refused.add(name)
        if name == self.cap:
            self.cap = next((cap for cap in _CAPS if cap not in self.refused), None)

    def step_down(self) -> bool:
        """Ask for the format in the next simpler way; False where there is none."""
        if self.bounds:
            self.bounds = False
            return True
        if self.rung == LADDER[-1]:
            return False
        self.rung = LADDER[LADDER.index(self.rung) + 1]
        return True

    def estimated(self, size_bytes: int) -> int:
        """Tokens of a prompt of this size."""
        return int(size_bytes / (self.bytes_per_token or _FIRST_BYTES_PER_TOKEN)) + 1

    def was_cut(self, size_bytes: int, reported_tokens: int) -> bool:
        """Whether the endpoint counted far fewer tokens than were sent: it has judged only a part, without saying so."""
        if self.bytes_per_token is None:
            return reported_tokens < size_bytes / _MOST_BYTES_PER_TOKEN
        expected = size_bytes / self.bytes_per_token
        return expected > _LEAST_TOKENS and reported_tokens < _LEAST_SHARE * expected

    def learn(self, size_bytes: int, reported_tokens: int) -> None:
        """Remember how many bytes a token has, as a running average."""
        seen = min(max(size_bytes / max(1, reported_tokens), _LEAST_BYTES_PER_TOKEN), _MOST_BYTES_PER_TOKEN)
        self.bytes_per_token = seen if self.bytes_per_token is None else (1 - _WEIGHT) * self.bytes_per_token + _WEIGHT * seen
