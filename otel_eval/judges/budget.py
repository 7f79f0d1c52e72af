"""Never spends more than allowed: the most that an attempt can take is reserved before it is sent, and settled after.

It stands right before the model, inside retry and repair, so that every attempt is counted (`docs/decisions`).
"""

import asyncio
from dataclasses import dataclass

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Judge, Question, Reply
from otel_eval.judges.ledger import Amount, Ledger
from otel_eval.judges.settings import Limits, Price
from otel_eval.judges.wrap import use_of
from otel_eval.model import JudgeUse

_MARGIN = 1.5
"""Estimates count three bytes a token; the densest text measured (logs, ids) has two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetJudge:
    """A judge that is asked only while the books allow it. Without a price, only tokens are counted."""

    judge: Judge
    limits: Limits
    ledger: Ledger
    price: Price | None = None

    async def ask(self, question: Question) -> Reply:
        most = self._most(question)
        reservation = await self._reserved(most)
        if reservation is None:
            raise JudgeError("budget_exhausted", "the budget for judging is used up; see the limits in the section `judge.budget`")
        use: JudgeUse | None = None
        try:
            reply = await self.judge.ask(question)
            use = reply.use
        except JudgeError as error:
            use = use_of(error)
            raise
        finally:
            self.ledger.settle(reservation, self._took(use, most))
        return reply

    async def _reserved(self, most: Amount) -> int | None:
        """The reservation; made in a thread where the books lie on a disk. Books that do not say so are taken to."""
        if getattr(self.ledger, "waits", True):
            return await asyncio.to_thread(self.ledger.reserve, most, self.limits)
        return self.ledger.reserve(most, self.limits)

    def _most(self, question: Question) -> Amount:
        prompt = int(question.estimated_tokens * _MARGIN) + 1
        usd = self.price.cost_usd(prompt, question.output_tokens) if self.price else 0.0
        return Amount(tokens=prompt + question.output_tokens, usd=usd)

    def _took(self, use: JudgeUse | None, most: Amount) -> Amount:
        """What the endpoint reported; all that was reserved where it reported nothing, for it may have been spent."""
        if use is None or use.input_tokens is None or use.output_tokens is None:
            return most
        usd = self.price.cost_usd(use.input_tokens, use.output_tokens) if self.price else 0.0
        return Amount(tokens=use.input_tokens + use.output_tokens, usd=use.cost_usd if use.cost_usd is not None else usd)
