"""The budget: what is reserved and spent together never exceeds the cap, whatever runs at the same time and whatever dies."""

import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_eval.errors import JudgeError
from otel_eval.judges.base import Question, Reply
from otel_eval.judges.budget import BudgetJudge
from otel_eval.judges.ledger import Amount, SqliteLedger
from otel_eval.judges.settings import Limits, Price
from tests.fakes.judges import Clock, Told, failure, outcome_of, question, reply

PRICE = Price(input_usd=1.0, output_usd=10.0)


@dataclass(slots=True)
class Spending:
    """Uses a share of what was reserved, yields in between, fails or reports nothing as told."""

    share: float
    kind: str
    ledger: SqliteLedger
    cap: int
    worst: int = 0

    async def ask(self, question: Question) -> Reply:
        self.worst = max(self.worst, self.ledger.spent(since=0.0).tokens)
        await asyncio.sleep(0)
        if self.kind == "cancelled":
            raise asyncio.CancelledError
        used = int(question.output_tokens * self.share)
        if self.kind == "fails":
            raise failure("judge_unavailable")
        return reply(input_tokens=None) if self.kind == "silent" else reply(input_tokens=1, output_tokens=used)


@given(
    cap=st.integers(0, 6000),
    asks=st.lists(
        st.tuples(st.integers(1, 800), st.floats(0, 1), st.sampled_from(["answers", "silent", "fails", "cancelled"])), max_size=30
    ),
    restart_at=st.integers(0, 30),
)
def test_never_beyond_the_cap(cap: int, asks: list[tuple[int, float, str]], restart_at: int) -> None:
    """Any mix of questions at the same time, and a restart in the middle that keeps only the file: the cap holds throughout."""

    async def together(path: Path, part: list[tuple[int, float, str]]) -> int:
        ledger = SqliteLedger(path, run="r")
        judges = [Spending(share=share, kind=kind, ledger=ledger, cap=cap) for _, share, kind in part]
        budgets = [BudgetJudge(judge=j, limits=Limits(run_tokens=cap), ledger=ledger) for j in judges]
        questions = [question(output_tokens=most) for most, _, _ in part]
        await asyncio.gather(*(b.ask(q) for b, q in zip(budgets, questions, strict=True)), return_exceptions=True)
        worst = max([j.worst for j in judges] + [ledger.spent(since=0.0).tokens])
        ledger.close()
        return worst

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.db"
        for part in (asks[:restart_at], asks[restart_at:]):
            assert asyncio.run(together(path, part)) <= cap


def test_a_crash_between_reserving_and_settling_keeps_the_reservation(tmp_path: Path) -> None:
    """What a dead process had reserved may have been spent: it stays in the books."""
    dead = SqliteLedger(tmp_path / "l.db", run="r")
    assert dead.reserve(Amount(tokens=600), Limits(run_tokens=1000)) is not None
    living = SqliteLedger(tmp_path / "l.db", run="r")
    assert living.reserve(Amount(tokens=600), Limits(run_tokens=1000)) is None
    assert living.reserve(Amount(tokens=400), Limits(run_tokens=1000)) is not None


def test_what_was_not_used_is_given_back() -> None:
    """A call that took less than reserved leaves the rest for others."""
    ledger = SqliteLedger()
    judge = BudgetJudge(judge=Told([reply()]), limits=Limits(run_tokens=2000), ledger=ledger)
    outcome_of(lambda: judge.ask(question()))
    assert ledger.spent(since=0.0).tokens == 110


def test_refused_before_anything_is_sent() -> None:
    """With nothing left the endpoint is not asked; the reason is `budget_exhausted`."""
    told = Told([reply()])
    error = outcome_of(lambda: BudgetJudge(judge=told, limits=Limits(day_usd=0.001), ledger=SqliteLedger(), price=PRICE).ask(question()))
    assert isinstance(error, JudgeError)
    assert (error.reason, told.asked) == ("budget_exhausted", [])


@pytest.mark.parametrize(("limits", "seconds"), [(Limits(minute_tokens=1200), 61.0), (Limits(day_tokens=1200), 86_400.0)])
def test_windows_pass(limits: Limits, seconds: float) -> None:
    """What was spent a minute or a day ago no longer counts against the minute or the day."""
    clock = Clock(now=86_400.0 * 20_000)
    ledger = SqliteLedger(clock=clock)
    assert ledger.reserve(Amount(tokens=1000), limits) is not None
    assert ledger.reserve(Amount(tokens=1000), limits) is None
    clock.now += seconds
    assert ledger.reserve(Amount(tokens=1000), limits) is not None


def test_cost_in_usd_where_the_price_is_known() -> None:
    """Reserved at the price of a full reply, settled at what it took; without a price only tokens are counted."""
    ledger = SqliteLedger()
    outcome_of(lambda: BudgetJudge(judge=Told([reply()]), limits=Limits(run_usd=1.0), ledger=ledger, price=PRICE).ask(question()))
    assert ledger.spent(since=0.0).usd == pytest.approx((100 * 1.0 + 10 * 10.0) / 1e6)
    free = SqliteLedger()
    outcome_of(lambda: BudgetJudge(judge=Told([reply()]), limits=Limits(run_usd=0.0), ledger=free).ask(question()))
    assert free.spent(since=0.0) == Amount(tokens=110, usd=0.0)
