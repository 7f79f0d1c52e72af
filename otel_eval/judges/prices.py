"""What tokens cost, where somebody has said so. An unknown price is None, never 0: then only tokens are counted."""

from dataclasses import dataclass


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
