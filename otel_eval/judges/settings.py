"""What a judge is made from, whatever its kind: where it is, what it costs, what it may take.

An unknown price is None, never 0: then only tokens are counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_eval.judges.habits import Rung

Wording: TypeAlias = Literal["full", "small"]
"""`small` is for models of a few billion parameters: verdict before reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD for a million tokens of one model."""

    input_usd: float
    output_usd: float
    cached_input_usd: float | None = None
    """Of input that the endpoint had cached; None: the same as other input."""

    def cost_usd(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """What a call costs. 1,000,000 in and 100,000 out at 0.15 and 0.60 cost 0.21."""
        cached_usd = self.input_usd if self.cached_input_usd is None else self.cached_input_usd
        input_cost = (input_tokens - cached_tokens) * self.input_usd + cached_tokens * cached_usd
        return (input_cost + output_tokens * self.output_usd) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What may be reserved and spent, in tokens and USD, in any minute, on any day (UTC) and in the whole run. None is no limit."""

    minute_tokens: int | None = None
    minute_usd: float | None = None
    day_tokens: int | None = None
    day_usd: float | None = None
    run_tokens: int | None = None
    run_usd: float | None = None

    @property
    def in_usd(self) -> bool:
        """Whether any of them is in USD, so that prices must be known."""
        return any(limit is not None for limit in (self.minute_usd, self.day_usd, self.run_usd))


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """Where the judge is, how it is asked, and what it may take. None leaves a field out of the request, or a limit away."""

    kind: str = ""
    """Which judge it is, such as `openai` or `decisions`: two kinds at one address are two judges."""
    model: str = ""
    base_url: str | None = None
    api_key: str = field(default="", repr=False)
    organization: str | None = None
    project: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    format: Rung = "schema"
    bounds: bool = False
    """Whether limits of length and count are sent in the schema: small models need them, some endpoints refuse them."""
    temperature: float | None = 0.0
    seed: int | None = None
    reasoning_effort: str | None = None
    wording: Wording | None = None
    """Which words of a question are used, where it has several. None: those that fit the kind of judge."""
    logprobs: bool = False
    call_timeout_s: float = 60.0
    trust_env: bool = False
    """Whether proxies from the environment are used."""
    price: Price | None = None
    limits: Limits = NO_LIMITS
    start_concurrency: int = 4
    most_concurrency: int = 32
    wire: Literal["decisions", "systemone"] = "decisions"
    """Of a decision endpoint: OpenAI's or TypeSafe's."""
    samples: int = 1
    """How many opinions are asked of the same model; the majority counts."""

    @property
    def identity(self) -> str:
        """Everything that could change an answer: part of every cache key."""
        asked = (self.temperature, self.seed, self.reasoning_effort, self.logprobs, self.samples, self.wording)
        return repr((self.kind, self.wire, self.base_url, self.model, *asked))
